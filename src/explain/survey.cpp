#include "explain/survey.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "base/check.h"
#include "engine/elastic.h"
#include "engine/pack.h"

namespace gantree {

namespace {

// The resource of which a host has least for one more pod; nothing where one fits.
template <class Have>
std::optional<ResourceId> scarcest(const PodShape& shape, Have have) {
  std::optional<std::pair<double, ResourceId>> worst;
  for (const auto& [resource, amount] : shape.requests.entries()) {
    const std::int64_t there = have(resource);
    if (there < amount) {
      const double share = static_cast<double>(there) / static_cast<double>(amount);
      if (!worst || share < worst->first) {
        worst = {share, resource};
      }
    }
  }
  return worst ? std::optional(worst->second) : std::nullopt;
}

// By number of hosts, the most first.
template <class What>
std::vector<std::pair<What, int>> most_first(const std::map<What, int>& counts) {
  std::vector<std::pair<What, int>> order(counts.begin(), counts.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return order;
}

}  // namespace

std::vector<int> least_counts(const Gang& gang) {
  return smallest_start(gang.root).counts;
}

Survey::Survey(Cluster& cluster, const Gang& gang, const std::vector<int>& counts)
    : cluster_(cluster), gang_(gang), plan_(make_plan(gang, counts)) {
  GANTREE_CHECK(!plan_.parts.empty());
  read_needs();
  for (const Need& need : needs_) {
    count(need);
  }
  choose_measure();
}

void Survey::read_needs() {
  common_ = common_level(plan_);
  using Kind = std::tuple<PodShape, int, std::vector<Slice>, int, int, TopologyId>;
  std::set<Kind> seen;
  for (const PartNeed& part : needs_of(plan_)) {
    Need need{.pod_set = std::string(part.part->name),
              .shape = part.part->shape,
              .count = part.part->count,
              .slices = part.part->slices,
              .required = part.required,
              .exclusive = part.exclusive,
              .topology = part.part->topology};
    if (seen.emplace(*need.shape, need.count, need.slices, need.required, need.exclusive, need.topology).second) {
      needs_.push_back(std::move(need));
    }
  }
  if (all_of_one_set()) {
    return;
  }
  std::vector<const Part*> parts;
  for (const Part& part : plan_.parts) {
    parts.push_back(&part);
  }
  joint_ = {joint_need(parts, cluster_.inventory()), sibling_need(plan_, cluster_.inventory())};
  for (const std::optional<JointNeed>& joint : joint_) {
    if (joint) {
      needs_.push_back({.pod_set = {},
                        .shape = &joint->piece,
                        .count = joint->count,
                        .slices = joint->slices,
                        .required = common_,
                        .exclusive = -1,
                        .topology = joint->topology});
    }
  }
}

bool Survey::all_of_one_set() const {
  return std::all_of(plan_.parts.begin(), plan_.parts.end(),
                     [&](const Part& part) { return part.pod_set == plan_.parts.front().pod_set; });
}

const SlotCounts& Survey::counts_of(const Need& need, Fill fill) {
  std::unique_ptr<SlotCounts>& counts = books_[{need.topology, fill, need.slices, *need.shape}];
  if (counts == nullptr) {
    counts = std::make_unique<SlotCounts>(cluster_.inventory(), cluster_.engine().tree(need.topology), *need.shape,
                                          need.slices, fill);
    counts->refresh();
  }
  return *counts;
}

const std::vector<bool>* Survey::taken(const Need& need) {
  if (need.exclusive < 0) {
    return nullptr;
  }
  const auto [it, fresh] = taken_.try_emplace({need.topology, need.exclusive});
  if (fresh) {
    const DomainTree& tree = cluster_.engine().tree(need.topology);
    it->second.assign(tree.size(need.exclusive), false);
    for (const auto& [hold, groups] : cluster_.engine().holds()) {
      if (hold.kind != gang_.exclusive_kind) {
        continue;
      }
      for (const Range& range : held_domains(tree, need.topology, hold, need.exclusive)) {
        std::fill(it->second.begin() + range.begin, it->second.begin() + range.end, true);
      }
    }
  }
  return &it->second;
}

void Survey::count(const Need& need) {
  counts_.push_back(
      {.now = &counts_of(need, Fill::kNow), .empty = &counts_of(need, Fill::kEmpty), .taken = taken(need)});
}

// The need that fewest domains meet; among equals, all together before a part of it.
void Survey::choose_measure() {
  using Hardness = std::tuple<double, double, double, bool>;
  std::optional<Hardness> hardest;
  for (std::size_t i = 0; i < needs_.size(); ++i) {
    const Need& need = needs_[i];
    tree_ = &counts_[i].now->tree();
    const int level = need.required;
    int now = 0;
    int empty = 0;
    int most = 0;
    for (int d = 0; d < domains_in(level); ++d) {
      const Domain domain{level, static_cast<std::uint32_t>(d)};
      now += holds(i, domain, Fill::kNow) ? 1 : 0;
      empty += holds(i, domain, Fill::kEmpty) ? 1 : 0;
      most = std::max(most, offers(i, domain, Fill::kNow));
    }
    const double domains = std::max(1, domains_in(level));
    const double share = std::min(1.0, static_cast<double>(most) / need.count);
    const Hardness hardness{now / domains, empty / domains, share, !need.pod_set.empty()};
    if (!hardest || hardness < *hardest) {
      hardest = hardness;
      chosen_ = i;
    }
  }
  const Need& need = needs_[chosen_];
  tree_ = &counts_[chosen_].now->tree();
  shape_ = need.shape;
  measure_ = {.pod_set = need.pod_set, .needed = need.count, .level = need.required, .topology = need.topology};
  if (need.pod_set.empty()) {
    const auto& [resource, amount] = need.shape->requests.entries().front();
    measure_.resource = resource;
    measure_.unit = amount;
  }
}

int Survey::required_at(const Need& need, int level) const {
  return need.required > common_ ? std::max(need.required, level) : level;
}

bool Survey::holds(std::size_t need, Domain domain, Fill fill) const {
  const Need& wanted = needs_[need];
  const SlotCounts& counts = fill == Fill::kNow ? *counts_[need].now : *counts_[need].empty;
  return can_hold(counts,
                  {.within = domain,
                   .required = required_at(wanted, domain.level),
                   .exclusive = wanted.exclusive,
                   .occupied = fill == Fill::kNow ? counts_[need].taken : nullptr},
                  wanted.count);
}

bool Survey::holds_all(Domain domain, Fill fill) const {
  for (std::size_t i = 0; i < needs_.size(); ++i) {
    if (needs_[i].topology == measure_.topology && !holds(i, domain, fill)) {
      return false;
    }
  }
  return true;
}

int Survey::offers(std::size_t need, Domain domain, Fill fill) const {
  const Need& wanted = needs_[need];
  const SlotCounts& counts = fill == Fill::kNow ? *counts_[need].now : *counts_[need].empty;
  const Scope scope{.exclusive = wanted.exclusive, .occupied = fill == Fill::kNow ? counts_[need].taken : nullptr};
  const auto in = [&](Domain one) { return scope.allows(counts.tree(), one) ? counts.capacity(one) : 0; };
  const int level = required_at(wanted, domain.level);
  if (level <= domain.level) {
    return in(domain);
  }
  int most = 0;
  const Range range = counts.tree().below(domain, level);
  for (std::uint32_t d = range.begin; d < range.end; ++d) {
    most = std::max(most, in({level, d}));
  }
  return most;
}

std::vector<LevelRow> Survey::levels() const {
  std::vector<LevelRow> rows;
  for (int level = -1; level < tree_->levels(); ++level) {
    LevelRow& row = rows.emplace_back();
    row.level = level;
    row.domains = domains_in(level);
    // Below the level of which one domain must hold all, parts of the gang may be in different ones.
    const auto can = [&](Domain domain, Fill fill) {
      return level > common_ && measure_.level > common_ ? holds(chosen_, domain, fill) : holds_all(domain, fill);
    };
    for (int d = 0; d < row.domains; ++d) {
      const Domain domain{level, static_cast<std::uint32_t>(d)};
      row.now += can(domain, Fill::kNow) ? 1 : 0;
      row.when_empty += can(domain, Fill::kEmpty) ? 1 : 0;
      row.offers_when_empty = std::max(row.offers_when_empty, offers(domain, Fill::kEmpty));
      if (const int most = offers(domain, Fill::kNow); most > row.offers) {
        row.offers = most;
        row.best = path(domain);
      }
    }
  }
  return rows;
}

DomainPath Survey::path(Domain domain) const {
  DomainPath path;
  for (int level = 0; level <= domain.level; ++level) {
    path.push_back(tree_->name({level, tree_->ancestor(domain.level, domain.index, level)}));
  }
  return path;
}

HostCensus Survey::hosts() const {
  return census(tree_->hosts(kWholeTree));
}

int Survey::outside() const {
  const Inventory& inventory = cluster_.inventory();
  int outside = 0;
  for (std::size_t n = 0; n < inventory.size(); ++n) {
    const NodeId node = make_id<NodeTag>(n);
    outside += inventory.alive(node) && tree_->host_of(node) == DomainTree::kNowhere ? 1 : 0;
  }
  return outside;
}

HostCensus Survey::census(Range hosts) const {
  const Inventory& inventory = cluster_.inventory();
  const SlotCounts& now = *counts_[chosen_].now;
  std::map<Ineligible, int> left_out;
  std::map<std::string, int> taints;
  std::map<ResourceId, int> too_small;
  std::map<ResourceId, int> short_now;
  HostCensus census;
  census.hosts = static_cast<int>(hosts.size());
  for (std::uint32_t host = hosts.begin; host < hosts.end; ++host) {
    const NodeId node = tree_->node(host);
    if (const Ineligible reason = now.ineligible(host); reason != Ineligible::kNo) {
      ++left_out[reason];
      for (const Taint& taint : inventory.node(node).taints) {
        if (reason == Ineligible::kTainted && taint.effect != TaintEffect::kPreferNoSchedule &&
            !tolerates(shape_->tolerations, taint)) {
          ++taints[std::string(inventory.strings().text(taint.key))];
          break;
        }
      }
    } else if (now.slots(host) > 0) {
      ++census.roomy;
    } else if (const auto resource = scarcest(*shape_, [&](ResourceId r) { return inventory.allocatable(node, r); })) {
      ++too_small[*resource];
    } else if (const auto missing = scarcest(*shape_, [&](ResourceId r) { return inventory.free(node, r); })) {
      ++short_now[*missing];
    } else {
      ++census.no_slice;
    }
  }
  census.left_out = most_first(left_out);
  census.taints = most_first(taints);
  census.too_small = most_first(too_small);
  census.short_now = most_first(short_now);
  return census;
}

std::vector<Domain> Survey::nearest(Fill fill, std::size_t most) const {
  const int level = std::max(measure_.level, 0);
  std::vector<std::tuple<int, int, std::uint32_t>> order;
  for (std::uint32_t d = 0; d < tree_->size(level); ++d) {
    const Fill other = fill == Fill::kNow ? Fill::kEmpty : Fill::kNow;
    order.emplace_back(-offers({level, d}, fill), -offers({level, d}, other), d);
  }
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(most, order.size()));
  std::partial_sort(order.begin(), end, order.end());
  std::vector<Domain> nearest;
  for (auto it = order.begin(); it != end; ++it) {
    nearest.push_back({level, std::get<2>(*it)});
  }
  return nearest;
}

// What the gang lacks most; what it asks for beyond cpu and memory where it lacks nothing.
ResourceId Survey::scarce(const HostCensus& census) const {
  for (const auto* list : {&census.short_now, &census.too_small}) {
    if (!list->empty()) {
      return list->front().first;
    }
  }
  ResourceId found = ResourceNames::kPods;
  for (const auto& [resource, amount] : shape_->requests.entries()) {
    if (found == ResourceNames::kPods ||
        cluster_.inventory().resources().name(resource).find('/') != std::string::npos) {
      found = resource;
    }
  }
  return found;
}

NearDomain Survey::describe(Domain domain, const std::vector<Planned>& planned) const {
  const Range hosts = tree_->hosts(domain);
  NearDomain near;
  near.path = path(domain);
  near.offers = offers(domain, Fill::kNow);
  near.offers_when_empty = offers(domain, Fill::kEmpty);
  const Counts& counts = counts_[chosen_];
  near.taken = counts.taken != nullptr &&
               !Scope{.exclusive = needs_[chosen_].exclusive, .occupied = counts.taken}.allows(*tree_, domain);
  near.hosts = census(hosts);
  near.resource = scarce(near.hosts);
  const Inventory& inventory = cluster_.inventory();
  for (std::uint32_t host = hosts.begin; host < hosts.end; ++host) {
    near.others +=
        inventory.allocatable(tree_->node(host), near.resource) - inventory.free(tree_->node(host), near.resource);
  }
  const auto add = [&](const RunningGang& gang, bool in_plan) {
    Holder holder{.key = gang.key, .priority = gang.priority, .planned = in_plan};
    for (const Holding& holding : gang.holdings) {
      const std::uint32_t host = tree_->host_of(holding.node);
      const std::int64_t each = holding.requests.get(near.resource);
      if (host != DomainTree::kNowhere && host >= hosts.begin && host < hosts.end && (each > 0 || near.taken)) {
        holder.pods += holding.count;
        holder.amount += each * holding.count;
      }
    }
    if (holder.pods > 0) {
      near.others -= holder.amount;
      near.holders.push_back(std::move(holder));
    }
  };
  for (const RunningGang& gang : cluster_.running()) {
    add(gang, false);
  }
  for (const Planned& gang : planned) {
    add(gang, true);
  }
  near.others = std::max<std::int64_t>(0, near.others);
  std::stable_sort(near.holders.begin(), near.holders.end(),
                   [](const Holder& a, const Holder& b) { return a.amount > b.amount; });
  return near;
}

}  // namespace gantree
