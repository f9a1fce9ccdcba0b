#include "json/patch.h"

#include <utility>

#include "base/check.h"

namespace gantree::json {

namespace {

void append_token(std::string& pointer, std::string_view name) {
  pointer += '/';
  for (const char c : name) {
    if (c == '~') {
      pointer += "~0";
    } else if (c == '/') {
      pointer += "~1";
    } else {
      pointer += c;
    }
  }
}

bool is(Value value, Kind kind, std::string_view text) {
  return value && value.kind() == kind && value.text() == text;
}

}  // namespace

Value Patch::at(const Path& path) const {
  Value value = root_;
  for (const std::string_view name : path) {
    value = value ? value[name] : Value();
  }
  return value && value.kind() != Kind::kNull ? value : Value();
}

void Patch::set(const Path& path, std::string_view text) {
  if (!is(at(path), Kind::kString, text)) {
    add(make_way(path), text);
  }
}

void Patch::set_flag(const Path& path, bool flag) {
  if (!is(at(path), Kind::kBool, flag ? "true" : "false")) {
    add(make_way(path), flag);
  }
}

void Patch::append(const Path& path, Out item) {
  const std::string list = make_way(path);
  make(list, !at(path), Out::array());
  add(list + "/-", std::move(item));
}

std::string Patch::make_way(const Path& path) {
  GANTREE_CHECK(!path.empty());
  std::string pointer;
  Path above;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    above.push_back(path[i]);
    append_token(pointer, path[i]);
    make(pointer, !at(above), Out::object());
  }
  append_token(pointer, path.back());
  return pointer;
}

void Patch::make(const std::string& pointer, bool missing, Out empty) {
  if (missing && made_.insert(pointer).second) {
    add(pointer, std::move(empty));
  }
}

void Patch::add(std::string pointer, Out value) {
  Out operation = Out::object();
  operation.add("op", "add").add("path", std::move(pointer)).add("value", std::move(value));
  operations_.push_back(std::move(operation));
}

}  // namespace gantree::json
