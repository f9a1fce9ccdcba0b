#include "kai/pod_group_object.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>

#include "base/duration.h"
#include "dialects/core/metadata.h"
#include "dialects/kai/names.h"
#include "json/write.h"
#include "live/object.h"

namespace gantree::kai {

namespace {

constexpr std::string_view kUser = "user";
// What is copied of an owner's annotations, in all.
constexpr std::size_t kMostCopied = std::size_t{32} * 1024;
// Annotations of the family are names, numbers and durations.
constexpr std::size_t kLongestMark = 1024;

json::Value labels_of(json::Value metadata) {
  return map_at(metadata, "labels");
}
json::Value annotations_of(json::Value metadata) {
  return map_at(metadata, "annotations");
}

// The first of these that is there.
std::string first_text(std::initializer_list<json::Value> values) {
  for (const json::Value value : values) {
    if (value) {
      return std::string(value.text());
    }
  }
  return {};
}

class Wanting {
 public:
  Wanting(const GroupSource& source, WantedGroup& wanted) : source_(source), wanted_(wanted) {}

  void fill() {
    wanted_.queue = queue();
    wanted_.priority_class = priority_class();
    wanted_.preemptibility = preemptibility();
    wanted_.preemption_delay = duration(kPreemptionDelay, false);
    wanted_.staleness_grace = duration(kStalenessGrace, true);
    copy_labels();
    copy_annotations();
  }

 private:
  [[nodiscard]] json::Value top() const { return source_.owners.empty() ? json::Value() : source_.owners.front(); }
  [[nodiscard]] json::Value pod() const { return source_.pod["metadata"]; }

  [[nodiscard]] std::string queue() const {
    const json::Value above = labels_of(top());
    const json::Value own = labels_of(pod());
    std::string name =
        first_text({text_at(above, kQueue), text_at(own, kQueue), text_at(above, kOldQueue), text_at(own, kOldQueue)});
    if (!name.empty()) {
      return name;
    }
    const std::string project = first_text({text_at(above, kProject), text_at(own, kProject)});
    if (project.empty()) {
      return std::string(kDefaultQueue);
    }
    const json::Value pool = text_at(own, kNodePool);
    return pool ? fmt::format("{}-{}", project, pool.text()) : project;
  }

  [[nodiscard]] std::string priority_class() {
    std::vector<json::Value> names;
    if (source_.ray) {
      names.push_back(text_at(labels_of(top()), kRayPriorityClass));
    }
    for (const json::Value owner : source_.owners) {
      names.push_back(text_at(labels_of(owner), kPriorityClass));
    }
    names.push_back(text_at(labels_of(pod()), kPriorityClass));
    names.push_back(text_at(map_at(source_.pod, "spec"), "priorityClassName"));
    for (const json::Value name : names) {
      if (name && source_.has_class(name.text())) {
        return std::string(name.text());
      }
      if (name) {
        remark(fmt::format("there is no PriorityClass \"{}\": it does not count", name.text()));
      }
    }
    return std::string(source_.default_class);
  }

  [[nodiscard]] std::string preemptibility() {
    for (const json::Value value : everywhere(kPreemptibility, "labels")) {
      if (value.text() == kPreemptible || value.text() == kNonPreemptible) {
        return std::string(value.text());
      }
      remark(fmt::format("{} \"{}\" is neither {} nor {}: it does not count", kPreemptibility, value.text(),
                         kPreemptible, kNonPreemptible));
    }
    return {};
  }

  [[nodiscard]] std::string duration(std::string_view key, bool negative) {
    for (const json::Value value : everywhere(key, "annotations")) {
      const auto parsed = parse_duration(value.text());
      if (parsed && (negative || parsed->count() >= 0)) {
        return std::string(value.text());
      }
      remark(fmt::format("{} \"{}\" is no duration such as 90s or 1h30m: it does not count", key, value.text()));
    }
    return {};
  }

  // The values of a key on the owners, the topmost first, then on the pod.
  [[nodiscard]] std::vector<json::Value> everywhere(std::string_view key, std::string_view map) const {
    std::vector<json::Value> values;
    for (const json::Value owner : source_.owners) {
      if (const json::Value value = text_at(map_at(owner, map), key)) {
        values.push_back(value);
      }
    }
    if (const json::Value value = text_at(map_at(pod(), map), key)) {
      values.push_back(value);
    }
    return values;
  }

