#include "controllers/view.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gantree::controllers {

namespace {

// So many uids of removed objects are kept, against answers that come late.
constexpr std::size_t kMostGone = 100'000;
constexpr std::size_t kMostFinished = 100;

std::string key_of(std::string_view ns, std::string_view name) {
  std::string key(ns);
  if (!key.empty()) {
    key += '/';
  }
  return key += name;
}

void insert(std::unordered_map<std::string, std::unordered_set<const Item*>>& index, const std::string& key,
            const Item& item) {
  if (!key.empty()) {
    index[key].insert(&item);
  }
}

void erase(std::unordered_map<std::string, std::unordered_set<const Item*>>& index, const std::string& key,
           const Item& item) {
  const auto at = index.find(key);
  if (at != index.end() && at->second.erase(&item) > 0 && at->second.empty()) {
    index.erase(at);
  }
}

bool may_be_adopted(Kind kind) {
  return kind == Kind::kPod || kind == Kind::kReplicaSet || kind == Kind::kControllerRevision;
}

std::vector<const Item*> by_name(std::vector<const Item*> items) {
  std::sort(items.begin(), items.end(), [](const Item* a, const Item* b) {
    return std::tie(a->ns, a->name, a->uid) < std::tie(b->ns, b->name, b->uid);
  });
  return items;
}

}  // namespace

View::View()
    : hosts_([this](const std::function<void(const Item&)>& visit) {
        for (const auto& [key, pod] : tables_[static_cast<std::size_t>(Kind::kPod)]) {
          visit(*pod);
        }
      }) {}

void View::tell_hosts(const Item* before, const Item* now) {
  const Item& either = now != nullptr ? *now : *before;
  if (either.kind == Kind::kPod) {
    hosts_.pod_changed(before, now);
    if (now != nullptr) {
      addresses_.note(now->pod->address, now->uid);
    } else {
      addresses_.release(before->pod->address, before->uid);
    }
  } else if (either.kind == Kind::kNode) {
    hosts_.node_changed(before, now);
  }
}

const Item* View::put(Item item, std::unique_ptr<Item>* before) {
  if (gone_.contains(item.uid)) {
    return nullptr;
  }
  Table& table = tables_[static_cast<std::size_t>(item.kind)];
  std::unique_ptr<Item>& slot = table[item.key()];
  if (slot != nullptr) {
    const bool older = slot->version > item.version;
    const bool same = slot->version == item.version && slot->uid == item.uid && slot->deleting() == item.deleting();
    if (older || same) {
      return nullptr;
    }
    drop_from_indexes(*slot);
    if (slot->uid != item.uid) {
      by_uid_.erase(slot->uid);
    }
  }
  auto old = std::exchange(slot, std::make_unique<Item>(std::move(item)));
  add_to_indexes(*slot);
  by_uid_[slot->uid] = slot.get();
  tell_hosts(old.get(), slot.get());
  if (slot->kind == Kind::kNode) {
    missing_.erase(slot->name);
  }
  if (before != nullptr) {
    *before = std::move(old);
  }
  return slot.get();
}

std::unique_ptr<Item> View::take(Kind kind, std::string_view ns, std::string_view name) {
  Table& table = tables_[static_cast<std::size_t>(kind)];
  const auto at = table.find(key_of(ns, name));
  if (at == table.end()) {
    return nullptr;
  }
  std::unique_ptr<Item> item = std::move(at->second);
  table.erase(at);
  drop_from_indexes(*item);
  tell_hosts(item.get(), nullptr);
  by_uid_.erase(item->uid);
  if (item->pod != nullptr && !by_node_.contains(item->pod->node)) {
    missing_.erase(item->pod->node);
  }
  if (gone_.insert(item->uid).second) {
    gone_in_order_.push_back(item->uid);
  }
  if (gone_in_order_.size() > kMostGone) {
    gone_.erase(gone_in_order_.front());
    gone_in_order_.pop_front();
  }
  return item;
}

void View::note_deletion(const std::string& uid, std::int64_t now) {
  const auto at = by_uid_.find(uid);
  if (at == by_uid_.end() || at->second->deleting()) {
    return;
  }
  const Item& known = *at->second;
  tables_[static_cast<std::size_t>(known.kind)].at(known.key())->deleted = now;
}

void View::note_binding(const std::string& uid, const std::string& node) {
  const auto at = by_uid_.find(uid);
  if (at == by_uid_.end()) {
    return;
  }
  Item& pod = *tables_[static_cast<std::size_t>(Kind::kPod)].at(at->second->key());
  drop_from_indexes(pod);
  hosts_.pod_changed(&pod, nullptr);
  pod.pod->node = node;
  hosts_.pod_changed(nullptr, &pod);
  add_to_indexes(pod);
}

std::vector<const Item*> View::finished_beyond(std::size_t most) const {
  std::vector<const Item*> oldest;
  const std::size_t count = finished_.size() > most ? std::min(finished_.size() - most, kMostFinished) : 0;
  for (auto at = finished_.begin(); oldest.size() < count; ++at) {
    oldest.push_back(find(Kind::kPod, at->second));
  }
  return oldest;
}

Time View::missing_since(const std::string& node, Time now) const {
  return missing_.emplace(node, now).first->second;
}

