#include "view/explain_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>

#include "view/explain_asks.h"
#include "view/explain_state.h"
#include "view/explain_words.h"
#include "view/gang_words.h"
#include "view/host_names.h"
#include "view/present_text.h"
#include "view/text_table.h"
#include "view/words.h"

namespace gantree::view {

namespace {

constexpr int kDeep = 2;
constexpr std::size_t kMostHolders = 3;
constexpr std::size_t kMostEvictions = 5;
constexpr std::size_t kMostSiblings = 12;

std::string ordinal(int n) {
  const int last = n % 10;
  const bool teens = n % 100 / 10 == 1;
  return fmt::format("{}{}", n, teens || last < 1 || last > 3 ? "th" : last == 1 ? "st" : last == 2 ? "nd" : "rd");
}

class ExplainText {
 public:
  ExplainText(const Explanation& why, const std::vector<PresentGang>& known, Cluster& cluster,
              const TextOptions& options)
      : why_(why),
        known_(known),
        is_(find(known, why.key)),
        cluster_(cluster),
        options_(options),
        words_(why, cluster, options.unicode) {}

  std::vector<TextLine> draw() {
    head();
    if (is_ != nullptr ? has_place(is_->state) : why_.running) {
      stands();
    }
    if (is_ != nullptr && is_open(why_, is_)) {
      what_if();
    }
    if (is_open(why_, is_) && why_.asked) {
      asks();
      quota();
      if (why_.decision.state == GangState::kPlaced) {
        landed();
      }
      levels();
      nearest();
      remedies();
    }
    siblings();
    return std::move(lines_);
  }

 private:
  void title(std::string_view text) {
    lines_.emplace_back();
    lines_.emplace_back().add(text, {Tone::kStrong});
  }
  // Text that is broken where it is long; lines after the first stand deeper.
  void paragraph(std::string_view text, int indent, std::string_view bullet = "", Ink ink = {}) {
    const int deep = indent + columns(bullet);
    bool first = true;
    for (const std::string& line : wrapped(text, options_.width - deep)) {
      TextLine& out = lines_.emplace_back();
      out.pad_to(indent).add(first ? bullet : "").pad_to(deep).add(line, ink);
      first = false;
    }
  }

  void head() {
    const StateWords words = state_words(why_, is_);
    TextLine& line = lines_.emplace_back();
    line.add(words_.gang(why_.key), {Tone::kStrong}).add("  ");
    line.add(printable(why_.dialect.empty() ? why_.key.kind : fmt::format("{} ({})", why_.key.kind, why_.dialect),
                       options_.unicode),
             {Tone::kFaint})
        .add("  ");
    line.add(words.state, {words.tone});
    if (!words.reason.empty()) {
      line.add(fmt::format(": {}", printable(words.reason, options_.unicode)), {words.tone});
    }
    if (!words.message.empty()) {
      paragraph(printable(words.message, options_.unicode), kDeep);
    }
    std::vector<std::string> facts;
    if (!why_.running && !why_.over) {
      const std::string pods = pods_text(is_ != nullptr ? is_->pod_sets : why_.decision.pod_sets);
      facts.push_back(fmt::format("{} {}", pods, pods == "1" ? "pod" : "pods"));
    }
    if (!why_.over) {
      facts.push_back(fmt::format("priority {}", why_.priority));
    }
    if (is_ == nullptr) {
      add_turn(facts);
    } else if (!is_->why.since.empty()) {
      facts.push_back(printable(fmt::format("said at {}", is_->why.since), options_.unicode));
    }
    if (!is_open(why_, is_)) {
      for (const std::string& part : given(why_)) {
        facts.push_back(printable(part, options_.unicode));
      }
    }
    paragraph(fmt::format("{}", fmt::join(facts, ", ")), kDeep, "", {Tone::kFaint});
    if (is_ == nullptr) {
      held_back();
    }
  }

  void add_turn(std::vector<std::string>& facts) const {
    if (why_.turns > 1) {
      facts.push_back(fmt::format("{} of {} in the order", ordinal(why_.turn), why_.turns));
    }
    if (why_.ways > 1) {
      facts.push_back(fmt::format("{} ways to start", why_.ways));
    }
  }

  void held_back() {
    if (why_.held_back) {
      paragraph("By itself it could start now: there is room and quota for it.", kDeep);
    }
  }