  void copy_labels() {
    copy(labels_of(top()), wanted_.labels);
    if (const json::Value user = text_at(labels_of(pod()), kUser)) {
      wanted_.labels.try_emplace(std::string(kUser), user.text());
    }
  }

  void copy_annotations() {
    copy(annotations_of(top()), wanted_.annotations);
    if (const json::Value user = text_at(annotations_of(pod()), kUser)) {
      wanted_.annotations.try_emplace(std::string(kUser), user.text());
    }
    json::Out owner = json::Out::object();
    owner.add("name", source_.owner.name).add("uid", source_.owner.uid).add("group", source_.owner.group);
    owner.add("version", source_.owner.version).add("kind", source_.owner.kind);
    wanted_.annotations[std::string(kTopOwner)] = owner.to_yaml();
  }

  // Long annotations are not copied: no scheduler needs them.
  static void copy(json::Value from, std::map<std::string, std::string>& to) {
    std::size_t copied = 0;
    for (const json::MemberData& member : from ? from.members() : std::span<const json::MemberData>()) {
      const json::Value value(&member.value);
      if (value.kind() != json::Kind::kString || value.text().size() > kLongestAnnotation) {
        continue;
      }
      copied += member.key.size() + value.text().size();
      if (copied > kMostCopied) {
        return;
      }
      to.emplace(member.key, value.text());
    }
  }

  void remark(std::string what) {
    if (std::find(wanted_.remarks.begin(), wanted_.remarks.end(), what) == wanted_.remarks.end()) {
      wanted_.remarks.push_back(std::move(what));
    }
  }

  const GroupSource& source_;
  WantedGroup& wanted_;
};

// A mark of the family that is too long to be meant.
std::optional<std::string> overlong(json::Value metadata) {
  for (const std::string_view map : {"labels", "annotations"}) {
    const json::Value marks = map_at(metadata, map);
    for (const json::MemberData& member : marks ? marks.members() : std::span<const json::MemberData>()) {
      const json::Value value(&member.value);
      if (member.key.starts_with(kPrefix) && value.kind() == json::Kind::kString &&
          value.text().size() > kLongestMark && member.key != kTopOwner) {
        return fmt::format("{} is {} bytes long; at most {} are allowed", member.key, value.text().size(),
                           kLongestMark);
      }
    }
  }
  return std::nullopt;
}

LevelNames names_of(const LevelRequest& levels) {
  const auto text = [](json::Value value) { return value ? std::string(value.text()) : std::string(); };
  return {.topology = text(levels.topology), .required = text(levels.required), .preferred = text(levels.preferred)};
}

std::optional<std::string> overlong(const LevelRequest& levels) {
  const std::pair<json::Value, std::string_view> kNamed[] = {{levels.topology, levels.topology_field},
                                                             {levels.required, levels.required_field},
                                                             {levels.preferred, levels.preferred_field}};
  for (const auto& [value, field] : kNamed) {
    if (value && value.text().size() > kLongestMark) {
      return fmt::format("{} is {} bytes long; at most {} are allowed", field, value.text().size(), kLongestMark);
    }
  }
  return std::nullopt;
}

}  // namespace

bool is_grouper_made(json::Value metadata) {
  return text_at(annotations_of(metadata), kTopOwner).present();
}

Result<WantedGroup> want_group(const GroupSource& source, const GroupSpec& spec) {
  for (const json::Value owner : source.owners) {
    if (auto wrong = overlong(owner)) {
      return invalid(std::move(*wrong));
    }
  }
  auto wrong = overlong(spec.levels);
  for (const SubGroupSpec& subgroup : spec.subgroups) {
    wrong = wrong ? wrong : overlong(subgroup.levels);
  }
  if (wrong) {
    return invalid(std::move(*wrong));
  }
  WantedGroup wanted{.ns = source.ns, .name = source.name, .owner = source.owner};
  Wanting(source, wanted).fill();
  wanted.min_member = spec.min_member;
  wanted.min_groups = spec.min_groups;
  wanted.levels = names_of(spec.levels);
  for (const SubGroupSpec& subgroup : spec.subgroups) {
    wanted.subgroups.push_back({.name = subgroup.name,
                                .parent = subgroup.parent,
                                .min_member = subgroup.min_member,
                                .min_groups = subgroup.min_groups,
                                .levels = names_of(subgroup.levels)});
  }
  return wanted;
}

}  // namespace gantree::kai
