#include "apiserver/allowed.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace gantree::apiserver {

namespace {

constexpr std::string_view kGroup = "rbac.authorization.k8s.io";
// Rights that one role gives are looked at one by one.
constexpr std::size_t kMostRights = 10'000;

std::vector<std::string> texts(const Value& rule, std::string_view key) {
  std::vector<std::string> all;
  if (const Array* array = array_at(rule, {key})) {
    for (const Value& item : *array) {
      all.emplace_back(text_of(item));
    }
  }
  return all;
}

// What a rule lets do, each by itself. False where that is too much.
bool add_deeds(const Value& rule, const std::string& ns, std::vector<Deed>& deeds) {
  const auto groups = texts(rule, "apiGroups");
  const auto resources = texts(rule, "resources");
  const auto paths = texts(rule, "nonResourceURLs");
  auto names = texts(rule, "resourceNames");
  if (names.empty()) {
    names.emplace_back();
  }
  const auto verbs = texts(rule, "verbs");
  for (const std::size_t count : {groups.size(), resources.size(), names.size(), paths.size(), verbs.size()}) {
    if (count > kMostRights) {
      return false;
    }
  }
  if (verbs.size() * (groups.size() * resources.size() * names.size() + paths.size()) > kMostRights - deeds.size()) {
    return false;
  }
  for (const std::string& verb : verbs) {
    for (const std::string& path : paths) {
      deeds.push_back({.verb = verb, .path = path});
    }
    for (const std::string& group : groups) {
      for (const std::string& resource : resources) {
        for (const std::string& name : names) {
          deeds.push_back({.verb = verb, .group = group, .resource = resource, .ns = ns, .name = name});
        }
      }
    }
  }
  return true;
}

// The rules that an object gives to somebody, by itself or by the role that it names.
Value given_rules(const Core& core, const Object& object, const std::string& ns) {
  static const Value kEverything =
      Array{Value(Object{{"verbs", {"*"}}, {"apiGroups", {"*"}}, {"resources", {"*"}}, {"nonResourceURLs", {"*"}}})};
  const Object* reference = object_at(object, {"roleRef"});
  if (reference == nullptr) {
    const Value* rules = object.if_contains("rules");
    return rules == nullptr ? Value() : *rules;
  }
  const bool everywhere = text_at(*reference, {"kind"}) == "ClusterRole";
  const std::string name(text_at(*reference, {"name"}));
  const auto role = core.read(everywhere ? "clusterroles.rbac.authorization.k8s.io" : "roles.rbac.authorization.k8s.io",
                              {everywhere ? std::string() : ns, name});
  // A role that is not there yet may become anything.
  return role ? given_rules(core, *role, ns) : kEverything;
}

}  // namespace

Outcome<> check_allowed(Core& core, const Call& call, const Deed& deed) {
  return check_allowed(core, call, deed, subject_of(call));
}

Outcome<> check_allowed(Core& core, const Call& call, const Deed& deed, const Subject& subject) {
  if (call.trusted || core.rights.allows(subject, deed)) {
    return {};
  }
  return tl::unexpected(failure(403, "Forbidden",
                                fmt::format("forbidden: no role lets user \"{}\" {}", subject.user, in_words(deed)),
                                {deed.group, deed.resource.substr(0, deed.resource.find('/'))}, deed.name));
}

Outcome<> check_gift(Core& core, const Request& request, const Object* before, const Object& object) {
  const Object* reference = object_at(object, {"roleRef"});
  if (request.call.trusted || request.kind->group != kGroup ||
      (before != nullptr && same(Value(*before), Value(object)))) {
    return {};
  }
  const bool everywhere =
      reference == nullptr ? !request.kind->namespaced : text_at(*reference, {"kind"}) == "ClusterRole";
  const Subject giver = subject_of(request.call);
  const Deed exempt{.verb = reference == nullptr ? "escalate" : "bind",
                    .group = std::string(kGroup),
                    .resource = everywhere ? "clusterroles" : "roles",
                    .ns = request.ns,
                    .name = std::string(reference == nullptr ? text_at(object, {"metadata", "name"})
                                                             : text_at(*reference, {"name"}))};
  if (core.rights.allows(giver, exempt)) {
    return {};
  }
  const auto refused = [&](std::string_view why) {
    return tl::unexpected(
        failure(403, "Forbidden",
                fmt::format("forbidden: user \"{}\" cannot give what he does not have: {}", request.call.user, why),
                request.what(), request.name));
  };
  const Value rules = given_rules(core, object, request.ns);
  std::vector<Deed> deeds;
  const auto gathers = [](const Object* role) {
    return role != nullptr && object_at(*role, {"aggregationRule"}) != nullptr;
  };
  if (reference == nullptr && (gathers(&object) || gathers(before))) {
    // Its labels may come to take in any role.
    deeds.push_back({.verb = "*", .group = "*", .resource = "*"});
    deeds.push_back({.verb = "*", .path = "*"});
  }
  for (std::size_t i = 0; rules.is_array() && i < rules.get_array().size(); ++i) {
    if (!add_deeds(rules.get_array()[i], request.ns, deeds)) {
      return refused(fmt::format("these are more than {} rights", kMostRights));
    }
  }
  for (const Deed& deed : deeds) {
    if (!core.rights.allows(giver, deed)) {
      return refused(in_words(deed));
    }
  }
  return {};
}

}  // namespace gantree::apiserver
