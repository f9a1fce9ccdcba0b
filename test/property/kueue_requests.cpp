// What users ask for.
#include <fmt/format.h>

#include <algorithm>

#include "property/kueue_world.h"

namespace gantree::test {

void World::submit() {
  if (all_jobs().size() > (ways_.many_queues ? 24U : 10U)) {
    return;
  }
  const int number = jobs_made_++;
  const int parallelism = 1 + pick(6);
  std::string annotations;
  std::string minimum;
  const std::string level = levels_[static_cast<std::size_t>(pick(static_cast<int>(levels_.size())))];
  bool slices = false;
  switch (pick(7)) {
    case 0:
    case 1:
      annotations = fmt::format("'kueue.x-k8s.io/podset-required-topology':'{}'", level);
      break;
    case 2:
      annotations = fmt::format("'kueue.x-k8s.io/podset-preferred-topology':'{}'", level);
      break;
    case 3:
      annotations = "'kueue.x-k8s.io/podset-unconstrained-topology':'true'";
      break;
    case 4:
    case 5: {
      std::vector<int> sizes;
      for (int size = 1; size <= parallelism; ++size) {
        if (parallelism % size == 0) {
          sizes.push_back(size);
        }
      }
      slices = true;
      annotations =
          fmt::format("'kueue.x-k8s.io/podset-slice-required-topology':'{}','kueue.x-k8s.io/podset-slice-size':'{}'",
                      level, sizes[static_cast<std::size_t>(pick(static_cast<int>(sizes.size())))]);
      break;
    }
    default:
      break;
  }
  if (ways_.odd_requests && odd_chance(50)) {
    annotations = odd_request(parallelism, false);
    slices = true;
  }
  if (!slices && chance(20)) {
    minimum = fmt::format("'kueue.x-k8s.io/job-min-parallelism':'{}'", 1 + pick(parallelism));
  }
  const std::vector<std::string> classes = {"low", "mid", "high"};
  const int completions = slices || !minimum.empty() || chance(70) ? parallelism : parallelism + pick(4);
  const std::string text = fmt::format(
      "{{'metadata':{{'name':'j{0}','namespace':'ns','creationTimestamp':'{1}',"
      "'labels':{{'kueue.x-k8s.io/queue-name':'q{2}','kueue.x-k8s.io/priority-class':'{3}'}},'annotations':{{{4}}}}},"
      "'spec':{{'suspend':true,'parallelism':{5},'completions':{6},'completionMode':'Indexed','template':"
      "{{'metadata':{{'annotations':{{{7}}}}},'spec':{{'restartPolicy':'Never'{9},'containers':[{{'name':'c',"
      "'resources':{{'limits':{{'nvidia.com/gpu':'{8}'}},'requests':{{'nvidia.com/gpu':'{8}'}}}}}}]}}}}}}}}",
      number, rfc3339(now_), pick(static_cast<int>(setup_.queues.size())), classes[static_cast<std::size_t>(pick(3))],
      minimum, parallelism, completions, annotations, 1 + pick(chance(80) ? 3 : 4), toleration());
  note("submit " + text);
  server_.put("batch", "v1", "Job", quoted(text));
}

std::string World::toleration() {
  return ways_.taints && odd_chance(25) ? fmt::format(",'tolerations':[{{'key':'{}','operator':'Exists'}}]", kTaint)
                                        : std::string();
}

// Annotations of a template: slices that need not divide the whole, also inside a required domain; layers; both kinds
// of levels at once; other ways to fill domains.
std::string World::odd_request(int count, bool in_a_set) {
  const auto depth = static_cast<int>(levels_.size());
  const int upper = odd_pick(depth);
  const int lower = upper + odd_pick(depth - upper);
  const std::string& outer = levels_[static_cast<std::size_t>(upper)];
  const std::string& inner = levels_[static_cast<std::size_t>(lower)];
  const std::string required = fmt::format("'kueue.x-k8s.io/podset-required-topology':'{}'", outer);
  const std::string slices =
      fmt::format("'kueue.x-k8s.io/podset-slice-required-topology':'{}','kueue.x-k8s.io/podset-slice-size':'{}'", inner,
                  1 + odd_pick(count));
  switch (odd_pick(in_a_set ? 6 : 7)) {
    case 0:
      return slices;
    case 1:
      return required + "," + slices;
    case 2:
      return fmt::format("'kueue.x-k8s.io/podset-preferred-topology':'{}',{}", outer, slices);
    case 3:
      return required + fmt::format(",'kueue.x-k8s.io/podset-preferred-topology':'{}'", inner);
    case 4:
      return layers();
    case 5:
      return required + fmt::format(",'gantree.dev/placement':'{}'", odd_chance(50) ? "spread" : "balanced");
    default:
      return "'gantree.dev/placement':'spread'";
  }
}

// One layer below the other, as far as there are levels.
std::string World::layers() {
  int size = 1 + odd_pick(2);
  std::string list;
  for (auto level = levels_.rbegin(); level != levels_.rend() && size <= 6; ++level) {
    list = fmt::format("{{\\'topology\\':\\'{}\\',\\'size\\':{}}}{}{}", *level, size, list.empty() ? "" : ",", list);
    size *= 1 + odd_pick(3);
    if (odd_chance(30)) {
      break;
    }
  }
  return fmt::format("'kueue.x-k8s.io/podset-slice-required-topology-constraints':'[{}]'", list);
}

// Two or three pod sets: together in one domain, each for itself, or anywhere.
void World::submit_job_set() {
  if (all_jobs().size() > (ways_.many_queues ? 24U : 10U)) {
    return;
  }
  const int kind = odd_pick(4);
  const std::string& level = levels_[static_cast<std::size_t>(odd_pick(static_cast<int>(levels_.size())))];
  std::string parts;
  const int sets = 2 + odd_pick(2);
  for (int p = 0; p < sets; ++p) {
    const int replicas = 1 + odd_pick(2);
    const int parallelism = 1 + odd_pick(3);
    std::string annotations;
    if (kind == 0) {
      annotations = fmt::format(
          "'kueue.x-k8s.io/podset-group-name':'together','kueue.x-k8s.io/podset-required-topology':'{}'", level);
    } else if (kind == 1) {
      annotations = fmt::format(
          "'kueue.x-k8s.io/podset-group-name':'together','kueue.x-k8s.io/podset-preferred-topology':'{}'", level);
    } else if (kind == 2) {
      annotations = odd_request(replicas * parallelism, true);
    }
    parts += fmt::format(
        "{}{{'name':'p{}','replicas':{},'template':{{'spec':{{'parallelism':{},'completions':{},'completionMode':"
        "'Indexed','template':{{'metadata':{{'annotations':{{{}}}}},'spec':{{'restartPolicy':'Never'{},'containers':"
        "[{{'name':'c','resources':{{'limits':{{'nvidia.com/gpu':'{}'}},'requests':{{'nvidia.com/gpu':'{}'}}}}}}]"
        "}}}}}}}}}}",
        parts.empty() ? "" : ",", p, replicas, parallelism, parallelism, annotations, toleration(), 1 + p, 1 + p);
  }
  const std::vector<std::string> classes = {"low", "mid", "high"};
  const std::string text = fmt::format(
      "{{'metadata':{{'name':'s{}','namespace':'ns','creationTimestamp':'{}','labels':{{'kueue.x-k8s.io/queue-name':"
      "'q{}','kueue.x-k8s.io/priority-class':'{}'}}}},'spec':{{'suspend':true,'replicatedJobs':[{}]}}}}",
      jobs_made_++, rfc3339(now_), odd_pick(static_cast<int>(setup_.queues.size())),
      classes[static_cast<std::size_t>(odd_pick(3))], parts);
  note("submit " + text);
  server_.put("jobset.x-k8s.io", "v1alpha2", "JobSet", quoted(text));
}

}  // namespace gantree::test
