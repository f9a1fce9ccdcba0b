// The controllers of Jobs and JobSets on a fake server: pods for jobs that run, none for those that are suspended, and
// the status that tells of them.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "support/fake_server.h"
#include "support/object_facts.h"

namespace gantree::test {

class JobController {
 public:
  struct Surroundings {
    FakeServer& server;  // must outlive it
    std::function<Time()> now;
    std::function<void(std::string)> note;      // what it does, for a trace
    std::function<void(Tree& pod)> admit = {};  // what the API server makes of a new pod; absent: nothing
  };
  explicit JobController(Surroundings surroundings) : around_(std::move(surroundings)) {}

  [[nodiscard]] std::vector<const Stored*> jobs() const;
  [[nodiscard]] std::vector<const Stored*> pods_of(const std::string& job) const;

  // Does what is to be done for a job, by its key.
  void sync(const std::string& key);
  // The same by a controller that still sees the job as it was, and finds out when it writes the status.
  void sync_late(const std::string& key, const Stored& seen);
  [[nodiscard]] bool is_complete(const std::string& key) const;

  // A pod on a node stays until its kubelet has ended it.
  void delete_pod(const Stored& pod);

  // Which pods of a job have succeeded, by its uid.
  [[nodiscard]] std::set<Seat> done(const std::string& job) const;
  void add_done(const std::string& job, const Seat& seat) { done_[job].insert(seat); }
  void forget(const std::string& job) { done_.erase(job); }
  // For names of pods.
  [[nodiscard]] int fresh_number() { return pods_made_++; }

 private:
  void run(const std::string& key, const Stored& job);
  void set_status(const std::string& key, bool running);
  void set_job_set_status(const std::string& key, const std::vector<const Stored*>& pods, bool running);
  void make_pod(const Stored& job, const Part& part, const Seat& seat);

  Surroundings around_;
  std::map<std::string, std::set<Seat>> done_;
  int pods_made_ = 0;
};

}  // namespace gantree::test
