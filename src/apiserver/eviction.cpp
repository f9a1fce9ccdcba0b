#include "apiserver/eviction.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "apiserver/handlers.h"
#include "apiserver/selector.h"

namespace gantree::apiserver {

namespace {

constexpr std::string_view kBudgets = "poddisruptionbudgets.policy";
constexpr std::chrono::seconds kRetry{10};

std::int64_t number_at(const Object& object, std::initializer_list<std::string_view> keys) {
  const Value* value = find(object, keys);
  return value != nullptr && value->is_int64() ? value->get_int64() : 0;
}

// Names of the budgets that the pod counts to.
std::vector<std::string> budgets_of(const Core& core, const std::string& ns, const Object& pod) {
  std::vector<std::string> names;
  const Table* table = core.store.find_table(kBudgets);
  if (table == nullptr) {
    return names;
  }
  const Pairs labels = pairs_of(object_at(pod, {"metadata", "labels"}));
  for (auto it = table->entries.lower_bound({ns, ""}); it != table->entries.end() && it->first.ns == ns; ++it) {
    const auto budget = core.read(kBudgets, it->first);
    const auto selector = budget ? LabelSelector::from_object(find(*budget, {"spec", "selector"}))
                                 : Result<LabelSelector>(invalid("gone"));
    if (selector && selector->matches(labels)) {
      names.push_back(it->first.name);
    }
  }
  return names;
}

Failure over_budget(const Object& budget) {
  Failure failure = too_many_requests("the pod's disruption budget does not allow it now", std::chrono::seconds(0));
  add_cause(
      failure, "DisruptionBudget",
      fmt::format("disruption budget {} wants {} healthy pods; there are {}", text_at(budget, {"metadata", "name"}),
                  number_at(budget, {"status", "desiredHealthy"}), number_at(budget, {"status", "currentHealthy"})),
      "");
  return failure;
}

bool is_ready(const Object& pod) {
  const Array* conditions = array_at(pod, {"status", "conditions"});
  return conditions != nullptr && std::any_of(conditions->begin(), conditions->end(), [](const Value& one) {
           return text_at(one, {"type"}) == "Ready" && text_at(one, {"status"}) == "True";
         });
}

// A pod that is not ready is no loss: where the budget says so, or while the others are as many as it wants.
bool is_no_loss(const Object& budget, const Object& pod) {
  const std::int64_t desired = number_at(budget, {"status", "desiredHealthy"});
  return !is_ready(pod) && (text_at(budget, {"spec", "unhealthyPodEvictionPolicy"}) == "AlwaysAllow" ||
                            (desired > 0 && number_at(budget, {"status", "currentHealthy"}) >= desired));
}

// Takes one disruption from the budget, or says why there is none.
Outcome<> spend(Core& core, const Key& key, const Object& budget, std::string_view pod, bool rehearsal) {
  if (number_at(budget, {"status", "observedGeneration"}) < number_at(budget, {"metadata", "generation"})) {
    return tl::unexpected(too_many_requests("the pod's disruption budget does not allow it now", kRetry));
  }
  if (number_at(budget, {"status", "disruptionsAllowed"}) <= 0) {
    return tl::unexpected(over_budget(budget));
  }
  if (!rehearsal) {
    core.edit(kBudgets, key, [&](Object& object) {
      Object& status = object_in(object, "status");
      status["disruptionsAllowed"] = number_at(object, {"status", "disruptionsAllowed"}) - 1;
      object_in(status, "disruptedPods")[pod] = core.now();
      return true;
    });
  }
  return {};
}

// Pods that do not run cost no budget.
bool is_free(const Object& pod) {
  const std::string_view phase = text_at(pod, {"status", "phase"});
  return phase == "Succeeded" || phase == "Failed" || phase == "Pending" || phase.empty() || is_deleting(pod);
}

// By this the pod's owner knows that it did not fail by itself.
bool note_disruption(Object& pod, const std::string& now) {
  Value& list = object_in(pod, "status")["conditions"];
  Array& conditions = list.is_array() ? list.get_array() : list.emplace_array();
  conditions.erase(std::remove_if(conditions.begin(), conditions.end(),
                                  [](const Value& one) { return text_at(one, {"type"}) == "DisruptionTarget"; }),
                   conditions.end());
  conditions.push_back(Object{{"type", "DisruptionTarget"},
                              {"status", "True"},
                              {"lastProbeTime", nullptr},
                              {"lastTransitionTime", now},
                              {"reason", "EvictionByEvictionAPI"},
                              {"message", "Eviction API: evicting"}});
  return true;
}

}  // namespace

Task<Answer> evict_pod(Core& core, RequestPtr request) {
  if (request->call.method != "POST") {
    co_return refuse(method_not_allowed_here());
  }
  const auto body = parse_json(request->call.body);
  if (!body || !body->is_object()) {
    co_return refuse(bad_request("the body of the request is no Eviction"));
  }
  if (const std::string_view name = text_at(*body, {"metadata", "name"}); !name.empty() && name != request->name) {
    co_return refuse(bad_request("the Eviction and the path name different pods"));
  }
  const auto pod = core.read("pods", {request->ns, request->name});
  if (!pod) {
    co_return refuse(not_found(request->what(), request->name));
  }
  auto deletion = std::make_shared<Request>(*request);
  deletion->subresource.clear();
  const Value* given = find(*body, {"deleteOptions"});
  deletion->call.body = given == nullptr || !given->is_object() ? std::string() : to_json(*given);
  auto options = read_delete_options(*deletion);
  if (!options) {
    co_return refuse(options.error());
  }
  const bool will_go = !options->dry_run && !is_deleting(*pod) && options->version.empty() &&
                       (options->uid.empty() || options->uid == text_at(*pod, {"metadata", "uid"}));
  bool no_loss = false;
  if (!is_free(*pod)) {
    const std::vector<std::string> names = budgets_of(core, request->ns, *pod);
    if (names.size() > 1) {
      co_return refuse(
          internal_error("several PodDisruptionBudgets count this pod: it cannot be told which of them decides"));
    }
    const Key key{request->ns, names.empty() ? std::string() : names.front()};
    const auto budget = names.empty() ? std::nullopt : core.read(kBudgets, key);
    no_loss = budget && is_no_loss(*budget, *pod);
    if (budget && !no_loss) {
      if (const auto spent = spend(core, key, *budget, request->name, options->dry_run); !spent) {
        co_return refuse(spent.error());
      }
    }
  }
  if (will_go) {
    core.edit("pods", {request->ns, request->name},
              [&](Object& object) { return note_disruption(object, core.now()); });
  }
  if (no_loss && options->version.empty()) {
    // It may have become ready when those are heard who have a say in deletions.
    const Entry* entry = core.store.find("pods", {request->ns, request->name});
    options->version = entry == nullptr ? std::string() : std::to_string(entry->revision);
  }
  const Answer deleted = co_await delete_with(core, deletion, *options);
  if (!deleted.ok()) {
    co_return deleted;
  }
  co_return json_answer(201, created());
}

}  // namespace gantree::apiserver
