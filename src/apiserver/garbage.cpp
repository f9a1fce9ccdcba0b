#include "apiserver/garbage.h"

#include <algorithm>
#include <utility>

#include "apiserver/core.h"

namespace gantree::apiserver {

namespace {

// In one turn of the api thread.
constexpr std::size_t kMostPerTurn = 500;
constexpr std::string_view kOrphan = "orphan";
constexpr std::string_view kForeground = "foregroundDeletion";

bool has(const std::vector<std::string>& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

bool same_owners(const Facts& a, const Facts& b) {
  return std::equal(a.owners.begin(), a.owners.end(), b.owners.begin(), b.owners.end(),
                    [](const Owner& x, const Owner& y) { return x.uid == y.uid && x.blocks == y.blocks; });
}

bool is_served(const Registry& registry, const Owner& owner) {
  const std::string_view version = owner.api_version;
  const std::size_t slash = version.find('/');
  return slash == std::string_view::npos
             ? registry.find_kind("", version, owner.kind) != nullptr
             : registry.find_kind(version.substr(0, slash), version.substr(slash + 1), owner.kind) != nullptr;
}

}  // namespace

void Garbage::changed(std::string_view table, const Key& key, const Facts* before, const Facts* now) {
  if (now == nullptr) {
    if (core_.store.has_dependents(before->uid)) {
      gone_.insert(before->uid);
    }
    for (Store::Place& dependent : core_.store.dependents(before->uid)) {
      look_at(std::move(dependent));
    }
  } else if ((before == nullptr && !now->owners.empty()) || (before != nullptr && !same_owners(*before, *now)) ||
             (now->deleting && (has(now->finalizers, kOrphan) || has(now->finalizers, kForeground)))) {
    look_at({std::string(table), key});
  }
  // Whoever waits for it to go, or no longer has it as a dependent.
  if (before != nullptr) {
    for (const Owner& owner : before->owners) {
      if (!gone_.empty() && !core_.store.has_dependents(owner.uid)) {
        gone_.erase(owner.uid);
      }
      if (const Store::Place* place = core_.store.find_uid(owner.uid)) {
        const Entry* entry = core_.store.find(place->table, place->key);
        if (entry != nullptr && entry->facts->waits_for_dependents) {
          look_at(*place);
        }
      }
    }
  }
}

void Garbage::kinds_changed() {
  for (const Store::Place& place : std::exchange(unsure_, {})) {
    look_at(place);
  }
}

void Garbage::look_at_all() {
  for (const auto& [name, table] : core_.store.tables()) {
    for (const auto& [key, entry] : table->entries) {
      if (!entry.facts->owners.empty() || entry.facts->deleting) {
        look_at({name, key});
      }
    }
  }
}

void Garbage::look_at(Store::Place place) {
  waiting_.insert(std::move(place));
  if (!scheduled_) {
    scheduled_ = true;
    core_.soon([this] { work(); });
  }
}

void Garbage::work() {
  scheduled_ = false;
  for (std::size_t done = 0; done < kMostPerTurn && !waiting_.empty(); ++done) {
    const Store::Place place = *waiting_.begin();
    waiting_.erase(waiting_.begin());
    process(place);
  }
  if (!waiting_.empty() && !scheduled_) {
    scheduled_ = true;
    core_.soon([this] { work(); });
  }
}

void Garbage::process(const Store::Place& place) {
  const Entry* entry = core_.store.find(place.table, place.key);
  if (entry == nullptr) {
    return;
  }
  const auto facts = entry->facts;
  if (facts->deleting && has(facts->finalizers, kOrphan)) {
    release_dependents(place, facts->uid);
  } else if (facts->waits_for_dependents) {
    finish_foreground(place, facts->uid);
  } else if (!facts->owners.empty()) {
    judge_owners(place, *facts);
  }
}

void Garbage::release_dependents(const Store::Place& place, const std::string& uid) {
  for (const Store::Place& dependent : core_.store.dependents(uid)) {
    drop_references(dependent, {uid});
  }
  core_.edit(place.table, place.key, [](Object& object) {
    remove_finalizer(object, kOrphan);
    return true;
  });
}

void Garbage::finish_foreground(const Store::Place& place, const std::string& uid) {
  bool blocked = false;
  for (const Store::Place& dependent : core_.store.dependents(uid)) {
    const Entry* entry = core_.store.find(dependent.table, dependent.key);
    if (entry == nullptr) {
      continue;
    }
    blocked |= std::any_of(entry->facts->owners.begin(), entry->facts->owners.end(),
                           [&](const Owner& owner) { return owner.uid == uid && owner.blocks; });
    if (!entry->facts->deleting) {
      judge_owners(dependent, *entry->facts);
    }
  }
  if (!blocked) {
    core_.edit(place.table, place.key, [](Object& object) {
      remove_finalizer(object, kForeground);
      return true;
    });
  }
}

void Garbage::judge_owners(const Store::Place& place, const Facts& facts) {
  std::set<std::string> gone;
  std::set<std::string> going;
  bool held = false;
  for (const Owner& owner : facts.owners) {
    const Store::Place* at = core_.store.find_uid(owner.uid);
    const bool reachable = at != nullptr && (at->key.ns.empty() || at->key.ns == place.key.ns);
    const Entry* entry = reachable ? core_.store.find(at->table, at->key) : nullptr;
    if (entry == nullptr && !gone_.contains(owner.uid) && !is_served(core_.registry, owner)) {
      unsure_.insert(place);
      return;
    }
    if (entry == nullptr) {
      gone.insert(owner.uid);
    } else if (entry->facts->waits_for_dependents) {
      going.insert(owner.uid);
    } else {
      held = true;
    }
  }
  if (held) {
    gone.merge(going);
    if (!gone.empty()) {
      drop_references(place, gone);
    }
  } else if (!facts.deleting) {
    ask_deletion(place, facts.uid,
                 !going.empty() && core_.store.has_dependents(facts.uid) ? "Foreground" : "Background");
  }
}

void Garbage::drop_references(const Store::Place& place, const std::set<std::string>& uids) {
  core_.edit(place.table, place.key, [&](Object& object) {
    Object& metadata = object_in(object, "metadata");
    const Array* owners = array_at(metadata, {"ownerReferences"});
    if (owners == nullptr) {
      return false;
    }
    Array kept;
    for (const Value& owner : *owners) {
      if (!uids.contains(std::string(text_at(owner, {"uid"})))) {
        kept.push_back(owner);
      }
    }
    if (kept.empty()) {
      metadata.stable_erase(metadata.find("ownerReferences"));
    } else {
      metadata["ownerReferences"] = std::move(kept);
    }
    return true;
  });
}

void Garbage::ask_deletion(const Store::Place& place, const std::string& uid, std::string_view policy) {
  const KindPtr kind = core_.registry.stored_kind(place.table);
  if (kind == nullptr) {
    return;
  }
  Object options;
  options["kind"] = "DeleteOptions";
  options["apiVersion"] = "v1";
  options["propagationPolicy"] = policy;
  object_in(options, "preconditions")["uid"] = uid;
  Call call;
  call.path = path_of(*kind, place.key);
  call.body = to_json(options);
  call.user = "system:serviceaccount:kube-system:generic-garbage-collector";
  core_.removals.ask(place, std::move(call), [this, place] { look_at(place); });
}

}  // namespace gantree::apiserver
