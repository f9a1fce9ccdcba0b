#include "kube/client.h"

#include <fmt/format.h>

#include <utility>

#include "json/write.h"
#include "kube/call_queue.h"

namespace gantree::kube {
namespace {

using http::Method;

constexpr std::string_view kJson = "application/json";

std::string_view content_type(PatchType type) {
  switch (type) {
    case PatchType::kMerge:
      return "application/merge-patch+json";
    case PatchType::kJson:
      return "application/json-patch+json";
    case PatchType::kStrategicMerge:
      return "application/strategic-merge-patch+json";
    case PatchType::kApply:
      return "application/apply-patch+yaml";
  }
  return kJson;
}

json::Out delete_options(const DeleteOptions& options) {
  json::Out out = json::Out::object();
  out.add("apiVersion", "v1").add("kind", "DeleteOptions");
  if (options.grace_seconds >= 0) {
    out.add("gracePeriodSeconds", options.grace_seconds);
  }
  if (!options.propagation.empty()) {
    out.add("propagationPolicy", options.propagation);
  }
  if (options.dry_run) {
    out.add("dryRun", json::Out::Array{json::Out("All")});
  }
  const Preconditions& wanted = options.preconditions;
  if (!wanted.uid.empty() || !wanted.resource_version.empty()) {
    json::Out preconditions = json::Out::object();
    if (!wanted.uid.empty()) {
      preconditions.add("uid", wanted.uid);
    }
    if (!wanted.resource_version.empty()) {
      preconditions.add("resourceVersion", wanted.resource_version);
    }
    out.add("preconditions", std::move(preconditions));
  }
  return out;
}

json::Out metadata_of(const ObjectKey& key, std::string_view uid) {
  json::Out metadata = json::Out::object();
  metadata.add("name", key.name);
  if (!key.name_space.empty()) {
    metadata.add("namespace", key.name_space);
  }
  if (!uid.empty()) {
    metadata.add("uid", uid);
  }
  return metadata;
}

std::string with_query(std::string path, std::string_view query) {
  return query.empty() ? path : std::move(path) + "?" + std::string(query);
}

std::string apply_query(PatchType type, const ApplyOptions& apply) {
  return type == PatchType::kApply
             ? fmt::format("fieldManager={}&force={}", escape(apply.field_manager), apply.force ? "true" : "false")
             : std::string();
}

bool is_lease(const Resource& resource) {
  return resource.group == leases().group && resource.plural == leases().plural;
}

}  // namespace

Client::Client(http::Transport& transport, std::shared_ptr<Credentials> credentials, ClientOptions options)
    : queue_(std::make_shared<CallQueue>(transport, std::move(credentials), std::move(options))) {}

Client::~Client() {
  queue_->transport().run([this] { queue_->stop(); });
}

void Client::read(Verb verb, std::string target, http::Headers headers, Done done, bool urgent) {
  Call call{.verb = verb, .request = {}, .done = std::move(done), .urgent = urgent};
  call.request.target = std::move(target);
  call.request.headers = std::move(headers);
  call.request.timeout = urgent ? queue_->options().lease_timeout : queue_->options().timeout;
  queue_->submit(std::move(call));
}

void Client::write(Verb verb, Method method, const Resource& resource, std::string target, std::string_view type,
                   std::string body, Done done) {
  const bool lease = is_lease(resource);
  Call call{.verb = verb, .request = {}, .done = std::move(done), .fenced = !lease, .urgent = lease};
  call.term = queue_->term();
  call.request.method = method;
  call.request.target = std::move(target);
  call.request.headers = {{"Accept", std::string(kJson)}, {"Content-Type", std::string(type)}};
  call.request.body = std::move(body);
  call.request.http2 = queue_->options().http2_for_writes;
  call.request.timeout = lease ? queue_->options().lease_timeout : queue_->options().timeout;
  queue_->submit(std::move(call));
}

void Client::get(const Resource& resource, const ObjectKey& key, Done done) {
  read(Verb::kGet, resource.path(key.name_space, key.name), {{"Accept", std::string(kJson)}}, std::move(done),
       is_lease(resource));
}

void Client::get_path(std::string target, std::string accept, Done done, std::string etag) {
  http::Headers headers = {{"Accept", std::move(accept)}};
  if (!etag.empty()) {
    headers.push_back({"If-None-Match", std::move(etag)});
  }
  read(Verb::kGet, std::move(target), std::move(headers), std::move(done));
}

void Client::list_page(const Resource& resource, std::string_view name_space, const ListOptions& options, Done done) {
  std::string target = fmt::format("{}?limit={}", resource.path(name_space), options.limit);
  const auto add = [&target](std::string_view name, std::string_view value) {
    if (!value.empty()) {
      target += fmt::format("&{}={}", name, escape(value));
    }
  };
  add("labelSelector", options.label_selector);
  add("fieldSelector", options.field_selector);
  add("continue", options.continue_token);
  read(Verb::kList, std::move(target), {{"Accept", std::string(kJson)}}, std::move(done));
}

void Client::create(const Resource& resource, std::string_view name_space, std::string body, Done done) {
  write(Verb::kCreate, Method::kPost, resource, resource.path(name_space), kJson, std::move(body), std::move(done));
}

void Client::update(const Resource& resource, const ObjectKey& key, std::string body, Done done) {
  write(Verb::kUpdate, Method::kPut, resource, resource.path(key.name_space, key.name), kJson, std::move(body),
        std::move(done));
}

void Client::update_status(const Resource& resource, const ObjectKey& key, std::string body, Done done) {
  write(Verb::kUpdate, Method::kPut, resource, resource.path(key.name_space, key.name, "status"), kJson,
        std::move(body), std::move(done));
}

void Client::patch(const Resource& resource, const ObjectKey& key, PatchType type, std::string body, Done done,
                   const ApplyOptions& apply) {
  write(Verb::kPatch, Method::kPatch, resource,
        with_query(resource.path(key.name_space, key.name), apply_query(type, apply)), content_type(type),
        std::move(body), std::move(done));
}

void Client::patch_status(const Resource& resource, const ObjectKey& key, PatchType type, std::string body, Done done,
                          const ApplyOptions& apply) {
  write(Verb::kPatch, Method::kPatch, resource,
        with_query(resource.path(key.name_space, key.name, "status"), apply_query(type, apply)), content_type(type),
        std::move(body), std::move(done));
}

void Client::bind(const ObjectKey& pod, std::string_view uid, std::string_view node, std::string_view annotations,
                  Done done) {
  json::Out target = json::Out::object();
  target.add("apiVersion", "v1").add("kind", "Node").add("name", node);
  std::string metadata = metadata_of(pod, uid).to_json(false);
  if (!annotations.empty()) {
    metadata.insert(metadata.size() - 1, fmt::format(R"(,"annotations":{})", annotations));
  }
  write(Verb::kBind, Method::kPost, pods(), pods().path(pod.name_space, pod.name, "binding"), kJson,
        fmt::format(R"({{"apiVersion":"v1","kind":"Binding","metadata":{},"target":{}}})", metadata,
                    target.to_json(false)),
        std::move(done));
}

void Client::evict(const ObjectKey& pod, const DeleteOptions& options, Done done) {
  json::Out eviction = json::Out::object();
  eviction.add("apiVersion", "policy/v1").add("kind", "Eviction").add("metadata", metadata_of(pod, {}));
  eviction.add("deleteOptions", delete_options(options));
  write(Verb::kEvict, Method::kPost, pods(), pods().path(pod.name_space, pod.name, "eviction"), kJson,
        eviction.to_json(false), std::move(done));
}

void Client::remove(const Resource& resource, const ObjectKey& key, const DeleteOptions& options, Done done) {
  write(Verb::kDelete, Method::kDelete, resource, resource.path(key.name_space, key.name), kJson,
        delete_options(options).to_json(false), std::move(done));
}

void Client::set_fence(std::function<std::uint64_t()> term) {
  queue_->transport().run([this, &term] { queue_->set_fence(std::move(term)); });
}

void Client::set_term(std::uint64_t term) {
  queue_->set_term(term);
}

const Counters& Client::counters() const {
  return queue_->counters();
}
Counters& Client::counters() {
  return queue_->counters();
}
http::Transport& Client::transport() const {
  return queue_->transport();
}
const std::shared_ptr<Credentials>& Client::credentials() const {
  return queue_->credentials();
}
std::size_t Client::pending() const {
  return queue_->pending();
}

}  // namespace gantree::kube
