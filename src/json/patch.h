// The operations of a JSON Patch (RFC 6902) that bring an object to what is wanted of it.
//
// Objects and lists on the way are made where they are missing or null, and what is as wanted already is left alone:
// an object that needs no change gets no operation. Requires that the root lives as long as this.
#pragma once

#include <concepts>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "json/write.h"

namespace gantree::json {

class Patch {
 public:
  // Names of members from the root down.
  using Path = std::vector<std::string_view>;

  explicit Patch(Value root) : root_(root) {}

  // The member at the path becomes that. Requires a path of at least one name.
  void set(const Path& path, std::string_view text);
  template <std::same_as<bool> T>  // no pointer becomes a boolean
  void set(const Path& path, T flag) {
    set_flag(path, flag);
  }
  // One more item at the end of the list at the path.
  void append(const Path& path, Out item);

  [[nodiscard]] bool empty() const { return operations_.empty(); }
  [[nodiscard]] Out::Array take() { return std::move(operations_); }

 private:
  void set_flag(const Path& path, bool flag);
  // What stands at the path as the object came; absent where nothing does.
  [[nodiscard]] Value at(const Path& path) const;
  // Makes the containers above the last name of the path; its pointer.
  std::string make_way(const Path& path);
  void make(const std::string& pointer, bool missing, Out empty);
  void add(std::string pointer, Out value);

  Value root_;
  std::set<std::string, std::less<>> made_;  // pointers of containers that an operation makes
  Out::Array operations_;
};

}  // namespace gantree::json
