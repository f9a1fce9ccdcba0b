// The program in its world: setup, events, orders and their answers.
#include "property/kueue_world.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace gantree::test {

namespace {

constexpr std::size_t kRemembered = 150;

}  // namespace

World::World(std::uint32_t seed) : random_(seed), extra_random_(seed + 1'000'003) {
  set_up();
  // Below the host only kube-scheduler knows whether pods fit together, so they may never become ready.
  if (by_host_ && topology_everywhere_ && chance(40)) {
    ready_.timeout = std::chrono::seconds(120 + pick(600));
    ready_.recovery = chance(50) ? ready_.timeout : std::chrono::milliseconds(0);
  }
  if (extra_chance(35)) {
    shares_ = {ShareStrategy::kFinalShare, ShareStrategy::kInitialShare};
  }
  with_groups_ = extra_chance(30);
  process_ = std::make_unique<Process>(ready_, shares_);
}

void World::note(std::string action) {
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
  const int what = pick(100);
  if (what < 32) {
    deliver();
  } else if (what < 47) {
    step();
  } else if (what < 62) {
    answer_one(false);
  } else if (what < 72) {
    sync_jobs(false);
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
    server_.list_again(kind);
  }
}

void World::deliver() {
  for (int i = 1 + pick(6); i > 0 && server_.has_events(); --i) {
    const ServerEvent event = server_.next_event(random_);
    note(fmt::format("  told: {} {}/{}{}", event.kind, event.ns, event.name, event.object ? "" : " gone"));
    process_->take(event, now_);
  }
}

void World::step() {
  for (Order& order : process_->step(now_)) {
    const ObjectRef& ref = order.write.object;
    note(fmt::format("{} order {}: verb {} {} {} {}", rfc3339(now_), order.id & 0xFFFFU,
                     static_cast<int>(order.write.verb), ref.kind, ref.name, order.write.body.substr(0, 1500)));
    orders_.push_back(std::move(order));
  }
  // Where it wants to go on at once it has not done yet.
  if (const auto wake = process_->wake(); !wake || *wake > now_) {
    check_nobody_is_passed_over();
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
    result = execute(order.write);
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

WriteResult World::execute(const Write& write) {
  const std::string key = FakeServer::key(write.object.kind, write.object.ns, write.object.name);
  const Stored* before = server_.find(key);
  const Tree admission = before != nullptr && before->tree.find({"status", "admission"})
                             ? *before->tree.find({"status", "admission"})
                             : Tree();
  const bool suspended = before != nullptr && before->tree.flag({"spec", "suspend"});
  const WriteResult result = server_.apply(write);
  const Stored* after = server_.find(key);
  if (result != WriteResult::kOk || after == nullptr) {
    return result;
  }
  if (after->kind == "Workload") {
    const Tree* now = after->tree.find({"status", "admission"});
    if (now == nullptr) {
      given_.erase(key);
    } else if (*now != admission) {
      given_[key].push_back(*now);
      check_admission(*after);
    }
  }
  if (after->kind == "Job" && suspended && !after->tree.flag({"spec", "suspend"})) {
    check_start(after->tree);
  }
  return result;
}

// Killed and started anew. What was on its way is carried out or not; nobody hears of it.
void World::restart() {
  note("restart");
  for (const Order& order : orders_) {
    if (chance(50)) {
      (void)execute(order.write);
    }
  }
  check_quota();  // by what was known when these were decided
  orders_.clear();
  process_ = std::make_unique<Process>(ready_, shares_);
  server_.list_all_again();
  // It decides nothing before all is listed.
  while (server_.has_events()) {
    process_->take(server_.next_event(random_), now_);
  }
}

bool World::calm() {
  int still = 0;
  for (int round = 0; round < 600 && still < 4; ++round) {
    bool moved = server_.has_events();
    while (server_.has_events()) {
      process_->take(server_.next_event(random_), now_);
    }
    step();
    moved = moved || !orders_.empty();
    while (!orders_.empty()) {
      answer_one(true);
    }
    sync_jobs(true);
    run_kubelets(true);
    schedule(true);
    collect_garbage();
    moved = moved || server_.has_events();
    check_always();
    still = moved ? 0 : still + 1;
    now_ += std::chrono::milliseconds(moved ? 500 : 300'000);
  }
  return still == 4;
}

void World::clear() {
  note("everything is deleted");
  for (const Stored* job : server_.all("Job")) {
    server_.remove(FakeServer::key("Job", job->ns, job->name));
  }
  while (!groups_.empty()) {
    delete_group(groups_.begin()->first);
  }
}

}  // namespace gantree::test
