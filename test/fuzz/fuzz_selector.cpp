// Any text as a label selector, a field selector, a path of a printer column and a continue token.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "apiserver/json_path.h"
#include "apiserver/selector.h"
#include "apiserver/snapshots.h"
#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gantree::apiserver;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static const Pairs kLabels{{"a", "b"}, {"example.com/c", "5"}, {"d", ""}};
  if (const auto selector = LabelSelector::parse(text)) {
    (void)selector->matches(kLabels);
    (void)selector->matches({});
  }
  if (const auto selector = FieldSelector::parse(text)) {
    for (const FieldSelector::Term& term : selector->terms()) {
      (void)selector->exact(term.field);
    }
  }
  if (const auto path = JsonPath::parse(text)) {
    const auto object = parse_json(R"({"a":{"b":[1,{"type":"Ready","c":true},[]],"c.d":null},"list":[{"type":"x"}]})");
    GANTREE_CHECK(object.has_value());
    (void)path->first(*object);
  }
  if (const auto value = parse_json(text)) {
    (void)LabelSelector::from_object(&*value);
  }
  Snapshots snapshots;
  const auto now = Snapshots::Clock::now();
  const auto first = snapshots.begin(
      "pods", std::vector<Entry>(3, Entry{std::make_shared<const std::string>("{}"), 1, nullptr}), 7, 1, now);
  const auto next = snapshots.go_on("pods", text, 1, now);
  GANTREE_CHECK(!next || next->entries.size() <= 1);
  GANTREE_CHECK(snapshots.go_on("pods", first.next, 1, now).has_value());
  return 0;
}
