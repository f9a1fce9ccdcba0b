#include "apiserver/rights.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "apiserver/core.h"
#include "apiserver/request.h"
#include "apiserver/selector.h"
#include "apiserver/token.h"

namespace gantree::apiserver {

namespace {

constexpr std::string_view kEverywhere = "clusterrolebindings.rbac.authorization.k8s.io";
constexpr std::string_view kInNamespaces = "rolebindings.rbac.authorization.k8s.io";
constexpr std::string_view kClusterRoles = "clusterroles.rbac.authorization.k8s.io";
constexpr std::string_view kRoles = "roles.rbac.authorization.k8s.io";
constexpr std::string_view kMasters = "system:masters";
// What everybody may read who is known: which kinds there are, and how the server is.
constexpr auto kOpenPaths =
    std::to_array<std::string_view>({"/api", "/apis", "/openapi", "/version", "/healthz", "/livez", "/readyz"});

std::vector<std::string> texts(const Value& value, std::string_view key) {
  std::vector<std::string> all;
  if (const Array* array = array_at(value, {key})) {
    for (const Value& item : *array) {
      all.emplace_back(text_of(item));
    }
  }
  return all;
}

bool has(const std::vector<std::string>& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

bool has_or_all(const std::vector<std::string>& list, std::string_view text) {
  return has(list, "*") || has(list, text);
}

// Resources are named as they are, as "*", or a part of every one as "*/status".
bool has_resource(const std::vector<std::string>& list, std::string_view resource) {
  const std::size_t slash = resource.find('/');
  return has_or_all(list, resource) ||
         (slash != std::string_view::npos && has(list, "*" + std::string(resource.substr(slash))));
}

bool has_path(const std::vector<std::string>& list, std::string_view path) {
  return std::any_of(list.begin(), list.end(), [&](const std::string& one) {
    return one.ends_with('*') ? path.starts_with(std::string_view(one).substr(0, one.size() - 1)) : one == path;
  });
}

// What needs no role.
bool is_open(const Deed& deed) {
  if (deed.resource.empty()) {
    const auto leads_there = [&](std::string_view open) {
      return deed.path == open || (deed.path.starts_with(open) && deed.path[open.size()] == '/');
    };
    return (deed.verb == "get" || deed.verb == "head") &&
           std::any_of(kOpenPaths.begin(), kOpenPaths.end(), leads_there);
  }
  return deed.verb == "create" && (deed.resource == "selfsubjectaccessreviews" ||
                                   deed.resource == "selfsubjectrulesreviews" || deed.resource == "selfsubjectreviews");
}

RightsRule everything() {
  return {{"*"}, {"*"}, {"*"}, {}, {"*"}};
}

std::vector<RightsRule> read_rules(const Object& role) {
  std::vector<RightsRule> rules;
  if (const Array* list = array_at(role, {"rules"})) {
    for (const Value& rule : *list) {
      rules.push_back({texts(rule, "verbs"), texts(rule, "apiGroups"), texts(rule, "resources"),
                       texts(rule, "resourceNames"), texts(rule, "nonResourceURLs")});
    }
  }
  return rules;
}

bool grants(const RightsRule& rule, const Deed& deed) {
  if (!has_or_all(rule.verbs, deed.verb)) {
    return false;
  }
  if (deed.resource.empty()) {
    return has_path(rule.paths, deed.path);
  }
  return has_or_all(rule.groups, deed.group) && has_resource(rule.resources, deed.resource) &&
         (rule.names.empty() || has(rule.names, deed.name));
}

std::string verb_of(const Request& request) {
  const std::string& method = request.call.method;
  const bool one = !request.name.empty();
  if (method == "GET" || method == "HEAD") {
    return request.is_watch() ? "watch" : one ? "get" : "list";
  }
  if (method == "DELETE") {
    return one ? "delete" : "deletecollection";
  }
  return method == "POST" ? "create" : method == "PUT" ? "update" : "patch";
}

// The one object that it is about. A list, a watch or the deletion of a collection may be of one, too.
std::string name_of(const Request& request, std::string_view verb) {
  if (!request.name.empty() || (verb != "list" && verb != "watch" && verb != "deletecollection")) {
    return request.name;
  }
  const auto fields = FieldSelector::parse(request.query.get("fieldSelector"));
  const std::string* name = fields ? fields->exact("metadata.name") : nullptr;
  return name == nullptr ? std::string() : *name;
}

}  // namespace

Subject subject_of(std::string_view user) {
  Subject subject{std::string(user), {}};
  for (const Value& group : groups_of(user)) {
    subject.groups.emplace_back(text_of(group));
  }
  return subject;
}

Subject subject_of(const Call& call) {
  return call.as == nullptr ? subject_of(call.user) : Subject{call.as->user, call.as->groups};
}

Deed deed_of(const Request& request) {
  if (request.kind == nullptr) {
    std::string verb = request.call.method;
    std::transform(verb.begin(), verb.end(), verb.begin(),
                   [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
    return {.verb = std::move(verb), .path = request.call.path};
  }
  std::string resource = request.kind->resource;
  if (!request.subresource.empty()) {
    resource += "/" + request.subresource;
  }
  std::string verb = verb_of(request);
  std::string name = name_of(request, verb);
  return {.verb = std::move(verb),
          .group = request.kind->group,
          .resource = std::move(resource),
          .ns = request.ns,
          .name = std::move(name)};
}

std::string in_words(const Deed& deed) {
  if (deed.resource.empty()) {
    return fmt::format("{} {}", deed.verb, deed.path);
  }
  const std::string group = deed.group.empty() ? std::string() : fmt::format(" of {}", deed.group);
  return fmt::format("{} {}{} {}", deed.verb, deed.resource, group,
                     deed.ns.empty() ? std::string("in the whole cluster") : fmt::format("in namespace {}", deed.ns));
}

void Rights::changed(std::string_view table) {
  if (table == kEverywhere || table == kInNamespaces || table == kClusterRoles || table == kRoles) {
    bindings_.reset();
  }
}

std::vector<RightsRule> Rights::rules_of(const Value& reference, const std::string& ns) const {
  const bool of_cluster = text_at(reference, {"kind"}) == "ClusterRole";
  const std::string name(text_at(reference, {"name"}));
  if (const auto role = core_.read(of_cluster ? kClusterRoles : kRoles, {of_cluster ? std::string() : ns, name})) {
    return read_rules(*role);
  }
  return {};
}

void Rights::read_bindings(std::string_view name) {
  const Table* table = core_.store.find_table(name);
  if (table == nullptr) {
    return;
  }
  for (const auto& [key, entry] : table->entries) {
    const auto object = core_.read(name, key);
    const Value* reference = object ? find(*object, {"roleRef"}) : nullptr;
    const Array* subjects = object ? array_at(*object, {"subjects"}) : nullptr;
    if (reference == nullptr || subjects == nullptr) {
      continue;
    }
    Binding binding{key.ns, {}, {}, rules_of(*reference, key.ns)};
    for (const Value& subject : *subjects) {
      const std::string_view kind = text_at(subject, {"kind"});
      std::string who(text_at(subject, {"name"}));
      if (kind == "ServiceAccount") {
        who = fmt::format("system:serviceaccount:{}:{}", text_at(subject, {"namespace"}), who);
      }
      (kind == "Group" ? binding.groups : binding.users).push_back(std::move(who));
    }
    bindings_->push_back(std::move(binding));
  }
}

const std::vector<Rights::Binding>& Rights::bindings() {
  if (!bindings_) {
    bindings_.emplace();
    read_bindings(kEverywhere);
    read_bindings(kInNamespaces);
  }
  return *bindings_;
}

bool Rights::Binding::concerns(const Subject& subject, std::string_view in) const {
  return (ns.empty() || ns == in) &&
         (has(users, subject.user) || std::any_of(groups.begin(), groups.end(), [&](const std::string& group) {
            return has(subject.groups, group);
          }));
}

bool Rights::allows(const Subject& subject, const Deed& deed) {
  if (has(subject.groups, kMasters) || is_open(deed)) {
    return true;
  }
  const std::vector<Binding>& all = bindings();
  return std::any_of(all.begin(), all.end(), [&](const Binding& binding) {
    return binding.concerns(subject, deed.ns) &&
           std::any_of(binding.rules.begin(), binding.rules.end(),
                       [&](const RightsRule& rule) { return grants(rule, deed); });
  });
}

std::vector<RightsRule> Rights::granted(const Subject& subject, std::string_view ns) {
  if (has(subject.groups, kMasters)) {
    return {everything()};
  }
  std::vector<RightsRule> rules;
  for (const Binding& binding : bindings()) {
    if (binding.concerns(subject, ns)) {
      rules.insert(rules.end(), binding.rules.begin(), binding.rules.end());
    }
  }
  return rules;
}

}  // namespace gantree::apiserver
