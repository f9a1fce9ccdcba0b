#include "apiserver/selection.h"

#include <fmt/format.h>

#include <algorithm>

#include "apiserver/convert.h"
#include "apiserver/core.h"
#include "apiserver/tables.h"

namespace gantree::apiserver {

namespace {

// Whether objects of the table can be selected by the field.
bool selectable(const Request& request, std::string_view field) {
  if (field == "metadata.name" || (field == "metadata.namespace" && request.kind->namespaced)) {
    return true;
  }
  const std::vector<std::string>& more = request.kind->selectable;
  if (std::find(more.begin(), more.end(), field) != more.end()) {
    return true;
  }
  const auto facts = facts_of(request.kind->table, Object());
  return find_pair(facts->fields, field) != nullptr;
}

Bytes metadata_only(const Value& object) {
  Object result;
  result["kind"] = "PartialObjectMetadata";
  result["apiVersion"] = "meta.k8s.io/v1";
  if (const Value* metadata = find(object, {"metadata"})) {
    result["metadata"] = *metadata;
  }
  return std::make_shared<const std::string>(to_json(result));
}

}  // namespace

bool Selection::matches(const Key& key, const Facts& facts) const {
  if ((!ns.empty() && key.ns != ns) || (!name.empty() && key.name != name) || !labels.matches(facts.labels)) {
    return false;
  }
  return std::all_of(fields.terms().begin(), fields.terms().end(), [&](const FieldSelector::Term& term) {
    const std::string* value = term.field == "metadata.name"        ? &key.name
                               : term.field == "metadata.namespace" ? &key.ns
                                                                    : find_pair(facts.fields, term.field);
    return (value != nullptr && *value == term.value) == term.equal;
  });
}

Outcome<Selection> read_selection(const Request& request) {
  for (const std::string_view number : {"limit", "timeoutSeconds"}) {
    if (!request.query.get(number).empty() && !request.query.number(number)) {
      return tl::unexpected(bad_request(fmt::format("{} must be a number", number)));
    }
  }
  Selection selection;
  selection.ns = request.ns;
  selection.name = request.name;
  auto labels = LabelSelector::parse(request.query.get("labelSelector"));
  if (!labels) {
    return tl::unexpected(bad_request(labels.error().message));
  }
  selection.labels = std::move(*labels);
  auto fields = FieldSelector::parse(request.query.get("fieldSelector"));
  if (!fields) {
    return tl::unexpected(bad_request(fields.error().message));
  }
  selection.fields = std::move(*fields);
  for (const FieldSelector::Term& term : selection.fields.terms()) {
    if (!selectable(request, term.field)) {
      return tl::unexpected(bad_request(fmt::format("field label not supported: {}", term.field)));
    }
  }
  return selection;
}

std::string Form::content_type() const {
  switch (shape) {
    case Shape::kTable:
      return "application/json;as=Table;g=meta.k8s.io;v=v1";
    case Shape::kMetadata:
      return "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    case Shape::kObject:
      break;
  }
  return "application/json";
}

Outcome<Form> read_form(const Request& request) {
  Form form;
  form.kind = request.kind;
  form.include = request.query.get("includeObject");
  const std::vector<MediaType> accepted = media_types(request.call.accept);
  if (accepted.empty()) {
    return form;
  }
  for (const MediaType& type : accepted) {
    // Made of JSON when all is done; but not event by event.
    const bool yaml = type.type == "application/yaml" && !request.is_watch();
    if (!yaml && type.type != "application/json" && type.type != "*/*" && type.type != "application/*") {
      continue;
    }
    const std::string_view as = type.parameter("as");
    if (as.empty()) {
      return form;
    }
    if (as == "Table" && type.parameter("v") == "v1" && type.parameter("g") == "meta.k8s.io") {
      form.shape = Form::Shape::kTable;
      form.format = table_format(*form.kind);
      return form;
    }
    if (as == "PartialObjectMetadata" || as == "PartialObjectMetadataList") {
      form.shape = Form::Shape::kMetadata;
      return form;
    }
  }
  return tl::unexpected(failure(406, "NotAcceptable", "only the following media types are accepted: application/json"));
}

std::string_view stored_version(const Entry& entry) {
  // Objects are written with this member first: see in_usual_order().
  static constexpr std::string_view kBegin = "{\"apiVersion\":\"";
  const std::string_view bytes = *entry.bytes;
  if (!bytes.starts_with(kBegin)) {
    return {};
  }
  return bytes.substr(kBegin.size(), bytes.find('"', kBegin.size()) - kBegin.size());
}

namespace {

std::int64_t unix_seconds(const Core& core) {
  return std::chrono::duration_cast<std::chrono::seconds>(core.time().time_since_epoch()).count();
}

// The object in the version of the form.
Bytes in_version(const Form& form, const Entry& entry) {
  const std::string wanted = form.kind->api_version();
  if (stored_version(entry) == wanted) {
    return entry.bytes;
  }
  if (const auto it = entry.variants->find(wanted); it != entry.variants->end()) {
    return it->second;
  }
  auto object = parse_json(*entry.bytes);
  if (!object || !object->is_object()) {
    return entry.bytes;
  }
  convert_plainly(*form.kind, object->get_object());
  return std::make_shared<const std::string>(to_json(*object));
}

}  // namespace

Bytes present_item(const Core& core, const Form& form, const Entry& entry) {
  Bytes bytes = in_version(form, entry);
  if (form.shape == Form::Shape::kObject) {
    return bytes;
  }
  const auto object = parse_json(*bytes);
  if (!object) {
    return bytes;
  }
  return form.shape == Form::Shape::kMetadata
             ? metadata_only(*object)
             : std::make_shared<const std::string>(table_row(*form.format, *object, form.include, unix_seconds(core)));
}

Bytes present(const Core& core, const Form& form, const Entry& entry) {
  Bytes item = present_item(core, form, entry);
  if (form.shape != Form::Shape::kTable) {
    return item;
  }
  Object metadata;
  metadata["resourceVersion"] = std::to_string(entry.revision);
  std::string table = table_head(*form.format, metadata);
  table += *item;
  table += kTableEnd;
  return std::make_shared<const std::string>(std::move(table));
}

}  // namespace gantree::apiserver
