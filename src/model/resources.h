// Resource names and integer amounts. cpu is counted in milli, all else in ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/id.h"
#include "base/interner.h"
#include "base/quantity.h"

namespace gantree {

using ResourceId = Id<struct ResourceTag>;

// The resource names of one cluster. cpu, memory and pods are always there.
class ResourceNames {
 public:
  static constexpr ResourceId kCpu{0};
  static constexpr ResourceId kMemory{1};
  static constexpr ResourceId kPods{2};

  ResourceNames();
  ResourceId intern(std::string_view name);
  // As Interner does it: for what pods ask for.
  ResourceId intern_asked(std::string_view name);
  void limit_asked(std::size_t most) { names_.limit_asked(most); }
  // Whether it is several, of which none is known by its name.
  [[nodiscard]] bool stands_for_many(ResourceId id) const { return name(id) == Interner::kTooMany; }
  [[nodiscard]] std::optional<ResourceId> find(std::string_view name) const;
  [[nodiscard]] std::string_view name(ResourceId id) const { return names_.text(StringId{id.value}); }
  [[nodiscard]] std::size_t size() const { return names_.size(); }

  [[nodiscard]] static Unit unit(ResourceId id) { return id == kCpu ? Unit::kMilli : Unit::kOne; }

 private:
  Interner names_;
};

// Amounts by resource, sorted by id, no zero entries.
class Amounts {
 public:
  using Entry = std::pair<ResourceId, std::int64_t>;

  [[nodiscard]] std::int64_t get(ResourceId id) const;
  void set(ResourceId id, std::int64_t amount);
  void add(ResourceId id, std::int64_t amount);  // saturates at the 64-bit range
  void add(const Amounts& other);
  void max(const Amounts& other);  // per resource, the larger
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  [[nodiscard]] bool empty() const { return entries_.empty(); }

  friend bool operator==(const Amounts&, const Amounts&) = default;
  friend auto operator<=>(const Amounts&, const Amounts&) = default;

 private:
  std::vector<Entry> entries_;
};

}  // namespace gantree
