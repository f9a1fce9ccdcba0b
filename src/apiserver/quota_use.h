// What an object takes of the quotas of its namespace. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/json.h"
#include "apiserver/pod_amounts.h"

namespace gantree::apiserver {

// By the names that quotas have for them: "pods", "requests.cpu", "count/jobs.batch".
using QuotaAmounts = AmountsByName;

// What a pod is, for quotas that are of some pods only.
struct QuotaScopes {
  bool pod = false;
  bool terminating = false;  // has a deadline
  bool best_effort = false;
  bool across_namespaces = false;  // by its affinity
  std::string priority_class;
};

struct QuotaUse {
  QuotaAmounts amounts;
  QuotaScopes scopes;
};

// Whether more than being there is counted of such objects.
[[nodiscard]] bool is_measured(std::string_view table);
// `object` is looked at where is_measured() only, and may be empty elsewhere.
[[nodiscard]] QuotaUse quota_use(std::string_view table, const Object& object);

// Whether a ResourceQuota (its spec) is of such objects.
[[nodiscard]] bool quota_covers(const Object& spec, const QuotaScopes& scopes);

// Of a pod: what its containers must say of cpu and memory for the quota to count them, and one does not.
[[nodiscard]] std::vector<std::string> left_unsaid(const QuotaAmounts& hard, const Object& pod);

}  // namespace gantree::apiserver
