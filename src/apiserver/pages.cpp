// Paths that lead to no resource.
#include <fmt/format.h>

#include <algorithm>

#include "apiserver/discovery.h"
#include "apiserver/handlers.h"
#include "apiserver/health.h"
#include "apiserver/openapi.h"

namespace gantree::apiserver {

namespace {

// The release whose behaviour is the measure.
constexpr std::string_view kMajor = "1";
constexpr std::string_view kMinor = "36";
constexpr std::string_view kVersion = "v1.36.3+gantree";
constexpr std::string_view kOpenApiProtobuf = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";

Object version_page() {
  Object object;
  object["major"] = kMajor;
  object["minor"] = kMinor;
  object["gitVersion"] = kVersion;
  object["gitCommit"] = "";
  object["gitTreeState"] = "clean";
  object["buildDate"] = "1970-01-01T00:00:00Z";
  object["goVersion"] = "";
  object["compiler"] = "g++";
  object["platform"] = "linux/amd64";
  return object;
}

bool wants_aggregated(const Request& request) {
  const auto types = media_types(request.call.accept);
  return std::any_of(types.begin(), types.end(), [](const MediaType& type) {
    return type.type == "application/json" && type.parameter("g") == "apidiscovery.k8s.io" &&
           type.parameter("v") == "v2" && type.parameter("as") == "APIGroupDiscoveryList";
  });
}

Answer page(const Object& object) {
  return object.empty() ? refuse(no_such_path()) : json_answer(200, object);
}

// Where nothing is that could answer with a Status.
Answer no_page() {
  return text_answer(404, "404 page not found\n");
}

Answer discovery_page(const Core& core, const Request& request, const std::vector<std::string>& segments) {
  const bool core_group = segments[0] == "api";
  if (segments.size() == 1 && wants_aggregated(request)) {
    Answer answer = json_answer(200, aggregated_discovery(core.registry, core_group));
    answer.content_type = kAggregatedType;
    return answer;
  }
  if (segments.size() == 1) {
    return page(core_group ? api_versions() : api_group_list(core.registry));
  }
  if (core_group) {
    return segments.size() == 2 ? page(api_resource_list(core.registry, "", segments[1])) : refuse(no_such_path());
  }
  const Object group = api_group(core.registry, segments[1]);
  if (group.empty()) {
    return no_page();
  }
  return segments.size() == 2 ? page(group) : page(api_resource_list(core.registry, segments[1], segments[2]));
}

std::vector<CustomKind> custom_kinds(const Registry& registry) {
  std::vector<CustomKind> kinds;
  for (const KindPtr& kind : registry.all()) {
    const Definition::Version* version = kind->custom() ? kind->definition->find(kind->version) : nullptr;
    if (version != nullptr) {
      kinds.push_back({kind->group, kind->version, kind->kind, kind->list_kind, kind->resource, kind->namespaced,
                       kind->has("status"), kind->has("scale"), version->openapi});
    }
  }
  return kinds;
}

Result<std::string> make_openapi(const Core& core, const std::vector<std::string>& segments) {
  const std::vector<CustomKind> custom = custom_kinds(core.registry);
  if (segments.size() == 2 && segments[1] == "v2") {
    return openapi_v2(custom);
  }
  if (segments.size() == 2 && segments[1] == "v3") {
    return openapi_v3_index(custom);
  }
  if (segments.size() == 4 && segments[1] == "v3" && segments[2] == "api") {
    return openapi_v3("", segments[3], custom);
  }
  if (segments.size() == 5 && segments[1] == "v3" && segments[2] == "apis") {
    return openapi_v3(segments[3], segments[4], custom);
  }
  return fail(Errc::kNotFound, "there is no such document");
}

// Version 2 in Protobuf is asked for by clients that check objects themselves. They are given a document without
// definitions, by which everything is well, since it is checked here anyway.
Answer empty_document() {
  Answer answer = bytes_answer(200, std::make_shared<const std::string>("\x0a\x03"
                                                                        "2.0"));
  answer.content_type =
      "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";  // without the "@", as the real one
  return answer;
}

Answer openapi_page(Core& core, const Request& request, const std::vector<std::string>& segments) {
  const auto accepted = media_types(request.call.accept);
  if (segments.size() == 2 && segments[1] == "v2" && !accepted.empty() && accepted.front().type == kOpenApiProtobuf) {
    return empty_document();
  }
  if (core.openapi_edition != core.registry.edition()) {
    core.openapi_pages.clear();
    core.openapi_edition = core.registry.edition();
  }
  // One path can be written in many ways.
  const std::string name = fmt::format("{}", fmt::join(segments, "/"));
  auto it = core.openapi_pages.find(name);
  if (it == core.openapi_pages.end()) {
    auto made = make_openapi(core, segments);
    if (!made) {
      return refuse(made.error().code == Errc::kNotFound ? no_such_path() : internal_error(made.error().message));
    }
    it = core.openapi_pages.emplace(name, std::move(*made)).first;
  }
  return bytes_answer(200, std::make_shared<const std::string>(it->second));
}

Object root_page(const Core& core) {
  Array paths{Value("/api"), Value("/api/v1"), Value("/apis")};
  for (const auto& version : core.registry.group_versions()) {
    if (!version.group.empty()) {
      paths.push_back(Value("/apis/" + version.group + "/" + version.version));
    }
  }
  for (const std::string_view path :
       {"/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/readyz", "/version"}) {
    paths.push_back(Value(path));
  }
  Object object;
  object["paths"] = std::move(paths);
  return object;
}

}  // namespace

Answer serve_page(Core& core, const Request& request) {
  const std::string& method = request.call.method;
  if (method != "GET" && method != "HEAD") {
    return refuse(method_not_allowed_here());
  }
  const std::vector<std::string> segments = segments_of(request.call.path);
  if (segments.empty()) {
    return json_answer(200, root_page(core));
  }
  if (segments[0] == "api" || segments[0] == "apis") {
    return discovery_page(core, request, segments);
  }
  if (segments[0] == "openapi") {
    return openapi_page(core, request, segments);
  }
  if (segments[0] == "version" && segments.size() == 1) {
    return json_answer(200, version_page());
  }
  if (segments[0] == "healthz" || segments[0] == "livez" || segments[0] == "readyz") {
    return health_page(core, request, segments);
  }
  if (segments[0] == "metrics" && segments.size() == 1) {
    return metrics_page(core);
  }
  return no_page();
}

}  // namespace gantree::apiserver
