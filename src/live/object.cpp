#include "live/object.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/check.h"
#include "dialects/family_marks.h"
#include "dialects/kai/names.h"
#include "dialects/koordinator/names.h"
#include "dialects/kueue/names.h"
#include "json/read.h"
#include "json/write.h"

namespace gantree {

namespace {

// A field that is kept; with its fields below, where only some of those are. In lists it speaks of every item.
struct Kept {
  std::string_view key;
  std::span<const Kept> below = {};
};

constexpr Kept kMetadata[] = {{"name"},       {"namespace"},         {"uid"},
                              {"labels"},     {"annotations"},       {"ownerReferences"},
                              {"finalizers"}, {"creationTimestamp"}, {"deletionTimestamp"}};
constexpr std::string_view kPodGroupKind = "PodGroup";
constexpr Kept kNothing[] = {{""}};
constexpr Kept kPort[] = {{"hostPort"}};
constexpr Kept kContainer[] = {{"resources"}, {"restartPolicy"}, {"ports", kPort}};
constexpr Kept kSpread[] = {{"whenUnsatisfiable"}};
constexpr Kept kVolume[] = {{"name"}, {"persistentVolumeClaim"}, {"ephemeral", kNothing}};
constexpr Kept kClaim[] = {{"name"}};
constexpr Kept kPodSpec[] = {{"schedulerName"},
                             {"priority"},
                             {"priorityClassName"},
                             {"preemptionPolicy"},
                             {"nodeSelector"},
                             {"affinity"},
                             {"tolerations"},
                             {"overhead"},
                             {"resources"},
                             {"schedulingGates"},
                             {"topologySpreadConstraints", kSpread},
                             {"volumes", kVolume},
                             {"resourceClaims", kClaim},
                             {"containers", kContainer},
                             {"initContainers", kContainer}};
constexpr Kept kCondition[] = {{"type"}, {"status"}, {"reason"}, {"message"}};
constexpr Kept kPodStatus[] = {{"phase"}, {"nominatedNodeName"}, {"conditions", kCondition}};
constexpr Kept kPod[] = {{"metadata", kMetadata}, {"spec", kPodSpec}, {"status", kPodStatus}};

// Of a pod that has a node only what it takes there, and whose it is. There are many of these.
constexpr Kept kBoundContainer[] = {{"resources"}, {"restartPolicy"}};
constexpr Kept kBoundSpec[] = {{"nodeName"},
                               {"schedulerName"},
                               {"priority"},
                               {"priorityClassName"},
                               {"preemptionPolicy"},
                               {"overhead"},
                               {"resources"},
                               {"containers", kBoundContainer},
                               {"initContainers", kBoundContainer}};
constexpr Kept kBoundStatus[] = {{"phase"}, {"startTime"}};
constexpr Kept kBoundPod[] = {{"metadata", kMetadata}, {"spec", kBoundSpec}, {"status", kBoundStatus}};

// Of those that wait in a queue by themselves also whether they are ready: nobody else tells it.
constexpr Kept kQueuedCondition[] = {{"type"}, {"status"}};
constexpr Kept kQueuedStatus[] = {{"phase"}, {"startTime"}, {"conditions", kQueuedCondition}};
constexpr Kept kQueuedPod[] = {{"metadata", kMetadata}, {"spec", kBoundSpec}, {"status", kQueuedStatus}};

// Of a pod that is too large what it takes and whose it is; where it has no node and queues would take it for theirs,
// or where that is too large too, only what it takes.
constexpr Kept kOversizedSpec[] = {{"nodeName"},
                                   {"schedulerName"},
                                   {"priority"},
                                   {"schedulingGates"},
                                   {"overhead"},
                                   {"resources"},
                                   {"containers", kBoundContainer},
                                   {"initContainers", kBoundContainer}};
constexpr Kept kOversizedPod[] = {{"metadata", kMetadata}, {"spec", kOversizedSpec}, {"status", kPodStatus}};
constexpr Kept kBareMetadata[] = {{"name"}, {"namespace"}, {"uid"}, {"creationTimestamp"}, {"deletionTimestamp"}};
constexpr Kept kBareSpec[] = {{"nodeName"},
                              {"schedulerName"},
                              {"overhead"},
                              {"resources"},
                              {"containers", kBoundContainer},
                              {"initContainers", kBoundContainer}};
constexpr Kept kBarePod[] = {{"metadata", kBareMetadata}, {"spec", kBareSpec}, {"status", kPodStatus}};

// Of PodGroups what their family reads.
constexpr Kept kGroupMetadata[] = {{"name"},        {"namespace"},         {"uid"},
                                   {"annotations"}, {"creationTimestamp"}, {"deletionTimestamp"}};
constexpr Kept kGroupSpec[] = {{"minMember"}, {"scheduleTimeoutSeconds"}, {"minResources", kNothing}};
constexpr Kept kGroupCondition[] = {{"type"}, {"status"}, {"reason"}, {"message"}, {"lastTransitionTime"}};
constexpr Kept kGroupStatus[] = {{"phase"},
                                 {"scheduled"},
                                 {"running"},
                                 {"succeeded"},
                                 {"failed"},
                                 {"scheduleStartTime"},
                                 {"conditions", kGroupCondition}};
constexpr Kept kPodGroup[] = {{"metadata", kGroupMetadata}, {"spec", kGroupSpec}, {"status", kGroupStatus}};
constexpr Kept kKaiGroupMetadata[] = {{"name"},
                                      {"namespace"},
                                      {"uid"},
                                      {"labels"},
                                      {"ownerReferences"},
                                      {"annotations"},
                                      {"creationTimestamp"},
                                      {"deletionTimestamp"}};
constexpr Kept kKaiGroupStatus[] = {{"schedulingConditions"}};
constexpr Kept kKaiGroup[] = {{"metadata", kKaiGroupMetadata}, {"spec"}, {"status", kKaiGroupStatus}};
// Of KAI's queues what administrators say; their status is ours.
constexpr Kept kKaiQueue[] = {{"metadata", kGroupMetadata}, {"spec"}};
constexpr Kept kBareGroup[] = {{"metadata", kBareMetadata}, {"spec", kGroupSpec}};

// Of claims and volumes only what says which node will do.
constexpr Kept kClaimMetadata[] = {{"name"}, {"namespace"}, {"uid"}};
constexpr Kept kClaimSpec[] = {{"volumeName"}};
constexpr Kept kClaimStatus[] = {{"phase"}};
constexpr Kept kPersistentClaim[] = {{"metadata", kClaimMetadata}, {"spec", kClaimSpec}, {"status", kClaimStatus}};
constexpr Kept kVolumeSpec[] = {{"nodeAffinity"}};
constexpr Kept kPersistentVolume[] = {{"metadata", kClaimMetadata}, {"spec", kVolumeSpec}};

constexpr Kept kNodeMetadata[] = {{"name"}, {"uid"}, {"labels"}, {"creationTimestamp"}};
constexpr Kept kNodeSpec[] = {{"unschedulable"}, {"taints"}};
constexpr Kept kNodeCondition[] = {{"type"}, {"status"}};
constexpr Kept kNodeStatus[] = {{"allocatable"}, {"capacity"}, {"conditions", kNodeCondition}};
constexpr Kept kNode[] = {{"metadata", kNodeMetadata}, {"spec", kNodeSpec}, {"status", kNodeStatus}};

// Of DaemonSets what their pods will ask for; their status changes with every pod.
constexpr Kept kDaemonMetadata[] = {{"name"}, {"namespace"}, {"uid"}, {"creationTimestamp"}, {"deletionTimestamp"}};
constexpr Kept kDaemonPodSpec[] = {{"nodeSelector"},
                                   {"affinity"},
                                   {"tolerations"},
                                   {"overhead"},
                                   {"resources"},
                                   {"hostNetwork"},
                                   {"containers", kBoundContainer},
                                   {"initContainers", kBoundContainer}};
constexpr Kept kDaemonTemplate[] = {{"spec", kDaemonPodSpec}};
constexpr Kept kDaemonSpec[] = {{"template", kDaemonTemplate}};
constexpr Kept kDaemonSet[] = {{"metadata", kDaemonMetadata}, {"spec", kDaemonSpec}};

// At most so many bytes, without half a character at the end.
std::string_view cut(std::string_view text, std::size_t most) {
  if (text.size() <= most) {
    return text;
  }
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) {
    --most;
  }
  return text.substr(0, most);
}

// Never of use, and large.
constexpr std::string_view kDropped[] = {"managedFields", "kubectl.kubernetes.io/last-applied-configuration"};

class Pruner {
 public:
  // `bounded`: annotations have a limit.
  explicit Pruner(std::string& out, bool bounded = false) : out_(out), bounded_(bounded) {}

