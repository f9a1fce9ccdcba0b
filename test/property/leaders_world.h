// A cluster with two replicas of the program, whose lease is lost and whose watches fall silent or come late, each by
// itself, at any moment; pods, gangs and jobs in a queue come and go meanwhile. All of it at random, by a seed.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "support/replica.h"

namespace gantree::test {

class LeadersWorld {
 public:
  explicit LeadersWorld(std::uint32_t seed);

  // So much time passes, and things go wrong.
  void storm(std::chrono::seconds length);
  // So much time passes in which nothing does.
  void calm(std::chrono::seconds length);
  // Whoever asks for room that there is gets it: somebody leads, and decides.
  void check_that_somebody_decides();

  [[nodiscard]] std::string faults() const;
  [[nodiscard]] std::string last_actions() const;
  [[nodiscard]] std::uint64_t gifts() const { return server_.gifts; }

 private:
  int pick(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }
  bool chance(int percent) { return pick(100) < percent; }
  void note(std::string action);
  void pass(std::chrono::milliseconds time) { timeline_.run_until(timeline_.now() + time); }
  void put(std::string_view group, std::string_view version, std::string_view kind, const std::string& text);

  void set_up();
  void start(std::size_t replica);
  void use();
  void add_pod(const std::string& name, const std::string& gang, int gpus, int priority);
  void add_gang();
  void add_job();
  void end_a_job();
  void remove_a_pod();
  void run_kubelets();
  void harm(std::size_t replica);
  // What was just given is not told of, and the one that gave it loses its lease.
  void aim();
  void check();

  std::mt19937 random_;
  Timeline timeline_;
  ApiServer server_;
  std::vector<std::unique_ptr<Replica>> replicas_;
  int lives_ = 0;
  int hosts_ = 0;
  int quota_ = 0;
  int names_ = 0;
  bool aims_ = false;
  std::vector<std::string> faults_;
  std::deque<std::string> actions_;
};

}  // namespace gantree::test
