// The program in its world: setup, events, orders and their answers.
#include "property/kueue_world.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

namespace gantree::test {

namespace {

constexpr std::size_t kRemembered = 150;

}  // namespace

Ways Ways::some(std::uint32_t seed) {
  std::mt19937 random(seed + 3'000'017);
  const auto chance = [&](int percent) { return std::uniform_int_distribution<int>(0, 99)(random) < percent; };
  return {.job_sets = chance(60),
          .odd_requests = chance(60),
          .strangers = chance(25),
          .daemons = chance(15),
          .taints = chance(35),
          .stops = chance(35),
          .priorities = chance(40),
          .resizing = chance(40),
          .hand_over = chance(40),
          .shared_quota = chance(40)};
}

Ways Ways::many(std::uint32_t seed) {
  Ways ways = some(seed);
  ways.many_queues = true;
  ways.shared_quota = true;
  return ways;
}

Ways Ways::mixed(std::uint32_t seed) {
  Ways ways = some(seed);
  ways.gangs = true;
  // They take what was promised to others, which excuses too much.
  ways.strangers = false;
  ways.daemons = false;
  return ways;
}

World::World(std::uint32_t seed, const Ways& ways)
    : random_(seed), extra_random_(seed + 1'000'003), odd_random_(seed + 2'000'003), ways_(ways) {
  set_up();
  // Below the host only kube-scheduler knows whether pods fit together, so they may never become ready.
  if (by_host_ && topology_everywhere_ && chance(40)) {
    ready_.timeout = std::chrono::seconds(120 + pick(600));
    ready_.recovery = chance(50) ? ready_.timeout : std::chrono::milliseconds(0);
    // Nor may they where others take the room that they were promised.
    ways_.strangers = false;
    ways_.daemons = false;
  }
  if (extra_chance(35)) {
    shares_ = {ShareStrategy::kFinalShare, ShareStrategy::kInitialShare};
  }
  with_groups_ = extra_chance(30);
  process_ = std::make_unique<Process>(ready_, shares_);
  if (ways_.hand_over) {
    standby_ = std::make_unique<Process>(ready_, shares_);
    standby_watch_ = server_.add_watch();
  }
  if (ways_.daemons) {
    server_.put("apps", "v1", "DaemonSet",
                quoted(fmt::format("{{'metadata':{{'name':'agent','namespace':'ns','creationTimestamp':'{}'}},"
                                   "'spec':{{'template':{{'spec':{{'containers':[{{'name':'c','resources':"
                                   "{{'requests':{{'nvidia.com/gpu':'1'}}}}}}]}}}}}}}}",
                                   rfc3339(now_))));
  }
  begin_era();
}

void World::note(std::string action) {
  static const bool traced = std::getenv("GANTREE_TRACE") != nullptr;
  if (traced) {
    fmt::print("{}\n", action);
  }
  actions_.push_back(std::move(action));
  if (actions_.size() > kRemembered) {
    actions_.pop_front();
  }
}

std::string World::last_actions() const {
  return fmt::format("{}", fmt::join(actions_, "\n"));
}

std::string World::faults() const {
  return fmt::format("{}", fmt::join(faults_, "\n"));
}

void World::happen() {
  if (standby_) {
    stand_by(odd_pick(4));
  }
  if (ways_.any() && odd_chance(7)) {
    act_oddly();
    return;
  }
  const int what = pick(100);
  if (what < 32) {
    deliver();
  } else if (what < 47) {
    step();
  } else if (what < 62) {
    answer_one(false);
  } else if (what < 72) {
    sync_jobs(false);
    sync_gangs(false);
  } else if (what < 79) {
    schedule(false);
  } else if (what < 87) {
    run_kubelets(false);
  } else if (what < 89) {
    collect_garbage();
  } else if (what < 92) {
    now_ += std::chrono::milliseconds(pick(chance(10) ? 200'000 : 5'000));
  } else if (what < 98) {
    with_groups_&& extra_chance(40) ? use_groups() : use();
  } else if (what < 99) {
    act_on_a_node();
  } else if (chance(30)) {
    restart();
  } else {
    const std::vector<std::string> kinds = {"Pod", "Job", "Workload", "Node", "ClusterQueue"};
    const std::string& kind = kinds[static_cast<std::size_t>(pick(static_cast<int>(kinds.size())))];
    note("list again: " + kind);
    server_.list_again(kind, watch_);
  }
}

void World::deliver() {
  for (int i = 1 + pick(6); i > 0 && server_.has_events(watch_); --i) {
    take_event();
  }
}

void World::take_event() {
  const ServerEvent event = server_.next_event(random_, watch_);
  note(fmt::format("  told: {} {}/{}{}", event.kind, event.ns, event.name, event.object ? "" : " gone"));
  process_->take(event, now_);
  const std::string key = FakeServer::key(event.kind, event.ns, event.name);
  if (const auto given = given_.find(key); given != given_.end() && !server_.has_events_for(key, watch_)) {
    told_[key] = given->second.size() - 1;
  }
}

// Whether all that happened is known, and nothing is on its way, or may be.
bool World::is_quiet() const {
  const auto& workloads = process_->controller().workloads();
  return !server_.has_events(watch_) && orders_.empty() &&
         std::none_of(workloads.begin(), workloads.end(), [&](const auto& item) {
           const kueue::Entry& entry = item.second;
           return entry.assumed || entry.guard.closed(entry.object.resource_version, now_);
         });
}

void World::step() {
  const bool knew = is_quiet();
  for (Order& order : process_->step(now_)) {
    const ObjectRef& ref = order.write.object;
    note(fmt::format("{} order {}: verb {} {} {} {}", rfc3339(now_), order.id & 0xFFFFU,
                     static_cast<int>(order.write.verb), ref.kind, ref.name, order.write.body.substr(0, 1500)));
    if (const Stored* pod = ref.kind == "Pod" ? server_.find(FakeServer::key("Pod", ref.ns, ref.name)) : nullptr) {
      const std::string owner = group_of(pod->tree).empty() ? workload_of(pod->tree) : group_of(pod->tree);
      told_at_order_[order.id] = told_[FakeServer::key("Workload", ref.ns, owner)];
    }
    const bool knows_setup = !server_.has_events_of("ClusterQueue", watch_) && !server_.has_events_of("Cohort", watch_);
    if (ref.kind == "Workload" && !knows_setup && order.write.body.find(R"("admission":{)") != std::string::npos) {
      decided_before_.insert(ref.ns + "/" + ref.name);
    }
    orders_.push_back(std::move(order));
  }
  // Where it wants to go on at once it has not done yet.
  if (const auto wake = process_->wake(); !wake || *wake > now_) {
    check_nobody_is_passed_over();
    if (knew && is_quiet()) {
      shaken_.clear();
      eras_.erase(eras_.begin(), std::prev(eras_.end()));
      decided_before_.clear();
    }
  }
}

void World::answer_one(bool reliably) {
  if (orders_.empty()) {
    return;
  }
  const auto at = orders_.begin() + pick(static_cast<int>(orders_.size()));
  const Order order = std::move(*at);
  orders_.erase(at);
  const int luck = reliably ? 100 : pick(100);
  Answer answer = luck < 10 ? Answer::kRefused : Answer::kUncertain;
  WriteResult result = WriteResult::kInvalid;
  if (luck >= 20) {
    result = execute(order);
    const bool refused = result == WriteResult::kNotFound || result == WriteResult::kInvalid;
    answer = luck < 30                    ? Answer::kUncertain
             : result == WriteResult::kOk ? Answer::kDone
             : refused                    ? Answer::kRefused
                                          : Answer::kUncertain;
  }
  note(fmt::format("  answer {}: {} (result {})", order.id & 0xFFFFU, static_cast<int>(answer),
                   luck < 20 ? -1 : static_cast<int>(result)));
  process_->answered(order.id, answer, now_);
}

WriteResult World::execute(const Order& order) {
  const Write& write = order.write;
  const std::string key = FakeServer::key(write.object.kind, write.object.ns, write.object.name);
  const Stored* found = server_.find(key);
  const Tree before = found == nullptr ? Tree() : found->tree;
  const WriteResult result = server_.apply(write);
  const Stored* after = server_.find(key);
  if (result != WriteResult::kOk || after == nullptr) {
    return result;
  }
  if (after->kind == "Workload") {
    const Tree* was = before.find({"status", "admission"});
    const Tree* now = after->tree.find({"status", "admission"});
    if (now == nullptr) {
      given_.erase(key);
      told_.erase(key);
    } else if (was == nullptr || *now != *was) {
      given_[key].push_back(*now);
      check_admission(*after);
      check_quota();
    }
  }
  const bool job = after->kind == "Job" || after->kind == "JobSet";
  if (job && before.flag({"spec", "suspend"}) && !after->tree.flag({"spec", "suspend"})) {
    check_start(*after);
  }
  if (after->kind == "Pod" && is_gated(before) && !is_gated(after->tree)) {
    check_release(*after, order);
  }
  return result;
}

// Killed and started anew. What was on its way is carried out or not; nobody hears of it.
void World::restart() {
  note("restart");
  for (const Order& order : orders_) {
    if (chance(50)) {
      (void)execute(order);
    }
  }
  orders_.clear();
  told_at_order_.clear();
  process_ = std::make_unique<Process>(ready_, shares_);
  server_.list_all_again(watch_);
  // It decides nothing before all is listed.
  while (server_.has_events(watch_)) {
    take_event();
  }
}

bool World::calm() {
  int still = 0;
  for (int round = 0; round < 600 && still < 4; ++round) {
    bool moved = server_.has_events(watch_);
    while (server_.has_events(watch_)) {
      take_event();
    }
    step();
    moved = moved || !orders_.empty();
    while (!orders_.empty()) {
      answer_one(true);
    }
    if (standby_) {
      stand_by(1'000'000);
    }
    sync_jobs(true);
    sync_gangs(true);
    run_kubelets(true);
    run_daemons();
    schedule(true);
    collect_garbage();
    moved = moved || server_.has_events(watch_);
    check_always();
    if (failed()) {
      return true;
    }
    still = moved ? 0 : still + 1;
    now_ += std::chrono::milliseconds(moved ? 500 : 300'000);
  }
  return still == 4;
}

void World::clear() {
  note("everything is deleted");
  for (const Stored* job : all_jobs()) {
    server_.remove(key_of(*job));
  }
  while (!groups_.empty()) {
    delete_group(groups_.begin()->first);
  }
  while (!gangs_.empty()) {
    delete_gang(gangs_.begin()->first);
  }
  ways_.daemons = false;
  server_.remove(FakeServer::key("DaemonSet", "ns", "agent"));
  for (const Stored* pod : server_.all("Pod")) {
    if (pod->tree.find({"metadata", "labels", "stranger"}) != nullptr) {
      server_.remove(key_of(*pod));
    }
  }
}

}  // namespace gantree::test
