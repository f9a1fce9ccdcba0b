#include "apiserver/intake.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

#include "apiserver/defaults.h"
#include "apiserver/json_twice.h"
#include "apiserver/pod_admission.h"
#include "apiserver/rules.h"
#include "apiserver/schema.h"

namespace gantree::apiserver {

namespace {

// Of Services: 10.96.0.0/16.
constexpr std::uint64_t kAddresses = 65'536;
constexpr int kAddressTries = 1'000;
constexpr std::size_t kLongestManager = 128;
// Of who owns which field: as deep as an object, and some steps more.
constexpr std::size_t kMaxAccountDepth = kMaxObjectDepth + 16;

std::string_view options_of(const Request& request) {
  return request.call.method == "POST"  ? "CreateOptions"
         : request.call.method == "PUT" ? "UpdateOptions"
                                        : "PatchOptions";
}

bool is_json(std::string_view content_type) {
  const auto types = media_types(content_type);
  return types.empty() || types.front().type == "application/json" || types.front().type == "*/*";
}

// Kinds whose status a creator may give.
bool keeps_status(const Kind& kind) {
  return kind.table == "nodes" || kind.table == "persistentvolumes" || !kind.has("status");
}

// Read again where they have changed.
const std::vector<PriorityClassFacts>& priority_classes(Core& core) {
  static constexpr std::string_view kTable = "priorityclasses.scheduling.k8s.io";
  const Table* table = core.store.find_table(kTable);
  const std::uint64_t changed = table == nullptr ? 0 : table->changed;
  std::vector<PriorityClassFacts>& classes = core.priority_classes;
  if (std::exchange(core.priority_classes_changed, changed) == changed) {
    return classes;
  }
  classes.clear();
  if (table != nullptr) {
    for (const auto& [key, entry] : table->entries) {
      const auto object = core.read(kTable, key);
      if (!object) {
        continue;
      }
      const Value* value = object->if_contains("value");
      const Value* preferred = object->if_contains("globalDefault");
      classes.push_back({key.name, value != nullptr && value->is_int64() ? value->get_int64() : 0,
                         std::string(text_at(*object, {"preemptionPolicy"})),
                         preferred != nullptr && preferred->is_bool() && preferred->get_bool()});
    }
  }
  return classes;
}

// An address for a Service that no other has; "" where none was found.
std::string free_address(Core& core) {
  std::set<std::string_view> taken;
  if (const Table* table = core.store.find_table("services")) {
    for (const auto& [key, entry] : table->entries) {
      if (const std::string* address = find_pair(entry.facts->fields, "spec.clusterIP")) {
        taken.emplace(*address);
      }
    }
  }
  for (int tries = 0; tries < kAddressTries; ++tries) {
    const std::uint64_t number = 2 + core.random.below(kAddresses - 2);
    std::string address = fmt::format("10.96.{}.{}", number / 256, number % 256);
    if (!taken.contains(address)) {
      return address;
    }
  }
  return {};
}

// The deepest of the members but one, so many steps deep themselves.
std::size_t depth_without(const Object& object, std::string_view skipped, std::size_t around) {
  std::size_t deepest = 0;
  for (const auto& member : object) {
    if (member.key() != skipped) {
      deepest = std::max(deepest, depth_of(member.value()) + around);
    }
  }
  return deepest;
}

// Patches can make an object deeper than any body may be.
bool is_too_deep(const Object& object) {
  const Object* metadata = object_at(object, {"metadata"});
  const Value* account = find(object, {"metadata", "managedFields"});
  return depth_without(object, "metadata", 1) > kMaxObjectDepth ||
         (metadata != nullptr && depth_without(*metadata, "managedFields", 2) > kMaxObjectDepth) ||
         (account != nullptr && depth_of(*account) > kMaxAccountDepth);
}

}  // namespace

Outcome<> check_type(const Kind& kind, Object& object) {
  const std::string_view version = text_at(object, {"apiVersion"});
  const std::string_view name = text_at(object, {"kind"});
  const std::string expected = kind.api_version();
  if (kind.custom() && (version.empty() || name.empty())) {
    return tl::unexpected(bad_request(
        fmt::format("Object '{}' is missing in '{}'", name.empty() ? "Kind" : "apiVersion", to_json(object))));
  }
  if (!version.empty() && version != expected) {
    return tl::unexpected(bad_request(fmt::format(
        "the API version in the data ({}) does not match the expected API version ({})", version, expected)));
  }
  if (!name.empty() && name != kind.kind) {
    return tl::unexpected(
        bad_request(fmt::format("{} in version \"{}\" cannot be handled as a {}: no kind \"{}\" is registered for this "
                                "path",
                                name, kind.version, kind.kind, name)));
  }
  object["apiVersion"] = expected;
  object["kind"] = kind.kind;
  if (const Value* metadata = object.if_contains("metadata");
      metadata != nullptr && !metadata->is_object() && !metadata->is_null()) {
    return tl::unexpected(bad_request(fmt::format(
        "{} in version \"{}\" cannot be handled as a {}: metadata is no object", kind.kind, kind.version, kind.kind)));
  }
  (void)object_in(object, "metadata");
  return {};
}

Outcome<> report_twice(Request& request, const std::vector<std::string>& fields) {
  const std::string_view mode = request.query.get("fieldValidation");
  if (fields.empty() || mode == "Ignore") {
    return {};
  }
  if (mode == "Strict") {
    return tl::unexpected(
        bad_request(fmt::format("strict decoding error: duplicate field \"{}\"", fmt::join(fields, "\", \""))));
  }
  for (const std::string& field : fields) {
    request.warnings.push_back(fmt::format("duplicate field \"{}\"", field));
  }
  return {};
}

Outcome<> check_size(const Request& request, const Value& value) {
  if (request.call.body.size() > kMostStored && to_json(value).size() > kMostStored) {
    return tl::unexpected(too_large());
  }
  return {};
}

Outcome<Object> decode_object(Request& request, const Kind& kind) {
  if (!is_json(request.call.content_type)) {
    return tl::unexpected(unsupported_media_type("application/json"));
  }
  std::vector<std::string> twice;
  auto value = parse_json(request.call.body, twice);
  if (!value) {
    return tl::unexpected(bad_request(fmt::format("{} in version \"{}\" cannot be handled as a {}: {}", kind.kind,
                                                  kind.version, kind.kind, value.error().message)));
  }
  if (!value->is_object()) {
    return tl::unexpected(bad_request("the body of the request is no object"));
  }
  if (auto fits = check_size(request, *value); !fits) {
    return tl::unexpected(std::move(fits.error()));
  }
  Object object = std::move(value->get_object());
  if (auto typed = check_type(kind, object); !typed) {
    return tl::unexpected(std::move(typed.error()));
  }
  if (auto sound = report_twice(request, twice); !sound) {
    return tl::unexpected(std::move(sound.error()));
  }
  return object;
}

void complete(const Kind& kind, Object& object) {
  if (kind.schema == nullptr) {
    return;
  }
  Value value(std::move(object));
  set_defaults(*kind.schema, value);
  if (!kind.custom()) {
    canonicalize(*kind.schema, value);
  }
  object = std::move(value.get_object());
  if (!kind.custom()) {
    fill_defaults(kind.group, kind.kind, object);
  }
}

Outcome<> tidy(Request& request, const Kind& kind, Object& object) {
  if (kind.schema == nullptr) {
    return {};
  }
  Value value(std::move(object));
  if (!kind.custom()) {
    if (const auto fault = decode_error(*kind.schema, value)) {
      return tl::unexpected(bad_request(fmt::format("{} in version \"{}\" cannot be handled as a {}: {}", kind.kind,
                                                    kind.version, kind.kind, *fault)));
    }
  }
  const std::vector<std::string> unknown = prune(*kind.schema, value);
  object = std::move(value.get_object());
  const std::string_view mode = request.query.get("fieldValidation");
  if (mode == "Ignore") {
    return {};
  }
  std::string all;
  for (const std::string& path : unknown) {
    const std::string text = fmt::format("unknown field \"{}\"", path);
    all += (all.empty() ? "" : ", ") + text;
    if (mode != "Strict") {
      request.warnings.push_back(text);
    }
  }
  if (mode == "Strict" && !all.empty()) {
    return tl::unexpected(
        bad_request(fmt::format("{} in version \"{}\" cannot be handled as a {}: strict decoding error: {}", kind.kind,
                                kind.version, kind.kind, all)));
  }
  return {};
}

void complete_new(const Kind& kind, Object& object) {
  if (!keeps_status(kind)) {
    object.stable_erase("status");
  }
  complete(kind, object);
}

Outcome<> prepare_kind(Core& core, const Kind& kind, Object& object) {
  if (kind.custom()) {
    return {};
  }
  const std::string name(text_at(object, {"metadata", "name"}));
  std::optional<std::string> problem = kind.table == "pods" ? admit_pod(core, object) : std::nullopt;
  prepare_create(kind.group, kind.kind, object);
  if (kind.table == "pods" && !problem) {
    problem = resolve_priority(object, priority_classes(core));
  } else if (kind.table == "services" && wants_cluster_ip(object)) {
    if (const std::string address = free_address(core); !address.empty()) {
      set_cluster_ip(object, address);
    } else {
      problem = "no cluster address is free";
    }
  } else if (kind.table == "services") {
    complete_addresses(object);
  } else if (kind.table == "priorityclasses.scheduling.k8s.io") {
    problem = second_default_problem(object, priority_classes(core));
  }
  if (problem) {
    return tl::unexpected(forbidden_request(kind.what(), name, *problem));
  }
  return {};
}

Outcome<> check_object(const Kind& kind, Object* old, Object& object, std::string_view subresource) {
  if (is_too_deep(object)) {
    return tl::unexpected(bad_request(fmt::format("{} \"{}\" is nested deeper than {}", kind.kind,
                                                  text_at(object, {"metadata", "name"}), kMaxObjectDepth)));
  }
  FieldErrors errors = check_metadata(kind.group, kind.kind, object);
  const auto add = [&errors](FieldErrors more) {
    errors.insert(errors.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  };
  if (old != nullptr) {
    add(check_metadata_change(*old, object));
  }
  if (kind.schema != nullptr) {
    Lent value(object);
    std::optional<Lent> before;
    if (old != nullptr) {
      before.emplace(*old);
    }
    add(validate_object(*kind.schema, *value, before ? &**before : nullptr));
  }
  if (!kind.custom() && old == nullptr) {
    add(check_create(kind.group, kind.kind, object));
  } else if (!kind.custom() && (subresource.empty() || subresource == "scale")) {
    add(check_update(kind.group, kind.kind, *old, object));
  } else if (!kind.custom() && subresource == "status") {
    add(check_status(kind.group, kind.kind, *old, object));
  } else if (kind.table == "pods" && subresource == "resize") {
    add(check_resize(*old, object));
  }
  if (errors.empty()) {
    return {};
  }
  return tl::unexpected(
      Failure{422, invalid_status(kind.group, kind.kind, text_at(object, {"metadata", "name"}), errors)});
}

Failure unfit_patch(const Failure& why) {
  Failure failure{
      422, invalid_status("", "", "", {{Cause::kInvalid, "patch", std::string(text_at(why.status, {"message"}))}})};
  failure.status["message"] = text_at(why.status, {"message"});
  object_in(failure.status, "details").erase("kind");
  return failure;
}

std::string manager_of(const Request& request) {
  if (const std::string_view given = request.query.get("fieldManager"); !given.empty()) {
    return std::string(given);
  }
  const std::string& who = request.call.agent.empty() ? request.call.user : request.call.agent;
  return who.substr(0, who.find('/'));
}

Outcome<> check_options(const Request& request) {
  if (request.query.has("dryRun") && request.query.get("dryRun") != "All" && !request.query.get("dryRun").empty()) {
    const FieldErrors errors{not_supported("dryRun", Value(request.query.get("dryRun")), {"All"})};
    return tl::unexpected(Failure{422, invalid_status("meta.k8s.io", options_of(request), "", errors)});
  }
  if (request.query.get("fieldManager").size() > kLongestManager) {
    const FieldErrors errors{too_long("fieldManager", kLongestManager)};
    return tl::unexpected(Failure{422, invalid_status("meta.k8s.io", options_of(request), "", errors)});
  }
  const std::string_view mode = request.query.get("fieldValidation");
  if (!mode.empty() && mode != "Ignore" && mode != "Warn" && mode != "Strict") {
    const FieldErrors errors{not_supported("fieldValidation", Value(mode), {"", "Ignore", "Strict", "Warn"})};
    return tl::unexpected(Failure{422, invalid_status("meta.k8s.io", options_of(request), "", errors)});
  }
  return {};
}

}  // namespace gantree::apiserver
