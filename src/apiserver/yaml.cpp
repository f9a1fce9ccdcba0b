#include "apiserver/yaml.h"

#include <optional>
#include <string>
#include <utility>

#include "json/read.h"
#include "json/scalar.h"
#include "json/write.h"

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

// Nothing where it holds a number that cannot be written.
std::optional<json::Out> written(const Value& value) {
  switch (value.kind()) {
    case boost::json::kind::null:
      return json::Out();
    case boost::json::kind::bool_:
      return json::Out(value.get_bool());
    case boost::json::kind::int64:
      return json::Out(value.get_int64());
    case boost::json::kind::uint64:
    case boost::json::kind::double_:
      return std::nullopt;
    case boost::json::kind::string:
      return json::Out(text_of(value));
    case boost::json::kind::array: {
      json::Out array = json::Out::array();
      for (const Value& item : value.get_array()) {
        auto inner = written(item);
        if (!inner) {
          return std::nullopt;
        }
        array.push(std::move(*inner));
      }
      return array;
    }
    case boost::json::kind::object:
      break;
  }
  json::Out object = json::Out::object();
  for (const auto& member : value.get_object()) {
    auto inner = written(member.value());
    if (!inner) {
      return std::nullopt;
    }
    object.add(member.key(), std::move(*inner));
  }
  return object;
}

}  // namespace

std::string to_yaml(const Value& value) {
  const auto out = written(value);
  return out ? out->to_yaml() : to_json(value) + "\n";
}

Result<std::vector<Value>> read_yaml_documents(std::string_view text) {
  const auto documents = json::read_documents("body", std::string(text));
  if (!documents) {
    return tl::unexpected(documents.error());
  }
  std::vector<Value> values;
  for (const json::Document& document : *documents) {
    values.push_back(copied(document.root()));
  }
  return values;
}

Result<Value> read_yaml_or_json(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") != std::string_view::npos && text[text.find_first_not_of(" \t\r\n")] == '{') {
    if (auto value = parse_json(text)) {
      return value;
    }
    // YAML may begin so, too.
  }
  auto documents = read_yaml_documents(text);
  if (!documents) {
    return tl::unexpected(documents.error());
  }
  if (documents->size() != 1) {
    return invalid("the body holds no single document");
  }
  return std::move(documents->front());
}

}  // namespace gantree::apiserver
