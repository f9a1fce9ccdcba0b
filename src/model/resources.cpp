#include "model/resources.h"

#include <algorithm>
#include <limits>

namespace gantree {

namespace {

auto lower_bound_of(auto& entries, ResourceId id) {
  return std::lower_bound(entries.begin(), entries.end(), id,
                          [](const Amounts::Entry& entry, ResourceId key) { return entry.first < key; });
}

std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) {
    return sum;
  }
  return b > 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

}  // namespace

ResourceNames::ResourceNames() {
  names_.intern("cpu");
  names_.intern("memory");
  names_.intern("pods");
}

ResourceId ResourceNames::intern(std::string_view name) {
  return ResourceId{names_.intern(name).value};
}

ResourceId ResourceNames::intern_asked(std::string_view name) {
  return ResourceId{names_.intern_asked(name).value};
}

std::optional<ResourceId> ResourceNames::find(std::string_view name) const {
  const auto id = names_.find(name);
  return id ? std::optional(ResourceId{id->value}) : std::nullopt;
}

std::int64_t Amounts::get(ResourceId id) const {
  const auto it = lower_bound_of(entries_, id);
  return it != entries_.end() && it->first == id ? it->second : 0;
}

void Amounts::set(ResourceId id, std::int64_t amount) {
  const auto it = lower_bound_of(entries_, id);
  const bool known = it != entries_.end() && it->first == id;
  if (amount == 0) {
    if (known) {
      entries_.erase(it);
    }
  } else if (known) {
    it->second = amount;
  } else {
    entries_.insert(it, {id, amount});
  }
}

void Amounts::add(ResourceId id, std::int64_t amount) {
  set(id, saturating_add(get(id), amount));
}

void Amounts::add(const Amounts& other) {
  for (const auto& [id, amount] : other.entries_) {
    add(id, amount);
  }
}

void Amounts::max(const Amounts& other) {
  for (const auto& [id, amount] : other.entries_) {
    set(id, std::max(get(id), amount));
  }
}

}  // namespace gantree
