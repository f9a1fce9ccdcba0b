#include "subject.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/gang_name.h"

namespace gantree {

namespace {

constexpr std::size_t kMostSuggested = 3;

std::vector<GangKey> all_keys(const World& world) {
  std::vector<GangKey> keys;
  for (const Submission& submission : world.reading.queue) {
    keys.push_back(submission.key);
  }
  for (const RunningGang& gang : world.cluster.running()) {
    keys.push_back(gang.key);
  }
  return keys;
}

std::string full_name(const GangKey& key) {
  return fmt::format("{}/{}/{}", key.ns, key.kind, key.name);
}

Result<Subject> only_one(const std::vector<NamedGangs>& found, const std::string& text) {
  if (found.size() == 1) {
    return Subject{.keys = found.front().keys, .record = {}};
  }
  std::vector<std::string> names;
  for (const NamedGangs& one : found) {
    names.push_back(full_name({.ns = one.ns, .name = one.name, .kind = one.kind}));
  }
  return invalid(fmt::format("gantree: \"{}\" may be any of {}", text, fmt::join(names, ", ")));
}

// The gangs of that name, or what is written down of one.
void add_subject(const World& world, const std::vector<GangKey>& all, const GangKey& key, Subject& subject) {
  for (const NamedGangs& named : find_gangs(all, full_name(key))) {
    for (const GangKey& one : named.keys) {
      if (std::find(subject.keys.begin(), subject.keys.end(), one) == subject.keys.end()) {
        subject.keys.push_back(one);
      }
    }
  }
  if (const auto record = world.reading.records.find(key); record != world.reading.records.end()) {
    subject.record = subject.record ? subject.record : std::optional(record->second);
  }
}

}  // namespace

Result<Subject> find_subject(const World& world, const std::vector<GangKey>& relatives, const std::string& text) {
  const std::vector<GangKey> all = all_keys(world);
  if (const std::vector<NamedGangs> found = find_gangs(all, text); !found.empty()) {
    return only_one(found, text);
  }
  Subject subject;
  for (const auto& [key, record] : world.reading.records) {
    if (may_mean(text, {.ns = key.ns, .name = record.object, .kind = "Workload"}) || may_mean(text, key)) {
      add_subject(world, all, key, subject);
    }
  }
  // What it is a part of, the nearest first; where that is none, what are parts of it.
  for (std::size_t i = 0; i < relatives.size() && (subject.keys.empty() || relatives[i].kind == "Pod"); ++i) {
    add_subject(world, all, relatives[i], subject);
  }
  if (!subject.keys.empty() || subject.record) {
    return subject;
  }
  const std::vector<std::string> similar = similar_names(all, text, kMostSuggested);
  return fail(Errc::kNotFound,
              fmt::format("gantree: nothing called \"{}\" asks for a place or runs{}", text,
                          similar.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(similar, ", "))));
}

}  // namespace gantree
