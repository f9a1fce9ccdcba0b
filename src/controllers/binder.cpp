// The plain scheduler: pods that name none are bound one by one, to the node with the least load of those that will do.
//
// The real one of this cluster places gangs. This one is for what any cluster's own scheduler does: pods of no gang,
// and pods that were told their host before (Kueue's), whose room the real one has booked already and would not give
// twice. Nodes are looked at in order of their load, so that mostly the first will do; pods that are told their host
// cost one look. Equal pods for which there is no node cost one search together, until something changes.
#include <fmt/format.h>

#include <algorithm>

#include "controllers/fitting.h"
#include "controllers/names.h"
#include "controllers/pod_needs.h"
#include "controllers/preemption.h"
#include "controllers/tasks.h"

namespace gantree::controllers {

namespace {

constexpr std::string_view kHostname = "kubernetes.io/hostname";
constexpr std::chrono::seconds kFirstRetry{1};
constexpr std::chrono::seconds kLongestRetry{20};
// Where a pod prefers some nodes to others, so many that will do are compared.
constexpr int kMostCompared = 1000;

// The one node that the pod names, by its host name or as pods of DaemonSets do; nothing where it names none.
std::optional<std::string> named_node(const Object& spec) {
  const std::string_view host = text_at(spec, {"nodeSelector", kHostname});
  if (!host.empty()) {
    return std::string(host);
  }
  const Array* terms = array_at(
      spec, {"affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"});
  const Array* fields = terms == nullptr || terms->size() != 1 ? nullptr : array_at((*terms)[0], {"matchFields"});
  const Array* values = fields == nullptr || fields->size() != 1 ? nullptr : array_at((*fields)[0], {"values"});
  if (values == nullptr || values->size() != 1 || text_at((*fields)[0], {"operator"}) != "In") {
    return std::nullopt;
  }
  return std::string(text_of((*values)[0]));
}

// Finds the node. Counts why others will not do.
class Search {
 public:
  Search(const Fitting& fitting, Hosts& hosts) : fitting_(fitting), hosts_(hosts) {}

  const Host* run(const std::optional<std::string>& name) {
    const std::string& nominated = fitting_.pod().pod->nominated;
    const Host* best = nominated.empty() ? nullptr : hosts_.find(nominated);
    if (best != nullptr && fitting_.check(*best) == Obstacle::kNone) {
      return best;
    }
    best = nullptr;
    if (name) {
      const Host* host = hosts_.find(*name);
      return host != nullptr && look_at(*host) ? host : nullptr;
    }
    const Hosts::Order& order = hosts_.order_for(object_at(fitting_.spec(), {"nodeSelector"}));
    // Who asks for devices finds them at the end.
    const auto middle = fitting_.wants_devices() ? order.lower_bound({true, 0, ""}) : order.begin();
    for (const auto& [from, to] : {std::pair(middle, order.end()), std::pair(order.begin(), middle)}) {
      for (auto at = from; at != to; ++at) {
        const Host* host = hosts_.find(std::string(std::get<2>(*at)));
        if (host != nullptr && look_at(*host) && compare(*host)) {
          return best_;
        }
      }
    }
    return best_;
  }

  [[nodiscard]] Obstacles& obstacles() { return obstacles_; }
  [[nodiscard]] std::size_t looked_at() const { return looked_at_; }
  // Nodes on which other pods alone are in the way.
  [[nodiscard]] const std::vector<const Host*>& taken() const { return taken_; }

 private:
  bool look_at(const Host& host) {
    ++looked_at_;
    const Obstacle obstacle = fitting_.check(host, nullptr, &obstacles_);
    if (obstacle == Obstacle::kPorts || obstacle == Obstacle::kResources || obstacle >= Obstacle::kSpread) {
      taken_.push_back(&host);
    }
    return obstacle == Obstacle::kNone;
  }
  // True where no better one is looked for.
  bool compare(const Host& host) {
    if (!fitting_.has_preferences()) {
      best_ = &host;
      return true;
    }
    if (const std::int64_t liking = fitting_.liking(host); best_ == nullptr || liking > liking_) {
      best_ = &host;
      liking_ = liking;
    }
    return ++compared_ >= kMostCompared;
  }