  void write(json::Value value, std::span<const Kept> kept) {
    switch (value.kind()) {
      case json::Kind::kObject:
        write_members(value, kept);
        break;
      case json::Kind::kArray:
        write_items(value, kept);
        break;
      case json::Kind::kString:
        json::append_string(out_, value.text());
        break;
      case json::Kind::kNull:
        out_ += "null";
        break;
      case json::Kind::kBool:
      case json::Kind::kNumber:
        out_ += value.text();
        break;
    }
  }

  // The members of an object without its braces. Of the root's those are left out that are written already.
  void write_members_of(json::Value value, std::span<const Kept> kept, bool root) {
    for (const json::MemberData& member : value.members()) {
      const auto here = std::find_if(kept.begin(), kept.end(), [&](const Kept& k) { return k.key == member.key; });
      const bool dropped = std::find(std::begin(kDropped), std::end(kDropped), member.key) != std::end(kDropped);
      const bool known = root && (member.key == "apiVersion" || member.key == "kind");
      if (known || dropped || (!kept.empty() && here == kept.end())) {
        continue;
      }
      comma();
      json::append_string(out_, member.key);
      out_ += ':';
      const json::Value below(&member.value);
      if (bounded_ && !root && member.key == "annotations" && below.kind() == json::Kind::kObject) {
        write_annotations(below);
      } else {
        write(below, kept.empty() ? std::span<const Kept>() : here->below);
      }
    }
  }

