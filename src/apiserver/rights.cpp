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

void Rights::changed(std::string_view table, std::string_view ns) {
  if (table == kClusterRoles) {
    // Any namespace may bind them.
    bindings_.clear();
  } else if (table == kEverywhere || table == kInNamespaces || table == kRoles) {
    if (const auto at = bindings_.find(table == kEverywhere ? std::string_view() : ns); at != bindings_.end()) {
      bindings_.erase(at);
    }
  }
}

Rights::Bindings Rights::read_bindings(const std::string& ns) const {
  Bindings bindings;
  const std::string_view name = ns.empty() ? kEverywhere : kInNamespaces;
  const Table* table = core_.store.find_table(name);
  if (table == nullptr) {
    return bindings;
  }
  std::map<std::pair<bool, std::string>, Rules> roles;
  const auto rules_of = [&](const Value& reference) {
    const bool of_cluster = text_at(reference, {"kind"}) == "ClusterRole";
    const std::string role(text_at(reference, {"name"}));
    Rules& rules = roles[{of_cluster, role}];
    if (rules == nullptr) {
      const auto object = core_.read(of_cluster ? kClusterRoles : kRoles, {of_cluster ? std::string() : ns, role});
      rules = std::make_shared<const std::vector<RightsRule>>(object ? read_rules(*object) : std::vector<RightsRule>());
    }
    return rules;
  };
  for (auto at = table->entries.lower_bound({ns, ""}); at != table->entries.end() && at->first.ns == ns; ++at) {
    const auto object = core_.read(name, at->first);
    const Value* reference = object ? find(*object, {"roleRef"}) : nullptr;
    const Array* subjects = object ? array_at(*object, {"subjects"}) : nullptr;
    if (reference == nullptr || subjects == nullptr) {
      continue;
    }
    Binding binding{{}, {}, rules_of(*reference)};
    for (const Value& subject : *subjects) {
      const std::string_view kind = text_at(subject, {"kind"});
      std::string who(text_at(subject, {"name"}));
      if (kind == "ServiceAccount") {
        who = fmt::format("system:serviceaccount:{}:{}", text_at(subject, {"namespace"}), who);
      }
      (kind == "Group" ? binding.groups : binding.users).insert(std::move(who));
    }
    bindings.push_back(std::move(binding));
  }
  return bindings;
}

const Rights::Bindings& Rights::bindings(std::string_view ns) {
  static const Bindings kNone;
  const auto known = bindings_.find(ns);
  if (known != bindings_.end()) {
    return known->second;
  }
  Bindings read = read_bindings(std::string(ns));
  // Whoever asks for namespaces that there are not leaves nothing behind.
  return read.empty() ? kNone : bindings_.emplace(std::string(ns), std::move(read)).first->second;
}

bool Rights::Binding::concerns(const Subject& subject) const {
  return users.contains(subject.user) || std::any_of(subject.groups.begin(), subject.groups.end(),
                                                     [&](const std::string& group) { return groups.contains(group); });
}

bool Rights::any_binding(const Subject& subject, std::string_view ns,
                         const std::function<bool(const Binding&)>& visit) {
  const auto visits = [&](const Binding& binding) { return binding.concerns(subject) && visit(binding); };
  const Bindings& everywhere = bindings("");
  if (std::any_of(everywhere.begin(), everywhere.end(), visits)) {
    return true;
  }
  if (ns.empty()) {
    return false;
  }
  const Bindings& there = bindings(ns);
  return std::any_of(there.begin(), there.end(), visits);
}

bool Rights::allows(const Subject& subject, const Deed& deed) {
  if (has(subject.groups, kMasters) || is_open(deed)) {
    return true;
  }
  return any_binding(subject, deed.ns, [&](const Binding& binding) {
    return std::any_of(binding.rules->begin(), binding.rules->end(),
                       [&](const RightsRule& rule) { return grants(rule, deed); });
  });
}

std::vector<RightsRule> Rights::granted(const Subject& subject, std::string_view ns) {
  if (has(subject.groups, kMasters)) {
    return {everything()};
  }
  std::vector<RightsRule> rules;
  (void)any_binding(subject, ns, [&](const Binding& binding) {
    rules.insert(rules.end(), binding.rules->begin(), binding.rules->end());
    return false;
  });
  return rules;
}

}  // namespace gantree::apiserver
