// Who may do what: the roles and bindings that are stored, as RBAC reads them. Api thread only.
//
// A role that grants others by labels (aggregationRule) grants what its own rules say: roles.h keeps those.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/json.h"

namespace gantree::apiserver {

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
  void changed(std::string_view table);

 private:
  struct Binding {
    std::string ns;                  // "": everywhere
    std::vector<std::string> users;  // "system:serviceaccount:NS:NAME" of service accounts
    std::vector<std::string> groups;
    std::vector<RightsRule> rules;

    [[nodiscard]] bool concerns(const Subject& subject, std::string_view in) const;
  };
  [[nodiscard]] const std::vector<Binding>& bindings();
  [[nodiscard]] std::vector<RightsRule> rules_of(const Value& reference, const std::string& ns) const;
  void read_bindings(std::string_view table);

  const Core& core_;
  std::optional<std::vector<Binding>> bindings_;
};

}  // namespace gantree::apiserver