  // What a plan makes of it, as opposed to what the cluster says.
  void what_if() {
    title("If it were decided now");
    const StateWords words = state_words(why_.decision);
    const bool placed = why_.decision.state == GangState::kPlaced;
    const std::string what =
        placed ? "it would be placed"
        : words.reason.empty()
            ? fmt::format("it would be called {}", words.state)
            : fmt::format("it would {}: {}", words.state == "Waiting" ? "wait" : "be rejected", words.reason);
    paragraph(what, kDeep, "", {words.tone});
    if (!words.message.empty() && words.message != is_->why.message) {
      paragraph(printable(words.message, options_.unicode), kDeep);
    }
    std::vector<std::string> facts;
    add_turn(facts);
    if (!facts.empty()) {
      paragraph(fmt::format("{}", fmt::join(facts, ", ")), kDeep, "", {Tone::kFaint});
    }
    held_back();
  }

  // The pods of it that have a host, or are to have one.
  [[nodiscard]] std::vector<std::pair<std::string, HostShare>> placed_pods() const {
    std::vector<std::pair<std::string, HostShare>> pods;
    if (is_ == nullptr) {
      for (const Holding& holding : why_.holdings) {
        pods.emplace_back(holding.pod_set, HostShare{holding.node, holding.count});
      }
      return pods;
    }
    for (const PodSetDecision& set : is_->pod_sets) {
      for (const HostShare& share : set.hosts) {
        pods.emplace_back(set.name, share);
      }
    }
    return pods;
  }

  void stands() {
    std::vector<HostShare> hosts;
    int pods = 0;
    for (const auto& [set, share] : placed_pods()) {
      hosts.push_back(share);
      pods += share.count;
    }
    title(is_ != nullptr && is_->state == Presence::kAdmitted ? "Where it was admitted to" : "Where it runs");
    if (hosts.empty() && is_ != nullptr) {
      const std::string place = place_of(*is_, options_.unicode);
      paragraph(place.empty() ? "no hosts are named" : place, kDeep);
      return;
    }
    // The topology that knows most of its hosts.
    Engine& engine = cluster_.engine();
    std::optional<std::pair<std::ptrdiff_t, TopologyId>> best;
    for (std::size_t t = 0; t < engine.topologies(); ++t) {
      const TopologyId id = make_id<TopologyTag>(t);
      const auto known = std::count_if(hosts.begin(), hosts.end(), [&](const HostShare& share) {
        return engine.tree(id).host_of(share.node) != DomainTree::kNowhere;
      });
      if (known > 0 && (!best || known > best->first)) {
        best = {known, id};
      }
    }
    const std::string place = best ? ": " + words_.place(best->second, hosts, options_.width - 20) : std::string();
    paragraph(counted(pods, "pod") + place, kDeep);
    name_hosts();
    for (const Eviction& eviction : why_.evictions) {
      paragraph(fmt::format("It would be evicted ({}) for {}: {}", to_string(eviction.reason), words_.gang(eviction.by),
                            printable(eviction.message, options_.unicode)),
                kDeep, "", {Tone::kWarning});
    }
  }

  // Pod set by pod set.
  void name_hosts() {
    std::map<std::string, std::vector<std::string>> sets;
    for (const auto& [set, share] : placed_pods()) {
      sets[set].push_back(cluster_.inventory().node(share.node).name);
    }
    for (auto& [name, hosts] : sets) {
      const std::string whose = sets.size() > 1 && !name.empty() ? name + " " : "";
      paragraph(printable(fmt::format("{}on {}", whose, host_names(std::move(hosts))), options_.unicode), kDeep);
    }
  }

  void asks() {
    title("Asks for");
    const std::vector<AskLine> asked =
        ask_lines(why_.asked->gang, words_, cluster_.inventory().resources(), options_.unicode);
    for (const AskLine& line : asked) {
      paragraph(line.text, kDeep + line.depth * 2);
    }
    if (asked.empty()) {
      paragraph("no pods", kDeep);
    }
  }