const Item* View::find(Kind kind, const std::string& key) const {
  const Table& table = tables_[static_cast<std::size_t>(kind)];
  const auto at = table.find(key);
  return at == table.end() ? nullptr : at->second.get();
}

const Item* View::find(Kind kind, std::string_view ns, std::string_view name) const {
  return find(kind, key_of(ns, name));
}

const Item* View::find_uid(const std::string& uid) const {
  const auto at = by_uid_.find(uid);
  return at == by_uid_.end() ? nullptr : at->second;
}

std::string View::place_of(Kind kind, const std::string& ns) {
  return std::string(facts(kind).plural) + "/" + ns;
}

std::vector<const Item*> View::sorted(const Index& index, const std::string& key) {
  const auto at = index.find(key);
  return at == index.end() ? std::vector<const Item*>()
                           : by_name(std::vector<const Item*>(at->second.begin(), at->second.end()));
}

std::vector<const Item*> View::controlled_by(const Item& owner, Kind kind) const {
  std::vector<const Item*> items = sorted(by_owner_, owner.uid);
  std::erase_if(items, [kind](const Item* item) { return item->kind != kind; });
  return items;
}

std::vector<const Item*> View::pods_on(const std::string& node) const {
  return sorted(by_node_, node);
}

std::vector<const Item*> View::in_namespace(Kind kind, const std::string& ns) const {
  return sorted(by_namespace_, place_of(kind, ns));
}

std::vector<const Item*> View::orphans(Kind kind, const std::string& ns,
                                       const std::function<bool(const Item&)>& wanted) const {
  std::vector<const Item*> items;
  if (const auto at = orphans_.find(place_of(kind, ns)); at != orphans_.end()) {
    std::copy_if(at->second.begin(), at->second.end(), std::back_inserter(items),
                 [&](const Item* item) { return wanted(*item); });
  }
  return by_name(std::move(items));
}

void View::each_in_namespace(Kind kind, const std::string& ns, const std::function<void(const Item&)>& visit) const {
  if (const auto at = by_namespace_.find(place_of(kind, ns)); at != by_namespace_.end()) {
    for (const Item* item : at->second) {
      visit(*item);
    }
  }
}

std::vector<const Item*> View::all(Kind kind) const {
  std::vector<const Item*> items;
  for (const auto& [key, item] : tables_[static_cast<std::size_t>(kind)]) {
    items.push_back(item.get());
  }
  return by_name(std::move(items));
}

namespace {

bool waits(const Item& item) {
  return item.pod != nullptr && item.pod->node.empty() && !item.finished();
}

std::size_t bytes_of(const Item& item) {
  return item.text == nullptr ? 0 : item.text->size();
}

}  // namespace

Amount View::amount(Kind kind, const std::string& ns) const {
  const std::string place = place_of(kind, ns);
  const auto group = by_namespace_.find(place);
  const auto bytes = bytes_.find(place);
  return {group == by_namespace_.end() ? 0 : group->second.size(), bytes == bytes_.end() ? 0 : bytes->second};
}

Amount View::waiting(const std::string& ns) const {
  const auto at = waiting_.find(ns);
  return at == waiting_.end() ? Amount() : at->second;
}

void View::count_in(const Item& item) {
  bytes_[place_of(item.kind, item.ns)] += bytes_of(item);
  if (waits(item)) {
    for (Amount* amount : {&waiting_[item.ns], &all_waiting_}) {
      ++amount->objects;
      amount->bytes += bytes_of(item);
    }
  }
}

void View::count_out(const Item& item) {
  if (const auto at = bytes_.find(place_of(item.kind, item.ns)); at != bytes_.end()) {
    at->second -= bytes_of(item);
    if (at->second == 0) {
      bytes_.erase(at);
    }
  }
  if (!waits(item)) {
    return;
  }
  for (Amount* amount : {&waiting_[item.ns], &all_waiting_}) {
    --amount->objects;
    amount->bytes -= bytes_of(item);
  }
  if (waiting_[item.ns].objects == 0) {
    waiting_.erase(item.ns);
  }
}

void View::add_to_indexes(const Item& item) {
  if (!item.ns.empty()) {
    count_in(item);
  }
  insert(by_owner_, item.owner, item);
  if (item.pod != nullptr) {
    insert(by_node_, item.pod->node, item);
  }
  if (item.finished()) {
    finished_.emplace(item.created, item.key());
  }
  if (!item.ns.empty()) {
    insert(by_namespace_, place_of(item.kind, item.ns), item);
  }
  if (item.owner.empty() && may_be_adopted(item.kind)) {
    insert(orphans_, place_of(item.kind, item.ns), item);
  }
}

void View::drop_from_indexes(const Item& item) {
  if (!item.ns.empty()) {
    count_out(item);
  }
  erase(by_owner_, item.owner, item);
  if (item.pod != nullptr) {
    erase(by_node_, item.pod->node, item);
  }
  if (item.finished()) {
    finished_.erase({item.created, item.key()});
  }
  if (!item.ns.empty()) {
    erase(by_namespace_, place_of(item.kind, item.ns), item);
  }
  if (item.owner.empty() && may_be_adopted(item.kind)) {
    erase(orphans_, place_of(item.kind, item.ns), item);
  }
}

}  // namespace gantree::controllers
