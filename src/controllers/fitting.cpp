#include "controllers/fitting.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_set>
#include <utility>

#include "controllers/names.h"
#include "controllers/tolerations.h"

namespace gantree::controllers {

namespace {

constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";

constexpr std::array<std::string_view, kObstacles> kSentences = {
    "",
    "node(s) were unschedulable",
    "node(s) had untolerated taint(s)",
    "node(s) didn't match Pod's node affinity/selector",
    "node(s) didn't have free ports for the requested pod ports",
    "",
    "node(s) didn't match pod topology spread constraints",
    "node(s) didn't match pod topology spread constraints (missing required label)",
    "node(s) didn't satisfy existing pods anti-affinity rules",
    "node(s) didn't match pod anti-affinity rules",
    "node(s) didn't match pod affinity rules",
};

// How many of the pods that are thought away count for the question.
std::int64_t gone(const Fitting::Without* without, const PodQuery& query) {
  return without == nullptr ? 0 : std::count_if(without->pods.begin(), without->pods.end(), [&](const Item* pod) {
    return query.matches(*pod);
  });
}

std::int64_t amount_of(const Amounts& amounts, std::string_view resource) {
  const auto at = std::find_if(amounts.begin(), amounts.end(), [&](const auto& one) { return one.first == resource; });
  return at == amounts.end() ? 0 : at->second;
}

}  // namespace

std::string Obstacles::text() const {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < kObstacles; ++i) {
    if (counts[i] > 0 && !kSentences[i].empty()) {
      parts.push_back(fmt::format("{} {}", counts[i], kSentences[i]));
    }
  }
  for (const auto& [resource, count] : lacking) {
    parts.push_back(resource == "pods" ? fmt::format("{} Too many pods", count)
                                       : fmt::format("{} Insufficient {}", count, resource));
  }
  std::sort(parts.begin(), parts.end());
  return fmt::format("{}", fmt::join(parts, ", "));
}

Fitting::Fitting(const Item& pod, const Object& spec, Turn& turn)
    : pod_(pod), spec_(spec), turn_(turn), hosts_(turn.view().hosts()) {
  hosts_.trim();
  read_terms("podAffinity", near_, preferred_, 1);
  read_terms("podAntiAffinity", apart_, preferred_, -1);
  read_spreads();
  for (const PodCounts& group : hosts_.repelling()) {
    if (group.query.matches(pod)) {
      repelled_by_.push_back(&group);
    }
  }
  minds_others_ = !near_.empty() || !apart_.empty() || !spreads_.empty() || !repelled_by_.empty();
  has_preferences_ =
      !preferred_.empty() || !soft_spreads_.empty() || find(spec_, {"affinity", "nodeAffinity", kPreferred}) != nullptr;
}

Fitting::Term Fitting::term_of(const Value& term) {
  static const Object kNone;
  const PodCounts& counts = hosts_.counts(query_of(term.is_object() ? term.get_object() : kNone, pod_.ns));
  return {.counts = &counts, .selects_itself = counts.query.matches(pod_)};
}

void Fitting::read_terms(std::string_view which, std::vector<Term>& required, std::vector<Term>& preferred, int sign) {
  if (const Array* terms = array_at(spec_, {"affinity", which, kRequired})) {
    for (const Value& term : *terms) {
      required.push_back(term_of(term));
    }
  }
  const Array* terms = array_at(spec_, {"affinity", which, kPreferred});
  for (std::size_t i = 0; terms != nullptr && i < terms->size(); ++i) {
    if (const Value* term = find((*terms)[i], {"podAffinityTerm"})) {
      preferred.push_back(term_of(*term));
      preferred.back().weight = sign * whole_at((*terms)[i], {"weight"});
    }
  }
}

