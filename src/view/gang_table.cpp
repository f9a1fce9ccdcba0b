#include "view/gang_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "view/gang_words.h"
#include "view/host_names.h"
#include "view/words.h"

namespace gantree::view {

namespace {

constexpr int kMark = 3;         // columns of the letter and its gap
constexpr int kDeep = 5;         // where lines that belong to the one above begin
constexpr int kLeastWhere = 22;  // where there is less room, the place goes below
constexpr std::size_t kMaxPodSets = 12;

struct Columns {
  int name = 0;
  int kind = 0;
  int pods = 0;
  int amount = 0;
  [[nodiscard]] int pods_end() const { return kMark + name + 2 + kind + 2 + pods; }
  [[nodiscard]] int amount_end() const { return pods_end() + 2 + amount; }
};

class GangTable {
 public:
  GangTable(Cluster& cluster, ResourceId resource, const Plan& plan, const TextOptions& options)
      : cluster_(cluster),
        resource_(resource),
        resource_word_(printable(short_name(cluster.inventory().resources().name(resource)), options.unicode)),
        decisions_(plan.decisions),
        evictions_(plan.evictions),
        options_(options) {
    measure();
  }

  std::vector<TextLine> draw() {
    draw_section(GangState::kPlaced);
    draw_evicted();
    draw_section(GangState::kWaiting);
    draw_section(GangState::kRejected);
    return std::move(lines_);
  }

 private:
  void measure() {
    columns_ = {.name = 0, .kind = 4, .pods = 4, .amount = columns(resource_word_)};
    for (const Decision& decision : decisions_) {
      columns_.name = std::max(columns_.name, columns(gang_name(decision, options_.unicode)));
      columns_.kind = std::max(columns_.kind, columns(printable(decision.key.kind, options_.unicode)));
      columns_.pods = std::max(columns_.pods, columns(pods_text(decision.pod_sets)));
      columns_.amount =
          std::max(columns_.amount, columns(amount_text(amount_of(decision.pod_sets, resource_), resource_)));
    }
    for (const Eviction& eviction : evictions_) {
      columns_.name = std::max(columns_.name, columns(gang_name(eviction.key, options_.unicode)));
      columns_.kind = std::max(columns_.kind, columns(printable(eviction.key.kind, options_.unicode)));
    }
    columns_.name = std::clamp(columns_.name, 12, std::max(options_.width / 2, 16));
    columns_.kind = std::min(columns_.kind, 16);
    place_below_ = options_.width - columns_.amount_end() - 2 < kLeastWhere;
  }

  void draw_section(GangState state) {
    const auto in_state = [&](const Decision& decision) { return decision.state == state; };
    if (std::none_of(decisions_.begin(), decisions_.end(), in_state)) {
      return;
    }
    const bool placed = state == GangState::kPlaced;
    const Tone tone = placed ? Tone::kGood : state == GangState::kWaiting ? Tone::kWarning : Tone::kBad;
    if (!lines_.empty()) {
      lines_.emplace_back();
    }
    TextLine& head = lines_.emplace_back();
    head.add(to_string(state), {tone}).pad_to(kMark + columns_.name + 2).add("kind", {Tone::kFaint});
    head.add_right("pods", columns_.pods_end(), {Tone::kFaint});
    if (placed) {
      head.add("  ").add_right(resource_word_, columns_.amount_end(), {Tone::kFaint});
    }
    head.add(place_below_ ? "" : placed ? "  where" : "  why", {Tone::kFaint});
    int mark = 0;
    for (const Decision& decision : decisions_) {
      if (decision.state == state && placed) {
        draw_placed(decision, mark++);
      } else if (decision.state == state) {
        draw_refused(decision, tone);
      }
    }
  }

  TextLine& begin(const GangKey& key, const std::string& pods, int mark) {
    TextLine& line = lines_.emplace_back();
    if (mark >= 0) {
      line.add(std::string(1, gang_letter(mark)), {Tone::kPlain, mark});
    }
    line.pad_to(kMark).add(clipped(gang_name(key, options_.unicode), columns_.name, options_.unicode), {Tone::kStrong});
    line.pad_to(kMark + columns_.name + 2);
    line.add(clipped(printable(key.kind, options_.unicode), columns_.kind, options_.unicode));
    return line.add_right(pods, columns_.pods_end());
  }

