#include "apiserver/kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "apiserver/builtin.h"

namespace gantree::apiserver {

namespace {

// Whose metadata.generation counts changes of what is wanted.
const std::set<std::string, std::less<>> kCountsGenerations = {
    "pods",
    "podtemplates",
    "replicationcontrollers",
    "daemonsets.apps",
    "deployments.apps",
    "replicasets.apps",
    "statefulsets.apps",
    "cronjobs.batch",
    "jobs.batch",
    "poddisruptionbudgets.policy",
    "priorityclasses.scheduling.k8s.io",
    "mutatingwebhookconfigurations.admissionregistration.k8s.io",
    "validatingwebhookconfigurations.admissionregistration.k8s.io",
    "validatingadmissionpolicies.admissionregistration.k8s.io",
    "validatingadmissionpolicybindings.admissionregistration.k8s.io",
    "customresourcedefinitions.apiextensions.k8s.io",
    "ingresses.networking.k8s.io",
    "ingressclasses.networking.k8s.io",
    "networkpolicies.networking.k8s.io",
    "endpointslices.discovery.k8s.io",
    "deviceclasses.resource.k8s.io",
    "resourceslices.resource.k8s.io"};

const std::set<std::string, std::less<>> kReturnsDeleted = {
    "pods",     "podtemplates",    "persistentvolumes", "persistentvolumeclaims",
    "services", "serviceaccounts", "resourcequotas",    "storageclasses.storage.k8s.io"};

// As they always did, for clients that say nothing.
const std::set<std::string, std::less<>> kOrphansByDefault = {"jobs.batch", "replicationcontrollers"};

std::vector<std::string> words(std::string_view list) {
  std::vector<std::string> result;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    result.emplace_back(list.substr(0, comma));
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  }
  return result;
}

KindPtr built_in(const BuiltinKind& row, const BuiltinSchemas& schemas) {
  auto kind = std::make_shared<Kind>();
  kind->group = row.group;
  kind->version = row.version;
  kind->resource = row.plural;
  kind->singular = row.singular();
  kind->kind = row.kind;
  kind->list_kind = fmt::format("{}List", row.kind);
  kind->namespaced = row.namespaced;
  kind->short_names = words(row.short_names);
  kind->categories = words(row.categories);
  kind->subresources = words(row.subresources);
  kind->verbs = row.verbs();
  kind->stored = kind->verbs.find("get") != std::string::npos;
  // Two views of one thing.
  kind->table = row.plural == "events" ? "events" : kind->what().text();
  kind->generation = kCountsGenerations.contains(kind->table);
  kind->returns_deleted = kReturnsDeleted.contains(kind->table);
  kind->orphans_by_default = kOrphansByDefault.contains(kind->table);
  kind->schema = schemas.find(row.group, row.version, row.kind);
  if (kind->has("scale")) {
    kind->scale = ScalePaths{};
    kind->scale->selector = ".spec.selector";
  }
  return kind;
}

// Questions about who may do what: answered, never stored.
KindPtr question(std::string_view group, std::string_view name, std::string_view resource, bool namespaced) {
  auto kind = std::make_shared<Kind>();
  kind->group = group;
  kind->version = "v1";
  kind->resource = resource;
  kind->singular = resource.substr(0, resource.size() - 1);
  kind->kind = name;
  kind->list_kind = fmt::format("{}List", name);
  kind->namespaced = namespaced;
  kind->verbs = "create";
  kind->stored = false;
  kind->table = kind->what().text();
  return kind;
}

std::string joined(std::string_view a, std::string_view b, std::string_view c) {
  return fmt::format("{}/{}/{}", a, b, c);
}

KindPtr look_up(const std::map<std::string, KindPtr, std::less<>>& in, const std::string& key) {
  const auto it = in.find(key);
  return it == in.end() ? nullptr : it->second;
}

}  // namespace

bool Kind::can(std::string_view verb) const {
  const std::vector<std::string> all = words(verbs);
  return std::find(all.begin(), all.end(), verb) != all.end();
}

