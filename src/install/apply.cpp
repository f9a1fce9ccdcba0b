#include "install/apply.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <ranges>
#include <thread>
#include <utility>

#include "json/read.h"
#include "kube/blocking.h"

namespace gantree {

namespace {

constexpr std::chrono::milliseconds kPollPause{200};
constexpr std::string_view kDefinition = "CustomResourceDefinition";

kube::ObjectKey key_of(const ManifestObject& object) {
  return {.name_space = object.ns, .name = object.name};
}

tl::unexpected<Error> refused(const ManifestObject& object, std::string_view verb, const kube::Reply& reply) {
  return fail(Errc::kIo, fmt::format("{} could not be {}: {}", object.title(), verb, reply.message));
}

// Whether the conditions of a definition say that it is served.
bool is_established(const std::string& body) {
  const auto documents = json::read_documents("definition", body);
  if (!documents || documents->size() != 1) {
    return false;
  }
  const json::Value conditions = documents->front().root()["status"]["conditions"];
  if (!conditions || conditions.kind() != json::Kind::kArray) {
    return false;
  }
  return std::ranges::any_of(conditions.items(), [](const json::NodeData& item) {
    const json::Value condition(&item);
    const json::Value type = condition["type"];
    const json::Value status = condition["status"];
    return type && status && type.text() == "Established" && status.text() == "True";
  });
}

// Whether a definition that is there was brought by somebody else.
bool is_foreign(const std::string& body, std::string_view manager) {
  const auto documents = json::read_documents("definition", body);
  if (!documents || documents->size() != 1) {
    return true;
  }
  const json::Value managers = documents->front().root()["metadata"]["managedFields"];
  if (!managers || managers.kind() != json::Kind::kArray) {
    return true;
  }
  return std::ranges::none_of(managers.items(), [&](const json::NodeData& item) {
    const json::Value name = json::Value(&item)["manager"];
    return name && name.kind() == json::Kind::kString && name.text() == manager;
  });
}

Result<> await_definition(kube::Client& client, const ManifestObject& object,
                          std::chrono::steady_clock::time_point until) {
  while (true) {
    const kube::Reply reply = kube::wait_for(
        [&](kube::Client::Done done) { client.get(resource_of(object), key_of(object), std::move(done)); });
    if (reply.ok() && is_established(reply.body)) {
      return {};
    }
    if (std::chrono::steady_clock::now() >= until) {
      return fail(Errc::kIo,
                  fmt::format("{} is not served yet{}{}", object.title(), reply.ok() ? "" : ": ", reply.message));
    }
    std::this_thread::sleep_for(kPollPause);
  }
}

}  // namespace

kube::Resource resource_of(const ManifestObject& object) {
  const std::size_t slash = object.api_version.find('/');
  kube::Resource resource;
  resource.group = slash == std::string::npos ? std::string() : object.api_version.substr(0, slash);
  resource.version = slash == std::string::npos ? object.api_version : object.api_version.substr(slash + 1);
  resource.kind = object.kind;
  resource.namespaced = !object.ns.empty();
  // No kind of the manifest has another plural.
  resource.plural =
      object.kind.ends_with('y') ? object.kind.substr(0, object.kind.size() - 1) + "ies" : object.kind + "s";
  std::ranges::transform(resource.plural, resource.plural.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return resource;
}

namespace {

kube::Reply get(kube::Client& client, const ManifestObject& object) {
  return kube::wait_for(
      [&](kube::Client::Done done) { client.get(resource_of(object), key_of(object), std::move(done)); });
}

// Why the object is not to be written, for progress; nothing where it is.
std::optional<std::string> left_alone(kube::Client& client, const ManifestObject& object, std::string_view manager) {
  if (object.kind != kDefinition && !object.lasting) {
    return std::nullopt;
  }
  const kube::Reply there = get(client, object);
  if (!there.ok() || (object.kind == kDefinition && !is_foreign(there.body, manager))) {
    return std::nullopt;
  }
  return object.lasting ? "is there, and stays as it is" : "is somebody else's, and stays as it is";
}

// Of a kind that the server may not serve yet, though its definition says so.
kube::Reply apply_one(kube::Client& client, const ManifestObject& object, const kube::ApplyOptions& options,
                      std::chrono::steady_clock::time_point until) {
  while (true) {
    kube::Reply reply = kube::wait_for([&](kube::Client::Done done) {
      client.patch(resource_of(object), key_of(object), kube::PatchType::kApply, object.body.to_json(false),
                   std::move(done), options);
    });
    const bool later = object.lasting && reply.result == kube::CallResult::kNotFound;
    if (!later || std::chrono::steady_clock::now() >= until) {
      return reply;
    }
    std::this_thread::sleep_for(kPollPause);
  }
}

Result<> await_definitions(kube::Client& client, std::span<const ManifestObject> objects,
                           std::chrono::steady_clock::time_point until) {
  for (const ManifestObject& object : objects) {
    if (object.kind == kDefinition) {
      if (auto served = await_definition(client, object, until); !served) {
        return served;
      }
    }
  }
  return {};
}

}  // namespace

Result<> apply(kube::Client& client, std::span<const ManifestObject> objects, std::chrono::seconds patience,
               const Progress& progress) {
  const auto until = std::chrono::steady_clock::now() + patience;
  const kube::ApplyOptions options;
  bool served = false;
  for (const ManifestObject& object : objects) {
    // Its kind may be one of those that are defined just now.
    if (object.lasting && !std::exchange(served, true)) {
      if (auto awaited = await_definitions(client, objects, until); !awaited) {
        return awaited;
      }
    }
    if (const auto why = left_alone(client, object, options.field_manager)) {
      progress(object, *why);
      continue;
    }
    const kube::Reply reply = apply_one(client, object, options, until);
    if (!reply.ok()) {
      return refused(object, "applied", reply);
    }
    progress(object, reply.http_status == 201 ? "created" : "applied");
  }
  return served ? Result<>() : await_definitions(client, objects, until);
}

Result<> remove(kube::Client& client, std::span<const ManifestObject> objects, const Progress& progress) {
  for (const ManifestObject& object : objects | std::views::reverse) {
    if (object.kind == kDefinition || object.kind == "Namespace" || object.lasting) {
      continue;
    }
    kube::DeleteOptions options;
    options.propagation = "Background";
    const kube::Reply reply = kube::wait_for(
        [&](kube::Client::Done done) { client.remove(resource_of(object), key_of(object), options, std::move(done)); });
    if (!reply.ok() && reply.result != kube::CallResult::kNotFound) {
      return refused(object, "deleted", reply);
    }
    progress(object, reply.ok() ? "deleted" : "was not there");
  }
  return {};
}

}  // namespace gantree
