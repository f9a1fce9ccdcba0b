#include "json/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <numeric>
#include <span>
#include <unordered_set>

#include "base/check.h"
#include "json/read.h"

namespace gantree::json {
namespace {

// Aliases share what they point to, so they cost no memory; but whoever walks
// the document sees the expanded tree.
constexpr std::uint64_t kMaxExpanded = 1'000'000;
// Up to here comparing each pair beats sorting.
constexpr std::size_t kPairwise = 24;

template <class T>
T* allocate(Storage& storage, std::size_t count) {
  return static_cast<T*>(storage.memory.allocate(count * sizeof(T), alignof(T)));
}

}  // namespace

std::string_view Storage::keep(std::string_view text) {
  if (text.empty()) {
    return {};
  }
  char* copy = allocate<char>(*this, text.size());
  std::memcpy(copy, text.data(), text.size());
  return {copy, text.size()};
}

NodeData make_scalar(Kind kind, std::string_view text, int line) {
  // Files are limited to 2^32 bytes, so no text is longer.
  GANTREE_CHECK(text.size() <= std::numeric_limits<std::uint32_t>::max());
  return {.kind = kind, .line = line, .size = static_cast<std::uint32_t>(text.size()), .content = text.data()};
}

void Builder::start() {
  open_.clear();
  children_.clear();
  expanded_ = 0;
  last_ = {};
}

bool Builder::fail_at(int line, std::string_view what, Errc code) {
  failure_ = Error{code, fmt::format("{}:{}: {}", file_, line, what)};
  return false;
}

bool Builder::begin(Kind container, int line) {
  if (open_.size() >= kMaxDepth) {
    return fail_at(line, fmt::format("nested deeper than {} levels", kMaxDepth), Errc::kLimit);
  }
  open_.push_back({.kind = container, .line = line, .first_child = children_.size()});
  return true;
}

bool Builder::key(std::string_view key, int line) {
  Open& open = open_.back();
  open.key = key;
  open.key_line = line;
  open.has_key = true;
  open.merge = false;
  return true;
}

bool Builder::merge_key(int line) {
  key("<<", line);
  open_.back().merge = true;
  open_.back().merges = true;
  return true;
}

bool Builder::add(const Built& built, int line) {
  if (built.size > 1) {
    expanded_ += built.size;
    if (expanded_ > kMaxExpanded) {
      return fail_at(line, fmt::format("aliases expand to more than {} values", kMaxExpanded), Errc::kLimit);
    }
  }
  if (open_.size() + static_cast<std::size_t>(built.height) > kMaxDepth) {
    return fail_at(line, fmt::format("nested deeper than {} levels", kMaxDepth), Errc::kLimit);
  }
  attach(built);
  return true;
}

void Builder::attach(const Built& built) {
  last_ = built;
  if (open_.empty()) {
    return;
  }
  Open& open = open_.back();
  children_.push_back(
      {.member = {.key = open.key, .value = built.node}, .key_line = open.key_line, .merge = open.merge});
  open.has_key = false;
  open.size += built.size;
  open.height = std::max(open.height, built.height);
}

bool Builder::end() {
  const Open open = open_.back();
  if (open.kind == Kind::kObject && !check_unique(open.first_child)) {
    return false;
  }
  if (open.merges && !apply_merges(open.first_child)) {
    return false;
  }
  const Built built{.node = lay_down(open), .size = open.size, .height = open.height + 1};
  children_.resize(open.first_child);
  open_.pop_back();
  attach(built);
  return true;
}

// Replaces the member << by the members of its value, an object or a list of
// objects. The object's own members come first, then the earlier object.
bool Builder::apply_merges(std::size_t first_child) {
  const auto own = std::find_if(children_.begin() + static_cast<std::ptrdiff_t>(first_child), children_.end(),
                                [](const Child& child) { return child.merge; });
  const Child merge = *own;
  children_.erase(own);
  std::span<const NodeData> sources(&merge.member.value, 1);
  if (merge.member.value.kind == Kind::kArray) {
    sources = Value(&merge.member.value).items();
  }
  std::unordered_set<std::string_view> taken;
  for (std::size_t i = first_child; i < children_.size(); ++i) {
    taken.insert(children_[i].member.key);
  }
  for (const NodeData& source : sources) {
    if (source.kind != Kind::kObject) {
      return fail_at(merge.key_line, fmt::format("the merge key << takes an object or a list of objects, not {}",
                                                 to_string(source.kind)));
    }
    for (const MemberData& member : Value(&source).members()) {
      if (taken.insert(member.key).second) {
        children_.push_back({.member = member, .key_line = merge.key_line});
      }
    }
  }
  return true;
}

NodeData Builder::lay_down(const Open& open) {
  const std::size_t count = children_.size() - open.first_child;
  NodeData node{.kind = open.kind, .line = open.line, .size = static_cast<std::uint32_t>(count), .content = nullptr};
  if (count == 0) {
    return node;
  }
  const Child* child = children_.data() + open.first_child;
  if (open.kind == Kind::kArray) {
    auto* items = allocate<NodeData>(storage_, count);
    for (std::size_t i = 0; i < count; ++i) {
      new (items + i) NodeData(child[i].member.value);
    }
    node.content = items;
  } else {
    auto* members = allocate<MemberData>(storage_, count);
    for (std::size_t i = 0; i < count; ++i) {
      new (members + i) MemberData(child[i].member);
    }
    node.content = members;
  }
  return node;
}

bool Builder::report_duplicate(std::size_t child) {
  const Child& again = children_[child];
  return fail_at(again.key_line, fmt::format("duplicate key \"{}\"", again.member.key));
}

bool Builder::check_unique(std::size_t first_child) {
  const std::size_t count = children_.size() - first_child;
  const auto key = [&](std::size_t i) { return children_[first_child + i].member.key; };
  if (count <= kPairwise) {
    for (std::size_t i = 1; i < count; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (key(i) == key(j)) {
          return report_duplicate(first_child + i);
        }
      }
    }
    return true;
  }
  order_.resize(count);
  std::iota(order_.begin(), order_.end(), 0U);
  std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
    const int order = key(a).compare(key(b));
    return order != 0 ? order < 0 : a < b;
  });
  std::size_t first_again = count;
  for (std::size_t i = 1; i < count; ++i) {
    if (key(order_[i]) == key(order_[i - 1])) {
      first_again = std::min<std::size_t>(first_again, order_[i]);
    }
  }
  return first_again == count || report_duplicate(first_child + first_again);
}

}  // namespace gantree::json
