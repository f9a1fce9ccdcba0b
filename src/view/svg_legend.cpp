#include "view/svg_legend.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "view/gang_words.h"
#include "view/outline.h"
#include "view/words.h"

namespace gantree::view {

namespace {

constexpr double kRow = 20;
constexpr double kSwatch = 14;
constexpr double kLine = 15;             // of a message
constexpr std::size_t kMostGangs = 200;  // rows of one state
constexpr std::size_t kMostMessageLines = 6;

class GangList {
 public:
  GangList(SvgCanvas& canvas, Cluster& cluster, ResourceId resource, const Plan& plan, const Box& box)
      : canvas_(canvas),
        cluster_(cluster),
        resource_(resource),
        decisions_(plan.decisions),
        evictions_(plan.evictions),
        box_(box),
        y_(box.y) {
    double name = 140;
    double kind = 40;
    for (const Decision& decision : decisions_) {
      name = std::max(name, text_width(gang_name(decision, true), 12));
      kind = std::max(kind, text_width(printable(decision.key.kind, true), 11));
    }
    for (const Eviction& eviction : evictions_) {
      name = std::max(name, text_width(gang_name(eviction.key, true), 12));
      kind = std::max(kind, text_width(printable(eviction.key.kind, true), 11));
    }
    kind_ = box.x + 26 + std::min(name, box.width * 0.4) + 14;
    pods_ = kind_ + std::min(kind, 110.0) + 50;
    amount_ = pods_ + 60;
    where_ = amount_ + 20;
  }

  double draw() {
    draw_state(GangState::kPlaced);
    draw_evicted();
    draw_state(GangState::kWaiting);
    draw_state(GangState::kRejected);
    return y_;
  }

 private:
  void draw_state(GangState state) {
    std::vector<const Decision*> gangs;
    for (const Decision& decision : decisions_) {
      if (decision.state == state) {
        gangs.push_back(&decision);
      }
    }
    if (gangs.empty()) {
      return;
    }
    const bool placed = state == GangState::kPlaced;
    draw_heading(to_string(state), placed ? "placed" : state == GangState::kWaiting ? "waiting" : "rejected", placed);
    for (std::size_t i = 0; i < std::min(gangs.size(), kMostGangs); ++i) {
      if (state == GangState::kPlaced) {
        draw_placed(*gangs[i], static_cast<int>(i));
      } else {
        draw_refused(*gangs[i]);
      }
    }
    draw_more(gangs.size());
  }

  void draw_evicted() {
    if (evictions_.empty()) {
      return;
    }
    draw_heading("Evicted", "rejected", false);
    for (const Eviction& eviction : evictions_.first(std::min(evictions_.size(), kMostGangs))) {
      draw_name(eviction.key, fmt::format("{}", eviction.pods));
      const std::string why = fmt::format("{} for {}", to_string(eviction.reason), gang_name(eviction.by, true));
      canvas_.text(pods_ + 20, y_ - 6, why, "rejected");
      draw_message(eviction.message);
    }
    draw_more(evictions_.size());
  }

  // What is beyond the most that are listed.
  void draw_more(std::size_t gangs) {
    if (gangs > kMostGangs) {
      y_ += kRow;
      canvas_.text(box_.x + 26, y_ - 6, fmt::format("and {} more", gangs - kMostGangs), "faint");
    }
    y_ += 8;
  }

  void draw_heading(std::string_view title, std::string_view css_class, bool placed) {
    y_ += kRow + 4;
    canvas_.text(box_.x, y_ - 6, title, fmt::format("head {}", css_class));
    canvas_.text(kind_, y_ - 6, "kind", "column");
    canvas_.text(pods_, y_ - 6, "pods", "column", Anchor::kEnd);
    if (placed) {
      canvas_.text(amount_, y_ - 6, short_name(cluster_.inventory().resources().name(resource_)), "column",
                   Anchor::kEnd);
    }
    canvas_.text(placed ? where_ : pods_ + 20, y_ - 6, placed ? "where" : "why", "column");
    canvas_.area({box_.x, y_ - 1, box_.width, 1}, "rule");
  }

  void draw_name(const GangKey& key, const std::string& pods) {
    y_ += kRow;
    canvas_.text(box_.x + 26, y_ - 6, fitted(gang_name(key, true), kind_ - box_.x - 34, 11.5), "strong");
    canvas_.text(kind_, y_ - 6, fitted(printable(key.kind, true), pods_ - kind_ - 40, 10), "faint");
    canvas_.text(pods_, y_ - 6, pods, "", Anchor::kEnd);
  }

  void draw_placed(const Decision& decision, int mark) {
    draw_name(decision.key, pods_text(decision.pod_sets));
    canvas_.rect({box_.x, y_ - kRow + 4, kSwatch + 2, kSwatch}, gang_class(mark), 2);
    canvas_.letter(box_.x + kSwatch / 2 + 1, y_ - kRow + 4 + kSwatch / 2, mark);
    canvas_.text(amount_, y_ - 6, amount_text(amount_of(decision.pod_sets, resource_), resource_), "", Anchor::kEnd);
    const int columns = static_cast<int>((box_.x + box_.width - where_) / (11 * 0.56));
    canvas_.text(where_, y_ - 6, gang_where(cluster_, decision.pod_sets, columns, true), "");
  }