  const Fitting& fitting_;
  Hosts& hosts_;
  Obstacles obstacles_;
  std::vector<const Host*> taken_;
  std::size_t looked_at_ = 0;
  const Host* best_ = nullptr;
  std::int64_t liking_ = 0;
  int compared_ = 0;
};

void tell_why(const Item& pod, const Object& root, const std::string& message, const std::string& nominated,
              Turn& turn) {
  Array conditions = conditions_of(root);
  const bool news =
      set_condition(conditions, {"PodScheduled", "False", "Unschedulable", message, {}, "lastProbeTime"}, turn.now());
  if (!news && nominated == pod.pod->nominated) {
    return;
  }
  Object status{{"conditions", std::move(conditions)}};
  if (nominated != pod.pod->nominated) {
    status["nominatedNodeName"] = nominated.empty() ? Value() : Value(nominated);
  }
  turn.patch_status(pod, std::move(status));
  if (news) {
    turn.tell(pod, "Warning", "FailedScheduling", message);
  }
}

// Nothing will do as it is: others may have to go.
void go_without(const Item& pod, const Object& root, const Fitting& fitting, const std::string& shape, Search& search,
                Turn& turn) {
  Hosts& hosts = turn.view().hosts();
  const std::size_t nodes = turn.view().count(Kind::kNode);
  search.obstacles().counts[static_cast<std::size_t>(Obstacle::kNodeAffinity)] += nodes - search.looked_at();
  if (nodes == 0) {
    tell_why(pod, root, "no nodes available to schedule pods", "", turn);
    return;
  }
  std::string message = fmt::format("0/{} nodes are available: {}.", nodes, search.obstacles().text());
  const Preemption preemption = find_victims(fitting, search.taken(), turn);
  if (!preemption.node.empty()) {
    tell_why(pod, root, message, preemption.node, turn);
    evict_victims(pod, preemption, turn);
    return;
  }
  std::vector<std::string> parts;
  if (const std::size_t hopeless = nodes - search.taken().size(); hopeless > 0) {
    parts.push_back(fmt::format("{} Preemption is not helpful for scheduling", hopeless));
  }
  if (!search.taken().empty()) {
    parts.push_back(fmt::format("{} No preemption victims found for incoming pod", search.taken().size()));
  }
  std::sort(parts.begin(), parts.end());
  message += fmt::format(" preemption: 0/{} nodes are available: {}.", nodes, fmt::join(parts, ", "));
  tell_why(pod, root, message, preemption.waits ? pod.pod->nominated : "", turn);
  if (!shape.empty()) {
    hosts.note_verdict(shape, {hosts.releases(), hosts.moves(), std::move(message)});
  }
}

}  // namespace

void bind_pod(const Item& pod, Turn& turn) {
  if (!pod.pod->ours || !pod.pod->node.empty() || pod.pod->gated || !pod.active()) {
    return;
  }
  const Object root = pod.value();
  const Object* spec = object_at(root, {"spec"});
  if (spec == nullptr) {
    return;
  }
  Hosts& hosts = turn.view().hosts();
  const Fitting fitting(pod, *spec, turn);
  const auto name = named_node(*spec);
  const std::string shape = name ? std::string() : fitting.shape();
  const std::chrono::seconds waited(turn.seconds() - pod.created);
  const Time later = turn.now() + std::clamp(waited / 4, kFirstRetry, kLongestRetry);
  const Hosts::Verdict* verdict = name ? nullptr : hosts.verdict(shape);
  if (verdict != nullptr && pod.pod->nominated.empty() && verdict->releases == hosts.releases() &&
      (!fitting.minds_others() || verdict->moves == hosts.moves())) {
    tell_why(pod, root, verdict->message, "", turn);
    turn.again(later);
    return;
  }
  if (const auto missing = find_missing_claim(root, pod.ns, turn.view())) {
    tell_why(pod, root, fmt::format("0/{} nodes are available: {}.", turn.view().count(Kind::kNode), *missing), "",
             turn);
    turn.again(later);
    return;
  }
  Search search(fitting, hosts);
  if (const Host* host = search.run(name)) {
    const std::string node = host->node->name;
    turn.bind(pod, node);
    turn.tell_when_done(pod, {"Scheduled", fmt::format("Successfully assigned {} to {}", pod.key(), node)});
    return;
  }
  go_without(pod, root, fitting, shape, search, turn);
  turn.again(later);
}

}  // namespace gantree::controllers
