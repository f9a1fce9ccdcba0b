#include "apiserver/openapi.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "apiserver/builtin.h"

namespace gantree::apiserver {

namespace {

constexpr std::string_view kSchemas = "#/components/schemas/";
constexpr std::string_view kDefinitions = "#/definitions/";
constexpr std::string_view kMetadata = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
constexpr std::string_view kListMetadata = "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta";
constexpr std::string_view kKindsOf = "x-kubernetes-group-version-kind";

// What paths and names are made from, of built-in and custom kinds alike.
struct Served {
  std::string group;
  std::string version;
  std::string kind;
  std::string plural;
  bool namespaced = true;
  std::vector<std::string> subresources;
  std::string schema;                  // its name
  const CustomKind* custom = nullptr;  // where it is one
};

// "batch.example.com" and "v1": "com.example.batch.v1".
std::string reversed(std::string_view group, std::string_view version) {
  std::string name;
  for (std::size_t end = group.size(); !group.empty();) {
    const std::size_t dot = group.rfind('.', end == 0 ? 0 : end - 1);
    const std::size_t begin = dot == std::string_view::npos ? 0 : dot + 1;
    name += std::string(group.substr(begin, end - begin)) + ".";
    if (dot == std::string_view::npos) {
      break;
    }
    end = dot;
  }
  return name + std::string(version);
}

std::vector<Served> served_kinds(std::span<const CustomKind> custom) {
  std::vector<Served> kinds;
  for (const BuiltinKind& kind : builtin_kinds()) {
    Served served{std::string(kind.group),  std::string(kind.version),
                  std::string(kind.kind),   std::string(kind.plural),
                  kind.namespaced,          {},
                  std::string(kind.schema), nullptr};
    for (std::string_view rest = kind.subresources; !rest.empty();) {
      const std::size_t comma = rest.find(',');
      served.subresources.emplace_back(rest.substr(0, comma));
      rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    }
    kinds.push_back(std::move(served));
  }
  for (const CustomKind& kind : custom) {
    Served served{kind.group, kind.version, kind.kind, kind.plural, kind.namespaced, {}, {}, &kind};
    served.schema = reversed(kind.group, kind.version) + "." + kind.kind;
    if (kind.has_scale) {
      served.subresources.emplace_back("scale");
    }
    if (kind.has_status) {
      served.subresources.emplace_back("status");
    }
    kinds.push_back(std::move(served));
  }
  return kinds;
}

Value reference(std::string_view name) {
  return Object{{"$ref", std::string(kSchemas) + std::string(name)}};
}

Object kind_mark(const Served& kind) {
  return Object{{"group", kind.group}, {"kind", kind.kind}, {"version", kind.version}};
}

Object query_parameter(std::string_view name, std::string_view description) {
  Object parameter;
  parameter["name"] = name;
  parameter["in"] = "query";
  parameter["description"] = description;
  parameter["schema"] = Object{{"type", "string"}, {"uniqueItems", true}};
  return parameter;
}

Array write_parameters(bool patch) {
  Array parameters{
      query_parameter("dryRun", "All: the request is carried out but nothing is kept."),
      query_parameter("fieldManager", "Who makes the change, for the account of who owns which field."),
      query_parameter("fieldValidation", "What is done about unknown and doubled fields: Ignore, Warn or Strict.")};
  if (patch) {
    Object force = query_parameter("force", "Apply takes over fields that others own.");
    force["schema"] = Object{{"type", "boolean"}, {"uniqueItems", true}};
    parameters.push_back(std::move(force));
  }
  return parameters;
}

Object operation(const Served& kind, std::string_view action, bool writes) {
  Object answer;
  answer["description"] = "OK";
  object_in(object_in(answer, "content"), "application/json")["schema"] = reference(kind.schema);
  Object result;
  result["description"] = fmt::format("{} {}", action, kind.kind);
  result["operationId"] = fmt::format("{}{}{}", action, kind.group, kind.kind);
  if (writes) {
    result["parameters"] = write_parameters(action == "patch");
  }
  object_in(object_in(result, "responses"), "200") = std::move(answer);
  result["x-kubernetes-action"] = action;
  result[kKindsOf] = kind_mark(kind);
  return result;
}

void add_paths(const Served& kind, Object& paths) {
  const std::string base =
      kind.group.empty() ? fmt::format("/api/{}", kind.version) : fmt::format("/apis/{}/{}", kind.group, kind.version);
  const std::string all = fmt::format("{}/{}{}", base, kind.namespaced ? "namespaces/{namespace}/" : "", kind.plural);
  Object& many = object_in(paths, all);
  many["get"] = operation(kind, "list", false);
  many["post"] = operation(kind, "post", true);
  many["delete"] = operation(kind, "deletecollection", false);
  if (kind.namespaced) {
    object_in(paths, fmt::format("{}/{}", base, kind.plural))["get"] = operation(kind, "list", false);
  }
  std::vector<std::string> items{all + "/{name}"};
  for (const std::string& subresource : kind.subresources) {
    if (subresource == "status") {
      items.push_back(items.front() + "/" + subresource);
    }
  }
  for (const std::string& path : items) {
    Object& one = object_in(paths, path);
    one["get"] = operation(kind, "get", false);
    one["put"] = operation(kind, "put", true);
    one["patch"] = operation(kind, "patch", true);
  }
  object_in(paths, items.front())["delete"] = operation(kind, "delete", false);
}

// The schema of a CRD as others see it: with the members that every object has.
Object custom_schema(const Served& kind) {
  Object schema = kind.custom->schema.is_object() ? kind.custom->schema.get_object() : Object{{"type", "object"}};
  Object& properties = object_in(schema, "properties");
  for (const auto& [name, description] : {std::pair("apiVersion", "The group and version of the object's schema."),
                                          std::pair("kind", "The kind of the object.")}) {
    properties[name] = Object{{"type", "string"}, {"description", description}};
  }
  Object metadata;
  metadata["allOf"] = Array{reference(kMetadata)};
  metadata["description"] = "Standard object's metadata.";
  properties["metadata"] = std::move(metadata);
  schema[kKindsOf] = Array{kind_mark(kind)};
  return schema;
}

Object custom_list_schema(const Served& kind) {
  Object properties;
  properties["apiVersion"] = Object{{"type", "string"}};
  properties["kind"] = Object{{"type", "string"}};
  properties["metadata"] = Object{{"allOf", Array{reference(kListMetadata)}}};
  properties["items"] = Object{{"type", "array"}, {"items", reference(kind.schema)}};
  Served list = kind;
  list.kind = kind.custom->list_kind;
  return Object{{"type", "object"},
                {"description", fmt::format("{} is a list of {}", list.kind, kind.kind)},
                {"required", Array{"items"}},
                {"properties", std::move(properties)},
                {kKindsOf, Array{kind_mark(list)}}};
}

// The names that a schema refers to.
void collect_references(const Value& value, std::set<std::string>& names) {
  if (const Array* array = value.if_array(); array != nullptr) {
    for (const Value& item : *array) {
      collect_references(item, names);
    }
    return;
  }
  const Object* object = value.if_object();
  if (object == nullptr) {
    return;
  }
  for (const auto& member : *object) {
    const std::string_view text = text_of(member.value());
    if (std::string_view(member.key()) == "$ref" && text.starts_with(kSchemas)) {
      names.emplace(text.substr(kSchemas.size()));
    } else {
      collect_references(member.value(), names);
    }
  }
}

// Everything that is needed to understand the kinds.
Object schemas_for(const std::vector<Served>& kinds, const Object& builtin) {
  Object schemas;
  std::vector<std::string> waiting;
  const auto add = [&](const std::string& name, Value schema) {
    if (schemas.if_contains(name) != nullptr) {
      return;
    }
    std::set<std::string> names;
    collect_references(schema, names);
    waiting.insert(waiting.end(), names.begin(), names.end());
    schemas[name] = std::move(schema);
  };
  for (const Served& kind : kinds) {
    if (kind.custom != nullptr) {
      add(kind.schema, custom_schema(kind));
      add(kind.schema + "List", custom_list_schema(kind));
      continue;
    }
    for (const std::string& name : {kind.schema, kind.schema + "List"}) {
      if (const Value* schema = builtin.if_contains(name); schema != nullptr) {
        add(name, *schema);
      }
    }
  }
  waiting.emplace_back("io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions");
  waiting.emplace_back("io.k8s.apimachinery.pkg.apis.meta.v1.Status");
  while (!waiting.empty()) {
    const std::string name = std::move(waiting.back());
    waiting.pop_back();
    if (const Value* schema = builtin.if_contains(name); schema != nullptr) {
      add(name, *schema);
    }
  }
  return schemas;
}

// Version 2 has no allOf around references, no nullable, and none of anyOf, oneOf and not.
Value to_v2(const Value& value) {
  if (const Array* array = value.if_array(); array != nullptr) {
    Array converted;
    for (const Value& item : *array) {
      converted.push_back(to_v2(item));
    }
    return converted;
  }
  const Object* object = value.if_object();
  if (object == nullptr) {
    return value;
  }
  Object converted;
  for (const auto& member : *object) {
    const std::string_view key = member.key();
    const std::string_view text = text_of(member.value());
    if (key == "$ref" && text.starts_with(kSchemas)) {
      converted["$ref"] = std::string(kDefinitions) + std::string(text.substr(kSchemas.size()));
    } else if (key == "allOf" && member.value().is_array() && member.value().get_array().size() == 1 &&
               find(member.value().get_array()[0], {"$ref"}) != nullptr) {
      converted["$ref"] = to_v2(member.value().get_array()[0]).at("$ref");
    } else if (key == "oneOf" && !text_at(*object, {"format"}).empty()) {
      converted["type"] = "string";
    } else if (key != "allOf" && key != "anyOf" && key != "oneOf" && key != "not" && key != "nullable" &&
               key != "default") {
      converted[key] = to_v2(member.value());
    }
  }
  return converted;
}

Object information() {
  return Object{{"title", "Kubernetes"}, {"version", "unversioned"}};
}

Result<Value> builtin_document() {
  auto document = parse_json(builtin_schema_text());
  if (!document || !document->is_object()) {
    return invalid("the schemas that were built in cannot be read");
  }
  return document;
}

// FNV-1a: the same on every machine.
std::uint64_t fingerprint(std::uint64_t seed, std::string_view text) {
  for (const char c : text) {
    seed = (seed ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  }
  return seed;
}

std::string document_name(const Served& kind) {
  return kind.group.empty() ? "api/" + kind.version : fmt::format("apis/{}/{}", kind.group, kind.version);
}

}  // namespace

std::string openapi_v3_index(std::span<const CustomKind> custom) {
  std::map<std::string, std::uint64_t> hashes;
  for (const Served& kind : served_kinds(custom)) {
    std::uint64_t& hash = hashes.try_emplace(document_name(kind), 14695981039346656037ULL).first->second;
    hash = fingerprint(hash, kind.schema);
    hash = kind.custom == nullptr ? hash : fingerprint(hash, to_json(kind.custom->schema));
  }
  Object paths;
  for (const auto& [name, hash] : hashes) {
    paths[name] = Object{{"serverRelativeURL", fmt::format("/openapi/v3/{}?hash={:016X}", name, hash)}};
  }
  return to_json(Object{{"paths", std::move(paths)}});
}

Result<std::string> openapi_v3(std::string_view group, std::string_view version, std::span<const CustomKind> custom) {
  std::vector<Served> kinds = served_kinds(custom);
  std::erase_if(kinds, [&](const Served& kind) { return kind.group != group || kind.version != version; });
  if (kinds.empty()) {
    return fail(Errc::kNotFound, fmt::format("nothing is served in version {} of group \"{}\"", version, group));
  }
  const auto builtin = builtin_document();
  if (!builtin) {
    return tl::unexpected(builtin.error());
  }
  Object document;
  document["openapi"] = "3.0.0";
  document["info"] = information();
  Object& paths = object_in(document, "paths");
  for (const Served& kind : kinds) {
    add_paths(kind, paths);
  }
  object_in(document, "components")["schemas"] = schemas_for(kinds, builtin->get_object());
  return to_json(document);
}

Result<std::string> openapi_v2(std::span<const CustomKind> custom) {
  const std::vector<Served> kinds = served_kinds(custom);
  const auto builtin = builtin_document();
  if (!builtin) {
    return tl::unexpected(builtin.error());
  }
  Object document;
  document["swagger"] = "2.0";
  document["info"] = information();
  Object& paths = object_in(document, "paths");
  for (const Served& kind : kinds) {
    Object described;
    add_paths(kind, described);
    for (const auto& path : described) {
      for (const auto& method : path.value().get_object()) {
        Object& slim = object_in(object_in(paths, path.key()), method.key());
        slim["responses"] = Object{{"200", Object{{"description", "OK"}}}};
        slim["x-kubernetes-action"] = method.value().at("x-kubernetes-action");
        slim[kKindsOf] = method.value().at(kKindsOf);
      }
    }
  }
  document["definitions"] = to_v2(schemas_for(kinds, builtin->get_object()));
  return to_json(document);
}

}  // namespace gantree::apiserver
