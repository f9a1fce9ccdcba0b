// What the controllers know of the cluster: every object of their kinds, found by name, uid, controller, node.
//
// Fed by watch events and by the answers to the controllers' own writes. An older version of an object never replaces a
// newer one, and what was removed does not come back by a late answer.
//
// One thread owns it. Pointers to items are good until the next change.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/time.h"
#include "controllers/addresses.h"
#include "controllers/hosts.h"
#include "controllers/item.h"

namespace gantree::controllers {

// How many objects, and how much they take as JSON.
struct Amount {
  std::size_t objects = 0;
  std::size_t bytes = 0;
};

class View {
 public:
  View();
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  // What is known now; nullptr where it was known already, or is gone. `before`, where given, is set to what was known.
  const Item* put(Item item, std::unique_ptr<Item>* before = nullptr);
  // nullptr where there was none.
  std::unique_ptr<Item> take(Kind kind, std::string_view ns, std::string_view name);
  // Somebody asked for its deletion, and that was granted: it counts as being deleted until it is heard of again.
  void note_deletion(const std::string& uid, std::int64_t now);
  // A pod is about to be bound to the node, and counts there from now on; "": it was not, after all.
  void note_binding(const std::string& uid, const std::string& node);

  [[nodiscard]] const Item* find(Kind kind, std::string_view ns, std::string_view name) const;
  [[nodiscard]] const Item* find(Kind kind, const std::string& key) const;
  [[nodiscard]] const Item* find_uid(const std::string& uid) const;
  // Lists are sorted by name.
  [[nodiscard]] std::vector<const Item*> controlled_by(const Item& owner, Kind kind) const;
  [[nodiscard]] std::vector<const Item*> pods_on(const std::string& node) const;
  // What is in use on nodes, and who is where. Its answers are made when they are asked for.
  [[nodiscard]] Hosts& hosts() const { return hosts_; }
  [[nodiscard]] std::vector<const Item*> in_namespace(Kind kind, const std::string& ns) const;
  // Those that have no controller and are wanted.
  [[nodiscard]] std::vector<const Item*> orphans(Kind kind, const std::string& ns,
                                                 const std::function<bool(const Item&)>& wanted) const;
  // The same as in_namespace, in any order.
  void each_in_namespace(Kind kind, const std::string& ns, const std::function<void(const Item&)>& visit) const;
  [[nodiscard]] std::vector<const Item*> all(Kind kind) const;
  // Since when there is no node of that name, though pods are on it: since now, where nobody asked before.
  [[nodiscard]] Time missing_since(const std::string& node, Time now) const;
  // The oldest of the finished pods, as many as there are beyond so many; the first hundred of these.
  [[nodiscard]] std::vector<const Item*> finished_beyond(std::size_t most) const;
  // An address for a pod that no other has.
  [[nodiscard]] std::string address_for(const std::string& uid) const { return addresses_.take(uid); }
  // Of a kind in a namespace; and of pods that have no node and have not finished, there and everywhere.
  [[nodiscard]] Amount amount(Kind kind, const std::string& ns) const;
  [[nodiscard]] Amount waiting(const std::string& ns) const;
  [[nodiscard]] Amount all_waiting() const { return all_waiting_; }
  [[nodiscard]] std::size_t count(Kind kind) const { return tables_[static_cast<std::size_t>(kind)].size(); }

 private:
  using Table = std::unordered_map<std::string, std::unique_ptr<Item>>;
  using Group = std::unordered_set<const Item*>;
  using Index = std::unordered_map<std::string, Group>;

  void add_to_indexes(const Item& item);
  void drop_from_indexes(const Item& item);
  void tell_hosts(const Item* before, const Item* now);
  void count_in(const Item& item);
  void count_out(const Item& item);
  [[nodiscard]] static std::string place_of(Kind kind, const std::string& ns);
  [[nodiscard]] static std::vector<const Item*> sorted(const Index& index, const std::string& key);

  std::array<Table, kKinds> tables_;
  std::unordered_map<std::string, const Item*> by_uid_;
  Index by_owner_;                                           // uid
  Index by_node_;                                            // pods
  Index by_namespace_;                                       // "PLURAL/NS"
  Index orphans_;                                            // "PLURAL/NS": of kinds that can be adopted
  std::set<std::pair<std::int64_t, std::string>> finished_;  // pods, by creation and key
  std::unordered_map<std::string, std::size_t> bytes_;       // "PLURAL/NS"
  std::unordered_map<std::string, Amount> waiting_;          // namespaces
  Amount all_waiting_;
  mutable Hosts hosts_;
  mutable Addresses addresses_;
  mutable std::unordered_map<std::string, Time> missing_;  // nodes
  std::unordered_set<std::string> gone_;
  std::deque<std::string> gone_in_order_;
};

}  // namespace gantree::controllers
