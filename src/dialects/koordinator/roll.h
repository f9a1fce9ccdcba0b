// All gangs of the family, and which of them belong together.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dialects/intake.h"
#include "dialects/koordinator/gang_rules.h"
#include "model/gang.h"

namespace gantree::koordinator {

// Gangs that start together: a GangGroup, or one gang alone.
struct Bundle {
  std::vector<GangId> gangs;             // sorted
  GangKey key;                           // the first of them
  std::optional<std::string> objection;  // why none of them can start, with file:line
};

class Roll {
 public:
  // A PodGroup. Its rules go before those that pods carry.
  void add(GangRules rules);
  // When all is read: takes the rules that pods and templates carry, and bundles gangs.
  void settle(const Intake& intake, Unused& unused);

  // nullptr where nothing in the input says what is asked of the gang.
  [[nodiscard]] const GangRules* rules(const GangId& id) const;
  // nullptr where neither a gang nor a pod of that name is in the input.
  [[nodiscard]] const Bundle* bundle_of(const GangId& id) const;
  [[nodiscard]] const std::vector<Bundle>& bundles() const { return bundles_; }

 private:
  void take_metadata(std::string_view ns, std::string_view file, json::Value metadata, Unused& unused);
  void bundle();
  void check(Bundle& bundle) const;

  std::map<GangId, GangRules> rules_;
  std::map<GangId, std::size_t> bundle_of_;  // position in bundles_
  std::vector<Bundle> bundles_;
};

}  // namespace gantree::koordinator
