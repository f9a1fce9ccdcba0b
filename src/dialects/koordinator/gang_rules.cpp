#include "dialects/koordinator/gang_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/whole_number.h"
#include "dialects/core/metadata.h"
#include "dialects/koordinator/names.h"
#include "dialects/pod_count.h"
#include "dialects/workloads/workload.h"
#include "json/read.h"

namespace gantree::koordinator {

namespace {

constexpr int kMostMembers = std::numeric_limits<std::int32_t>::max();

int read_number(Objection& objection, json::Value value, std::string_view annotation, int min) {
  const auto number = whole_number(value.text(), min);
  if (!number) {
    objection.raise(value, fmt::format("{} must be a whole number from {}, not \"{}\"", annotation, min, value.text()));
  } else if (*number > kMostPods) {
    objection.raise(value, fmt::format("{} is {}; at most {} are allowed", annotation, *number, kMostPods));
    return min;
  }
  return number.value_or(min);
}

// "namespace/name", neither of them empty.
bool is_gang_id(std::string_view text) {
  const std::size_t slash = text.find('/');
  return slash != std::string_view::npos && slash > 0 && slash + 1 < text.size() &&
         text.find('/', slash + 1) == std::string_view::npos;
}

std::vector<GangId> read_groups(Objection& objection, json::Value value) {
  const auto wrong = [&](std::string_view why) {
    objection.raise(value, fmt::format("{} must hold a JSON list of \"namespace/name\", as in "
                                       "[\"default/a\", \"default/b\"]: {}",
                                       kGroups, why));
    return std::vector<GangId>();
  };
  if (value.text().size() > kLongestGroups) {
    return wrong(
        fmt::format("it is longer than {} bytes; at most {} gangs may be listed", kLongestGroups, kMostGroups));
  }
  const auto documents = json::read_documents(std::string(kGroups), std::string(value.text()));
  if (!documents || documents->size() != 1 || documents->front().root().kind() != json::Kind::kArray) {
    return wrong(documents ? std::string("this is no list") : documents.error().message);
  }
  std::vector<GangId> ids;
  for (const json::NodeData& item : documents->front().root().items()) {
    const json::Value id(&item);
    if (id.kind() != json::Kind::kString || !is_gang_id(id.text())) {
      return wrong(id.kind() == json::Kind::kString ? fmt::format("\"{}\" is not of that form", id.text())
                                                    : std::string("an item is no string"));
    }
    ids.emplace_back(id.text());
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  if (ids.size() > kMostGroups) {
    return wrong(fmt::format("it lists {} gangs, but at most {} may be listed", ids.size(), kMostGroups));
  }
  return ids;
}

void read_mode(Objection& objection, json::Value annotations, GangRules& rules) {
  const json::Value mode = text_at(annotations, kMode);
  if (!mode) {
    return;
  }
  rules.strict = mode.text() != "NonStrict";
  if (rules.strict && mode.text() != "Strict") {
    objection.raise(mode, fmt::format("{} must be Strict or NonStrict, not \"{}\"", kMode, mode.text()));
  }
}

void read_policy(Objection& objection, json::Value annotations, GangRules& rules) {
  json::Value policy = text_at(annotations, kMatchPolicy);
  if (!policy) {
    policy = text_at(annotations, kOldMatchPolicy);
  }
  if (!policy || policy.text() == "once-satisfied") {
    return;
  }
  if (policy.text() == "only-waiting") {
    rules.policy = MatchPolicy::kOnlyWaiting;
  } else if (policy.text() == "waiting-and-running") {
    rules.policy = MatchPolicy::kWaitingAndRunning;
  } else {
    objection.raise(policy, fmt::format("{} must be only-waiting, waiting-and-running or once-satisfied, not \"{}\"",
                                        kMatchPolicy, policy.text()));
  }
}

void note_unknown(json::Value annotations, Unused& unused) {
  constexpr std::string_view kKnown[] = {kGangName, kMinAvailable, kTotalNumber, kWaitingTime,  kTimeout,
                                         kMode,     kGroups,       kMatchPolicy, kTopologySpec, kTopologyIndex};
  for (const json::MemberData& member : annotations ? annotations.members() : std::span<const json::MemberData>()) {
    if (member.key.starts_with(kGangPrefix) &&
        std::find(std::begin(kKnown), std::end(kKnown), member.key) == std::end(kKnown)) {
      ++unused.other;
      unused.other_name = unused.other_name.empty() ? std::string(member.key) : unused.other_name;
    }
  }
}

// What PodGroups and pods write alike. `rules.min` is known already.
void read_annotations(Objection& objection, json::Value annotations, GangRules& rules, Unused& unused) {
  read_mode(objection, annotations, rules);
  read_policy(objection, annotations, rules);
  rules.group = {rules.id()};
  if (const json::Value groups = text_at(annotations, kGroups)) {
    rules.group_at = groups;
    if (auto listed = read_groups(objection, groups); !listed.empty()) {
      rules.group = std::move(listed);
    }
    if (std::find(rules.group.begin(), rules.group.end(), rules.id()) == rules.group.end()) {
      objection.raise(groups, fmt::format("{} of {} does not list {} itself", kGroups, rules.title(), rules.id()));
    }
  }
  if (const json::Value total = text_at(annotations, kTotalNumber)) {
    if (read_number(objection, total, kTotalNumber, 0) > 0) {
      ++unused.totals;
    }
  }
  unused.timeouts += text_at(annotations, kWaitingTime) ? 1 : 0;
  unused.non_strict += rules.strict ? 0 : 1;
  note_unknown(annotations, unused);
  rules.gather = read_gather_spec(objection, rules.place.file, text_at(annotations, kTopologySpec));
}

// Annotations are strings; a list here is a mistake that people make often.
void check_groups_is_text(json::Reader& read, json::Value metadata) {
  const json::Value groups = metadata["annotations"][kGroups];
  if (groups && groups.kind() == json::Kind::kArray) {
    read.complain(groups, fmt::format("annotation {} must be a string: put the list in quotes, as in "
                                      "'[\"default/a\", \"default/b\"]'",
                                      kGroups));
  }
}

// What the condition OnceSatisfied says; nothing where there is none.
std::optional<bool> read_once_whole(json::Value status) {
  const json::Value conditions = status ? status["conditions"] : json::Value();
  if (!conditions || conditions.kind() != json::Kind::kArray) {
    return std::nullopt;
  }
  for (const json::NodeData& item : conditions.items()) {
    const json::Value type = text_at(json::Value(&item), "type");
    const json::Value value = text_at(json::Value(&item), "status");
    if (type && value && type.text() == kOnceSatisfiedCondition) {
      return value.text() == "True";
    }
  }
  return std::nullopt;
}

}  // namespace

GangId gang_id(std::string_view ns, std::string_view name) {
  return fmt::format("{}/{}", ns, name);
}

std::string GangRules::title() const {
  return fmt::format("{} \"{}\"", by_pod_group ? "PodGroup" : "gang", id());
}

std::vector<std::string> Unused::notes() const {
  std::vector<std::string> notes;
  const auto gangs = [](int count, std::string_view verb, std::string_view verbs) {
    return count == 1 ? fmt::format("1 gang {}", verb) : fmt::format("{} gangs {}", count, verbs);
  };
  if (timeouts > 0) {
    notes.push_back(
        fmt::format("{} how long to wait (scheduleTimeoutSeconds, {}): a plan is of one moment, so that "
                    "has no effect",
                    gangs(timeouts, "says", "say"), kWaitingTime));
  }
  if (totals > 0) {
    notes.push_back(
        fmt::format("{} {}: pods are counted, so that has no effect", gangs(totals, "has", "have"), kTotalNumber));
  }
  if (min_resources > 0) {
    notes.push_back(fmt::format("{} minResources: what the pods request counts, so that has no effect",
                                gangs(min_resources, "has", "have")));
  }
  if (non_strict > 0) {
    notes.push_back(
        fmt::format("{} NonStrict: a gang that cannot start holds no room here, so that is the same as "
                    "Strict",
                    gangs(non_strict, "is", "are")));
  }
  if (other > 0) {
    notes.push_back(fmt::format("{} annotations that are not known and have no effect, the first is {}",
                                gangs(other, "has", "have"), other_name));
  }
  return notes;
}

std::string_view gang_name(json::Value labels, json::Value annotations) {
  for (const std::string_view label : {kPodGroupLabel, kOldPodGroupLabel}) {
    if (const json::Value name = text_at(labels, label)) {
      return name.text();
    }
  }
  const json::Value name = text_at(annotations, kGangName);
  return name ? name.text() : std::string_view{};
}

bool has_rules(json::Value labels, json::Value annotations) {
  return text_at(labels, kOldMinAvailable) || text_at(annotations, kMinAvailable);
}

Result<GangRules> read_pod_group(const NamedObject& named, Unused& unused) {
  const Object& object = named.object;
  json::Reader read(object.file, object.value, fmt::format("PodGroup \"{}/{}\"", named.ns, named.name));
  Objection objection(object.file);
  const json::Value metadata = object.metadata();
  check_groups_is_text(read, metadata);
  const json::Value annotations = read.texts(metadata, "annotations");
  GangRules rules;
  rules.ns = named.ns;
  rules.name = named.name;
  rules.by_pod_group = true;
  rules.place = object.place();
  rules.created_seconds = read_created(read, metadata);
  const json::Value spec = read.object(object.value, "spec");
  const std::int64_t min = read.integer(spec, "minMember", -kMostMembers, kMostMembers).value_or(0);
  if (min < 0) {
    objection.raise(spec["minMember"],
                    fmt::format("spec.minMember of {} is {}, but must not be negative", rules.title(), min));
  }
  if (min > kMostPods) {
    objection.raise(spec["minMember"],
                    fmt::format("spec.minMember of {} is {}; at most {} are allowed", rules.title(), min, kMostPods));
  }
  rules.min = static_cast<int>(std::clamp<std::int64_t>(min, 0, kMostPods));
  unused.timeouts += read.integer(spec, "scheduleTimeoutSeconds", 0, kMostMembers) ? 1 : 0;
  unused.min_resources += read.object(spec, "minResources") ? 1 : 0;
  const json::Value status = read.object(object.value, "status");
  const std::string_view phase = read.text(status, "phase").value_or("");
  const std::int64_t scheduled = read.integer(status, "scheduled", 0, kMostMembers).value_or(0);
  rules.once_whole = read_once_whole(status);
  rules.satisfied = phase == "Scheduled" || phase == "Running" || (scheduled > 0 && scheduled >= min) ||
                    rules.once_whole.value_or(false);
  rules.succeeded = static_cast<int>(read.integer(status, "succeeded", 0, kMostMembers).value_or(0));
  rules.over = phase == "Finished" || phase == "Failed" || read.text(metadata, "deletionTimestamp").has_value();
  if (!read.ok()) {
    return read.error();
  }
  read_annotations(objection, annotations, rules, unused);
  rules.objection = objection.first();
  return rules;
}

GangRules read_pod_rules(std::string_view ns, std::string_view file, json::Value metadata, Unused& unused) {
  Objection objection(file);
  const json::Value labels = map_at(metadata, "labels");
  const json::Value annotations = map_at(metadata, "annotations");
  GangRules rules;
  rules.ns = ns;
  rules.name = gang_name(labels, annotations);
  rules.place = {file, metadata.line()};
  json::Value min = text_at(labels, kOldMinAvailable);
  std::string_view name = kOldMinAvailable;
  if (!min) {
    min = text_at(annotations, kMinAvailable);
    name = kMinAvailable;
  }
  rules.min = read_number(objection, min, name, 0);
  json::Reader read("", "");
  rules.created_seconds = read_created(read, metadata);
  read_annotations(objection, annotations, rules, unused);
  rules.objection = objection.first();
  return rules;
}

bool agree(const GangRules& a, const GangRules& b) {
  return a.min == b.min && a.policy == b.policy && a.strict == b.strict && a.group == b.group &&
         a.gather.rules == b.gather.rules;
}

}  // namespace gantree::koordinator
