// The kinds of objects that the embedded cluster's controllers read and write.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gantree::controllers {

enum class Kind : std::uint8_t {
  kPod,
  kNode,
  kJob,
  kCronJob,
  kReplicaSet,
  kReplicationController,
  kDeployment,
  kStatefulSet,
  kDaemonSet,
  kControllerRevision,
  kPodDisruptionBudget,
  kPersistentVolumeClaim,
  kPersistentVolume,
  kStorageClass,
  kJobSet,
  kLeaderWorkerSet,
  kService,
  kEndpoints,
  kEndpointSlice,
  kConfigMap,  // whether it is there
  kSecret,     // whether it is there
  kEvent,      // made, never read
};

inline constexpr std::size_t kKinds = 22;

struct KindFacts {
  Kind kind = Kind::kPod;
  std::string_view group = {};
  std::string_view version = {};
  std::string_view plural = {};
  std::string_view name = {};
  bool namespaced = true;
  bool watched = true;
};

[[nodiscard]] const std::array<KindFacts, kKinds>& all_kind_facts();
[[nodiscard]] const KindFacts& facts(Kind kind);
[[nodiscard]] std::optional<Kind> find_kind(std::string_view group, std::string_view name);

// "batch/v1"; "v1" of the core group.
[[nodiscard]] std::string api_version(Kind kind);
// "/apis/batch/v1/namespaces/NS/jobs/NAME/status". No namespace: the collection over all namespaces.
[[nodiscard]] std::string api_path(Kind kind, std::string_view ns, std::string_view name = {},
                                   std::string_view subresource = {});

}  // namespace gantree::controllers
