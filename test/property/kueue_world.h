// A cluster in virtual time around kueue::Controller: an API server, the Job controller, kube-scheduler, kubelets,
// nodes that come and go, and users; all of them at random, by a seed.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "kueue/controller.h"
#include "support/fake_server.h"
#include "support/queue_process.h"

namespace gantree::test {

struct QueueSetup {
  std::map<std::string, int> nominal;  // by flavor
  std::map<std::string, int> borrowing;
  bool cohort = false;
  std::string in = "all";  // the cohort
};

class World {
 public:
  explicit World(std::uint32_t seed);

  // Something happens.
  void happen();
  // Nobody does anything new, and all that is under way comes to its end. False where it does not.
  [[nodiscard]] bool calm();
  // All jobs are deleted.
  void clear();

  // What has to be true whenever; when all is calm; and when nothing is left.
  void check_always();
  void check_calm();
  void check_empty();

  [[nodiscard]] std::string last_actions() const;
  [[nodiscard]] bool failed() const { return !faults_.empty(); }
  [[nodiscard]] std::string faults() const;

 private:
  int pick(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }
  bool chance(int percent) { return pick(100) < percent; }
  // For what worlds learned later: those of old seeds go on as they did.
  bool extra_chance(int percent) { return std::uniform_int_distribution<int>(0, 99)(extra_random_) < percent; }
  void note(std::string action);
  void fault(std::string sentence) { faults_.push_back(std::move(sentence)); }

  // Setup.
  void set_up();
  void put_queue(int number);
  void set_up_cohorts();
  void put_node(const std::string& name);
  void draw_queue(int number);

  // The program.
  void deliver();
  void step();
  void answer_one(bool reliably);
  [[nodiscard]] WriteResult execute(const Write& write);
  void restart();

  // Controllers of the cluster.
  void sync_jobs(bool all);
  void sync_job(const std::string& key);
  void run_job(const std::string& key, const Stored& job, const std::vector<const Stored*>& pods);
  void set_job_status(const std::string& key, const std::vector<const Stored*>& pods, bool running);
  void make_pod(const Stored& job, int index);
  void delete_pod(const Stored& pod);
  void collect_garbage();
  void schedule(bool all);
  [[nodiscard]] std::vector<std::string> hosts_for(const Tree& pod) const;
  void run_kubelets(bool all);

  // Users and administrators.
  void use();
  void submit();
  void act_on_a_job();
  void act_on_a_workload();
  void act_on_a_node();
  void use_groups();
  void submit_group();
  void put_group_pod(const std::string& name);
  void delete_group(const std::string& name);
  void tidy_groups();
  void lose_group_pods(const std::string& host);

  // Checks.
  void check_admission(const Stored& workload);
  void check_start(const Tree& job);
  void check_quota();
  void check_pods();
  void check_those_that_leave();
  void check_jobs_when_calm();
  void check_groups_when_calm();
  void check_nothing_is_left_to_do();
  void check_nobody_is_passed_over();
  void check_place(const Stored& stored, const std::vector<Tree>& given,
                   std::map<std::vector<std::string>, int>& released);
  [[nodiscard]] std::vector<std::string> path_of(const std::vector<std::string>& values) const;
  [[nodiscard]] std::map<std::string, int> limits() const;
  void forget_old_limits();

  std::mt19937 random_;
  std::mt19937 extra_random_;
  Time now_ = Time(std::chrono::seconds(1'767'225'600));
  FakeServer server_;
  kueue::ReadyRules ready_;
  std::vector<ShareStrategy> shares_;  // none: nobody is evicted by them
  std::unique_ptr<Process> process_;
  std::vector<Order> orders_;

  std::vector<std::string> levels_;  // of the topology
  bool by_host_ = false;             // its lowest level is the host
  bool topology_everywhere_ = true;
  std::vector<std::string> flavors_;
  std::vector<QueueSetup> queues_;
  struct NodeFacts {
    std::map<std::string, std::string> labels;
    int gpus = 0;
    bool ready = true;
    bool cordoned = false;
    bool exists = true;
  };
  std::map<std::string, NodeFacts> nodes_;  // also those that are gone
  std::set<std::string> finishing_;         // uids of jobs, or groups, whose pods come to their end
  std::map<std::string, std::set<int>> done_;
  std::map<std::string, Stored>
      seen_started_;  // jobs by key, as their users started them: their controller may be late
  std::map<std::string, std::vector<Tree>> given_;  // admissions of a Workload since it was last without, by key
  std::map<std::string, int> used_;                 // quota by cell, when last looked at
  std::map<std::string, int> old_limits_;           // by cell, as long as decisions under them may be on their way
  // Somebody started a job by hand, or deleted what accounts for it: its pods take room that is not theirs.
  bool disturbed_ = false;
  struct Group {
    int total = 1;
    int gpus = 1;
    int queue = 0;
    std::string level;  // required; "" where none is
  };
  bool with_groups_ = false;
  std::map<std::string, Group> groups_;  // of plain pods
  int groups_made_ = 0;
  int jobs_made_ = 0;
  int pods_made_ = 0;
  std::deque<std::string> actions_;
  std::vector<std::string> faults_;
};

}  // namespace gantree::test
