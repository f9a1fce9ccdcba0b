#include "apiserver/tables.h"

#include "apiserver/definitions.h"

namespace gantree::apiserver {

std::shared_ptr<const TableFormat> table_format(const Kind& kind) {
  if (!kind.custom()) {
    return std::make_shared<const TableFormat>(TableFormat::of_builtin(kind.group, kind.kind));
  }
  const Definition::Version* version = kind.definition->find(kind.version);
  return std::make_shared<const TableFormat>(TableFormat::of_custom(version == nullptr ? nullptr : &version->columns));
}

std::string table_row(const TableFormat& format, const Value& object, std::string_view include, std::int64_t now) {
  std::string row = "{\"cells\":";
  append_json(row, Value(format.cells(object, now)));
  if (include == "None") {
    return row + "}";
  }
  row += ",\"object\":";
  if (include == "Object") {
    append_json(row, object);
    return row + "}";
  }
  row += R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":)";
  const Value* metadata = find(object, {"metadata"});
  append_json(row, metadata == nullptr ? Value(Object()) : *metadata);
  return row + "}}";
}

std::string table_head(const TableFormat& format, const Object& metadata) {
  std::string head = R"({"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":)";
  append_json(head, metadata);
  head += ",\"columnDefinitions\":";
  append_json(head, Value(format.columns()));
  return head + ",\"rows\":[";
}

}  // namespace gantree::apiserver
