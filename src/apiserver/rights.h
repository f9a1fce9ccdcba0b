// Who may do what: the roles and bindings that are stored, as RBAC reads them. Api thread only.
//
// A role that grants others by labels (aggregationRule) grants what its own rules say: roles.h keeps those.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "apiserver/json.h"

namespace gantree::apiserver {

inline constexpr std::string_view kClusterRoles = "clusterroles.rbac.authorization.k8s.io";

class Core;
struct Call;
struct Request;

// Somebody, as tokens and reviews name them.
struct Subject {
  std::string user;
  std::vector<std::string> groups;
};
// The user of a token, with the groups that come with it.
[[nodiscard]] Subject subject_of(std::string_view user);
// Who asks: somebody in whose name it is done, or the user.
[[nodiscard]] Subject subject_of(const Call& call);

// What somebody wants to do: to a resource, or at a path that leads to none.
struct Deed {
  std::string verb;
  std::string group = {};
  std::string resource = {};  // "pods/binding"; "" of a path
  std::string ns = {};
  std::string name = {};
  std::string path = {};
};
[[nodiscard]] Deed deed_of(const Request& request);
// "list pods in namespace a"
[[nodiscard]] std::string in_words(const Deed& deed);

// What a role grants.
struct RightsRule {
  std::vector<std::string> verbs, groups, resources, names, paths;
};

class Rights {
 public:
  explicit Rights(const Core& core) : core_(core) {}

  [[nodiscard]] bool allows(const Subject& subject, const Deed& deed);
  // All that is granted to somebody in a namespace, or everywhere.
  [[nodiscard]] std::vector<RightsRule> granted(const Subject& subject, std::string_view ns);
  // `ns` is that of what changed.
  void changed(std::string_view table, std::string_view ns);

 private:
  // Of a role; shared by all that bind it, since there may be thousands and it may be large.
  using Rules = std::shared_ptr<const std::vector<RightsRule>>;
  struct Binding {
    std::unordered_set<std::string> users;  // "system:serviceaccount:NS:NAME" of service accounts
    std::unordered_set<std::string> groups;
    Rules rules;

    [[nodiscard]] bool concerns(const Subject& subject) const;
  };
  using Bindings = std::vector<Binding>;
  // Those of a namespace, "" for those of the whole cluster. Read when they are asked for, so that who may write them
  // in one namespace costs nobody else anything.
  [[nodiscard]] const Bindings& bindings(std::string_view ns);
  [[nodiscard]] Bindings read_bindings(const std::string& ns) const;
  // Calls for each binding that counts there, until one call gives true: then that is the answer.
  [[nodiscard]] bool any_binding(const Subject& subject, std::string_view ns,
                                 const std::function<bool(const Binding&)>& visit);

  const Core& core_;
  std::map<std::string, Bindings, std::less<>> bindings_;
};

}  // namespace gantree::apiserver