bool Kind::has(std::string_view subresource) const {
  return std::find(subresources.begin(), subresources.end(), subresource) != subresources.end();
}

Registry::Registry(const BuiltinSchemas& schemas) {
  for (const BuiltinKind& row : builtin_kinds()) {
    KindPtr kind = built_in(row, schemas);
    if (kind->stored && !stored_.contains(kind->table)) {
      stored_[kind->table] = kind;
    }
    kinds_.push_back(std::move(kind));
  }
  static constexpr std::string_view kAccess = "authorization.k8s.io";
  static constexpr std::string_view kIdentity = "authentication.k8s.io";
  kinds_.push_back(question(kIdentity, "SelfSubjectReview", "selfsubjectreviews", false));
  kinds_.push_back(question(kIdentity, "TokenReview", "tokenreviews", false));
  kinds_.push_back(question(kAccess, "LocalSubjectAccessReview", "localsubjectaccessreviews", true));
  kinds_.push_back(question(kAccess, "SelfSubjectAccessReview", "selfsubjectaccessreviews", false));
  kinds_.push_back(question(kAccess, "SelfSubjectRulesReview", "selfsubjectrulesreviews", false));
  kinds_.push_back(question(kAccess, "SubjectAccessReview", "subjectaccessreviews", false));
  index();
}

void Registry::index() {
  by_resource_.clear();
  by_kind_.clear();
  for (const KindPtr& kind : kinds_) {
    by_resource_[joined(kind->group, kind->version, kind->resource)] = kind;
    by_kind_[joined(kind->group, kind->version, kind->kind)] = kind;
  }
  ++edition_;
}

KindPtr Registry::find(std::string_view group, std::string_view version, std::string_view resource) const {
  return look_up(by_resource_, joined(group, version, resource));
}

KindPtr Registry::find_kind(std::string_view group, std::string_view version, std::string_view kind) const {
  return look_up(by_kind_, joined(group, version, kind));
}

KindPtr Registry::stored_kind(std::string_view table) const {
  const auto it = stored_.find(table);
  return it == stored_.end() ? nullptr : it->second;
}

KindPtr Registry::any_version(std::string_view group, std::string_view kind) const {
  const auto it = std::find_if(kinds_.begin(), kinds_.end(), [&](const KindPtr& candidate) {
    return candidate->group == group && candidate->kind == kind;
  });
  return it == kinds_.end() ? nullptr : *it;
}

std::vector<Registry::GroupVersion> Registry::group_versions() const {
  std::vector<GroupVersion> result;
  for (const KindPtr& kind : kinds_) {
    GroupVersion version{kind->group, kind->version};
    if (std::find(result.begin(), result.end(), version) == result.end()) {
      result.push_back(std::move(version));
    }
  }
  // Versions of one group stand together, where the group came first.
  std::vector<GroupVersion> ordered;
  for (const GroupVersion& version : result) {
    const auto last = std::find_if(ordered.rbegin(), ordered.rend(),
                                   [&](const GroupVersion& other) { return other.group == version.group; });
    ordered.insert(last == ordered.rend() ? ordered.end() : last.base(), version);
  }
  return ordered;
}

std::vector<KindPtr> Registry::kinds_of(const GroupVersion& version) const {
  std::vector<KindPtr> result;
  std::copy_if(kinds_.begin(), kinds_.end(), std::back_inserter(result),
               [&](const KindPtr& kind) { return kind->group == version.group && kind->version == version.version; });
  return result;
}

void Registry::replace(std::string_view table, std::vector<KindPtr> kinds, KindPtr stored) {
  std::erase_if(kinds_, [&](const KindPtr& kind) { return kind->table == table; });
  kinds_.insert(kinds_.end(), std::make_move_iterator(kinds.begin()), std::make_move_iterator(kinds.end()));
  if (stored != nullptr) {
    stored_.insert_or_assign(std::string(table), std::move(stored));
  } else if (const auto it = stored_.find(table); it != stored_.end()) {
    stored_.erase(it);
  }
  index();
}

}  // namespace gantree::apiserver
