#include "view/gang_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "view/gang_words.h"
#include "view/host_names.h"
#include "view/words.h"

namespace gantree::view {

namespace {

constexpr int kMark = 3;         // columns of the letter and its gap
constexpr int kIndent = 5;       // where lines that belong to the one above begin
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
  GangTable(Cluster& cluster, ResourceId resource, const std::vector<GangSection>& sections, const TextOptions& options)
      : cluster_(cluster),
        resource_(resource),
        resource_word_(printable(short_name(cluster.inventory().resources().name(resource)), options.unicode)),
        sections_(sections),
        options_(options) {
    measure();
  }

  std::vector<TextLine> draw() {
    for (const GangSection& section : sections_) {
      if (!section.rows.empty()) {
        draw_section(section);
      }
    }
    return std::move(lines_);
  }

 private:
  void measure() {
    columns_ = {.name = 0, .kind = 4, .pods = 4, .amount = columns(resource_word_)};
    for (const GangSection& section : sections_) {
      columns_.name = std::max(columns_.name, section.rows.empty() ? 0 : columns(section.title) - kMark);
      for (const GangRow& row : section.rows) {
        columns_.name = std::max(columns_.name, columns(gang_name(row.key, options_.unicode)));
        columns_.kind = std::max(columns_.kind, columns(printable(row.key.kind, options_.unicode)));
        columns_.pods = std::max(columns_.pods, columns(row.pods));
        columns_.amount =
            std::max(columns_.amount, columns(amount_text(amount_of(row.pod_sets, resource_), resource_)));
      }
    }
    columns_.name = std::clamp(columns_.name, 12, std::max(options_.width / 2, 16));
    columns_.kind = std::min(columns_.kind, 16);
    place_below_ = options_.width - columns_.amount_end() - 2 < kLeastWhere;
  }

