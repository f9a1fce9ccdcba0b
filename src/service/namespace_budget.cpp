#include "service/namespace_budget.h"

#include <fmt/format.h>

#include <algorithm>

#include "dialects/core/metadata.h"
#include "dialects/koordinator/names.h"
#include "dialects/kueue/names.h"
#include "kueue/job.h"
#include "live/parsed.h"

namespace gantree {

namespace {

using std::chrono::seconds;

// What it takes to keep one, as measured of a process that holds thousands: beside its text, once or twice, what is
// read from it, which grows with the values in it, and the places in which it is noted.
struct Weight {
  std::size_t of_one = 0;
  std::size_t of_byte = 0;
  std::size_t of_value = 0;
};
constexpr Weight kByItself{.of_one = std::size_t{12} << 10, .of_byte = 2, .of_value = 64};
// A Workload is made of it, which is kept as well.
constexpr Weight kInQueue{.of_one = std::size_t{14} << 10, .of_byte = 3, .of_value = 80};
// So long what is read again may take to come.
constexpr seconds kPatience{10};
// So many are read again at once.
constexpr std::size_t kMostUnderWay = 16;

bool has(const LiveObject& object, std::string_view text) {
  return object.text.find(text) != std::string::npos;
}

bool has_key(const LiveObject& object, std::string_view key) {
  return has(object, fmt::format("\"{}\":", key));
}

// Keys and values, or a few more: the marks that go before them may be part of a text.
std::size_t values_in(std::string_view json) {
  return static_cast<std::size_t>(std::count_if(
      json.begin(), json.end(), [](char mark) { return mark == ',' || mark == ':' || mark == '[' || mark == '{'; }));
}

// Keys and values of the texts are never part of a longer string: there quotes are escaped.
bool waits(const LiveObject& object) {
  if (object.kind == "Pod" && object.group.empty()) {
    const bool ours = has_key(object, kueue::kManaged) || !has(object, R"("schedulerName":"default-scheduler")");
    return ours && !has(object, R"("nodeName":")") && !has(object, R"("phase":"Succeeded")") &&
           !has(object, R"("phase":"Failed")");
  }
  if (object.kind == "PodGroup" && object.group == koordinator::kPodGroupGroup) {
    const std::size_t scheduled = object.text.find(R"("scheduled":)");
    return scheduled == std::string::npos || has(object, R"("scheduled":0)");
  }
  if (kueue::job_kind(object.group, object.kind) == nullptr || !has_key(object, kueue::kQueueName) ||
      !has(object, R"("suspend":true)")) {
    return false;
  }
  const auto parsed = parse(object.text);
  const json::Value spec = parsed ? map_at(parsed->object.value, "spec") : json::Value();
  const auto suspended = [](json::Value map) {
    const json::Value value = map ? map["suspend"] : json::Value();
    return value && value.kind() == json::Kind::kBool && value.text() == "true";
  };
  return suspended(spec) || suspended(spec ? map_at(spec, "runPolicy") : json::Value());
}

}  // namespace

std::size_t cost_of_waiting(const LiveObject& object) {
  if (object.ns.empty() || !waits(object)) {
    return 0;
  }
  const bool queued = kueue::job_kind(object.group, object.kind) != nullptr || has_key(object, kueue::kManaged);
  const Weight& weight = queued ? kInQueue : kByItself;
  return weight.of_one + weight.of_byte * object.text.size() + weight.of_value * values_in(object.text);
}

NamespaceBudget::Key NamespaceBudget::key_of(std::string_view group, std::string_view kind, std::string_view ns,
                                             std::string_view name) {
  return {std::string(ns), std::string(kind) + "." + std::string(group) + "/" + std::string(name)};
}

void NamespaceBudget::keep(const Key& key, std::size_t cost) {
  const auto space = spaces_.find(key.first);
  if (space == spaces_.end() && cost == 0) {
    return;
  }
  Space& in = space == spaces_.end() ? spaces_[key.first] : space->second;
  const auto known = in.kept.find(key.second);
  in.used += cost;
  if (known != in.kept.end()) {
    in.used -= known->second;
  }
  if (cost > 0) {
    in.kept.insert_or_assign(key.second, cost);
  } else if (known != in.kept.end()) {
    in.kept.erase(known);
  }
  if (in.kept.empty() && in.in_order.empty()) {
    spaces_.erase(key.first);
  }
}

void NamespaceBudget::drop_aside(const Key& key) {
  const auto it = aside_.find(key);
  if (it == aside_.end()) {
    return;
  }
  const auto space = spaces_.find(key.first);
  space->second.in_order.erase(it->second.number);
  if (space->second.kept.empty() && space->second.in_order.empty()) {
    spaces_.erase(space);
  }
  by_uid_.erase(it->second.uid);
  needed_.erase(key);
  aside_.erase(it);
}

bool NamespaceBudget::take(const LiveObject& object, bool needed) {
  const std::size_t cost = most_ == 0 ? 0 : cost_of_waiting(object);
  if (cost == 0 && aside_.empty() && spaces_.empty()) {
    return true;
  }
  const Key key = key_of(object.group, object.kind, object.ns, object.name);
  const auto space = spaces_.find(object.ns);
  const bool known = space != spaces_.end() && space->second.kept.contains(key.second);
  const std::size_t used = space == spaces_.end() ? 0 : space->second.used;
  const auto before = aside_.find(key);
  // One that holds quota, as is known by now, is needed whatever became of it since.
  const bool stays = known || needed || needed_.contains(key);
  // Who is set aside waits behind those that came before.
  const bool others_first = before != aside_.end() && space->second.in_order.begin()->first != before->second.number;
  if (cost == 0 || stays || (used + cost <= most_ && !others_first)) {
    keep(key, cost);
    drop_aside(key);
    return true;
  }
  const std::uint64_t number =
      before != aside_.end() && before->second.uid == object.uid ? before->second.number : ++last_;
  drop_aside(key);
  aside_.insert_or_assign(key, Waiting{.object = {.group = object.group,
                                                  .version = object.version,
                                                  .kind = object.kind,
                                                  .ns = object.ns,
                                                  .name = object.name},
                                       .uid = object.uid,
                                       .cost = cost,
                                       .number = number,
                                       .asked = {}});
  spaces_[object.ns].in_order.emplace(number, key.second);
  by_uid_.insert_or_assign(object.uid, key);
  return false;
}

bool NamespaceBudget::take_back(const LiveObject& object) {
  const Key key = key_of(object.group, object.kind, object.ns, object.name);
  const auto it = aside_.find(key);
  if (it == aside_.end() || !it->second.asked || it->second.uid != object.uid) {
    return false;
  }
  keep(key, cost_of_waiting(object));
  drop_aside(key);
  return true;
}

bool NamespaceBudget::lose(std::string_view group, std::string_view kind, std::string_view ns, std::string_view name) {
  if (spaces_.empty()) {
    return true;
  }
  const Key key = key_of(group, kind, ns, name);
  if (aside_.contains(key)) {
    drop_aside(key);
    return false;
  }
  keep(key, 0);
  return true;
}

void NamespaceBudget::need(const std::string& uid) {
  if (const auto it = by_uid_.find(uid); it != by_uid_.end()) {
    needed_.insert(it->second);
  }
}

void NamespaceBudget::read_again(Waiting& waiting, Clock::time_point now, std::vector<Aside>& found) {
  waiting.asked = now;
  found.push_back(waiting.object);
}

std::vector<NamespaceBudget::Aside> NamespaceBudget::to_read(Clock::time_point now) {
  std::vector<Aside> found;
  if (aside_.empty()) {
    return found;
  }
  const auto due = [&](const Waiting& waiting) { return !waiting.asked || now >= *waiting.asked + kPatience; };
  for (const Key& key : needed_) {
    if (Waiting& waiting = aside_.at(key); found.size() < kMostUnderWay && due(waiting)) {
      read_again(waiting, now, found);
    }
  }
  for (auto& [ns, space] : spaces_) {
    std::size_t used = space.used;
    std::size_t under_way = 0;
    for (const auto& [number, name] : space.in_order) {
      Waiting& waiting = aside_.at({ns, name});
      used += waiting.cost;
      if (used > most_ || ++under_way > kMostUnderWay || found.size() >= kMostUnderWay) {
        break;
      }
      if (due(waiting)) {
        read_again(waiting, now, found);
      }
    }
  }
  return found;
}

}  // namespace gantree
