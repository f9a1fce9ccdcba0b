#include "apiserver/yaml.h"

#include <string>

#include "json/read.h"
#include "json/scalar.h"

namespace gantree::apiserver {

namespace {

Value copied(json::Value from) {
  switch (from.kind()) {
    case json::Kind::kNull:
      return nullptr;
    case json::Kind::kBool:
      return from.text() == "true";
    case json::Kind::kNumber: {
      auto number = json::is_json_number(from.text()) ? parse_json(from.text()) : Result<Value>(Value(from.text()));
      return number ? std::move(*number) : Value(from.text());
    }
    case json::Kind::kString:
      return Value(from.text());
    case json::Kind::kArray: {
      Array array;
      for (const json::NodeData& item : from.items()) {
        array.push_back(copied(json::Value(&item)));
      }
      return array;
    }
    case json::Kind::kObject: {
      Object object;
      for (const json::MemberData& member : from.members()) {
        object[member.key] = copied(json::Value(&member.value));
      }
      return object;
    }
  }
  return nullptr;
}

}  // namespace

Result<Value> read_yaml_or_json(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") != std::string_view::npos && text[text.find_first_not_of(" \t\r\n")] == '{') {
    return parse_json(text);
  }
  const auto documents = json::read_documents("body", std::string(text));
  if (!documents) {
    return tl::unexpected(documents.error());
  }
  if (documents->size() != 1) {
    return invalid("the body holds no single document");
  }
  return copied(documents->front().root());
}

}  // namespace gantree::apiserver
