#include "apiserver/roles.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/core.h"
#include "apiserver/rights.h"
#include "apiserver/yaml.h"
#include "base/check.h"

namespace gantree::apiserver {

namespace {

constexpr std::string_view kGroup = "rbac.authorization.k8s.io";

// Read once: a process may have several servers one after the other.
const std::vector<Object>& builtin_roles() {
  static const std::vector<Object> kBuiltin = [] {
    const auto lists = read_yaml_documents(builtin_role_text());
    GANTREE_CHECK(lists);  // part of the program
    std::vector<Object> roles;
    for (const Value& list : *lists) {
      for (const Value& role : *array_at(list, {"items"})) {
        roles.push_back(role.get_object());
      }
    }
    return roles;
  }();
  return kBuiltin;
}

const Array* selectors_of(const Object& role) {
  return array_at(role, {"aggregationRule", "clusterRoleSelectors"});
}

// What a role grants by those that its selectors take, in the order of selectors and names. What these gather
// themselves is followed down to the roles that say their rules, so that no round of roles gathers from itself.
class Gathering {
 public:
  explicit Gathering(const std::vector<Object>& roles) : roles_(roles) {}

  void add(const Object& role) {
    if (!seen_.insert(&role).second) {
      return;
    }
    const Array* selectors = selectors_of(role);
    if (selectors == nullptr) {
      add_rules(role);
      return;
    }
    for (const Value& text : *selectors) {
      const auto selector = LabelSelector::from_object(&text);
      for (const Object& other : roles_) {
        if (selector && selector->matches(pairs_of(object_at(other, {"metadata", "labels"})))) {
          add(other);
        }
      }
    }
  }
  [[nodiscard]] const Array& rules() const { return rules_; }

 private:
  void add_rules(const Object& role) {
    const Array* given = array_at(role, {"rules"});
    for (std::size_t i = 0; given != nullptr && i < given->size(); ++i) {
      const auto is_same = [&](const Value& known) { return same(known, (*given)[i]); };
      if (std::none_of(rules_.begin(), rules_.end(), is_same)) {
        rules_.push_back((*given)[i]);
      }
    }
  }

  const std::vector<Object>& roles_;
  std::set<const Object*> seen_;
  Array rules_;
};

}  // namespace

void Roles::begin() {
  for (const Object& role : builtin_roles()) {
    const KindPtr kind = core_.registry.find_kind(kGroup, "v1", text_at(role, {"kind"}));
    const Key key{std::string(text_at(role, {"metadata", "namespace"})),
                  std::string(text_at(role, {"metadata", "name"}))};
    if (kind == nullptr || core_.store.find(kind->table, key) != nullptr) {
      continue;
    }
    Object object = role;
    if (const Value* rules = object.if_contains("rules"); rules != nullptr && rules->is_null()) {
      object.stable_erase("rules");
    }
    Object& metadata = object_in(object, "metadata");
    metadata["uid"] = core_.random.uid();
    metadata["creationTimestamp"] = core_.now();
    core_.put(*kind, std::move(object));
  }
}

void Roles::changed(std::string_view table) {
  if (table == kClusterRoles && !std::exchange(scheduled_, true)) {
    core_.soon([this] {
      scheduled_ = false;
      gather();
    });
  }
}

void Roles::gather() {
  const Table* table = core_.store.find_table(kClusterRoles);
  std::vector<Object> roles;
  for (const auto& [key, entry] : table->entries) {
    if (auto role = core_.read(kClusterRoles, key)) {
      roles.push_back(std::move(*role));
    }
  }
  for (const Object& role : roles) {
    if (selectors_of(role) == nullptr) {
      continue;
    }
    Gathering gathering(roles);
    gathering.add(role);
    const Value rules = gathering.rules();
    core_.edit(kClusterRoles, {"", std::string(text_at(role, {"metadata", "name"}))}, [&](Object& object) {
      const Value* known = object.if_contains("rules");
      if (known != nullptr && same(*known, rules)) {
        return false;
      }
      object["rules"] = rules;
      return true;
    });
  }
}

}  // namespace gantree::apiserver
