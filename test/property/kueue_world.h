// A cluster in virtual time around kueue::Controller: an API server, the controllers of Jobs and JobSets,
// kube-scheduler, kubelets, nodes that come and go, pods that are nobody's in a queue, a second controller that stands
// by, and users; all of them at random, by a seed.
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
#include "property/kueue_quota.h"
#include "support/fake_server.h"
#include "support/job_controller.h"
#include "support/object_facts.h"
#include "support/queue_process.h"

namespace gantree::test {

// What a world knows beside Jobs, groups of pods, queues and hosts that fail.
struct Ways {
  bool job_sets = false;
  bool odd_requests = false;  // slices that do not divide, layers, tolerations
  bool strangers = false;     // pods of nobody in a queue
  bool daemons = false;
  bool taints = false;
  bool stops = false;  // queues are stopped
  bool priorities = false;
  bool resizing = false;
  bool hand_over = false;     // another process leads
  bool shared_quota = false;  // lending limits, and quota of cohorts
  bool many_queues = false;   // in cohorts of cohorts
  bool gangs = false;         // of pods in no queue, beside the jobs

  // Whether somebody acts in one of these ways.
  [[nodiscard]] bool any() const {
    return strangers || daemons || taints || stops || priorities || resizing || hand_over || job_sets || gangs;
  }
  [[nodiscard]] static Ways none() { return {}; }
  [[nodiscard]] static Ways some(std::uint32_t seed);
  [[nodiscard]] static Ways many(std::uint32_t seed);
  // With gangs of another family.
  [[nodiscard]] static Ways mixed(std::uint32_t seed);
};

class World {
 public:
  World(std::uint32_t seed, const Ways& ways);

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
  // For what their ways bring.
  int odd_pick(int below) { return std::uniform_int_distribution<int>(0, below - 1)(odd_random_); }
  bool odd_chance(int percent) { return odd_pick(100) < percent; }
  void note(std::string action);
  void fault(std::string sentence) { faults_.push_back(std::move(sentence)); }

  // Setup.
  void set_up();
  void set_up_hosts(int hosts);
  void put_queue(int number);
  void put_local_queue(int number);
  void set_up_cohorts();
  void nest_cohorts();
  void put_cohort(const std::string& name, const std::string& weight);
  void put_node(const std::string& name);
  void draw_queue(int number);
  [[nodiscard]] std::string quota_text(const std::map<std::string, QuotaNumbers>& quota) const;
  void begin_era();

  // The program.
  void deliver();
  void take_event();
  void step();
  void answer_one(bool reliably);
  [[nodiscard]] WriteResult execute(const Order& order);
  void restart();
  void stand_by(int events);
  void hand_over();
  [[nodiscard]] bool is_quiet() const;

  // Controllers of the cluster.
  [[nodiscard]] std::vector<const Stored*> all_jobs() const { return jobs_.jobs(); }
  [[nodiscard]] std::vector<const Stored*> pods_of(const std::string& job) const { return jobs_.pods_of(job); }
  void sync_jobs(bool all);
  void sync_job(const std::string& key);
  void delete_pod(const Stored& pod) { jobs_.delete_pod(pod); }
  void collect_garbage();
  void schedule(bool all);
  [[nodiscard]] std::vector<std::string> hosts_for(const Tree& pod) const;
  void run_kubelets(bool all);

  // Users and administrators.
  void use();
  void submit();
  void submit_job_set();
  [[nodiscard]] std::string odd_request(int count, bool in_a_set);
  [[nodiscard]] std::string layers();
  [[nodiscard]] std::string toleration();
  void act_on_a_job();
  void act_on_a_workload();
  void act_on_a_node();
  void use_groups();
  void submit_group();
  void put_group_pod(const std::string& name);
  void delete_group(const std::string& name);
  void tidy_groups();
  void lose_group_pods(const std::string& host);
  void use_gangs();
  void sync_gangs(bool all);
  void delete_gang(const std::string& name);
  [[nodiscard]] static std::string gang_of(const Tree& pod);
  void act_oddly();
  void taint_a_node();
  void stop_a_queue();
  void change_a_priority();
  void resize_a_job();
  void begin_a_job_set_anew();

  // Those who take room and have no queue.
  void use_strangers();
  void run_daemons();
  [[nodiscard]] bool is_rider(const Stored& pod) const;
  [[nodiscard]] bool is_overbooked(const std::string& host) const;
  void tidy_excuses();

