#include "kai/makers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "dialects/core/metadata.h"
#include "dialects/kai/marks.h"
#include "dialects/kai/roll.h"
#include "dialects/koordinator/names.h"
#include "dialects/kueue/names.h"
#include "dialects/workloads/workload.h"
#include "live/parsed.h"

namespace gantree::kai {

namespace {

// No controller nests deeper, and objects may name each other as owners.
constexpr std::size_t kMaxOwners = 32;

const ApiKind& train_job() {
  static const ApiKind kKind{.group = "trainer.kubeflow.org", .kind = "TrainJob", .versions = {"v1alpha1"}};
  return kKind;
}

void mix(std::size_t& digest, std::string_view text) {
  for (const char c : text) {
    digest = (digest ^ static_cast<unsigned char>(c)) * 1'099'511'628'211U;  // FNV-1a
  }
  digest = (digest ^ 0x1FU) * 1'099'511'628'211U;
}

void mix(std::size_t& digest, json::Value value) {
  if (!value) {
    return;
  }
  switch (value.kind()) {
    case json::Kind::kObject:
      for (const json::MemberData& member : value.members()) {
        mix(digest, member.key);
        mix(digest, json::Value(&member.value));
      }
      mix(digest, std::string_view("}"));
      break;
    case json::Kind::kArray:
      for (const json::NodeData& item : value.items()) {
        mix(digest, json::Value(&item));
      }
      mix(digest, std::string_view("]"));
      break;
    case json::Kind::kNull:
      mix(digest, std::string_view("null"));
      break;
    default:
      mix(digest, value.text());
  }
}

bool is_elsewhere(json::Value metadata) {
  const json::Value labels = map_at(metadata, "labels");
  const json::Value annotations = map_at(metadata, "annotations");
  return text_at(labels, kueue::kQueueName) || text_at(annotations, kueue::kQueueName) ||
         text_at(labels, koordinator::kPodGroupLabel) || text_at(annotations, koordinator::kGangName);
}

// Of one that cannot be read as a workload only what it says itself.
void read_marks(const NamedObject& named, Maker& maker) {
  const auto workload = named.object.kind == train_job().kind ? Result<Workload>(invalid("")) : read_workload(named);
  if (workload) {
    maker.marked = is_marked(*workload);
    maker.joins = joins_by_template(*workload);
    return;
  }
  maker.marked =
      has_marks(map_at(named.object.metadata(), "labels")) || has_marks(map_at(named.object.metadata(), "annotations"));
}

}  // namespace

OwnerRef owner_of(json::Value metadata) {
  OwnerRef first;
  for (const json::NodeData& item : items_of(metadata ? metadata["ownerReferences"] : json::Value())) {
    const json::Value owner(&item);
    if (owner.kind() != json::Kind::kObject) {
      continue;
    }
    const std::string_view api_version = text_in(owner, "apiVersion");
    const std::size_t slash = api_version.find('/');
    OwnerRef found{
        .group = slash == std::string::npos ? std::string() : std::string(api_version.substr(0, slash)),
        .version = slash == std::string::npos ? std::string(api_version) : std::string(api_version.substr(slash + 1)),
        .kind = std::string(text_in(owner, "kind")),
        .name = std::string(text_in(owner, "name")),
        .uid = std::string(text_in(owner, "uid"))};
    const json::Value controller = owner["controller"];
    if (controller && controller.kind() == json::Kind::kBool && controller.text() == "true") {
      return found;
    }
    first = first.present() ? first : std::move(found);
  }
  return first;
}

OwnerRef Maker::ref() const {
  return {
      .group = object.group, .version = object.version, .kind = object.kind, .name = object.name, .uid = object.uid};
}

std::string maker_key(std::string_view group, std::string_view kind, std::string_view ns, std::string_view name) {
  return fmt::format("{}/{}/{}/{}", group, kind, ns, name);
}

std::vector<ApiKind> Makers::kinds() {
  std::vector<ApiKind> kinds(workload_kinds().begin(), workload_kinds().end());
  kinds.push_back(train_job());
  return kinds;
}

bool Makers::knows(std::string_view group, std::string_view kind) {
  static const std::vector<ApiKind> kKinds = kinds();
  return std::any_of(kKinds.begin(), kKinds.end(),
                     [&](const ApiKind& known) { return known.group == group && known.kind == kind; });
}

Result<Makers::Change> Makers::changed(const LiveObject& object) {
  const auto parsed = parse(object.text);
  if (!parsed) {
    return tl::unexpected(parsed.error());
  }
  const json::Value metadata = parsed->object.metadata();
  Maker maker{.object = object};
  maker.owner = owner_of(metadata);
  maker.skips = skips_grouper(map_at(metadata, "annotations"));
  read_marks({parsed->object, object.ns, object.name}, maker);
  maker.elsewhere = is_elsewhere(metadata);
  maker.contents = 14'695'981'039'346'656'037U;
  mix(maker.contents, parsed->object.value["spec"]);
  mix(maker.contents, map_at(metadata, "labels"));
  mix(maker.contents, map_at(metadata, "annotations"));
  Maker& known = makers_[maker_key(object.group, object.kind, object.ns, object.name)];
  Change change = Change::kNone;
  if (known.object.uid != object.uid || known.owner != maker.owner || known.skips != maker.skips ||
      known.marked != maker.marked || known.joins != maker.joins || known.elsewhere != maker.elsewhere ||
      known.object.name.empty()) {
    change = Change::kLineage;
  } else if (known.contents != maker.contents) {
    change = Change::kContents;
  }
  known = std::move(maker);
  return change;
}

void Makers::removed(std::string_view group, std::string_view kind, std::string_view ns, std::string_view name) {
  makers_.erase(maker_key(group, kind, ns, name));
}

const Maker* Makers::find(std::string_view ns, const OwnerRef& ref) const {
  const auto it = makers_.find(maker_key(ref.group, ref.kind, ns, ref.name));
  return it == makers_.end() || (!ref.uid.empty() && it->second.object.uid != ref.uid) ? nullptr : &it->second;
}

Ancestry Makers::ancestry(std::string_view ns, const OwnerRef& owner, const OwnerOfPod& owner_of_pod) const {
  Ancestry ancestry;
  const OwnerRef* at = &owner;
  for (std::size_t step = 0; at->present(); ++step) {
    if (step == kMaxOwners) {
      ancestry.endless = true;
      return ancestry;
    }
    if (at->group.empty() && at->kind == "Pod") {
      if (const OwnerRef* next = owner_of_pod(ns, *at); next != nullptr && next->present()) {
        at = next;
        continue;
      }
      ancestry.beyond = *at;
      return ancestry;
    }
    if (!knows(at->group, at->kind)) {
      ancestry.beyond = *at;
      return ancestry;
    }
    const Maker* maker = find(ns, *at);
    if (maker == nullptr) {
      ancestry.missing = *at;
      return ancestry;
    }
    ancestry.makers.push_back(maker);
    at = &maker->owner;
  }
  return ancestry;
}

}  // namespace gantree::kai
