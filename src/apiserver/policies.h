// ValidatingAdmissionPolicies and their bindings, as they are now. Api thread only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/hook.h"

namespace gantree::apiserver {

class Core;

// A policy with one of its bindings.
struct BoundPolicy {
  struct Rule {
    std::string text, message, reason;
    std::shared_ptr<const CelProgram> condition;
    std::shared_ptr<const CelProgram> says;  // messageExpression; may be nullptr
  };
  struct Parameters {
    std::string api_version, kind, name, ns;
    std::optional<LabelSelector> selector;  // where they are not named
    bool may_be_missing = false;
  };
  std::string policy;
  std::string binding;
  Hook asked;  // by the policy: matchConstraints, matchConditions, failurePolicy
  Hook bound;  // by the binding: matchResources
  std::vector<std::pair<std::string, std::shared_ptr<const CelProgram>>> variables;
  std::vector<Rule> rules;
  std::optional<Parameters> parameters;
  bool denies = false;
  bool warns = false;
};

class Policies {
 public:
  explicit Policies(Core& core) : core_(core) {}

  // By the names of policy and binding.
  [[nodiscard]] const std::vector<std::shared_ptr<const BoundPolicy>>& all();
  void changed(std::string_view table);

 private:
  Core& core_;
  std::optional<std::vector<std::shared_ptr<const BoundPolicy>>> all_;
};

}  // namespace gantree::apiserver
