// Values made from others, for objects that say how a template is to be changed.
//
// Parts that stay are shared with the documents they come from, which must live on; new parts live
// in the overlay.
#pragma once

#include <deque>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace gantree::json {

class Overlay {
 public:
  Overlay() = default;
  Overlay(const Overlay&) = delete;
  Overlay& operator=(const Overlay&) = delete;

  // The object with a member set, or added. An absent object counts as an empty one.
  Value with(Value object, std::string_view key, Value member);
  // The object with all members of another set. Either may be absent.
  Value merged(Value object, Value over);
  // The list with one item in place of another. Requires that there is such a one.
  Value with_item(Value list, std::size_t position, Value item);
  // A list of one.
  Value list(Value item);
  Value text(std::string_view text, int line);

 private:
  Value keep(NodeData node);

  std::deque<NodeData> nodes_;
  std::deque<std::vector<MemberData>> members_;
  std::deque<std::vector<NodeData>> items_;
};

}  // namespace gantree::json
