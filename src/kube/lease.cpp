#include "kube/lease.h"

#include <limits>

#include "json/decode.h"
#include "json/read.h"
#include "json/write.h"

namespace gantree::kube {

Result<Lease> read_lease(std::string_view json) {
  const Result<std::vector<json::Document>> documents = json::read_documents("lease", std::string(json));
  if (!documents.has_value()) {
    return tl::unexpected<Error>(documents.error());
  }
  if (documents->size() != 1 || documents->front().root().kind() != json::Kind::kObject) {
    return invalid("lease: the server's answer is no object");
  }
  const json::Value root = documents->front().root();
  json::Reader read("lease", root, "Lease");
  const json::Value metadata = read.require_object(root, "metadata");
  const json::Value spec = read.object(root, "spec");
  const auto text = [&read](json::Value parent, std::string_view key) {
    return std::string(read.text(parent, key).value_or(""));
  };
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  Lease lease;
  lease.name_space = text(metadata, "namespace");
  lease.name = text(metadata, "name");
  lease.uid = text(metadata, "uid");
  lease.resource_version = text(metadata, "resourceVersion");
  lease.holder = text(spec, "holderIdentity");
  lease.duration_seconds = read.integer(spec, "leaseDurationSeconds", 0, kMax).value_or(0);
  lease.acquire_time = text(spec, "acquireTime");
  lease.renew_time = text(spec, "renewTime");
  lease.transitions = read.integer(spec, "leaseTransitions", 0, kMax).value_or(0);
  if (!read.ok()) {
    return read.error();
  }
  return lease;
}

std::string to_json(const Lease& lease) {
  json::Out metadata = json::Out::object();
  metadata.add("namespace", lease.name_space).add("name", lease.name);
  if (!lease.uid.empty()) {
    metadata.add("uid", lease.uid);
  }
  if (!lease.resource_version.empty()) {
    metadata.add("resourceVersion", lease.resource_version);
  }
  json::Out spec = json::Out::object();
  spec.add("holderIdentity", lease.holder).add("leaseDurationSeconds", lease.duration_seconds);
  if (!lease.acquire_time.empty()) {
    spec.add("acquireTime", lease.acquire_time);
  }
  spec.add("renewTime", lease.renew_time).add("leaseTransitions", lease.transitions);
  json::Out out = json::Out::object();
  out.add("apiVersion", "coordination.k8s.io/v1").add("kind", "Lease");
  out.add("metadata", std::move(metadata)).add("spec", std::move(spec));
  return out.to_json(false);
}

}  // namespace gantree::kube
