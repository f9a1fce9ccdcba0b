#include "install/finding.h"

#include <fmt/format.h>

#include <algorithm>

namespace gantree {

namespace {

constexpr std::size_t kMostNames = 5;
constexpr int kCheckColumn = 2;
constexpr int kSentenceColumn = 16;

std::string_view mark(Health health, bool unicode) {
  switch (health) {
    case Health::kOk:
      return unicode ? "\u2713" : "+";
    case Health::kWarning:
      return "!";
    case Health::kError:
      return unicode ? "\u2717" : "x";
  }
  return "?";
}

view::Tone tone(Health health) {
  switch (health) {
    case Health::kOk:
      return view::Tone::kGood;
    case Health::kWarning:
      return view::Tone::kWarning;
    case Health::kError:
      return view::Tone::kBad;
  }
  return view::Tone::kPlain;
}

}  // namespace

std::string_view to_string(Health health) {
  switch (health) {
    case Health::kOk:
      return "ok";
    case Health::kWarning:
      return "warning";
    case Health::kError:
      return "error";
  }
  return "";
}

Health worst(const Findings& findings) {
  Health health = Health::kOk;
  for (const Finding& finding : findings) {
    health = std::max(health, finding.health);
  }
  return health;
}

json::Out findings_to_json(const Findings& findings) {
  json::Out list = json::Out::array();
  for (const Finding& finding : findings) {
    json::Out one = json::Out::object();
    one.add("check", finding.check).add("health", to_string(finding.health)).add("message", finding.sentence);
    if (!finding.advice.empty()) {
      one.add("advice", finding.advice);
    }
    list.push(std::move(one));
  }
  json::Out out = json::Out::object();
  return out.add("health", to_string(worst(findings))).add("findings", std::move(list));
}

std::string findings_to_text(const Findings& findings, const view::TextOptions& options) {
  std::vector<view::TextLine> lines;
  std::string_view previous;
  for (const Finding& finding : findings) {
    view::TextLine& line = lines.emplace_back();
    line.add(mark(finding.health, options.unicode), {.tone = tone(finding.health)}).pad_to(kCheckColumn);
    if (finding.check != previous) {
      line.add(finding.check, {.tone = view::Tone::kStrong});
    }
    line.pad_to(kSentenceColumn).add(finding.sentence);
    previous = finding.check;
    if (!finding.advice.empty()) {
      lines.emplace_back()
          .pad_to(kSentenceColumn)
          .add(options.unicode ? "\u2192 " : "-> ")
          .add(finding.advice, {.tone = view::Tone::kFaint});
    }
  }
  return view::render(lines, options.color);
}

std::string some_of(const std::vector<std::string>& names) {
  if (names.size() <= kMostNames) {
    return fmt::format("{}", fmt::join(names, ", "));
  }
  return fmt::format("{} and {} others", fmt::join(names.begin(), names.begin() + kMostNames, ", "),
                     names.size() - kMostNames);
}

}  // namespace gantree
