// The cluster of a file of manifests, live in virtual time: the program itself (loop, client, watches, election), an
// API server in memory, the admission webhook, the controllers of Jobs and JobSets, and kubelets.
//
// The program is started when all objects are there, as a plan has them: pods that run, their jobs and Workloads, and
// all that waits. Pods that name no scheduler are Gantree's.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "plan_equals_run/answers.h"
#include "support/job_controller.h"
#include "support/replica.h"

namespace gantree::test {

class LiveWorld {
 public:
  explicit LiveWorld(const ManifestFile& file);

  // Until nothing changes any more. False where that does not come.
  [[nodiscard]] bool run();
  // What the objects say by then, of the gangs that a plan knows.
  [[nodiscard]] Answers answers(const Answers& plan) const;

 private:
  // A job of a queue that runs, with the nodes of its pods.
  struct RunningJob {
    const Manifest* job = nullptr;
    std::vector<std::string> nodes;
  };
  // A pod that the scheduler has evicted, and why.
  struct EvictedPod {
    std::string gang;  // namespace/name
    std::string reason;
    std::string note;
  };

  void note(const std::string& what) const;
  void start();
  [[nodiscard]] bool settle(std::chrono::seconds quiet);
  void act();
  void run_kubelets();

  // What an API server makes of an object that is created.
  [[nodiscard]] std::string key_of(const Manifest& manifest) const;
  void load(const std::function<bool(const Manifest&)>& chosen);
  void store(Manifest manifest);
  void complete(Manifest& manifest);
  void complete_pod(Tree& pod);
  void admit_pod(Tree& pod);
  // Why it refuses the object.
  [[nodiscard]] static std::optional<std::string> ask_webhook(const Manifest& manifest, Tree& tree);
  void note_done(const Stored& job);

  // Brings jobs of queues to where they wait, or run as the manifests say.
  [[nodiscard]] static bool is_queued(const Manifest& object);
  void find_running_jobs();
  [[nodiscard]] bool is_made_anew(const Manifest& pod) const { return made_anew_.contains(key_of(pod)); }
  void queue_jobs();
  void hold_queues(bool held);
  void admit(const Stored& workload, const RunningJob& running);
  [[nodiscard]] Tree assignment_of(const Tree& set, const Tree& queue, const std::vector<std::string>& nodes) const;
  [[nodiscard]] Tree topology_assignment(const Stored& topology, const std::vector<std::string>& nodes) const;
  void bind_given();

  // What objects say.
  [[nodiscard]] const Stored* workload_of_job(const std::string& uid) const;
  [[nodiscard]] GangAnswer answer_of(const std::string& gang, const GangAnswer& planned) const;
  [[nodiscard]] GangAnswer answer_of_pods(const std::string& gang, const GangAnswer& planned) const;
  [[nodiscard]] std::vector<const Stored*> pods_of_set(const std::string& gang, const GangAnswer& planned,
                                                       const std::string& set) const;
  [[nodiscard]] std::string place_of(const Tree& pod, const std::vector<std::string>& levels) const;
  [[nodiscard]] std::map<std::string, std::string> evictions(const Answers& plan) const;
  void note_gang(const Tree& pod);
  void note_eviction(const Tree& event);

  Timeline timeline_;
  ApiServer server_{timeline_, {}};
  std::mt19937 random_{1};
  JobController jobs_;
  kueue::ControllerOptions queue_options_;
  std::unique_ptr<Replica> replica_;
  int lives_ = 0;
  std::map<std::string, bool> namespaced_;     // kinds that are stored, by group/kind
  std::map<std::string, RunningJob> running_;  // by key
  std::map<std::string, RunningJob> no_jobs_;
  std::set<std::string> made_anew_;                   // keys of pods that the controllers of those jobs make
  std::map<std::string, std::string> stop_policies_;  // of ClusterQueues, by key, while they are held
  bool prepares_ = false;                             // jobs of queues are brought to where they run
  std::map<std::string, std::string> refused_;        // why the webhook refused an object, by key
  std::vector<Manifest> objects_;
  std::vector<Tree> no_trees_;
  std::map<std::string, std::string> gangs_of_pods_;  // namespace/name of both
  std::vector<EvictedPod> evicted_pods_;
};

}  // namespace gantree::test
