#include "kube/known_objects.h"

#include <algorithm>
#include <array>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstring>
#include <optional>
#include <vector>

#include "base/whole_number.h"

namespace gantree::kube {
namespace {

constexpr std::uint64_t kNotANumber = std::uint64_t{1} << 63U;

// A version: the number it is, or else a hash of its text with the top bit set, good for telling it from another.
std::uint64_t version_of(std::string_view text) {
  const std::optional<std::uint64_t> number = whole_number<std::uint64_t>(text);
  return number.has_value() && *number < kNotANumber ? *number : std::hash<std::string_view>{}(text) | kNotANumber;
}

using Uid = std::array<std::uint8_t, 16>;
constexpr std::size_t kUidText = 36;

bool dash_at(std::size_t position) {
  return position == 8 || position == 13 || position == 18 || position == 23;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// The bytes of a uid in the usual form; nothing where it is of another.
std::optional<Uid> packed_uid(std::string_view text) {
  if (text.size() != kUidText) {
    return std::nullopt;
  }
  Uid uid{};
  std::size_t digit = 0;
  for (std::size_t i = 0; i < kUidText; ++i) {
    if (dash_at(i)) {
      if (text[i] != '-') {
        return std::nullopt;
      }
      continue;
    }
    const int value = hex_digit(text[i]);
    if (value < 0) {
      return std::nullopt;
    }
    uid[digit / 2] = static_cast<std::uint8_t>(uid[digit / 2] << 4U | static_cast<unsigned>(value));
    ++digit;
  }
  return uid;
}

std::string unpacked_uid(const Uid& uid) {
  std::string text;
  text.reserve(kUidText);
  for (const std::uint8_t byte : uid) {
    if (dash_at(text.size())) {
      text += '-';
    }
    text += "0123456789abcdef"[byte >> 4U];
    text += "0123456789abcdef"[byte & 15U];
  }
  return text;
}

// One object, in one allocation: this head, then the characters of "namespace/name", then of the uid if it is not of
// the usual form.
struct Head {
  std::uint64_t version = 0;
  Uid uid{};
  std::uint32_t key_size = 0;
  std::uint16_t name_space_size = 0;
  std::uint8_t uid_size = 0;  // of its text behind the key; 0: packed above
  std::uint8_t round = 0;     // the list that contained it last
};

struct FreeHead {
  void operator()(Head* head) const { ::operator delete(head); }
};
using Entry = std::unique_ptr<Head, FreeHead>;

const char* text_of(const Head& head) {
  return reinterpret_cast<const char*>(&head + 1);
}
std::string_view key_of(const Head& head) {
  return {text_of(head), head.key_size};
}

bool uid_is(const Head& head, std::string_view uid) {
  if (head.uid_size > 0) {
    return std::string_view(text_of(head) + head.key_size, head.uid_size) == uid;
  }
  const std::optional<Uid> packed = packed_uid(uid);
  return packed.has_value() ? *packed == head.uid : uid.empty() && head.uid == Uid{};
}

std::string uid_text(const Head& head) {
  if (head.uid_size > 0) {
    return {text_of(head) + head.key_size, head.uid_size};
  }
  return head.uid == Uid{} ? std::string() : unpacked_uid(head.uid);
}

Entry make_entry(std::string_view key, const ObjectRef& object, std::uint8_t round) {
  const std::optional<Uid> packed = packed_uid(object.uid);
  const std::string_view text = packed.has_value() ? std::string_view() : object.uid.substr(0, 255);
  Entry entry(new (::operator new(sizeof(Head) + key.size() + text.size())) Head);
  entry->version = version_of(object.resource_version);
  entry->uid = packed.value_or(Uid{});
  entry->key_size = static_cast<std::uint32_t>(key.size());
  entry->name_space_size = static_cast<std::uint16_t>(object.name_space.size());
  entry->uid_size = static_cast<std::uint8_t>(text.size());
  entry->round = round;
  char* characters = reinterpret_cast<char*>(entry.get() + 1);
  std::memcpy(characters, key.data(), key.size());
  if (!text.empty()) {
    std::memcpy(characters + key.size(), text.data(), text.size());
  }
  return entry;
}

struct KeyHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view key) const { return std::hash<std::string_view>{}(key); }
  std::size_t operator()(const Entry& entry) const { return (*this)(key_of(*entry)); }
};
struct KeyEqual {
  using is_transparent = void;
  bool operator()(const Entry& a, const Entry& b) const { return key_of(*a) == key_of(*b); }
  bool operator()(std::string_view a, const Entry& b) const { return a == key_of(*b); }
  bool operator()(const Entry& a, std::string_view b) const { return key_of(*a) == b; }
};

void visit(const Head& head, const KnownObjects::Visit& visitor) {
  const std::string_view key = key_of(head);
  const std::string uid = uid_text(head);
  visitor({.name_space = key.substr(0, head.name_space_size),
           .name = key.substr(head.name_space_size + std::size_t{1}),
           .uid = uid,
           .resource_version = {}});
}

}  // namespace

