#include "view/explain_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "view/where.h"
#include "view/words.h"

namespace gantree::view {

namespace {

constexpr std::size_t kMostNamed = 4;  // gangs or hosts in one sentence
constexpr int kPlaceWidth = 60;

std::string and_more(std::size_t count, std::string_view noun) {
  return fmt::format(" and {}", counted(static_cast<std::int64_t>(count), fmt::format("more {}", noun)));
}

}  // namespace

ExplainWords::ExplainWords(const Explanation& why, Cluster& cluster, bool unicode)
    : why_(why), cluster_(cluster), unicode_(unicode) {}

const char* ExplainWords::key(Ineligible reason) {
  switch (reason) {
    case Ineligible::kNotReady:
      return "NotReady";
    case Ineligible::kCordoned:
      return "Cordoned";
    case Ineligible::kTainted:
      return "Tainted";
    case Ineligible::kSelector:
      return "NodeSelector";
    case Ineligible::kFlavor:
      return "FlavorNodeLabels";
    case Ineligible::kAffinity:
      return "NodeAffinity";
    case Ineligible::kNo:
      break;
  }
  return "";
}

std::string ExplainWords::level(TopologyId topology, int level) const {
  if (level < 0) {
    return "anywhere";
  }
  const std::vector<std::string> words = level_words(cluster_.engine().topology(topology));
  return printable(words[std::min(static_cast<std::size_t>(level), words.size() - 1)], unicode_);
}

std::string ExplainWords::level(int level) const {
  return this->level(why_.measure.topology, level);
}

std::string ExplainWords::domain(const DomainPath& path) const {
  return path.empty() ? "all domains together" : printable(fmt::format("{}", fmt::join(path, "/")), unicode_);
}

std::string ExplainWords::gang(const GangKey& key) const {
  return printable(key.ns.empty() ? key.name : key.ns + "/" + key.name, unicode_);
}

std::string ExplainWords::resource(ResourceId id) const {
  return printable(cluster_.inventory().resources().name(id), unicode_);
}

std::string ExplainWords::amount(int count) const {
  const Measure& measure = why_.measure;
  return measure.resource ? format_quantity(measure.unit * count, ResourceNames::unit(*measure.resource))
                          : fmt::format("{}", count);
}

std::string ExplainWords::offer(int offers) const {
  const Measure& measure = why_.measure;
  const std::string text = fmt::format("{} of {}", amount(std::min(offers, measure.needed)), amount(measure.needed));
  return measure.resource ? fmt::format("{} {}", text, resource(*measure.resource)) : text;
}

std::string ExplainWords::measured() const {
  if (why_.measure.resource) {
    return resource(*why_.measure.resource);
  }
  const bool several = why_.asked && pod_sets(why_.asked->gang.root).size() > 1;
  const std::string pods = why_.measure.needed == 1 ? "pod" : "pods";
  return several ? fmt::format("{} of {}", pods, printable(why_.measure.pod_set, unicode_)) : pods;
}

std::vector<std::string> ExplainWords::constraint(const Constraint& constraint, TopologyId topology) const {
  const auto name = [&](int at) { return level(topology, at); };
  std::vector<std::string> texts;
  if (constraint.exclusive) {
    texts.push_back(fmt::format("a {} to itself", name(*constraint.exclusive)));
  }
  if (constraint.required && constraint.required != constraint.exclusive) {
    texts.push_back(fmt::format("all in one {}", name(*constraint.required)));
  }
  if (constraint.preferred && constraint.preferred != constraint.required) {
    texts.push_back(fmt::format("preferably all in one {}", name(*constraint.preferred)));
  }
  for (const Slice& slice : constraint.slices) {
    texts.push_back(fmt::format("every {} in one {}", slice.size, name(slice.level)));
  }
  if (constraint.packing == Packing::kSpread) {
    texts.emplace_back("spread evenly");
  }
  if (constraint.packing == Packing::kBalanced && constraint.balance) {
    texts.push_back(fmt::format("equal shares in {}", counted(2, name(*constraint.balance)).substr(2)));
  }
  return texts;
}

std::string ExplainWords::census(const HostCensus& hosts) const {
  std::vector<std::pair<int, std::string>> parts;
  for (const auto& [reason, count] : hosts.left_out) {
    std::string text = to_string(reason);
    if (reason == Ineligible::kTainted && !hosts.taints.empty()) {
      text += fmt::format(" ({})", printable(hosts.taints.front().first, unicode_));
    }
    parts.emplace_back(count, std::move(text));
  }
  for (const auto& [id, count] : hosts.too_small) {
    parts.emplace_back(count, fmt::format("too small in {}", resource(id)));
  }
  for (const auto& [id, count] : hosts.short_now) {
    parts.emplace_back(count, fmt::format("short of {}", resource(id)));
  }
  if (hosts.no_slice > 0) {
    parts.emplace_back(hosts.no_slice, "too full for a whole slice");
  }
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (const auto& [count, reason] : parts) {
    text += text.empty() ? fmt::format("{} {}", counted(count, "host"), reason) : fmt::format(", {} {}", count, reason);
  }
  return text;
}

std::string ExplainWords::holders(const NearDomain& near, std::size_t most) const {
  const std::string name = std::string(short_name(resource(near.resource)));
  const auto amount = [&](std::int64_t value) { return format_quantity(value, ResourceNames::unit(near.resource)); };
  std::string text;
  for (std::size_t i = 0; i < std::min(near.holders.size(), most); ++i) {
    const Holder& holder = near.holders[i];
    text += fmt::format("{}{} ({} {}, priority {}{})", text.empty() ? "" : ", ", gang(holder.key),
                        amount(holder.amount), name, holder.priority, holder.planned ? ", went before it" : "");
  }
  if (near.holders.size() > most) {
    std::int64_t rest = 0;
    for (std::size_t i = most; i < near.holders.size(); ++i) {
      rest += near.holders[i].amount;
    }
    text += fmt::format("{} ({} {})", and_more(near.holders.size() - most, "gang"), amount(rest), name);
  }
  if (near.others > 0) {
    text += fmt::format("{}pods of no gang ({} {})", text.empty() ? "" : "; ", amount(near.others), name);
  }
  return text;
}

std::string ExplainWords::quota(const QuotaNeed& need, std::int64_t amount) const {
  if (amount == kUnlimited) {
    return "no limit";
  }
  return fmt::format("{} {}", format_quantity(amount, need.unit), printable(need.resource, unicode_));
}

std::string ExplainWords::subject(const std::string& name) const {
  const bool several = why_.asked && pod_sets(why_.asked->gang.root).size() > 1;
  return several && !name.empty() ? fmt::format(" of {}", printable(name, unicode_)) : "";
}

std::string ExplainWords::place(TopologyId topology, const std::vector<HostShare>& hosts, int width) const {
  Engine& engine = cluster_.engine();
  return where_text(engine.topology(topology), engine.tree(topology), hosts, width, unicode_);
}

std::string ExplainWords::victims(const std::vector<RemedyVictim>& victims, bool rules) const {
  std::string text;
  for (std::size_t i = 0; i < std::min(victims.size(), kMostNamed); ++i) {
    const RemedyVictim& victim = victims[i];
    text += fmt::format("{}{} ({}, priority {})", i == 0 ? "" : ", ", gang(victim.key), counted(victim.pods, "pod"),
                        victim.priority);
  }
  if (victims.size() > kMostNamed) {
    text += and_more(victims.size() - kMostNamed, "gang");
  }
  if (!rules) {
    return text;
  }
  const auto refused =
      std::find_if(victims.begin(), victims.end(), [](const RemedyVictim& v) { return !v.forbidden.empty(); });
  if (refused == victims.end()) {
    return text + ": the rules allow it";
  }
  return fmt::format(
      "{}: the rules do not allow it, {}", text,
      victims.size() == 1 ? refused->forbidden : fmt::format("{}: {}", gang(refused->key), refused->forbidden));
}

std::string ExplainWords::change(const Remedy& remedy) const {
  const auto name = [&](int at) { return level(remedy.topology, at); };
  switch (remedy.kind) {
    case RemedyKind::kFewerPods:
      return remedy.sets > 1 ? fmt::format("{} pods instead of {} in each of {} like {}", remedy.count, remedy.asked,
                                           counted(remedy.sets, "pod set"), printable(remedy.subject, unicode_))
                             : fmt::format("{} instead of {}{}", counted(remedy.count, "pod"), remedy.asked,
                                           subject(remedy.subject));
    case RemedyKind::kFewerGroups:
      return fmt::format("{} instead of {}", counted(remedy.count, "group"), remedy.asked);
    case RemedyKind::kCoarserLevel:
      return fmt::format("one {} instead of one {}", name(remedy.to), name(remedy.from));
    case RemedyKind::kPreferred:
      return fmt::format("preferring one {} instead of requiring it", name(remedy.from));
    case RemedyKind::kNoSlices:
      return fmt::format("without slices of {} in one {}", remedy.asked, name(remedy.from));
    case RemedyKind::kShared:
      return fmt::format("sharing a {} instead of having it alone", name(remedy.from));
    case RemedyKind::kSmallerPods: {
      const Unit unit = ResourceNames::unit(remedy.resource);
      return fmt::format("pods{} of {} {} instead of {}", subject(remedy.subject), format_quantity(remedy.amount, unit),
                         resource(remedy.resource), format_quantity(remedy.asked_amount, unit));
    }
    case RemedyKind::kNoSelector:
      return "without its node selector and node affinity";
    case RemedyKind::kTolerate:
      return fmt::format("tolerating the taint {}", printable(remedy.subject, unicode_));
    case RemedyKind::kGoFirst:
      return fmt::format("its turn before {}", victims(remedy.victims, false));
    case RemedyKind::kEvict:
      return fmt::format("{}evicting {}", remedy.relaxed ? "requiring no level, and " : "",
                         victims(remedy.victims, true));
    case RemedyKind::kMendHosts: {
      std::vector<std::string> names(
          remedy.nodes.begin(),
          remedy.nodes.begin() + static_cast<std::ptrdiff_t>(std::min(remedy.nodes.size(), kMostNamed)));
      const std::string rest =
          remedy.nodes.size() > kMostNamed ? and_more(remedy.nodes.size() - kMostNamed, "host") : "";
      return printable(fmt::format("{}{} ready and schedulable again", fmt::join(names, ", "), rest), unicode_);
    }
    case RemedyKind::kMoreHosts:
      return fmt::format("{} like {} in {} {}", counted(remedy.count, "more host"), printable(remedy.like, unicode_),
                         name(remedy.to), domain(remedy.domain));
    case RemedyKind::kMoreDomains:
      return fmt::format("{} like {} ({} each)", counted(remedy.count, "more " + name(remedy.to)),
                         domain(remedy.domain), counted(remedy.hosts_each, "host"));
    case RemedyKind::kMoreQuota: {
      std::string text;
      for (const QuotaNeed& need : remedy.quota) {
        text += fmt::format("{}{} more in {}", text.empty() ? "" : ", ", quota(need, need.missing()),
                            printable(need.queue, unicode_));
      }
      return text;
    }
  }
  return "";
}

std::string ExplainWords::remedy(const Remedy& remedy) const {
  std::string text = change(remedy);
  const bool level_changed = remedy.kind >= RemedyKind::kCoarserLevel && remedy.kind <= RemedyKind::kTolerate;
  if (level_changed && !remedy.place.empty()) {
    text += fmt::format(" (it would get {})", place(remedy.topology, remedy.place, kPlaceWidth));
  }
  return remedy.with_quota ? text + ", and the quota that is missing" : text;
}

std::string ExplainWords::choice() const {
  const Landing& landing = *why_.landing;
  const auto name = [&](int at) { return level(landing.topology, at); };
  const std::string here = domain(landing.domain);
  const std::string which = landing.level < 0 ? "" : fmt::format("{} {}", name(landing.level), here);
  switch (landing.choice) {
    case Choice::kCleared:
      return fmt::format("there was no room for it{} before others were evicted",
                         landing.level < 0 ? "" : fmt::format(" in {}", which));
    case Choice::kSpread:
      return "it asks to be spread evenly";
    case Choice::kBalanced:
      return "it asks for equal shares over the fewest domains";
    case Choice::kHoles:
      return "it asks for no topology, so the smallest holes are filled first and large ones stay whole";
    default:
      break;
  }
  if (landing.level < 0) {
    return fmt::format("no single {} could hold it, so it has as few of them as possible", name(0));
  }
  const std::string others = landing.could == 2 ? "the other one" : fmt::format("the other {}", landing.could - 1);
  switch (landing.choice) {
    case Choice::kOnly:
      return fmt::format("no other {} could hold it", name(landing.level));
    case Choice::kTightest:
      return fmt::format(
          "{} could hold it; {} has the least room to spare ({} for {} {}), so {} stay{} whole for "
          "larger gangs",
          counted(landing.could, name(landing.level)), here, amount(landing.offered), amount(why_.measure.needed),
          measured(), others, landing.could == 2 ? "s" : "");
    case Choice::kFewest:
      return fmt::format("{} could hold it; in {} it needs {}, in the tightest one {}",
                         counted(landing.could, name(landing.level)), here,
                         counted(landing.children, name(landing.level + 1)), landing.tighter_children);
    default:
      return fmt::format("{} could hold it; in {} it needs the fewest domains below",
                         counted(landing.could, name(landing.level)), here);
  }
}

}  // namespace gantree::view
