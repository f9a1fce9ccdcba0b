#include "property/api_requests.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

namespace gantree::test {

namespace {

using apiserver::Array;
using apiserver::Object;
using apiserver::to_json;
using apiserver::Value;

constexpr int kDeepest = 12;

const std::vector<std::string> kNames{"a", "b", "c", "a-1", "things.example.com"};
const std::vector<std::string> kOddTexts{"",
                                         "a",
                                         "-a",
                                         "A_b",
                                         "\xc3\xa9",
                                         std::string("\0x", 2),
                                         "1",
                                         "0x10",
                                         "1e9",
                                         "true",
                                         "10Gi",
                                         "-1",
                                         "1.5m",
                                         "*/0 * * * *",
                                         "../..",
                                         "a/b",
                                         "{{}}",
                                         "\"",
                                         "$",
                                         "2026-13-01T00:00:00Z",
                                         "0.0.0.0",
                                         std::string(300, 'x'),
                                         "v1",
                                         "Always",
                                         "NotIn",
                                         "50%",
                                         "999999999999999999999"};
const std::vector<std::string> kParameters{"dryRun=All",
                                           "dryRun=x",
                                           "fieldManager=m",
                                           "fieldManager=other",
                                           "force=true",
                                           "fieldValidation=Strict",
                                           "fieldValidation=Ignore",
                                           "limit=1",
                                           "limit=2",
                                           "limit=-1",
                                           "limit=99999999999999999999",
                                           "continue=AAAA",
                                           "labelSelector=a%3Db",
                                           "labelSelector=a+in+(b,c),!d",
                                           "labelSelector=%2C%2C",
                                           "labelSelector=x>1",
                                           "fieldSelector=metadata.name%3Da",
                                           "fieldSelector=spec.nodeName!%3D",
                                           "fieldSelector=x%3Dy",
                                           "resourceVersion=0",
                                           "resourceVersion=1",
                                           "resourceVersion=18446744073709551615",
                                           "resourceVersion=x",
                                           "resourceVersionMatch=Exact",
                                           "resourceVersionMatch=NotOlderThan",
                                           "propagationPolicy=Foreground",
                                           "propagationPolicy=Orphan",
                                           "propagationPolicy=x",
                                           "gracePeriodSeconds=0",
                                           "gracePeriodSeconds=-5",
                                           "gracePeriodSeconds=9223372036854775807",
                                           "watch=true",
                                           "watch=1",
                                           "watch=false",
                                           "timeoutSeconds=9223372036854775807",
                                           "timeoutSeconds=-1",
                                           "allowWatchBookmarks=true",
                                           "sendInitialEvents=true",
                                           "pretty=true",
                                           "%zz=%1",
                                           "includeObject=None",
                                           "includeObject=Object",
                                           "a&&b=",
                                           "orphanDependents=true"};
const std::vector<std::string> kTypes{"application/json",
                                      "application/json",
                                      "application/json-patch+json",
                                      "application/merge-patch+json",
                                      "application/strategic-merge-patch+json",
                                      "application/apply-patch+yaml",
                                      "application/yaml",
                                      "application/vnd.kubernetes.protobuf",
                                      "text/plain",
                                      "",
                                      ";;;",
                                      "application/x-www-form-urlencoded"};
const std::vector<std::string> kAccepted{"application/json",
                                         "application/json",
                                         "application/json;as=Table;g=meta.k8s.io;v=v1,application/json",
                                         "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
                                         "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
                                         "application/vnd.kubernetes.protobuf, */*",
                                         "application/vnd.kubernetes.protobuf",
                                         "*/*",
                                         "",
                                         "x"};
const std::vector<std::string> kPages{"/",
                                      "/api",
                                      "/apis",
                                      "/api/v1",
                                      "/apis/apps",
                                      "/apis/apps/v1",
                                      "/openapi/v2",
                                      "/openapi/v3",
                                      "/openapi/v3/apis/batch/v1",
                                      "/version",
                                      "/healthz",
                                      "/readyz",
                                      "/livez/ping",
                                      "/metrics",
                                      "/nothing",
                                      "//api//v1//pods",
                                      "/api/v1/pods/",
                                      "/api/v1/namespaces/default",
                                      "/api/v1/watch/pods",
                                      "/api/v1/componentstatuses",
                                      "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                                      "/apis/authentication.k8s.io/v1/tokenreviews",
                                      "/apis/example.com/v1",
                                      "/api/v2/pods",
                                      "/apis//v1/pods",
                                      "/%2e%2e/api",
                                      "/api/v1/namespaces//pods",
                                      "*",
                                      ""};

}  // namespace

ApiRequest RequestDie::next() {
  const Sample& sample = one_of(samples());
  ApiRequest request = [&] {
    switch (below(12)) {
      case 0:
      case 1:
      case 2:
        return create(sample);
      case 3:
      case 4:
        return update(sample);
      case 5:
      case 6:
      case 7:
        return patch(sample);
      case 8:
        return remove(sample);
      case 9:
        return read(sample);
      case 10:
        return below_object(sample);
      default:
        return nonsense();
    }
  }();
  if (request.query.empty() && chance(0.3)) {
    request.query = query();
  }
  if (chance(0.05)) {
    spoil_text(request.body);
  }
  if (chance(0.03)) {
    spoil_text(request.path);
  }
  if (chance(0.03)) {
    request.content_type = one_of(kTypes);
  }
  if (chance(0.2)) {
    request.accept = one_of(kAccepted);
  }
  return request;
}

std::string RequestDie::name() {
  return chance(0.03) ? one_of(kOddTexts) : one_of(kNames);
}

std::string RequestDie::path_of(const Sample& sample) {
  return fmt::format("{}/{}", sample.collection, name());
}

std::string RequestDie::query() {
  std::string query = one_of(kParameters);
  while (chance(0.4)) {
    query += "&" + one_of(kParameters);
  }
  if (!token_.empty() && chance(0.1)) {
    query += "&limit=1&continue=" + token_;
  }
  return query;
}

Object RequestDie::object_of(const Sample& sample) {
  const auto sound = apiserver::parse_json(sample.object);
  Value object = sound ? *sound : Value(Object());
  const bool is_definition = sample.collection.ends_with("customresourcedefinitions");
  apiserver::object_in(object.get_object(), "metadata")["name"] = is_definition ? "things.example.com" : name();
  for (double share = 0.6; chance(share); share *= 0.6) {
    spoil(object, 0);
  }
  return object.is_object() ? std::move(object.get_object()) : Object();
}

ApiRequest RequestDie::create(const Sample& sample) {
  return {.method = "POST", .path = std::string(sample.collection), .body = to_json(object_of(sample))};
}

ApiRequest RequestDie::update(const Sample& sample) {
  Object object = object_of(sample);
  const std::string own(apiserver::text_at(object, {"metadata", "name"}));
  return {.method = "PUT",
          .path = fmt::format("{}/{}", sample.collection, own.empty() ? name() : own),
          .body = to_json(object)};
}

Value RequestDie::json_patch_for(const Object& object) {
  static const std::vector<std::string> kOperations{"add", "remove", "replace", "move", "copy", "test", "x"};
  static const std::vector<std::string> kPaths{"/metadata/labels/a",
                                               "/metadata/labels",
                                               "/spec",
                                               "/spec/size",
                                               "/data/k",
                                               "/metadata/name",
                                               "/metadata/uid",
                                               "/spec/containers/0/image",
                                               "/spec/containers/-",
                                               "/spec/list/1",
                                               "/metadata/finalizers",
                                               "/kind",
                                               "",
                                               "/metadata/annotations",
                                               "/status",
                                               "/spec/replicas",
                                               "/a~1b~0",
                                               "/metadata/ownerReferences"};
  Array operations;
  do {
    Object operation;
    operation["op"] = one_of(kOperations);
    operation["path"] = one_of(kPaths);
    operation["from"] = one_of(kPaths);
    operation["value"] = chance(0.3) ? Value(object) : odd_value(0);
    operations.push_back(std::move(operation));
  } while (chance(0.5));
  return operations;
}

ApiRequest RequestDie::patch(const Sample& sample) {
  static const std::vector<std::string> kPatches{"application/json-patch+json", "application/merge-patch+json",
                                                 "application/strategic-merge-patch+json",
                                                 "application/apply-patch+yaml"};
  ApiRequest request{.method = "PATCH", .path = path_of(sample), .content_type = one_of(kPatches)};
  if (chance(0.2) && sample.parts.starts_with("status")) {
    request.path += "/status";
  }
  Object object = object_of(sample);
  if (request.content_type.ends_with("yaml")) {
    request.query = chance(0.9) ? "fieldManager=m&force=true" : query();
    apiserver::object_in(object, "metadata")["name"] = request.path.substr(request.path.rfind('/') + 1);
    request.body = to_json(object);
  } else if (request.content_type.starts_with("application/json-patch")) {
    request.body = to_json(json_patch_for(object));
  } else {
    static const std::vector<std::string> kParts{"metadata", "spec", "data", "status", "value", "kind"};
    const std::string& part = one_of(kParts);
    Object patch;
    if (const Value* value = object.if_contains(part)) {
      patch[part] = *value;
    } else {
      patch[part] = odd_value(0);
    }
    request.body = to_json(patch);
  }
  return request;
}

ApiRequest RequestDie::remove(const Sample& sample) {
  ApiRequest request{.method = "DELETE", .path = chance(0.8) ? path_of(sample) : std::string(sample.collection)};
  if (chance(0.3)) {
    Object options{{"kind", "DeleteOptions"}, {"apiVersion", "v1"}};
    options["gracePeriodSeconds"] = odd_value(kDeepest);
    options["propagationPolicy"] = chance(0.7) ? Value("Foreground") : odd_value(kDeepest);
    request.body = to_json(options);
  }
  return request;
}

ApiRequest RequestDie::read(const Sample& sample) {
  ApiRequest request{.path = chance(0.5) ? path_of(sample) : std::string(sample.collection), .query = query()};
  if (chance(0.1)) {
    request.method = "HEAD";
  }
  return request;
}

ApiRequest RequestDie::below_object(const Sample& sample) {
  static const std::vector<std::string> kMethods{"GET", "PUT", "PATCH", "POST", "DELETE"};
  static const std::vector<std::string> kBodies{
      R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"a"},"target":{"kind":"Node","name":"b"}})",
      R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"a"},"deleteOptions":{"gracePeriodSeconds":0}})",
      R"({"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"a"},"spec":{"replicas":3}})",
      R"({"status":{"phase":"Running","size":4,"conditions":[{"type":"Ready","status":"True"}]}})",
      R"({"spec":{"replicas":-1}})"};
  std::string_view part = sample.parts;
  for (std::size_t comma = part.find(','); comma != std::string_view::npos && chance(0.6); comma = part.find(',')) {
    part.remove_prefix(comma + 1);
  }
  part = part.substr(0, part.find(','));
  ApiRequest request{.method = one_of(kMethods),
                     .path = fmt::format("{}/{}", path_of(sample), part.empty() ? "status" : part)};
  Value body(object_of(sample));
  if (chance(0.6)) {
    const auto given = apiserver::parse_json(one_of(kBodies));
    body = given ? *given : Value();
    if (chance(0.3)) {
      spoil(body, 0);
    }
  }
  request.body = to_json(body);
  if (request.method == "PATCH") {
    request.content_type = "application/merge-patch+json";
  }
  return request;
}