 private:
  void comma() {
    if (out_.back() != '{' && out_.back() != '[') {
      out_ += ',';
    }
  }

  void write_members(json::Value value, std::span<const Kept> kept) {
    out_ += '{';
    write_members_of(value, kept, false);
    out_ += '}';
  }

  void write_annotations(json::Value value) {
    out_ += '{';
    for (const json::MemberData& member : value.members()) {
      const json::Value text(&member.value);
      const bool is_text = text.kind() == json::Kind::kString;
      const bool family = is_family_mark(member.key);
      const bool dropped = std::find(std::begin(kDropped), std::end(kDropped), member.key) != std::end(kDropped);
      if (dropped || (is_text && !family && text.text().size() > kLongestAnnotation)) {
        continue;
      }
      comma();
      json::append_string(out_, member.key);
      out_ += ':';
      if (is_text) {
        json::append_string(out_, cut(text.text(), kLongestFamilyAnnotation));
      } else {
        write(text, {});
      }
    }
    out_ += '}';
  }

  void write_items(json::Value value, std::span<const Kept> kept) {
    out_ += '[';
    for (const json::NodeData& item : value.items()) {
      comma();
      write(json::Value(&item), kept);
    }
    out_ += ']';
  }

  std::string& out_;
  bool bounded_;
};

bool is_queued(json::Value root) {
  const json::Value metadata = root["metadata"];
  const json::Value labels = metadata ? metadata["labels"] : json::Value();
  return labels && labels[kueue::kManaged].present();
}

// Empty: all of it.
std::span<const Kept> kept_of(std::string_view group, std::string_view kind, json::Value root) {
  if (!group.empty()) {
    return group == "apps" && kind == "DaemonSet"                          ? std::span<const Kept>(kDaemonSet)
           : group == koordinator::kPodGroupGroup && kind == kPodGroupKind ? std::span<const Kept>(kPodGroup)
           : group == kai::kSchedulingGroup && kind == kPodGroupKind       ? std::span<const Kept>(kKaiGroup)
           : group == kai::kSchedulingGroup && kind == "Queue"             ? std::span<const Kept>(kKaiQueue)
                                                                           : std::span<const Kept>();
  }
  if (kind == "Pod") {
    const json::Value spec = root["spec"];
    const json::Value node = spec && spec.kind() == json::Kind::kObject ? spec["nodeName"] : json::Value();
    const bool bound = node && node.kind() == json::Kind::kString && !node.text().empty();
    return !bound            ? std::span<const Kept>(kPod)
           : is_queued(root) ? std::span<const Kept>(kQueuedPod)
                             : std::span<const Kept>(kBoundPod);
  }
  return kind == "Node"                    ? std::span<const Kept>(kNode)
         : kind == "PersistentVolumeClaim" ? std::span<const Kept>(kPersistentClaim)
         : kind == "PersistentVolume"      ? std::span<const Kept>(kPersistentVolume)
                                           : std::span<const Kept>();
}

std::string text_of(json::Value metadata, std::string_view key) {
  const json::Value value = metadata[key];
  return value && value.kind() == json::Kind::kString ? std::string(value.text()) : std::string();
}

}  // namespace

