#include "view/svg_plan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "unit/view/planned_cluster.h"
#include "view/svg_canvas.h"

namespace gantree::view {
namespace {

// Whether tags nest, attributes are quoted and text has no bare markup: all that can go wrong here.
::testing::AssertionResult well_formed(std::string_view xml) {
  std::vector<std::string> open;
  std::size_t at = 0;
  while (at < xml.size()) {
    const std::size_t tag = xml.find('<', at);
    const std::string_view text = xml.substr(at, tag == std::string_view::npos ? tag : tag - at);
    for (std::size_t amp = text.find('&'); amp != std::string_view::npos; amp = text.find('&', amp + 1)) {
      const std::string_view rest = text.substr(amp);
      if (!rest.starts_with("&amp;") && !rest.starts_with("&lt;") && !rest.starts_with("&gt;") &&
          !rest.starts_with("&quot;")) {
        return ::testing::AssertionFailure() << "a bare & in " << text;
      }
    }
    if (tag == std::string_view::npos) {
      break;
    }
    const std::size_t end = xml.find('>', tag);
    if (end == std::string_view::npos) {
      return ::testing::AssertionFailure() << "a tag without an end";
    }
    const std::string_view inside = xml.substr(tag + 1, end - tag - 1);
    const auto name = std::string(inside.substr(0, inside.find_first_of(" /", 1)));
    if (std::count(inside.begin(), inside.end(), '"') % 2 != 0) {
      return ::testing::AssertionFailure() << "an odd quote in <" << inside << ">";
    }
    if (inside.starts_with('/')) {
      if (open.empty() || open.back() != name.substr(1)) {
        return ::testing::AssertionFailure() << "</" << name << "> closes nothing";
      }
      open.pop_back();
    } else if (!inside.ends_with('/')) {
      open.push_back(name);
    }
    at = end + 1;
  }
  return open.empty() ? ::testing::AssertionSuccess() : ::testing::AssertionFailure() << open.back() << " stays open";
}

std::string drawn(PlannedCluster& plan) {
  return svg_plan(plan.cluster(), plan.plan());
}

std::size_t count(std::string_view text, std::string_view word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    ++found;
  }
  return found;
}

TEST(SvgPlan, TellsOfEveryHostWhoHasIt) {
  PlannedCluster plan;
  const NodeId n1 = plan.host({"b1", "r1", "n1"}, 8, 2);
  plan.host({"b1", "r1", "n2"});
  plan.change(plan.host({"b1", "r2", "n3"}), [](Node& node) { node.ready = false; });
  plan.gang("train", 4, {{n1, 1}});
  plan.refused("large", GangState::kWaiting, Reason::kTopologyBusy, "no rack can hold it", 4);
  const std::string svg = drawn(plan);
  EXPECT_TRUE(well_formed(svg));
  for (const char* words :
       {"<title>n1: 2 of 8 gpu free, 2 in use before, A team/train: 1 pod, 4 gpu</title>",
        "<title>n2: 8 of 8 gpu free</title>", "<title>n3: 8 of 8 gpu free, not ready</title>",
        "Plan: 1 placed, 1 waiting, 0 rejected", "team/train", "b1/r1/n1", "TopologyBusy", "no rack can hold it"}) {
    EXPECT_NE(svg.find(words), std::string::npos) << words;
  }
}

TEST(SvgPlan, FillsAHostInProportion) {
  PlannedCluster plan;
  const NodeId n1 = plan.host({"b1", "r1", "n1"}, 8, 2);
  plan.gang("train", 4, {{n1, 1}});
  const std::string svg = drawn(plan);
  const std::size_t host = svg.find("<title>n1:");
  const std::string cell = svg.substr(host, svg.find("</g>", host) - host);
  EXPECT_NE(cell.find(R"(class="used" d="M36 166h24v18h-24z")"), std::string::npos) << cell;
  EXPECT_NE(cell.find(R"(class="g0" d="M60 166h48v18h-48z")"), std::string::npos) << cell;
}

TEST(SvgPlan, StaysXmlWhateverTheNamesAre) {
  PlannedCluster plan({"block", "rack", kHostnameLabel}, "x.com/<gpu>&\"");
  const NodeId odd = plan.host({"<b>&\"'", "]]>", "n\x01\xff\xef\xbf\xbf"});
  plan.gang("<script>alert(1)</script>", 4, {{odd, 1}});
  plan.refused("&w;", GangState::kRejected, Reason::kInvalidRequest, "<!-- \x1b & -->", 4);
  const std::string svg = drawn(plan);
  EXPECT_TRUE(well_formed(svg));
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  EXPECT_TRUE(
      std::all_of(svg.begin(), svg.end(), [](char c) { return c == '\n' || static_cast<unsigned char>(c) >= 0x20; }));
}

TEST(SvgPlan, ReplacesWhatXmlDoesNotAllow) {
  EXPECT_EQ(xml_text("a<b>&\"c\""), "a&lt;b&gt;&amp;&quot;c&quot;");
  EXPECT_EQ(xml_text("\x01\xff\xef\xbf\xbf"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(SvgPlan, IsTheSameForTheSamePlan) {
  const auto make = [] {
    PlannedCluster plan;
    plan.gang("train", 4, {{plan.host({"b1", "r1", "n1"}), 1}, {plan.host({"b1", "r1", "n2"}), 2}});
    return drawn(plan);
  };
  EXPECT_EQ(make(), make());
}

TEST(SvgPlan, GivesMoreGangsThanColorsPatterns) {
  PlannedCluster plan;
  for (int gang = 0; gang < 70; ++gang) {
    plan.gang(fmt::format("gang-{}", gang), 8, {{plan.host({"b1", "r1", fmt::format("n{}", gang)}), 1}});
  }
  const std::string svg = drawn(plan);
  EXPECT_TRUE(well_formed(svg));
  for (int look = 0; look < kGangLooks; ++look) {
    EXPECT_NE(svg.find(fmt::format("class=\"g{}\"", look)), std::string::npos) << look;
  }
}

TEST(SvgPlan, LeavesOutUntouchedBlocksOfAHugeCluster) {
  PlannedCluster plan;
  NodeId last;
  for (int block = 0; block < 20; ++block) {
    for (int host = 0; host < 1000; ++host) {
      last = plan.host({fmt::format("b{}", block), fmt::format("r{}", host / 50), fmt::format("n{}-{}", block, host)},
                       8, host % 9);
    }
  }
  plan.gang("train", 8, {{last, 1}});
  const std::string svg = drawn(plan);
  EXPECT_TRUE(well_formed(svg));
  EXPECT_LT(svg.size(), 2'000'000u);
  EXPECT_EQ(count(svg, "class=\"panel\""), 12u);
  EXPECT_NE(svg.find(">b19<"), std::string::npos) << "the block with the gang";
  EXPECT_NE(svg.find("Not drawn: 8000 more hosts"), std::string::npos);
}

TEST(SvgPlan, HasAnAnswerForNothingAtAll) {
  PlannedCluster empty;
  EXPECT_TRUE(well_formed(drawn(empty)));
  Cluster nothing;
  EXPECT_TRUE(well_formed(svg_plan(nothing, {})));
  PlannedCluster flat({kHostnameLabel});
  for (int host = 0; host < 5000; ++host) {
    flat.host({fmt::format("n{}", host)});
  }
  EXPECT_TRUE(well_formed(drawn(flat)));
}

}  // namespace
}  // namespace gantree::view