  void draw_refused(const Decision& decision) {
    draw_name(decision.key, pods_text(decision.pod_sets));
    canvas_.text(pods_ + 20, y_ - 6, to_string(decision.reason),
                 decision.state == GangState::kWaiting ? "waiting" : "rejected");
    draw_message(decision.message);
  }

  void draw_message(const std::string& message) {
    const int columns = static_cast<int>((box_.width - 26) / (11 * 0.54));
    std::vector<std::string> lines = wrapped(printable(message, true), columns);
    if (lines.size() > kMostMessageLines) {
      lines.resize(kMostMessageLines);
      lines.back() += " …";
    }
    y_ += 2;
    for (const std::string& line : lines) {
      if (!line.empty()) {
        y_ += kLine;
        canvas_.text(box_.x + 26, y_ - 6, line, "message");
      }
    }
    y_ += 3;
  }

  SvgCanvas& canvas_;
  Cluster& cluster_;
  const ResourceId resource_;
  const std::span<const Decision> decisions_;
  const std::span<const Eviction> evictions_;
  const Box box_;
  double y_;
  double kind_ = 0;
  double pods_ = 0;    // where the numbers end
  double amount_ = 0;  // where the numbers end
  double where_ = 0;
};

}  // namespace

double draw_totals(SvgCanvas& canvas, const Scene& scene, const Totals& totals, const Box& box) {
  std::string levels;
  for (const std::string& word : level_words(*scene.topology)) {
    levels += levels.empty() ? "" : " › ";
    levels += word;
  }
  const std::string name = printable(scene.name, true);
  double y = box.y + 14;
  canvas.text(box.x, y, fitted(fmt::format("Topology {} ({})", name, levels), box.width, 12), "sub");
  y += 17;
  std::string text = totals_text(scene, totals);
  if (scene.outside > 0) {
    text += fmt::format("; {} outside this topology", counted(scene.outside, "node"));
  }
  canvas.text(box.x, y, fitted(text, box.width, 10.5), "sub");
  y += 8;
  if (totals.total <= 0) {
    return y + 10;
  }
  std::map<int, std::int64_t> by_gang;
  for (const HostView& host : scene.hosts) {
    for (const GangShare& share : host.shares) {
      by_gang[share.gang] = plus(by_gang[share.gang], share.amount);
    }
  }
  const auto whole = static_cast<double>(std::max(totals.total, plus(totals.before, totals.placed)));
  const Box bar{box.x, y, box.width, 14};
  canvas.area(bar, "free");
  double x = bar.x;
  const auto add = [&](std::int64_t amount, const std::string& css_class) {
    const double width = bar.width * static_cast<double>(amount) / whole;
    if (width > 0) {
      canvas.area({x, bar.y, width, bar.height}, css_class);
    }
    x += width;
    return width;
  };
  add(totals.before, "used");
  for (const auto& [mark, amount] : by_gang) {
    if (const double width = add(amount, gang_class(mark)); width >= 10) {
      canvas.letter(x - width / 2, bar.y + bar.height / 2, mark);
    }
  }
  canvas.rect(bar, "edge", 2);
  return y + bar.height + 16;
}

double draw_key(SvgCanvas& canvas, const Scene& scene, double x, double y) {
  const auto any = [&](auto&& condition) { return std::any_of(scene.hosts.begin(), scene.hosts.end(), condition); };
  const auto add = [&](bool occurs, std::string_view css_class, const std::string& meaning) {
    if (!occurs) {
      return;
    }
    canvas.area({x, y, kSwatch, 10}, css_class);
    canvas.rect({x, y, kSwatch, 10}, "edge");
    canvas.text(x + kSwatch + 6, y + 9, meaning, "small");
    x += kSwatch + 6 + text_width(meaning, 10) + 16;
  };
  add(any([](const HostView& host) { return host.before > 0; }), "used", "in use before");
  add(any([](const HostView& host) { return host.trouble == Trouble::kNone && host.free > 0; }), "free", "free");
  add(any([](const HostView& host) { return host.state() == HostState::kOff; }), "off", "not ready or cordoned");
  add(any([](const HostView& host) { return host.trouble == Trouble::kTainted; }), "tainted", "tainted");
  add(any([](const HostView& host) { return host.state() == HostState::kWithout; }), "without",
      "without " + scene.resource_name);
  return y + 16;
}

double draw_gang_list(SvgCanvas& canvas, Cluster& cluster, ResourceId resource, const Plan& plan, const Box& box) {
  return GangList(canvas, cluster, resource, plan, box).draw();
}

}  // namespace gantree::view