ApiRequest RequestDie::nonsense() {
  static const std::vector<std::string> kMethods{"GET",  "GET",     "GET",   "POST", "PUT", "DELETE",
                                                 "HEAD", "OPTIONS", "TRACE", "",     "get"};
  return {
      .method = one_of(kMethods), .path = one_of(kPages), .body = chance(0.2) ? to_json(odd_value(0)) : std::string()};
}

Value RequestDie::odd_value(int depth) {
  switch (below(depth >= kDeepest ? 8 : 10)) {
    case 0:
      return nullptr;
    case 1:
      return chance(0.5);
    case 2:
      return static_cast<std::int64_t>(below(5)) - 2;
    case 3:
      return chance(0.5) ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
    case 4:
      return std::numeric_limits<std::uint64_t>::max();
    case 5:
      return chance(0.5) ? 0.5 : 1e300;
    case 6:
    case 7:
      return Value(one_of(kOddTexts));
    case 8: {
      Array array;
      while (chance(0.5)) {
        array.push_back(odd_value(depth + 1));
      }
      return array;
    }
    default: {
      Object object;
      while (chance(0.5)) {
        object[one_of(kOddTexts)] = odd_value(depth + 1);
      }
      return object;
    }
  }
}

void RequestDie::spoil(Value& value, int depth) {
  const bool leaf = !value.is_object() && !value.is_array();
  if (leaf || depth >= kDeepest || chance(0.15)) {
    if (value.is_string() && chance(0.3)) {
      std::string text(apiserver::text_of(value));
      spoil_text(text);
      value = text;
    } else if (depth > 0 || chance(0.1)) {
      value = odd_value(depth);
    }
    return;
  }
  if (Object* object = value.if_object()) {
    if (object->empty() || chance(0.1)) {
      (*object)[one_of(kOddTexts)] = odd_value(depth);
      return;
    }
    const auto at = object->begin() + static_cast<std::ptrdiff_t>(below(object->size()));
    if (chance(0.1)) {
      object->stable_erase(at);
    } else {
      spoil(at->value(), depth + 1);
    }
    return;
  }
  Array& array = value.get_array();
  if (array.empty() || chance(0.2)) {
    array.push_back(array.empty() || chance(0.5) ? odd_value(depth) : Value(array.front()));
  } else {
    spoil(array[below(array.size())], depth + 1);
  }
}

void RequestDie::spoil_text(std::string& text) {
  const auto letter = [&] { return static_cast<char>(below(256)); };
  if (text.empty() || chance(0.3)) {
    text.insert(text.begin() + static_cast<std::ptrdiff_t>(below(text.size() + 1)), letter());
  } else if (chance(0.5)) {
    text[below(text.size())] = letter();
  } else {
    text.erase(below(text.size()), 1 + below(8));
  }
}

}  // namespace gantree::test