  // Checks.
  void check_admission(const Stored& workload);
  void check_set(const Stored& workload, const Tree& request, const Tree& given);
  void check_groups_of_sets(const Stored& workload);
  void check_start(const Stored& job);
  void check_release(const Stored& pod, const Order& order);
  void check_quota();
  void check_pods();
  void check_those_that_leave();
  void check_rooms();
  // GPUs of pods that have no node yet, by selector; of those that are there, and of those of them that have to leave,
  // by host.
  void check_domains(const std::map<std::map<std::string, std::string>, int>& to_come,
                     std::map<std::string, int>& bound, std::map<std::string, int>& leaving);
  struct Sent {
    int pods = 0;
    std::size_t since = 0;  // the first assignment under which one of them was released
  };
  void check_assigned(
      const std::map<std::pair<std::string, std::string>, std::map<std::vector<std::string>, Sent>>& sent);
  void check_jobs_when_calm();
  void check_job_when_calm(const Stored& job, const Stored& workload);
  [[nodiscard]] int kept_by_a_part(const Stored& job, const Part& part) const;
  void check_pods_when_calm(const std::set<std::string>& started);
  void check_ranks_when_calm(const Stored& job, const Tree& workload);
  void check_groups_when_calm();
  void check_gangs_when_calm();
  void check_nothing_is_left_to_do();
  void check_stand_by();
  void check_nobody_is_passed_over();
  // The domain of a pod in the assignments from that position on; nothing where it is in none of them.
  [[nodiscard]] std::optional<std::vector<std::string>> place_of(const Stored& pod, std::size_t from) const;
  [[nodiscard]] std::vector<std::string> path_of(const std::vector<std::string>& values) const;

  std::mt19937 random_;
  std::mt19937 extra_random_;
  std::mt19937 odd_random_;
  Ways ways_;
  Time now_ = Time(std::chrono::seconds(1'767'225'600));
  FakeServer server_;
  JobController jobs_{
      {.server = server_, .now = [this] { return now_; }, .note = [this](std::string what) { note(std::move(what)); }}};
  kueue::ReadyRules ready_;
  std::vector<ShareStrategy> shares_;  // none: nobody is evicted by them
  std::unique_ptr<Process> process_;
  std::size_t watch_ = 0;
  std::unique_ptr<Process> standby_;  // has watched all along, and leads some day
  std::size_t standby_watch_ = 0;
  std::vector<Order> orders_;

  std::vector<std::string> levels_;  // of the topology
  bool by_host_ = false;             // its lowest level is the host
  bool topology_everywhere_ = true;
  std::vector<std::string> flavors_;
  QuotaSetup setup_;
  struct NodeFacts {
    std::map<std::string, std::string> labels;
    int gpus = 0;
    bool ready = true;
    bool cordoned = false;
    bool exists = true;
    std::string taint = {};  // its effect; "": none
    Time created = {};

    [[nodiscard]] bool takes(const Tree& pod) const {
      return exists && ready && !cordoned && (taint.empty() || tolerates_taint(pod));
    }
  };
  std::map<std::string, NodeFacts> nodes_;  // also those that are gone
  std::set<std::string> finishing_;         // uids of jobs, or groups, whose pods come to their end
  std::map<std::string, Stored>
      seen_started_;  // jobs by key, as their users started them: their controller may be late
  // Admissions of a Workload since it was last without, by key; and the position of the one that the program knew when
  // it had last heard all of that Workload.
  std::map<std::string, std::vector<Tree>> given_;
  std::map<std::string, std::size_t> told_;
  std::map<std::uint64_t, std::size_t> told_at_order_;  // the same when an order to a pod was given, by its id
  std::map<std::string, std::size_t> released_under_;   // the same of pods that were released, by uid

  // Setups under which decisions may still be on their way, with what was used when last looked at. The last is in
  // force.
  struct Era {
    QuotaSetup setup;
    CellAmounts used;
  };
  std::vector<Era> eras_;
  CellAmounts used_;  // by queue

  bool is_calm_ = false;  // nothing is on its way
  // Excuses, each for as long as it is true.
  std::set<std::string> disturbed_;  // jobs by uid, or groups: somebody started them by hand, or deleted what accounts
                                     // for them; until their pods are gone
  std::set<std::string> crowded_;    // hosts where pods of nobody in a queue may have taken what was promised
  std::set<std::string> shaken_;     // hosts that changed and of which the program may not know, or act on it, yet

  struct Group {
    int total = 1;
    int gpus = 1;
    int queue = 0;
    std::string level;  // required; "" where none is
  };
  bool with_groups_ = false;
  std::map<std::string, Group> groups_;  // of plain pods
  int groups_made_ = 0;
  struct PodGang {
    int least = 1;
    int total = 1;
    int gpus = 1;
    int priority = 0;
  };
  std::map<std::string, PodGang> gangs_;
  int gangs_made_ = 0;
  int jobs_made_ = 0;
  std::deque<std::string> actions_;
  std::vector<std::string> faults_;
  // Workloads that were given quota by a program that had not heard of the last setup. With what others were given
  // since by the last one, it may be that no setup allows all of it together.
  std::set<std::string> decided_before_;
};

}  // namespace gantree::test