  void draw_section(const GangSection& section) {
    if (!lines_.empty()) {
      lines_.emplace_back();
    }
    TextLine& head = lines_.emplace_back();
    head.add(section.title, {section.tone}).pad_to(kMark + columns_.name + 2).add("kind", {Tone::kFaint});
    head.add_right("pods", columns_.pods_end(), {Tone::kFaint});
    if (section.placed) {
      head.add("  ").add_right(resource_word_, columns_.amount_end(), {Tone::kFaint});
    }
    head.add(place_below_ ? "" : section.placed ? "  where" : "  why", {Tone::kFaint});
    for (const GangRow& row : section.rows) {
      if (section.placed) {
        draw_placed(row, mark_++);
      } else {
        begin(row.key, row.pods, -1).add("  ").add(row.reason, {section.tone}).add(row.about);
      }
      add_message(section.placed && !row.reason.empty() ? fmt::format("{}: {}", row.reason, row.message) : row.message);
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

  void add_message(const std::string& text) {
    const std::string message = printable(text, options_.unicode);
    if (message.empty()) {
      return;
    }
    for (const std::string& line : wrapped(message, options_.width - kIndent)) {
      lines_.emplace_back().pad_to(kIndent).add(line);
    }
  }

  void draw_placed(const GangRow& row, int mark) {
    const std::span<const PodSetDecision> sets = row.pod_sets;
    TextLine& line = begin(row.key, row.pods, mark);
    line.add("  ").add_right(amount_text(amount_of(sets, resource_), resource_), columns_.amount_end());
    add_where(sets, row.where);
    if (sets.size() < 2) {
      add_hosts(sets, kIndent);
      return;
    }
    for (std::size_t i = 0; i < std::min(sets.size(), kMaxPodSets); ++i) {
      const PodSetDecision& set = sets[i];
      TextLine& part = lines_.emplace_back();
      const int room = kMark + columns_.name + 2 + columns_.kind - kIndent;
      part.pad_to(kIndent).add(clipped(printable(set.name, options_.unicode), room, options_.unicode), {Tone::kFaint});
      part.add_right(pods_text({&set, 1}), columns_.pods_end(), {Tone::kFaint});
      part.add("  ").add_right(amount_text(amount_of({&set, 1}, resource_), resource_), columns_.amount_end(),
                               {Tone::kFaint});
      add_where({&set, 1}, "");
      add_hosts({&set, 1}, kIndent + 2);
    }
    if (sets.size() > kMaxPodSets) {
      const auto more = static_cast<std::int64_t>(sets.size() - kMaxPodSets);
      lines_.emplace_back().pad_to(kIndent).add(fmt::format("and {}", counted(more, "more pod set")), {Tone::kFaint});
    }
  }

  // Adds the place of the pods to the last line, or below it.
  void add_where(std::span<const PodSetDecision> sets, const std::string& otherwise) {
    const int begin = place_below_ ? kIndent : columns_.amount_end() + 2;
    std::string where = gang_where(cluster_, sets, options_.width - begin, options_.unicode);
    if (where.empty()) {
      where = clipped(otherwise, options_.width - begin, options_.unicode);
    }
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

  Cluster& cluster_;
  const ResourceId resource_;
  const std::string resource_word_;
  const std::vector<GangSection>& sections_;
  const TextOptions& options_;
  Columns columns_;
  bool place_below_ = false;
  int mark_ = 0;
  std::vector<TextLine> lines_;
};

// A section of all gangs of a plan that are in that state.
GangSection section_of(const Plan& plan, GangState state, std::string title, bool unicode) {
  const bool placed = state == GangState::kPlaced;
  GangSection section{.title = std::move(title),
                      .tone = placed                         ? Tone::kGood
                              : state == GangState::kWaiting ? Tone::kWarning
                                                             : Tone::kBad,
                      .placed = placed,
                      .rows = {}};
  for (const Decision& decision : plan.decisions) {
    if (decision.state != state) {
      continue;
    }
    GangRow& row = section.rows.emplace_back();
    row.key = decision.key;
    row.pods = pods_text(decision.pod_sets);
    if (placed) {
      row.pod_sets = decision.pod_sets;
    } else {
      row.reason = to_string(decision.reason);
      row.message = printable(decision.message, unicode);
    }
  }
  return section;
}

GangSection evicted(const Plan& plan, std::string title, bool unicode) {
  GangSection section{.title = std::move(title), .tone = Tone::kBad, .placed = false, .rows = {}};
  for (const Eviction& eviction : plan.evictions) {
    GangRow& row = section.rows.emplace_back();
    row.key = eviction.key;
    row.pods = fmt::format("{}", eviction.pods);
    row.reason = to_string(eviction.reason);
    row.about = fmt::format(" for {}", gang_name(eviction.by, unicode));
    row.message = printable(eviction.message, unicode);
  }
  return section;
}

}  // namespace

std::vector<TextLine> draw_sections(Cluster& cluster, ResourceId resource, const std::vector<GangSection>& sections,
                                    const TextOptions& options) {
  return GangTable(cluster, resource, sections, options).draw();
}

std::vector<GangSection> sections_of(const Plan& plan, Mood mood, bool unicode) {
  const bool is = mood == Mood::kIs;
  std::vector<GangSection> sections;
  sections.push_back(section_of(plan, GangState::kPlaced, is ? "Placed" : "Would be placed", unicode));
  sections.push_back(evicted(plan, is ? "Evicted" : "Would be evicted", unicode));
  sections.push_back(section_of(plan, GangState::kWaiting, is ? "Waiting" : "Would wait", unicode));
  sections.push_back(section_of(plan, GangState::kRejected, is ? "Rejected" : "Would be rejected", unicode));
  return sections;
}

std::vector<TextLine> draw_gangs(Cluster& cluster, ResourceId resource, const Plan& plan, const TextOptions& options) {
  return draw_sections(cluster, resource, sections_of(plan, Mood::kIs, options.unicode), options);
}

}  // namespace gantree::view
