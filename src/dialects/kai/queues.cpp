#include "dialects/kai/queues.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/duration.h"
#include "dialects/kai/names.h"
#include "json/decode.h"

namespace gantree::kai {

namespace {

constexpr std::array<std::string_view, kResources> kNames = {"cpu", "memory", "gpu"};
constexpr std::int64_t kMegabyte = 1'000'000;
constexpr std::int64_t kUsualPriority = 100;

// Which of the three a resource counts as; kResources for none.
std::size_t kind_of(std::string_view resource) {
  if (resource == "cpu") {
    return 0;
  }
  if (resource == "memory") {
    return 1;
  }
  return resource.ends_with("/gpu") ? 2 : kResources;
}

constexpr std::int64_t kNoBound = -1;  // as it is written

// cpu is written in milli and counted so; memory is written in megabytes.
std::optional<std::int64_t> read_amount(json::Reader& read, json::Value resource, std::string_view key,
                                        std::size_t kind) {
  const auto written = read.quantity(resource, key, Unit::kOne, Round::kDown);
  if (!written) {
    return std::nullopt;
  }
  if (*written == kNoBound) {
    return kUnlimited;
  }
  if (*written < 0) {
    read.complain(resource[key],
                  fmt::format("{} is {}; only -1, which is unlimited, is below 0", read.path(resource[key]), *written));
    return std::nullopt;
  }
  std::int64_t amount = *written;
  if (kind == 1 && __builtin_mul_overflow(*written, kMegabyte, &amount)) {
    return kUnlimited;
  }
  return amount;
}

Allowance read_allowance(json::Reader& read, json::Value resource, std::size_t kind) {
  const std::int64_t quota = read_amount(read, resource, "quota", kind).value_or(0);
  const std::int64_t limit = read_amount(read, resource, "limit", kind).value_or(0);
  if (limit == kUnlimited) {
    return {.quota = quota, .beyond = std::nullopt};
  }
  // No limit given means nothing beyond the quota.
  if (limit == 0 || quota == kUnlimited) {
    return {.quota = limit == 0 ? quota : limit, .beyond = 0};
  }
  return {.quota = std::min(quota, limit), .beyond = std::max<std::int64_t>(0, limit - quota)};
}

// Whole seconds, rounded up.
std::optional<std::int64_t> read_least_run(json::Reader& read, json::Value spec, std::string_view field,
                                           Remarks& remarks) {
  const auto text = read.text(spec, field);
  if (!text) {
    return std::nullopt;
  }
  const auto time = parse_duration(*text);
  if (!time || time->count() < 0 || *time > kLongestDelay) {
    read.complain(spec[field], fmt::format("{} must be a duration from 0s to {}h, not \"{}\"", read.path(spec[field]),
                                           kLongestDelay.count(), *text));
    return std::nullopt;
  }
  remarks.add(fmt::format("spec.{} has no effect in a plan", field));
  return std::chrono::ceil<std::chrono::seconds>(*time).count();
}

}  // namespace

std::string title_of_queue(std::string_view name) {
  return fmt::format("Queue \"{}\"", name);
}

std::string firm_title_of_queue(std::string_view name) {
  return fmt::format("the non-preemptible quota of {}", title_of_queue(name));
}

std::string queue_named_in(std::string_view title) {
  const std::size_t quote = title.find('"');
  return std::string(title.substr(quote + 1, title.size() - quote - 2));
}

Result<> QueueTree::read(const NamedObject& named, Remarks& all_remarks) {
  Remarks remarks(fmt::format("Queue {}", named.name));
  json::Reader read(named.object.file, named.object.value, fmt::format("Queue \"{}\"", named.name));
  const json::Value spec = read.object(named.object.value, "spec");
  const json::Value resources = read.object(spec, "resources");
  if (!resources) {
    remarks.add("spec.resources is not given: nothing is limited");
  }
  Queue queue;
  queue.parent = read.text(spec, "parentQueue").value_or("");
  queue.place = {named.object.file, queue.parent.empty() ? named.object.value.line() : spec["parentQueue"].line()};
  for (std::size_t kind = 0; kind < kResources; ++kind) {
    if (const json::Value resource = read.object(resources, kNames[kind])) {
      queue.allowances[kind] = read_allowance(read, resource, kind);
    }
  }
  queue.rules.name = title_of_queue(named.name);
  queue.rules.tree = kFamily;
  queue.rules.within = WithinRule::kLowerPriority;
  queue.rules.reclaim = ReclaimRule::kAny;
  queue.rules.priority =
      read.integer(spec, "priority", std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max())
          .value_or(kUsualPriority) -
      kUsualPriority;
  const json::Value gpu = read.object(resources, kNames[2]);
  const json::Value weighed = gpu ? gpu : read.object(resources, kNames[0]);
  queue.rules.weight = std::max<std::int64_t>(
      0, read.quantity(weighed, "overQuotaWeight", Unit::kMilli, Round::kDown).value_or(queue.rules.weight));
  queue.least_run.queue = named.name;
  queue.least_run.within_seconds = read_least_run(read, spec, "preemptMinRuntime", remarks);
  queue.least_run.reclaim_seconds = read_least_run(read, spec, "reclaimMinRuntime", remarks);
  if (!read.ok()) {
    return read.error();
  }
  all_remarks.add_all(remarks);
  queues_.emplace(named.name, std::move(queue));
  return {};
}

Result<> QueueTree::connect(Quota& quota) {
  for (auto& [name, queue] : queues_) {
    if (queue.parent.empty()) {
      continue;
    }
    const auto parent = queues_.find(queue.parent);
    if (parent == queues_.end()) {
      return fail(Errc::kNotFound, fmt::format("{}: Queue \"{}\": parentQueue: there is no Queue \"{}\"",
                                               json::to_string(queue.place), name, queue.parent));
    }
    parent->second.leaf = false;
  }
  for (const auto& [name, queue] : queues_) {
    if (auto checked = check_depth(name); !checked) {
      return checked;
    }
  }
  for (const auto& [name, queue] : queues_) {
    open(name, quota);
  }
  return {};
}

Result<> QueueTree::check_depth(const std::string& name) const {
  auto at = queues_.find(name);
  for (int above = 0; above < kMaxDepth; ++above) {
    if (at->second.parent.empty()) {
      return {};
    }
    at = queues_.find(at->second.parent);
  }
  // So many steps on, whoever is still below another is in a circle.
  for (std::size_t step = 0; step < queues_.size() && !at->second.parent.empty(); ++step) {
    at = queues_.find(at->second.parent);
  }
  const Queue& deep = queues_.find(name)->second;
  if (at->second.parent.empty()) {
    return invalid(fmt::format("{}: Queue \"{}\": parentQueue: the tree is deeper than {} queues",
                               json::to_string(deep.place), name, kMaxDepth));
  }
  return invalid(
      fmt::format("{}: Queue \"{}\": parentQueue: it is above itself", json::to_string(at->second.place), at->first));
}

// Parents first.
void QueueTree::open(const std::string& name, Quota& quota) {
  Queue& queue = queues_.find(name)->second;
  if (queue.cells[0]) {
    return;
  }
  if (!queue.parent.empty()) {
    open(queue.parent, quota);
  }
  if (queue.leaf) {
    for (auto at = queues_.find(name); at != queues_.end(); at = queues_.find(at->second.parent)) {
      queue.rules.least_runs.push_back(at->second.least_run);
    }
    queue.id = quota.add_queue(queue.rules);
  }
  const auto parent = queues_.find(queue.parent);
  for (std::size_t kind = 0; kind < kResources; ++kind) {
    const std::string resource(kNames[kind]);
    const Unit unit = kind == 0 ? Unit::kMilli : Unit::kOne;
    if (!roots_[kind]) {
      // What no queue is promised belongs to whoever comes.
      roots_[kind] =
          quota.add({.queue = "the cluster", .flavor = {}, .resource = resource, .unit = unit, .nominal = kUnlimited});
    }
    queue.cells[kind] = quota.add({.queue = queue.rules.name,
                                   .flavor = {},
                                   .resource = resource,
                                   .unit = unit,
                                   .nominal = queue.allowances[kind].quota,
                                   .borrowing_limit = queue.allowances[kind].beyond,
                                   .parent = parent == queues_.end() ? roots_[kind] : parent->second.cells[kind],
                                   .owner = queue.id,
                                   .whole = true});
    // Apart from what the queue uses in all: without an owner, since nothing is lent or taken back here.
    queue.firm_cells[kind] =
        quota.add({.queue = firm_title_of_queue(name),
                   .flavor = {},
                   .resource = resource,
                   .unit = unit,
                   .nominal = queue.allowances[kind].quota,
                   .borrowing_limit = 0,
                   .parent = parent == queues_.end() ? std::nullopt : parent->second.firm_cells[kind],
                   .whole = true});
  }
}

Result<const Queue*> QueueTree::find(const Draft& draft, Remarks& remarks) const {
  const bool named = draft.queue || !draft.project_queue.empty();
  const std::string name(draft.queue                    ? draft.queue.text()
                         : !draft.project_queue.empty() ? std::string_view(draft.project_queue)
                                                        : kDefaultQueue);
  if (queues_.empty()) {
    if (named) {
      remarks.add("a queue is named, but no Queue is in the input: planned without quota");
    }
    return nullptr;
  }
  const auto found = queues_.find(name);
  const int line = draft.queue ? draft.queue.line() : draft.line;
  if (found == queues_.end() && !named) {
    remarks.add(fmt::format("no queue is named (label {}), and there is no Queue \"{}\": planned without quota", kQueue,
                            kDefaultQueue));
    return nullptr;
  }
  if (found == queues_.end()) {
    return invalid(
        fmt::format("{}: {}: there is no Queue \"{}\"", json::to_string({draft.file, line}), draft.queue_field, name));
  }
  if (!found->second.leaf) {
    return invalid(fmt::format("{}: {}: Queue \"{}\" holds other queues; gangs go to one of those",
                               json::to_string({draft.file, line}), draft.queue_field, name));
  }
  return &found->second;
}

const Queue* QueueTree::find_running(std::string_view name) const {
  const auto found = queues_.find(name.empty() ? kDefaultQueue : name);
  return found == queues_.end() || !found->second.leaf ? nullptr : &found->second;
}

QuotaDemand demand_in(const Queue& queue, bool preemptible, const Amounts& requests, const ResourceNames& names) {
  QuotaDemand demand;
  const auto add = [&](QuotaId cell, std::int64_t amount) {
    const auto known = std::find_if(demand.begin(), demand.end(), [&](const auto& one) { return one.first == cell; });
    if (known == demand.end()) {
      demand.emplace_back(cell, amount);
    } else if (__builtin_add_overflow(known->second, amount, &known->second)) {
      known->second = kUnlimited;
    }
  };
  for (const auto& [resource, amount] : requests.entries()) {
    const std::size_t kind = kind_of(names.name(resource));
    if (kind == kResources) {
      continue;
    }
    add(*queue.cells[kind], amount);
    if (!preemptible) {
      add(*queue.firm_cells[kind], amount);
    }
  }
  return demand;
}

}  // namespace gantree::kai
