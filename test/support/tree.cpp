#include "support/tree.h"

#include <charconv>

#include "base/check.h"
#include "json/read.h"
#include "json/write.h"

namespace gantree::test {

namespace {

// "/a/b~1c" as names.
std::vector<std::string> names_of(std::string_view pointer) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < pointer.size(); ++i) {
    if (pointer[i] == '/') {
      names.emplace_back();
    } else if (pointer[i] == '~') {
      names.back() += pointer[++i] == '1' ? '/' : '~';
    } else {
      names.back() += pointer[i];
    }
  }
  return names;
}

Tree::Path views(const std::vector<std::string>& names) {
  return {names.begin(), names.end()};
}

}  // namespace

Tree Tree::parse(const std::string& json) {
  auto documents = json::read_documents("model", json);
  GANTREE_CHECK(documents && documents->size() == 1);
  return of(documents->front().root());
}

Tree Tree::of(json::Value value) {
  Tree tree;
  tree.kind = value.kind();
  switch (value.kind()) {
    case json::Kind::kNull:
      break;
    case json::Kind::kArray:
      for (const json::NodeData& item : value.items()) {
        tree.items.push_back(of(json::Value(&item)));
      }
      break;
    case json::Kind::kObject:
      for (const json::MemberData& member : value.members()) {
        tree.members.emplace(member.key, of(json::Value(&member.value)));
      }
      break;
    case json::Kind::kBool:
    case json::Kind::kNumber:
    case json::Kind::kString:
      tree.text = value.text();
      break;
  }
  return tree;
}

Tree Tree::string(std::string_view text) {
  Tree tree;
  tree.kind = json::Kind::kString;
  tree.text = text;
  return tree;
}

Tree Tree::number(long long number) {
  Tree tree;
  tree.kind = json::Kind::kNumber;
  tree.text = std::to_string(number);
  return tree;
}

Tree Tree::boolean(bool value) {
  Tree tree;
  tree.kind = json::Kind::kBool;
  tree.text = value ? "true" : "false";
  return tree;
}

void Tree::write(std::string& out) const {
  switch (kind) {
    case json::Kind::kNull:
      out += "null";
      break;
    case json::Kind::kString:
      json::append_string(out, text);
      break;
    case json::Kind::kBool:
    case json::Kind::kNumber:
      out += text;
      break;
    case json::Kind::kArray:
      out += '[';
      for (const Tree& item : items) {
        out += out.back() == '[' ? "" : ",";
        item.write(out);
      }
      out += ']';
      break;
    case json::Kind::kObject:
      out += '{';
      for (const auto& [key, value] : members) {
        out += out.back() == '{' ? "" : ",";
        json::append_string(out, key);
        out += ':';
        value.write(out);
      }
      out += '}';
      break;
  }
}

std::string Tree::to_json() const {
  std::string out;
  write(out);
  return out;
}

const Tree* Tree::find(const Path& path) const {
  const Tree* tree = this;
  for (const std::string_view name : path) {
    const auto it = tree->members.find(name);
    if (it == tree->members.end() || it->second.kind == json::Kind::kNull) {
      return nullptr;
    }
    tree = &it->second;
  }
  return tree;
}

std::string Tree::str(const Path& path, std::string_view fallback) const {
  const Tree* found = find(path);
  return found == nullptr ? std::string(fallback) : found->text;
}

int Tree::num(const Path& path, int fallback) const {
  const Tree* found = find(path);
  int value = fallback;
  if (found != nullptr) {
    std::from_chars(found->text.data(), found->text.data() + found->text.size(), value);
  }
  return value;
}

bool Tree::flag(const Path& path) const {
  return str(path) == "true";
}

Tree& Tree::at(const Path& path) {
  Tree* tree = this;
  for (const std::string_view name : path) {
    if (tree->kind == json::Kind::kArray) {
      tree = &tree->items.at(std::stoul(std::string(name)));
      continue;
    }
    tree->kind = json::Kind::kObject;
    tree = &tree->members.try_emplace(std::string(name)).first->second;
  }
  return *tree;
}

void Tree::erase(const Path& path) {
  Tree* tree = this;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const auto it = tree->members.find(path[i]);
    if (it == tree->members.end()) {
      return;
    }
    if (i + 1 == path.size()) {
      tree->members.erase(it);
      return;
    }
    tree = &it->second;
  }
}

void Tree::merge(const Tree& patch) {
  if (patch.kind != json::Kind::kObject) {
    *this = patch;
    return;
  }
  if (kind != json::Kind::kObject) {
    *this = Tree();
    kind = json::Kind::kObject;
  }
  for (const auto& [key, value] : patch.members) {
    if (value.kind == json::Kind::kNull) {
      members.erase(key);
    } else {
      members[key].merge(value);
    }
  }
}

bool Tree::patch(const Tree& operations) {
  for (const Tree& operation : operations.items) {
    const std::vector<std::string> names = names_of(operation.str({"path"}));
    const Tree* found = find(views(names));
    if (operation.str({"op"}) == "test" && (found == nullptr || *found != *operation.find({"value"}))) {
      return false;
    }
  }
  for (const Tree& operation : operations.items) {
    const std::string op = operation.str({"op"});
    GANTREE_CHECK(op == "test" || op == "add" || op == "remove");
    std::vector<std::string> names = names_of(operation.str({"path"}));
    if (op == "add" && names.back() == "-") {
      names.pop_back();
      at(views(names)).items.push_back(operation.members.at("value"));
    } else if (op == "add") {
      at(views(names)) = operation.members.at("value");
    } else if (op == "remove") {
      const std::string last = names.back();
      names.pop_back();
      at(views(names)).members.erase(last);
    }
  }
  return true;
}

}  // namespace gantree::test