Result<LiveObject> prune(std::string_view group, std::string_view version, std::string_view kind,
                         std::string_view json) {
  std::string bytes;
  bytes.reserve(json.size() + 64);
  bytes.append(json);
  auto documents = json::read_documents(std::string(kNoFile), std::move(bytes));
  if (!documents) {
    return tl::unexpected(documents.error());
  }
  if (documents->size() != 1 || documents->front().root().kind() != json::Kind::kObject) {
    return invalid(fmt::format("a {} from the API server is no object", kind));
  }
  const json::Value root = documents->front().root();
  const json::Value metadata = root["metadata"];
  LiveObject object{.group = std::string(group),
                    .version = std::string(version),
                    .kind = std::string(kind),
                    .ns = {},
                    .name = {},
                    .uid = {},
                    .text = {}};
  if (!metadata || metadata.kind() != json::Kind::kObject || (object.name = text_of(metadata, "name")).empty()) {
    return invalid(fmt::format("a {} from the API server has no name", kind));
  }
  object.ns = text_of(metadata, "namespace");
  object.uid = text_of(metadata, "uid");
  const bool is_pod = group.empty() && kind == "Pod";
  const bool is_group =
      (group == koordinator::kPodGroupGroup || group == kai::kSchedulingGroup) && kind == kPodGroupKind;
  const bool bounded = is_pod || is_group;
  const auto keep = [&](std::span<const Kept> kept) {
    object.text =
        fmt::format("{{\"apiVersion\":\"{}{}{}\",\"kind\":\"{}\"", group, group.empty() ? "" : "/", version, kind);
    Pruner(object.text, bounded).write_members_of(root, kept, true);
    object.text += '}';
  };
  keep(kept_of(group, kind, root));
  object.oversized = (is_pod || is_group) && object.text.size() > kLargestObject;
  if (object.oversized && is_pod && !is_queued(root)) {
    keep(kOversizedPod);
  }
  if (object.oversized && object.text.size() > kLargestObject) {
    keep(is_pod ? std::span<const Kept>(kBarePod) : std::span<const Kept>(kBareGroup));
  }
  object.text.shrink_to_fit();
  return object;
}

namespace {

// Metadata holds strings and references only, so the first of these is the pod's own.
constexpr std::string_view kSpec = "\"spec\":{";

std::string node_field(std::string_view node) {
  std::string field = "\"nodeName\":";
  json::append_string(field, node);
  return field;
}

}  // namespace

std::string with_node(const std::string& text, std::string_view node) {
  const std::size_t at = text.find(kSpec);
  GANTREE_CHECK(at != std::string::npos);
  std::string field = node_field(node);
  if (text[at + kSpec.size()] != '}') {
    field += ',';
  }
  std::string out = text;
  out.insert(at + kSpec.size(), field);
  return out;
}

std::string without_node(const std::string& text, std::string_view node) {
  const std::size_t at = text.find(kSpec);
  const std::string field = node_field(node);
  if (at == std::string::npos || text.compare(at + kSpec.size(), field.size(), field) != 0) {
    return text;
  }
  std::string out = text;
  out.erase(at + kSpec.size(), field.size() + (text[at + kSpec.size() + field.size()] == ',' ? 1 : 0));
  return out;
}

std::string without_places(std::string message) {
  const std::string place = fmt::format("{}:1: ", kNoFile);
  constexpr std::string_view kInput = " in the input";
  for (std::size_t at = message.find(place); at != std::string::npos; at = message.find(place, at)) {
    message.erase(at, place.size());
  }
  for (std::size_t at = message.find(kInput); at != std::string::npos; at = message.find(kInput, at)) {
    message.replace(at, kInput.size(), " in the cluster");
  }
  return message;
}

}  // namespace gantree