void Fitting::read_spreads() {
  const Array* constraints = array_at(spec_, {"topologySpreadConstraints"});
  for (std::size_t i = 0; constraints != nullptr && i < constraints->size(); ++i) {
    const Value& one = (*constraints)[i];
    Object term{{"topologyKey", text_at(one, {"topologyKey"})}};
    if (const Object* selector = object_at(one, {"labelSelector"})) {
      term["labelSelector"] = *selector;
    }
    if (const Array* keys = array_at(one, {"matchLabelKeys"}); keys != nullptr && term.contains("labelSelector")) {
      for (const Value& key : *keys) {
        if (const std::string_view value = pod_.label(text_of(key)); !value.empty()) {
          object_in(object_in(term, "labelSelector"), "matchLabels")[text_of(key)] = value;
        }
      }
    }
    const Term counted = term_of(term);
    Spread spread{
        .counts = counted.counts, .selects_itself = counted.selects_itself, .most_skew = whole_at(one, {"maxSkew"}, 1)};
    if (text_at(one, {"whenUnsatisfiable"}) == "ScheduleAnyway") {
      soft_spreads_.push_back(spread);
    } else {
      spread.least = least_of(*counted.counts, whole_at(one, {"minDomains"}, 1));
      spreads_.push_back(spread);
    }
  }
}

// Domains count that have a node which the pod may choose, by its affinity.
std::int64_t Fitting::least_of(const PodCounts& counts, std::int64_t least_domains) const {
  const Object* selector = object_at(spec_, {"nodeSelector"});
  const bool choosy = selector != nullptr || find(spec_, {"affinity", "nodeAffinity", kRequired}) != nullptr;
  if (!choosy) {
    const std::size_t domains = hosts_.by_value(counts.query.key).size();
    const bool some_are_empty = counts.by_value.size() < domains || counts.values_with.empty();
    return some_are_empty || std::cmp_less(domains, least_domains) ? 0 : counts.values_with.begin()->first;
  }
  std::unordered_set<std::string_view> domains;
  for (const auto& [devices, load, name] : hosts_.order_for(selector)) {
    const Host* host = hosts_.find(std::string(name));
    const std::string_view value = host == nullptr ? std::string_view() : host->node->label(counts.query.key);
    if (!value.empty() && wants_node(spec_, *host->node)) {
      domains.insert(value);
    }
  }
  if (domains.empty() || std::cmp_less(domains.size(), least_domains)) {
    return 0;
  }
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const std::string_view value : domains) {
    least = std::min(least, counts.at(value));
  }
  return least;
}

std::string Fitting::shape() const {
  std::string text = fmt::format("{} {} ", pod_.ns, pod_.pod->priority);
  for (const auto& [resource, amount] : pod_.pod->requests) {
    text += fmt::format("{}={},", resource, amount);
  }
  for (const std::string_view part : {"nodeSelector", "affinity", "tolerations", "topologySpreadConstraints"}) {
    if (const Value* value = find(spec_, {part})) {
      text += apiserver::to_json(*value);
    }
  }
  for (const std::string& port : pod_.pod->host_ports) {
    text += port;
  }
  for (std::size_t i = 0; minds_others_ && i < pod_.labels.size(); ++i) {
    text += fmt::format("{}={},", pod_.labels[i].first, pod_.labels[i].second);
  }
  return text;
}

bool Fitting::wants_devices() const {
  return std::any_of(pod_.pod->requests.begin(), pod_.pod->requests.end(), [](const auto& one) {
    return one.first != "cpu" && one.first != "memory" && one.first != "pods" && one.first != "ephemeral-storage";
  });
}

Obstacle Fitting::check(const Host& host, const Without* without, Obstacles* count) const {
  const Item& node = *host.node;
  Obstacle found = Obstacle::kNone;
  const Array* tolerations = array_at(spec_, {"tolerations"});
  const Taint cordon{std::string(kTaintUnschedulable), "", "NoSchedule"};
  if (node.deleting() || (node.node->unschedulable && !tolerates_all(tolerations, {cordon}, {"NoSchedule"}))) {
    found = Obstacle::kUnschedulable;
  } else if (!tolerates_all(tolerations, node.node->taints, {"NoSchedule", "NoExecute"})) {
    found = Obstacle::kTaint;
  } else if (!wants_node(spec_, node)) {
    found = Obstacle::kNodeAffinity;
  } else if (!has_ports(host, without)) {
    found = Obstacle::kPorts;
  } else if (!has_room(host, without, count)) {
    found = Obstacle::kResources;
  } else if (minds_others_) {
    found = check_spread(host, without);
    found = found == Obstacle::kNone ? check_others(host, without) : found;
  }
  if (count != nullptr) {
    ++count->counts[static_cast<std::size_t>(found)];
  }
  return found;
}