struct KnownObjects::Table {
  boost::unordered_flat_set<Entry, KeyHash, KeyEqual> entries;
  std::string key;           // scratch
  std::uint8_t round = 0;    // of the last list
  std::uint64_t latest = 0;  // the highest number seen as a version

  std::string_view make_key(const ObjectRef& object) {
    key.assign(object.name_space);
    key += '/';
    key += object.name;
    return key;
  }

  void erase_and_visit(std::vector<std::string>& keys, const Visit& visitor) {
    std::ranges::sort(keys);
    for (const std::string& one : keys) {
      const auto found = entries.find(std::string_view(one));
      visit(**found, visitor);
      entries.erase(found);
    }
  }
};

KnownObjects::KnownObjects() : table_(std::make_unique<Table>()) {}
KnownObjects::~KnownObjects() = default;

std::size_t KnownObjects::size() const {
  return table_->entries.size();
}

void KnownObjects::begin_list() {
  ++table_->round;
  table_->latest = 0;  // a server restored from a backup counts from an older number
}

KnownObjects::Change KnownObjects::listed(const ObjectRef& object) {
  return take(object, false);
}

KnownObjects::Change KnownObjects::changed(const ObjectRef& object) {
  return take(object, true);
}

KnownObjects::Change KnownObjects::take(const ObjectRef& object, bool only_newer) {
  const std::string_view key = table_->make_key(object);
  const std::uint64_t version = version_of(object.resource_version);
  const bool is_number = (version & kNotANumber) == 0;
  const bool repeated = only_newer && is_number && version <= table_->latest;
  if (is_number) {
    table_->latest = std::max(table_->latest, version);
  }
  const auto found = table_->entries.find(key);
  if (found == table_->entries.end()) {
    if (repeated) {
      return Change::kSame;
    }
    table_->entries.insert(make_entry(key, object, table_->round));
    return Change::kNew;
  }
  Head& head = **found;
  if (uid_is(head, object.uid)) {
    head.round = table_->round;
    if (head.version == version || repeated) {
      return Change::kSame;
    }
    head.version = version;
    return Change::kNewer;
  }
  if (repeated) {
    return Change::kSame;
  }
  replaced_uid_ = uid_text(head);
  table_->entries.erase(found);
  table_->entries.insert(make_entry(key, object, table_->round));
  return Change::kReplaced;
}

bool KnownObjects::removed(const ObjectRef& object) {
  const auto found = table_->entries.find(table_->make_key(object));
  if (found == table_->entries.end() || !uid_is(**found, object.uid)) {
    return false;
  }
  table_->entries.erase(found);
  return true;
}

void KnownObjects::sweep(const Visit& vanished) {
  std::vector<std::string> keys;
  for (const Entry& entry : table_->entries) {
    if (entry->round != table_->round) {
      keys.emplace_back(key_of(*entry));
    }
  }
  table_->erase_and_visit(keys, vanished);
}

void KnownObjects::clear(const Visit& removed) {
  std::vector<std::string> keys;
  for (const Entry& entry : table_->entries) {
    keys.emplace_back(key_of(*entry));
  }
  table_->erase_and_visit(keys, removed);
}

}  // namespace gantree::kube