  void draw_evicted() {
    if (evictions_.empty()) {
      return;
    }
    lines_.emplace_back();
    TextLine& head = lines_.emplace_back();
    head.add("Evicted", {Tone::kBad}).pad_to(kMark + columns_.name + 2).add("kind", {Tone::kFaint});
    head.add_right("pods", columns_.pods_end(), {Tone::kFaint}).add("  why", {Tone::kFaint});
    for (const Eviction& eviction : evictions_) {
      begin(eviction.key, fmt::format("{}", eviction.pods), -1)
          .add("  ")
          .add(to_string(eviction.reason), {Tone::kBad})
          .add(fmt::format(" for {}", gang_name(eviction.by, options_.unicode)));
      add_message(eviction.message);
    }
  }

  void add_message(const std::string& text) {
    const std::string message = printable(text, options_.unicode);
    if (message.empty()) {
      return;
    }
    for (const std::string& line : wrapped(message, options_.width - kDeep)) {
      lines_.emplace_back().pad_to(kDeep).add(line);
    }
  }

  void draw_placed(const Decision& decision, int mark) {
    TextLine& line = begin(decision.key, pods_text(decision.pod_sets), mark);
    line.add("  ").add_right(amount_text(amount_of(decision.pod_sets, resource_), resource_), columns_.amount_end());
    add_where(decision.pod_sets);
    if (decision.pod_sets.size() < 2) {
      add_hosts(decision.pod_sets, kDeep);
      return;
    }
    for (std::size_t i = 0; i < std::min(decision.pod_sets.size(), kMaxPodSets); ++i) {
      const PodSetDecision& set = decision.pod_sets[i];
      TextLine& part = lines_.emplace_back();
      const int room = kMark + columns_.name + 2 + columns_.kind - kDeep;
      part.pad_to(kDeep).add(clipped(printable(set.name, options_.unicode), room, options_.unicode), {Tone::kFaint});
      part.add_right(pods_text({&set, 1}), columns_.pods_end(), {Tone::kFaint});
      part.add("  ").add_right(amount_text(amount_of({&set, 1}, resource_), resource_), columns_.amount_end(),
                               {Tone::kFaint});
      add_where({&set, 1});
      add_hosts({&set, 1}, kDeep + 2);
    }
    if (decision.pod_sets.size() > kMaxPodSets) {
      const auto more = static_cast<std::int64_t>(decision.pod_sets.size() - kMaxPodSets);
      lines_.emplace_back().pad_to(kDeep).add(fmt::format("and {}", counted(more, "more pod set")), {Tone::kFaint});
    }
  }

  // Adds the place of the pods to the last line, or below it.
  void add_where(std::span<const PodSetDecision> sets) {
    const int begin = place_below_ ? kDeep : columns_.amount_end() + 2;
    const std::string where = gang_where(cluster_, sets, options_.width - begin, options_.unicode);
    if (!where.empty()) {
      (place_below_ ? lines_.emplace_back() : lines_.back()).pad_to(begin).add(where);
    }
  }

  // Below the place, where they are wanted.
  void add_hosts(std::span<const PodSetDecision> sets, int begin) {
    std::vector<std::string> names;
    for (const PodSetDecision& set : sets) {
      for (const HostShare& share : set.hosts) {
        names.push_back(cluster_.inventory().node(share.node).name);
      }
    }
    if (!options_.hosts || names.empty()) {
      return;
    }
    const std::string text = printable("on " + host_names(std::move(names)), options_.unicode);
    for (const std::string& line : wrapped(text, options_.width - begin)) {
      lines_.emplace_back().pad_to(begin).add(line, {Tone::kFaint});
    }
  }

  void draw_refused(const Decision& decision, Tone tone) {
    begin(decision.key, pods_text(decision.pod_sets), -1).add("  ").add(to_string(decision.reason), {tone});
    add_message(decision.message);
  }

  Cluster& cluster_;
  const ResourceId resource_;
  const std::string resource_word_;
  const std::span<const Decision> decisions_;
  const std::span<const Eviction> evictions_;
  const TextOptions& options_;
  Columns columns_;
  bool place_below_ = false;
  std::vector<TextLine> lines_;
};

}  // namespace

std::vector<TextLine> draw_gangs(Cluster& cluster, ResourceId resource, const Plan& plan, const TextOptions& options) {
  return GangTable(cluster, resource, plan, options).draw();
}

}  // namespace gantree::view
