#include "apiserver/quotas.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <utility>

#include "apiserver/core.h"

namespace gantree::apiserver {

namespace {

constexpr std::string_view kTable = "resourcequotas";

// "pods=1,requests.cpu=2"
std::string listed(const QuotaAmounts& amounts, const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    const auto it = amounts.find(name);
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", name,
                        it == amounts.end() ? std::string("0") : to_text(it->second));
  }
  return text;
}

}  // namespace

void Quotas::begin() {
  if (const Table* table = core_.store.find_table(kTable)) {
    for (const auto& [key, entry] : table->entries) {
      if (!spaces_.contains(key.ns)) {
        count_anew(key.ns);
      }
    }
  }
}

const Quotas::Quota* Quotas::find_quota(const Key& key) const {
  const auto space = spaces_.find(key.ns);
  if (space == spaces_.end()) {
    return nullptr;
  }
  const auto quota = space->second.quotas.find(key.name);
  return quota == space->second.quotas.end() ? nullptr : &quota->second;
}

void Quotas::changed(std::string_view table, const Key& key) {
  if (key.ns.empty() || table == "events") {
    return;
  }
  const auto space = spaces_.find(key.ns);
  if (table == kTable) {
    const auto object = core_.read(kTable, key);
    const Object* spec = object ? object_at(*object, {"spec"}) : nullptr;
    const Quota* known = find_quota(key);
    if ((known != nullptr) != (spec != nullptr) || (known != nullptr && !same(known->spec, *spec))) {
      count_anew(key.ns);
    }
    return;
  }
  if (space != spaces_.end()) {
    count(space->second, {std::string(table), key});
    tell_soon(key.ns);
  }
}

void Quotas::count_anew(const std::string& ns) {
  spaces_.erase(ns);
  const Table* table = core_.store.find_table(kTable);
  Space space;
  for (auto it = table->entries.lower_bound({ns, ""}); it != table->entries.end() && it->first.ns == ns; ++it) {
    const auto object = core_.read(kTable, it->first);
    const Object* spec = object ? object_at(*object, {"spec"}) : nullptr;
    if (spec == nullptr) {
      continue;
    }
    Quota quota{*spec, {}, {}};
    if (const Object* hard = object_at(*spec, {"hard"})) {
      for (const auto& member : *hard) {
        if (const auto amount = parse_amount(member.value())) {
          quota.hard[member.key()] = *amount;
          quota.used[member.key()] = {0, amount->style};
        }
      }
    }
    space.quotas.emplace(it->first.name, std::move(quota));
  }
  if (space.quotas.empty()) {
    return;
  }
  for (const auto& [name, objects] : core_.store.tables()) {
    if (name == "events") {
      continue;
    }
    for (auto it = objects->entries.lower_bound({ns, ""}); it != objects->entries.end() && it->first.ns == ns; ++it) {
      count(space, {name, it->first});
    }
  }
  spaces_.emplace(ns, std::move(space));
  tell_soon(ns);
}

QuotaUse Quotas::use_of(const Store::Place& place) const {
  if (!is_measured(place.table)) {
    return core_.store.find(place.table, place.key) == nullptr ? QuotaUse() : quota_use(place.table, Object());
  }
  const auto object = core_.read(place.table, place.key);
  return object ? quota_use(place.table, *object) : QuotaUse();
}

void Quotas::book(Quota& quota, const QuotaUse& use, int sign) {
  if (!quota_covers(quota.spec, use.scopes)) {
    return;
  }
  for (auto& [name, used] : quota.used) {
    if (const auto it = use.amounts.find(name); it != use.amounts.end()) {
      // In the unit of the first that asks for it.
      used.style = used.nanos == 0 ? it->second.style : used.style;
      used.nanos += sign * it->second.nanos;
    }
  }
}

void Quotas::count(Space& space, Store::Place place) {
  QuotaUse now = use_of(place);
  const auto it = space.uses.find(place);
  for (auto& [name, quota] : space.quotas) {
    if (it != space.uses.end()) {
      book(quota, it->second, -1);
    }
    book(quota, now, 1);
  }
  if (it != space.uses.end()) {
    space.uses.erase(it);
  }
  if (!now.amounts.empty()) {
    space.uses.emplace(std::move(place), std::move(now));
  }
}

Outcome<> Quotas::check(const Kind& kind, const Key& key, const Object& object) const {
  const auto space = spaces_.find(key.ns);
  if (key.ns.empty() || kind.table == "events" || space == spaces_.end()) {
    return {};
  }
  const auto known = space->second.uses.find({kind.table, key});
  const QuotaUse use = quota_use(kind.table, object);
  const auto refused = [&](std::string_view why) {
    return tl::unexpected(forbidden_request(kind.what(), key.name, why));
  };
  for (const auto& [name, quota] : space->second.quotas) {
    if (!quota_covers(quota.spec, use.scopes)) {
      continue;
    }
    if (const auto missing = left_unsaid(quota.hard, object); kind.table == "pods" && !missing.empty()) {
      return refused(fmt::format("quota {} counts {}, and a container does not say it", name, fmt::join(missing, ",")));
    }
    QuotaAmounts more;
    std::vector<std::string> beyond;
    for (const auto& [resource, hard] : quota.hard) {
      const auto wanted = use.amounts.find(resource);
      if (wanted == use.amounts.end()) {
        continue;
      }
      Amount extra = wanted->second;
      if (known != space->second.uses.end() && quota_covers(quota.spec, known->second.scopes)) {
        const auto had = known->second.amounts.find(resource);
        extra.nanos -= had == known->second.amounts.end() ? 0 : had->second.nanos;
      }
      if (extra.nanos > 0 && quota.used.find(resource)->second.nanos + extra.nanos > hard.nanos) {
        beyond.push_back(resource);
      }
      more[resource] = extra;
    }
    if (!beyond.empty()) {
      return refused(fmt::format("exceeded quota: {}, requested: {}, used: {}, limited: {}", name, listed(more, beyond),
                                 listed(quota.used, beyond), listed(quota.hard, beyond)));
    }
  }
  return {};
}

void Quotas::tell_soon(const std::string& ns) {
  if (untold_.empty()) {
    core_.soon([this] { tell(); });
  }
  untold_.insert(ns);
}

void Quotas::tell() {
  for (const std::string& ns : std::exchange(untold_, {})) {
    const auto space = spaces_.find(ns);
    if (space == spaces_.end()) {
      continue;
    }
    for (const auto& [name, quota] : space->second.quotas) {
      Object status{{"hard", Object()}, {"used", Object()}};
      for (const auto& [resource, amount] : quota.hard) {
        object_in(status, "hard")[resource] = to_text(amount);
        object_in(status, "used")[resource] = to_text(quota.used.find(resource)->second);
      }
      core_.edit(kTable, {ns, name}, [&](Object& object) {
        const Object* told = object_at(object, {"status"});
        if (told != nullptr && same(*told, status)) {
          return false;
        }
        object["status"] = status;
        return true;
      });
    }
  }
}

}  // namespace gantree::apiserver
