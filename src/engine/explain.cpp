#include "engine/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>

#include "engine/culprit.h"
#include "engine/part_need.h"

namespace gantree {

namespace {

constexpr std::size_t kNearest = 3;

// "cloud.provider.com/topology-rack" is a rack to people.
std::string noun(const std::string& label) {
  std::string word = label.substr(label.rfind('/') + 1);
  if (word == "hostname") {
    return "host";
  }
  for (const char* prefix : {"topology-", "topology."}) {
    if (word.starts_with(prefix)) {
      word.erase(0, std::string_view(prefix).size());
    }
  }
  return word;
}

std::string joined(const std::vector<std::string>& values, const char* separator) {
  std::string out;
  for (const std::string& value : values) {
    out += (out.empty() ? "" : separator) + value;
  }
  return out;
}

// The resource of which the host has least for one more pod; nullopt where one fits.
std::optional<ResourceId> scarcest(const SearchContext& context, const SlotCounts& counts, NodeId node) {
  std::optional<std::pair<double, ResourceId>> worst;
  for (const auto& [resource, amount] : counts.shape().requests.entries()) {
    const std::int64_t have = counts.fill() == Fill::kNow ? context.inventory.free(node, resource)
                                                          : context.inventory.allocatable(node, resource);
    if (have < amount) {
      const double share = static_cast<double>(have) / static_cast<double>(amount);
      if (!worst || share < worst->first) {
        worst = {share, resource};
      }
    }
  }
  return worst ? std::optional(worst->second) : std::nullopt;
}

// "2 hosts short of nvidia.com/gpu, 1 tainted".
std::string lacks(const SearchContext& context, const SlotCounts& counts, Domain domain) {
  std::array<int, static_cast<std::size_t>(kLastIneligible) + 1> ineligible{};
  std::vector<int> short_of(context.inventory.resources().size(), 0);
  int too_small = 0;
  const Range hosts = counts.tree().hosts(domain);
  for (std::uint32_t host = hosts.begin; host < hosts.end; ++host) {
    if (const Ineligible reason = counts.ineligible(host); reason != Ineligible::kNo) {
      ++ineligible[static_cast<std::size_t>(reason)];
    } else if (counts.slots(host) == 0) {
      const auto resource = scarcest(context, counts, counts.tree().node(host));
      ++(resource ? short_of[resource->index()] : too_small);
    }
  }
  std::vector<std::pair<int, std::string>> order;  // (-hosts, reason)
  const auto add = [&](int count, std::string reason) {
    if (count > 0) {
      order.emplace_back(-count, std::move(reason));
    }
  };
  for (std::size_t reason = 0; reason < ineligible.size(); ++reason) {
    add(ineligible[reason], to_string(static_cast<Ineligible>(reason)));
  }
  for (std::size_t r = 0; r < short_of.size(); ++r) {
    add(short_of[r], fmt::format("short of {}", context.inventory.resources().name(make_id<ResourceTag>(r))));
  }
  add(too_small, "too small for a whole slice");
  std::sort(order.begin(), order.end());
  std::string out;
  for (const auto& [negative, reason] : order) {
    const int count = -negative;
    out += out.empty() ? fmt::format("{} {} {}", count, count == 1 ? "host" : "hosts", reason)
                       : fmt::format(", {} {}", count, reason);
  }
  return out;
}

std::string offer(const SearchContext& context, const SlotCounts& counts, Domain domain, int need) {
  const std::string path = domain.level < 0 ? "all domains together" : joined(counts.tree().path(domain), "/");
  std::string text = fmt::format("{} offers {} of {}", path, std::min(need, counts.capacity(domain)), need);
  if (const std::string reasons = lacks(context, counts, domain); !reasons.empty()) {
    text += ": " + reasons;
  }
  return text;
}

std::string nearest(const SearchContext& context, const SlotCounts& counts, int level, int need) {
  std::vector<std::pair<int, std::uint32_t>> roomiest;  // (-capacity, index), the best few, sorted
  const auto capacities = counts.capacities(level);
  const auto better_than = [&] { return roomiest.size() < kNearest ? 0 : 1 - roomiest.back().first; };
  const auto look = [&](std::uint32_t d) {
    if (capacities[d] >= better_than()) {
      const std::pair candidate{-capacities[d], d};
      roomiest.insert(std::upper_bound(roomiest.begin(), roomiest.end(), candidate), candidate);
      roomiest.resize(std::min(roomiest.size(), kNearest));
    }
  };
  visit(counts, kWholeTree, level, better_than, [] { return kAnyNumber; }, look);
  std::string out;
  for (const auto& [negative, index] : roomiest) {
    out += (out.empty() ? "" : "; ") + offer(context, counts, {level, index}, need);
  }
  return out;
}

// A leaf and the level at which it must fit.
struct Ask {
  std::size_t part = 0;
  int required = -1;
};

void collect(const PlanNode& node, int required, std::vector<Ask>& out) {
  required = std::max(required, node.required);
  if (node.leaf()) {
    out.push_back({node.part, required});
  }
  for (const PlanNode& child : node.children) {
    collect(child, required, out);
  }
}

std::string pods_of(const Part& part, const Gang& gang) {
  const PodSet& pod_set = *pod_sets(gang.root)[part.pod_set];
  std::string text = fmt::format("{} {} of pod set \"{}\"", part.count, part.count == 1 ? "pod" : "pods", pod_set.name);
  if (!part.slices.empty()) {
    text += fmt::format(" in slices of {}", part.slices.front().size);
  }
  return text;
}

std::string level_name(const DomainTree& tree, const Topology& topology, int level) {
  return level < tree.topology_levels() ? noun(topology.levels[static_cast<std::size_t>(level)]) : "host";
}

bool wants_to_be_alone(const PlanNode& node) {
  return node.exclusive >= 0 || std::any_of(node.children.begin(), node.children.end(), wants_to_be_alone);
}

// What is asked about a gang, or about one of its groups alone.
struct Question {
  const SearchContext& context;
  const Gang& gang;
  const GangPlan& plan;
  const std::vector<Topology>& topologies;
  Fill fill = Fill::kNow;
  const char* when = "now";
  [[nodiscard]] const SlotCounts& counts(std::size_t part) const { return context.counts(plan.parts[part], fill); }
};

// The first part that fits nowhere even by itself.
std::optional<Ask> misfit(const Question& question) {
  std::vector<Ask> asks;
  collect(question.plan.root, -1, asks);
  const auto found = std::find_if(asks.begin(), asks.end(), [&](const Ask& ask) {
    return !can_hold(question.counts(ask.part), {.within = kWholeTree, .required = ask.required},
                     question.plan.parts[ask.part].count);
  });
  return found == asks.end() ? std::nullopt : std::optional(*found);
}

std::string about_part(const Question& question, const Ask& ask) {
  const Part& part = question.plan.parts[ask.part];
  const Topology& topology = question.topologies[part.topology.index()];  // a part may have one of its own
  const SlotCounts& counts = question.counts(ask.part);
  const DomainTree& tree = counts.tree();
  if (ask.required < 0) {
    return fmt::format("{} {} not fit {}; {} of {} fit; nearest: {} {}", pods_of(part, question.gang),
                       part.count == 1 ? "does" : "do", question.when,
                       std::min(part.count, counts.capacity(kWholeTree)), part.count, level_name(tree, topology, 0),
                       nearest(question.context, counts, 0, part.count));
  }
  return fmt::format("no {} can hold all {} {}; nearest: {} {}", level_name(tree, topology, ask.required),
                     pods_of(part, question.gang), question.when, level_name(tree, topology, ask.required),
                     nearest(question.context, counts, ask.required, part.count));
}

// Of the resources that some parts ask for, the first of which no domain of a level has enough for all of them: "it
// needs 10 nvidia.com/gpu in one rack; none has more than 6 free".
std::optional<std::string> about_resource(const Question& question, int required) {
  const Inventory& inventory = question.context.inventory;
  Amounts wanted;
  for (const Part& part : question.plan.parts) {
    for (const auto& [resource, amount] : part.shape->requests.entries()) {
      std::int64_t all = 0;
      if (part.topology != question.plan.parts.front().topology || __builtin_mul_overflow(amount, part.count, &all)) {
        return std::nullopt;
      }
      wanted.add(resource, all);
    }
  }
  const DomainTree& tree = question.counts(0).tree();
  for (const auto& [resource, amount] : wanted.entries()) {
    std::int64_t most = 0;
    for (std::uint32_t d = 0; d < tree.size(required); ++d) {
      const Range hosts = tree.hosts({required, d});
      std::int64_t sum = 0;
      for (std::uint32_t host = hosts.begin; host < hosts.end; ++host) {
        const NodeId node = tree.node(host);
        sum += std::max<std::int64_t>(
            0, question.fill == Fill::kNow ? inventory.free(node, resource) : inventory.allocatable(node, resource));
      }
      most = std::max(most, sum);
    }
    if (most < amount) {
      const Topology& topology = question.topologies[question.plan.parts.front().topology.index()];
      const bool host = required == tree.host_level();
      const ResourceNames& names = inventory.resources();
      const std::int64_t unit = ResourceNames::unit(resource) == Unit::kMilli ? 1000 : 1;
      return fmt::format(
          "it needs {} {} {} one {}; none has more than {}{}", static_cast<double>(amount) / static_cast<double>(unit),
          names.name(resource), host ? "on" : "in", level_name(tree, topology, required),
          static_cast<double>(most) / static_cast<double>(unit), question.fill == Fill::kNow ? " free" : "");
    }
  }
  return std::nullopt;
}

std::string about_culprit(const Question& question, const Group& group) {
  if (const std::optional<Ask> ask = misfit(question)) {
    const std::string sentence = about_part(question, *ask);
    const std::string& set = pod_sets(question.gang.root)[question.plan.parts[ask->part].pod_set]->name;
    return set == group.name ? sentence : fmt::format("group \"{}\" does not fit by itself: {}", group.name, sentence);
  }
  const int level = common_level(question.plan);
  std::optional<std::string> lacking = level >= 0 ? about_resource(question, level) : std::nullopt;
  return fmt::format("group \"{}\" does not fit by itself {}: {}", group.name, question.when,
                     lacking ? *lacking : "each of its pod sets does, but no placement holds all of them together");
}

std::string about_number(const Question& question, const TooManyAlike& many) {
  const Topology& topology = question.topologies[many.part->topology.index()];
  const DomainTree& tree = question.context.counts(*many.part, question.fill).tree();
  const std::string level = level_name(tree, topology, many.level);
  return fmt::format("{} of the {} groups like that of pod set \"{}\" {} {}: each needs room for {} {} in {}",
                     many.fit == 0 ? "none" : fmt::format("only {}", many.fit), many.groups, many.part->name,
                     many.fit == 1 ? "fits" : "fit", question.when, many.part->count,
                     many.part->count == 1 ? "pod" : "pods",
                     many.alone ? fmt::format("a {} of its own", level) : fmt::format("one {}", level));
}

}  // namespace

std::string explain_refusal(const SearchContext& context, const Gang& gang, const Counts& counts,
                            const std::vector<Topology>& topologies, Refusal refusal) {
  const Fill fill = refusal == Refusal::kTooLarge ? Fill::kEmpty : Fill::kNow;
  const char* when = refusal == Refusal::kTooLarge ? "even when empty" : "now";
  const GangPlan plan = make_plan(gang, counts);
  const Question question{context, gang, plan, topologies, fill, when};
  for (std::size_t part = 0; part < plan.parts.size(); ++part) {
    if (question.counts(part).tree().size(0) == 0) {
      const Topology& topology = topologies[plan.parts[part].topology.index()];
      return fmt::format("topology \"{}\" has no nodes: none carries all its labels ({})", topology.name,
                         joined(topology.levels, ", "));
    }
  }
  if (!gang.root.groups.empty()) {
    if (const std::optional<Culprit> culprit = find_culprit(context, gang, counts, fill)) {
      return about_culprit({context, gang, culprit->plan, topologies, fill, when}, *culprit->group);
    }
  }
  if (const std::optional<Ask> ask = misfit(question)) {
    return about_part(question, *ask);
  }
  if (const auto many = refusal == Refusal::kSearchLimit ? std::nullopt : too_many_alike(context, plan, fill)) {
    return about_number(question, *many);
  }
  if (refusal == Refusal::kBusy && wants_to_be_alone(plan.root)) {
    return "no domain that no other group holds can take all of its pods together now";
  }
  return fmt::format("each pod set fits by itself {}, but {}", when,
                     refusal == Refusal::kSearchLimit
                         ? "no placement was found within the search limit, and none is ruled out"
                         : "no placement holds all of them together");
}

}  // namespace gantree