  void quota() {
    if (why_.quota.empty()) {
      return;
    }
    const bool enough =
        std::all_of(why_.quota.begin(), why_.quota.end(), [](const QuotaNeed& need) { return need.missing() == 0; });
    const std::string flavor = why_.quota.front().flavor;
    std::string whose = printable(why_.quota.front().queue, options_.unicode);
    if (!flavor.empty()) {
      whose += printable(fmt::format(", flavor \"{}\"", flavor), options_.unicode);
    }
    if (enough) {
      std::string borrowed;
      for (const QuotaNeed& need : why_.quota) {
        if (need.borrowed > 0) {
          borrowed += fmt::format("{}{}", borrowed.empty() ? "; borrowed: " : ", ", words_.quota(need, need.borrowed));
        }
      }
      lines_.emplace_back();
      TextLine& line = lines_.emplace_back();
      line.add("Quota", {Tone::kStrong}).add(fmt::format("  enough in {}{}", whose, borrowed));
      return;
    }
    title(fmt::format("Quota of {}", whose));
    std::vector<TableRow> rows;
    for (const QuotaNeed& need : why_.quota) {
      const auto amount = [&](std::int64_t value) {
        return TableCell{value == kUnlimited ? "no limit" : format_quantity(value, need.unit)};
      };
      TableCell missing = amount(need.missing());
      missing.ink = {need.missing() > 0 ? Tone::kWarning : Tone::kFaint};
      rows.push_back({{printable(need.resource, options_.unicode)},
                      amount(need.needed),
                      amount(need.borrowed),
                      amount(need.left),
                      missing});
    }
    append(lines_, draw_table({{"resource", Align::kLeft}, {"needed"}, {"of that to borrow"}, {"left"}, {"missing"}},
                              rows, kDeep));
  }

  void landed() {
    if (pod_sets(why_.asked->gang.root).empty()) {
      return;
    }
    title("Where it goes");
    const Decision& decision = why_.decision;
    const int width = options_.width - 24;
    const bool several = decision.pod_sets.size() > 1;
    std::size_t shown = 0;
    for (const PodSetDecision& set : decision.pod_sets) {
      if (++shown > kMostSiblings) {
        paragraph(fmt::format("and {}", counted(static_cast<std::int64_t>(decision.pod_sets.size() - kMostSiblings),
                                                "more pod set")),
                  kDeep);
        break;
      }
      const std::string where = set.hosts.empty() ? "nowhere" : words_.place(set.topology, set.hosts, width);
      paragraph(several
                    ? fmt::format("{}, {}: {}", printable(set.name, options_.unicode), counted(set.count, "pod"), where)
                    : where,
                kDeep);
    }
    if (why_.landing) {
      std::string because = words_.choice();
      because[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(because[0])));
      paragraph(because + ".", kDeep);
    }
    for (std::size_t i = 0; i < std::min(why_.evictions.size(), kMostEvictions); ++i) {
      const Eviction& eviction = why_.evictions[i];
      paragraph(fmt::format("Evicted for it: {} ({}, priority {}; {}): {}", words_.gang(eviction.key),
                            counted(eviction.pods, "pod"), eviction.priority, to_string(eviction.reason),
                            printable(eviction.message, options_.unicode)),
                kDeep, "", {Tone::kWarning});
    }
    if (why_.evictions.size() > kMostEvictions) {
      paragraph(fmt::format("and {}", counted(static_cast<std::int64_t>(why_.evictions.size() - kMostEvictions),
                                              "more eviction")),
                kDeep);
    }
  }

  // The finest level that some part of the gang prefers.
  [[nodiscard]] std::optional<int> preferred_level() const {
    std::optional<int> finest;
    const auto look = [&](const Constraint& constraint) {
      if (constraint.preferred && constraint.packing != Packing::kSpread) {
        finest = std::max(finest.value_or(-1), *constraint.preferred);
      }
    };
    look(why_.asked->gang.root.constraint);
    for (const PodSet* set : pod_sets(why_.asked->gang.root)) {
      look(set->constraint);
    }
    return finest;
  }

  void levels() {
    if (why_.levels.empty()) {
      return;
    }
    title(fmt::format("Level by level, for {} {}", words_.amount(why_.measure.needed), words_.measured()));
    const std::optional<int> preferred = preferred_level();
    std::vector<TableRow> rows;
    for (const LevelRow& row : why_.levels) {
      const bool asked = row.level == why_.measure.level;
      const Ink ink{asked ? Tone::kStrong : Tone::kPlain};
      const bool rackless = row.level < 0;
      const std::string best = row.offers == 0 ? "none" : words_.offer(row.offers);
      rows.push_back(
          {{asked                    ? ">"
            : row.level == preferred ? "~"
                                     : "",
            ink},
           {rackless ? "anywhere" : "one " + words_.level(row.level), ink},
           number_cell(row.domains),
           number_cell(row.when_empty),
           number_cell(row.now, asked),
           {best, ink},
           {rackless || row.offers == 0
                ? ""
                : clipped_inside(words_.domain(row.best), std::max(12, options_.width / 3), options_.unicode)}});
    }
    append(lines_, draw_table({{"", Align::kLeft},
                               {"all in", Align::kLeft},
                               {"there are"},
                               {"could, if empty"},
                               {"can now"},
                               {"the most room now"},
                               {"in", Align::kLeft}},
                              rows));
    std::string hosts = fmt::format("{}, {} with room", counted(why_.hosts.hosts, "host"), why_.hosts.roomy);
    if (const std::string lacking = words_.census(why_.hosts); !lacking.empty()) {
      hosts += "; " + lacking;
    }
    if (why_.outside > 0) {
      hosts += fmt::format("; {} outside the topology", counted(why_.outside, "node"));
    }
    paragraph(hosts, kDeep, "", {Tone::kFaint});
  }

