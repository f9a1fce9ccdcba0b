// All objects, in memory, in tables by resource; what changed lately; and the counter of revisions.
//
// Objects are held as the JSON that is answered, shared with whoever sends it; what selectors and ownership ask of them
// lies beside it. Api thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "apiserver/api.h"
#include "apiserver/json.h"
#include "apiserver/selector.h"
#include "base/error.h"

namespace gantree::apiserver {

struct Key {
  std::string ns;  // "" where the kind is not namespaced
  std::string name;
  friend auto operator<=>(const Key&, const Key&) = default;
};

struct Owner {
  std::string uid;
  std::string api_version;
  std::string kind;
  std::string name;
  bool blocks = false;  // blockOwnerDeletion
};

// What is asked of an object without decoding it.
struct Facts {
  std::string uid;
  Pairs labels;
  Pairs fields;  // for field selectors, besides name and namespace
  std::vector<Owner> owners;
  std::vector<std::string> finalizers;
  bool deleting = false;
  bool waits_for_dependents = false;  // being deleted in the foreground
};
// `more` are fields that can be selected by besides those of built-in kinds, as "status.phase".
[[nodiscard]] std::shared_ptr<const Facts> facts_of(std::string_view table, const Value& object,
                                                    std::span<const std::string> more = {});
// Of an object as JSON, of which no more is taken in than is needed for them.
[[nodiscard]] Result<std::shared_ptr<const Facts>> facts_in(std::string_view table, std::string_view json);

struct Entry {
  Bytes bytes;
  std::uint64_t revision = 0;
  std::shared_ptr<const Facts> facts;
  // The same in other versions, where somebody outside had to convert it: by apiVersion. Shared by all copies.
  using Variants = std::map<std::string, Bytes, std::less<>>;
  std::shared_ptr<Variants> variants = std::make_shared<Variants>();
};

struct Event {
  WatchEvent::Type type = WatchEvent::Type::kAdded;
  Key key;
  Entry now;                            // of a deletion: the last state, at the revision of the deletion
  std::shared_ptr<const Facts> before;  // null where it is new
  Bytes last;                           // what it was before; mostly the bytes of an earlier event
};

struct Table {
  std::string name;
  std::map<Key, Entry> entries;
  std::vector<std::string> selectable;  // fields, as a definition names them
  std::deque<Event> recent;
  std::size_t recent_bytes = 0;
  std::uint64_t floor = 0;    // changes after this revision are all in `recent`
  std::uint64_t changed = 0;  // revision of the last change
};

class Store {
 public:
  // What was read from a file, into an empty store: all objects, then what changed lately, in order, then loaded(). The
  // facts are those of the object.
  void load(std::string_view table, Key key, Bytes bytes, std::uint64_t revision, std::shared_ptr<const Facts> facts);
  void load_recent(std::string_view table, Event event);
  using Floors = std::map<std::string, std::uint64_t, std::less<>>;
  struct Past {
    std::uint64_t known = 0;  // every change after this one was given
    Floors floors;            // but for these tables: every one after that
  };
  // Without a past nothing is known but the objects.
  void loaded(std::uint64_t revision, const std::optional<Past>& past = std::nullopt);

  [[nodiscard]] std::uint64_t revision() const { return revision_; }
  // The next revision, for one write; put() or remove() must follow.
  [[nodiscard]] std::uint64_t next_revision() { return ++revision_; }

  [[nodiscard]] Table& table(std::string_view name);
  // From now on objects of the table can be selected by these fields.
  void select_by(std::string_view table, std::vector<std::string> fields);
  [[nodiscard]] const Table* find_table(std::string_view name) const;
  [[nodiscard]] const Entry* find(std::string_view table, const Key& key) const;
  [[nodiscard]] const std::map<std::string, std::unique_ptr<Table>, std::less<>>& tables() const { return tables_; }

  void put(std::string_view table, const Key& key, Entry entry);
  void remove(std::string_view table, const Key& key, Entry last);

  // Objects by uid, and who names an object as its owner.
  struct Place {
    std::string table;
    Key key;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  [[nodiscard]] const Place* find_uid(std::string_view uid) const;
  [[nodiscard]] std::vector<Place> dependents(std::string_view uid) const;
  [[nodiscard]] bool has_dependents(std::string_view uid) const { return dependents_.contains(uid); }

  // The changes since the last call, in order.
  struct Change {
    Table* table = nullptr;
    Event event;
  };
  [[nodiscard]] std::vector<Change> take_changes();
  [[nodiscard]] const std::vector<Change>& changes() const { return changes_; }

 private:
  void index(std::string_view table, const Key& key, const Facts* before, const Facts* now);
  static void remember(Table& table, Event event);

  std::uint64_t revision_ = 0;
  std::uint64_t start_ = 0;  // what happened before is not known
  std::map<std::string, std::unique_ptr<Table>, std::less<>> tables_;
  std::unordered_map<std::string, Place> uids_;
  std::map<std::string, std::map<Place, bool>, std::less<>> dependents_;
  std::vector<Change> changes_;
};

}  // namespace gantree::apiserver
