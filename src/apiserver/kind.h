// The kinds that are served, built in or defined at run time. Values; api thread only.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/status.h"

namespace gantree::apiserver {

struct Definition;  // what a CustomResourceDefinition says
struct Schema;
class BuiltinSchemas;

// Where a scale subresource finds its numbers, as in ".spec.replicas".
struct ScalePaths {
  std::string spec_replicas = ".spec.replicas";
  std::string status_replicas = ".status.replicas";
  std::string selector;  // "": none
};

// One version of a kind.
struct Kind {
  std::string group;
  std::string version;
  std::string resource;  // plural
  std::string singular;
  std::string kind;
  std::string list_kind;
  bool namespaced = true;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  std::vector<std::string> subresources;  // names
  std::vector<std::string> selectable;    // fields that a definition lets be selected by, as "status.phase"
  std::string deprecation;                // what who uses this version is warned of; "" where it is not deprecated
  std::string verbs;                      // "create,get", as discovery lists them
  std::optional<ScalePaths> scale;
  bool generation = false;                       // counted in metadata
  bool stored = true;                            // false: a question that is answered at once, as SubjectAccessReview
  bool returns_deleted = false;                  // DELETE answers with the object
  bool orphans_by_default = false;               // DELETE without a word leaves the dependents
  std::string table;                             // where its objects are; the same for all versions
  std::shared_ptr<const Definition> definition;  // null where it is built in
  const Schema* schema = nullptr;                // null where nothing is known

  [[nodiscard]] GroupResource what() const { return {group, resource}; }
  [[nodiscard]] std::string api_version() const { return group.empty() ? version : group + "/" + version; }
  [[nodiscard]] bool has(std::string_view subresource) const;
  [[nodiscard]] bool can(std::string_view verb) const;
  [[nodiscard]] bool custom() const { return definition != nullptr; }
};
using KindPtr = std::shared_ptr<const Kind>;

class Registry {
 public:
  // With all that is built in. The schemas must outlive it.
  explicit Registry(const BuiltinSchemas& schemas);

  [[nodiscard]] KindPtr find(std::string_view group, std::string_view version, std::string_view resource) const;
  [[nodiscard]] KindPtr find_kind(std::string_view group, std::string_view version, std::string_view kind) const;
  // The kind that all versions of a table are stored as; null where nothing is served from it.
  [[nodiscard]] KindPtr stored_kind(std::string_view table) const;
  // Any version of the kind.
  [[nodiscard]] KindPtr any_version(std::string_view group, std::string_view kind) const;

  struct GroupVersion {
    std::string group;
    std::string version;
    friend auto operator<=>(const GroupVersion&, const GroupVersion&) = default;
  };
  // In the order in which discovery shows them: core first, and each group's preferred version first.
  [[nodiscard]] std::vector<GroupVersion> group_versions() const;
  [[nodiscard]] std::vector<KindPtr> kinds_of(const GroupVersion& version) const;
  [[nodiscard]] const std::vector<KindPtr>& all() const { return kinds_; }

  // Takes the place of what that table was served as, preferred version first. None: no longer served.
  void replace(std::string_view table, std::vector<KindPtr> kinds, KindPtr stored);

  // Counts the changes, for whoever keeps something made of it.
  [[nodiscard]] std::uint64_t edition() const { return edition_; }

 private:
  void index();

  std::vector<KindPtr> kinds_;
  std::map<std::string, KindPtr, std::less<>> by_resource_;  // "group/version/resource"
  std::map<std::string, KindPtr, std::less<>> by_kind_;      // "group/version/kind"
  std::map<std::string, KindPtr, std::less<>> stored_;
  std::uint64_t edition_ = 0;
};

}  // namespace gantree::apiserver