  void nearest() {
    const bool room = std::any_of(why_.levels.begin(), why_.levels.end(),
                                  [&](const LevelRow& row) { return row.level == why_.measure.level && row.now > 0; });
    const bool quota_only = room && why_.decision.reason == Reason::kQuotaExceeded;
    if (why_.nearest.empty() || why_.held_back || quota_only) {
      return;
    }
    const bool too_large = why_.decision.reason == Reason::kTopologyTooLarge;
    const std::string word = words_.level(std::max(0, why_.measure.level));
    title(fmt::format("Nearest {}", counted(2, word).substr(2)));
    for (const NearDomain& near : why_.nearest) {
      std::string text = fmt::format("{}: {}", words_.domain(near.path), words_.offer(near.offers));
      if (too_large) {
        text += fmt::format(", {} when empty", words_.offer(near.offers_when_empty));
      }
      if (near.taken) {
        text += "; another of its kind has it to itself";
      }
      if (const std::string lacking = words_.census(near.hosts); !lacking.empty()) {
        text += "; " + lacking;
      }
      paragraph(text, kDeep);
      if (const std::string held = words_.holders(near, kMostHolders); !held.empty() && !too_large) {
        paragraph("held by " + held, kDeep + 2, "", {Tone::kFaint});
      }
    }
  }

  void remedies() {
    if (!why_.tried) {
      return;
    }
    title("What would let it start");
    if (why_.remedies.empty()) {
      paragraph("Nothing that was tried: fewer or smaller pods, coarser levels, evicting whatever runs, more hosts.",
                kDeep);
    }
    for (const Remedy& remedy : why_.remedies) {
      paragraph(words_.remedy(remedy), kDeep, "- ");
    }
  }

  void siblings() {
    if (why_.siblings.empty()) {
      return;
    }
    std::string text;
    for (std::size_t i = 0; i < std::min(why_.siblings.size(), kMostSiblings); ++i) {
      const Sibling& sibling = why_.siblings[i];
      text +=
          fmt::format("{}{} {}", i == 0 ? "" : ", ", printable(sibling.key.name, options_.unicode), stand_of(sibling));
    }
    if (why_.siblings.size() > kMostSiblings) {
      text += fmt::format(", and {} more", why_.siblings.size() - kMostSiblings);
    }
    title("The other replicas");
    paragraph(text, kDeep);
  }

  [[nodiscard]] std::string_view stand_of(const Sibling& sibling) const {
    if (const PresentGang* is = find(known_, sibling.key)) {
      switch (is->state) {
        case Presence::kRunning:
          return "runs";
        case Presence::kAdmitted:
          return "is admitted";
        case Presence::kEvicting:
          return "is being evicted";
        case Presence::kWaiting:
          return "waits";
        case Presence::kInactive:
          return "is inactive";
        case Presence::kRejected:
          return "is rejected";
      }
    }
    return sibling.running                        ? "runs"
           : sibling.state == GangState::kPlaced  ? "is placed"
           : sibling.state == GangState::kWaiting ? "waits"
                                                  : "is rejected";
  }

  const Explanation& why_;
  const std::vector<PresentGang>& known_;
  const PresentGang* is_;  // nullptr where no cluster knows it
  Cluster& cluster_;
  const TextOptions& options_;
  ExplainWords words_;
  std::vector<TextLine> lines_;
};

}  // namespace

std::string explanation_to_text(const Explanation& why, const std::vector<PresentGang>& known, Cluster& cluster,
                                const TextOptions& options) {
  return render(ExplainText(why, known, cluster, options).draw(), options.color);
}

}  // namespace gantree::view