bool Fitting::has_ports(const Host& host, const Without* without) const {
  if (pod_.pod->host_ports.empty()) {
    return true;
  }
  for (const Item* other : turn_.view().pods_on(host.node->name)) {
    const bool counts =
        takes_room(*other) &&
        (without == nullptr || std::find(without->pods.begin(), without->pods.end(), other) == without->pods.end());
    if (counts &&
        std::find_first_of(other->pod->host_ports.begin(), other->pod->host_ports.end(), pod_.pod->host_ports.begin(),
                           pod_.pod->host_ports.end()) != other->pod->host_ports.end()) {
      return false;
    }
  }
  return true;
}

bool Fitting::has_room(const Host& host, const Without* without, Obstacles* count) const {
  const auto* nominated = hosts_.nominated(host.node->name);
  bool room = true;
  for (const auto& [resource, amount] : pod_.pod->requests) {
    std::int64_t left = amount_of(host.node->node->allocatable, resource);
    if (const auto used = host.used.find(resource); used != host.used.end()) {
      left -= used->second;
    }
    if (without != nullptr) {
      for (const Item* pod : without->pods) {
        left += amount_of(pod->pod->requests, resource);
      }
    }
    if (nominated != nullptr) {
      for (const auto& [uid, other] : *nominated) {
        left -= uid != pod_.uid && other.priority >= pod_.pod->priority ? amount_of(other.requests, resource) : 0;
      }
    }
    if (amount > left) {
      room = false;
      if (count == nullptr) {
        return false;
      }
      ++count->lacking[resource];
    }
  }
  return room;
}

Obstacle Fitting::check_spread(const Host& host, const Without* without) const {
  for (const Spread& spread : spreads_) {
    const std::string_view value = host.node->label(spread.counts->query.key);
    if (value.empty()) {
      return Obstacle::kSpreadLabel;
    }
    const std::int64_t there = spread.counts->at(value) - gone(without, spread.counts->query);
    if (there + (spread.selects_itself ? 1 : 0) - spread.least > spread.most_skew) {
      return Obstacle::kSpread;
    }
  }
  return Obstacle::kNone;
}

Obstacle Fitting::check_others(const Host& host, const Without* without) const {
  for (const PodCounts* group : repelled_by_) {
    const std::string_view value = host.node->label(group->query.key);
    // Those that are thought away are taken to be the ones that repel.
    if (!value.empty() && group->at(value) > (without == nullptr ? 0 : std::ssize(without->pods))) {
      return Obstacle::kRepelled;
    }
  }
  for (const Term& term : apart_) {
    const std::string_view value = host.node->label(term.counts->query.key);
    if (!value.empty() && term.counts->at(value) > gone(without, term.counts->query)) {
      return Obstacle::kAntiAffinity;
    }
  }
  for (const Term& term : near_) {
    const std::string_view value = host.node->label(term.counts->query.key);
    // The first of a group has nobody to be near to.
    const bool first = term.counts->total == 0 && term.selects_itself;
    if (value.empty() || (!first && term.counts->at(value) <= gone(without, term.counts->query))) {
      return Obstacle::kAffinity;
    }
  }
  return Obstacle::kNone;
}

std::int64_t Fitting::liking(const Host& host) const {
  std::int64_t liking = 0;
  const Array* terms = array_at(spec_, {"affinity", "nodeAffinity", kPreferred});
  for (std::size_t i = 0; terms != nullptr && i < terms->size(); ++i) {
    const Value* term = find((*terms)[i], {"preference"});
    if (term != nullptr && matches_node(*term, *host.node)) {
      liking += 1000 * whole_at((*terms)[i], {"weight"});
    }
  }
  for (const Term& term : preferred_) {
    const std::string_view value = host.node->label(term.counts->query.key);
    if (!value.empty() && term.counts->at(value) > 0) {
      liking += 1000 * term.weight;
    }
  }
  for (const Spread& spread : soft_spreads_) {
    const std::string_view value = host.node->label(spread.counts->query.key);
    liking -= value.empty() ? 100'000 : 1000 * std::min<std::int64_t>(spread.counts->at(value), 100);
  }
  return liking - host.load;
}

}  // namespace gantree::controllers
