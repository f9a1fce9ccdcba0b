#include "kueue/own_sets.h"

#include <algorithm>
#include <span>
#include <utility>

#include "dialects/core/metadata.h"
#include "json/equal.h"
#include "json/read.h"
#include "kueue/start_record.h"

namespace gantree::kueue {

namespace {

// Whether containers, which keep their order, ask for the same.
bool same_resources(json::Value a, json::Value b, std::string_view list) {
  const auto left = items_of(a[list]);
  const auto right = items_of(b[list]);
  return std::equal(
      left.begin(), left.end(), right.begin(), right.end(), [](const json::NodeData& one, const json::NodeData& other) {
        return json::equal(map_at(json::Value(&one), "resources"), map_at(json::Value(&other), "resources"));
      });
}

bool same_size(json::Value a, json::Value b) {
  return a && b && same_resources(a, b, "containers") && same_resources(a, b, "initContainers") &&
         json::equal(map_at(a, "resources"), map_at(b, "resources"));
}

// Whether that could be read again, as it should.
bool replace(SetSpec& set, const json::Out& pod_template, OwnSets& own) {
  auto document = json::read_documents(std::string(kNoFile), pod_template.to_json(false));
  if (!document || document->empty()) {
    return false;
  }
  own.documents.push_back(std::move(document->front()));
  set.pod_template = own.documents.back().root();
  return true;
}

bool is_asked(const WorkloadObject& workload, const std::vector<SetSpec>& sets) {
  const std::vector<PodSetRequest>& known = workload.request.pod_sets;
  return std::equal(known.begin(), known.end(), sets.begin(), sets.end(),
                    [](const PodSetRequest& asked, const SetSpec& set) {
                      return asked.name == set.name && asked.count == set.count &&
                             same_size(asked.spec, map_at(set.pod_template, "spec"));
                    });
}

}  // namespace

std::optional<OwnSets> own_sets(const JobEntry& job, const Entry* entry, const PodDefaults& defaults) {
  auto parsed = parse(job.text);
  if (!parsed) {
    return std::nullopt;
  }
  auto workload = gantree::read_workload({.object = parsed->object, .ns = job.ref.ns, .name = job.ref.name});
  if (!workload) {
    return std::nullopt;
  }
  OwnSets own{.parsed = std::move(*parsed), .job = std::move(*workload)};
  json::Reader read(kNoFile, own.parsed.object.value, job.ref.name);
  own.sets = job.kind->sets(read, own.job);
  if (!read.ok()) {
    return std::nullopt;
  }
  const StartRecord record(own.parsed.object);
  for (std::size_t i = 0; i < own.sets.size(); ++i) {
    SetSpec& set = own.sets[i];
    if (!was_started(set.pod_template)) {
      continue;
    }
    const PodSetRequest* known = entry == nullptr ? nullptr : entry->pod_set(set.name);
    const json::Out text =
        unstarted(set.pod_template, record.added(i), known == nullptr ? json::Value() : map_at(known->at, "template"));
    if (!replace(set, text, own)) {
      return std::nullopt;
    }
  }
  own.asked = own.sets;
  if (defaults.any(job.ref.ns)) {
    for (SetSpec& set : own.asked) {
      if (!replace(set, defaults.apply(job.ref.ns, set.pod_template), own)) {
        return std::nullopt;
      }
    }
  }
  return own;
}

bool carries_start(const JobEntry& job) {
  const auto parsed = parse(job.text);
  const auto workload = parsed
                            ? gantree::read_workload({.object = parsed->object, .ns = job.ref.ns, .name = job.ref.name})
                            : tl::unexpected(parsed.error());
  if (!workload) {
    return false;
  }
  json::Reader read(kNoFile, parsed->object.value, job.ref.name);
  const std::vector<SetSpec> sets = job.kind->sets(read, *workload);
  return std::any_of(sets.begin(), sets.end(), [](const SetSpec& set) { return was_started(set.pod_template); });
}

bool asks_for(const WorkloadObject& workload, const OwnSets& own) {
  // One that Kueue made has the templates as they were written.
  return is_asked(workload, own.asked) || is_asked(workload, own.sets);
}

}  // namespace gantree::kueue
