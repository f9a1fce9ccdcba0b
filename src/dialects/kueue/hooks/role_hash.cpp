#include "dialects/kueue/hooks/role_hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/digest.h"
#include "json/equal.h"
#include "json/like_go.h"

namespace gantree::kueue {

namespace {

// The members of objects in the order in which Go writes the types that they are, which is that of its declarations.
// No two types disagree but for the last, which has a list of its own.
constexpr std::string_view kOrder[] = {"nodeAffinity",
                                       "podAffinity",
                                       "podAntiAffinity",
                                       "requiredDuringSchedulingIgnoredDuringExecution",
                                       "preferredDuringSchedulingIgnoredDuringExecution",
                                       "nodeSelectorTerms",
                                       "weight",
                                       "preference",
                                       "podAffinityTerm",
                                       "labelSelector",
                                       "namespaces",
                                       "topologyKey",
                                       "namespaceSelector",
                                       "matchLabelKeys",
                                       "mismatchLabelKeys",
                                       "matchLabels",
                                       "matchExpressions",
                                       "matchFields",
                                       "key",
                                       "operator",
                                       "value",
                                       "values",
                                       "effect",
                                       "tolerationSeconds",
                                       "name",
                                       "hostPort",
                                       "containerPort",
                                       "protocol",
                                       "hostIP",
                                       "resourceClaimName",
                                       "resourceClaimTemplateName"};
constexpr std::string_view kSpreadOrder[] = {"maxSkew",    "topologyKey",        "whenUnsatisfiable", "labelSelector",
                                             "minDomains", "nodeAffinityPolicy", "nodeTaintsPolicy",  "matchLabelKeys"};

// What Kueue's digest leaves out.
constexpr std::string_view kBesides[] = {"hostNetwork", "priorityClassName", "schedulerName"};

std::size_t rank_in(std::span<const std::string_view> order, std::string_view key) {
  return static_cast<std::size_t>(std::find(order.begin(), order.end(), key) - order.begin());
}

// `map`: its keys are users' own, in alphabetical order.
void write(json::Value value, bool map, std::string& out);

void write_object(json::Value value, bool map, std::string& out) {
  const std::span<const std::string_view> order =
      value["whenUnsatisfiable"] ? std::span<const std::string_view>(kSpreadOrder) : kOrder;
  std::vector<std::tuple<std::size_t, std::string_view, json::Value>> members;
  for (const json::MemberData& member : value.members()) {
    members.emplace_back(map ? 0 : rank_in(order, member.key), member.key, json::Value(&member.value));
  }
  std::sort(members.begin(), members.end(), [](const auto& a, const auto& b) {
    return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
  });
  out += '{';
  for (const auto& [rank, key, member] : members) {
    if (out.back() != '{') {
      out += ',';
    }
    json::append_string_like_go(out, key);
    out += ':';
    write(member, key == "matchLabels", out);
  }
  out += '}';
}

void write(json::Value value, bool map, std::string& out) {
  if (!value || value.kind() == json::Kind::kNull) {
    out += "null";
    return;
  }
  switch (value.kind()) {
    case json::Kind::kNull:
    case json::Kind::kBool:
    case json::Kind::kNumber:
      out += value.text();
      return;
    case json::Kind::kString:
      json::append_string_like_go(out, value.text());
      return;
    case json::Kind::kArray:
      out += '[';
      for (const json::NodeData& item : value.items()) {
        out += out.back() == '[' ? "" : ",";
        write(json::Value(&item), false, out);
      }
      out += ']';
      return;
    case json::Kind::kObject:
      write_object(value, map, out);
      return;
  }
}

json::Value member_of(json::Value object, std::string_view key) {
  return object && object.kind() == json::Kind::kObject ? object[key] : json::Value();
}

// A map of quantities, which may be written as numbers.
void write_amounts(json::Value amounts, std::string& out) {
  if (!amounts || amounts.kind() != json::Kind::kObject) {
    out += "null";
    return;
  }
  std::vector<std::pair<std::string_view, json::Value>> members;
  for (const json::MemberData& member : amounts.members()) {
    members.emplace_back(member.key, json::Value(&member.value));
  }
  std::sort(members.begin(), members.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  out += '{';
  for (const auto& [key, amount] : members) {
    out += out.back() == '{' ? "" : ",";
    json::append_string_like_go(out, key);
    out += ':';
    const bool plain = amount.kind() == json::Kind::kString || amount.kind() == json::Kind::kNumber;
    json::append_string_like_go(out, plain ? amount.text() : std::string_view());
  }
  out += '}';
}

void write_containers(json::Value containers, std::string& out) {
  if (!containers || containers.kind() != json::Kind::kArray || containers.items().empty()) {
    out += "null";
    return;
  }
  out += '[';
  for (const json::NodeData& item : containers.items()) {
    const json::Value container(&item);
    out += out.back() == '[' ? "" : ",";
    out += R"({"ports":)";
    write(member_of(container, "ports"), false, out);
    out += R"(,"resources":{"requests":)";
    write_amounts(member_of(member_of(container, "resources"), "requests"), out);
    out += "}}";
  }
  out += ']';
}

// What a pod is, as the JSON of which Kueue takes the digest.
std::string shape_of(json::Value spec) {
  std::string out = R"({"spec":{"affinity":)";
  const auto add = [&](std::string_view key, bool map) {
    out += fmt::format(R"(,"{}":)", key);
    write(member_of(spec, key), map, out);
  };
  write(member_of(spec, "affinity"), false, out);
  out += R"(,"containers":)";
  write_containers(member_of(spec, "containers"), out);
  out += R"(,"initContainers":)";
  write_containers(member_of(spec, "initContainers"), out);
  add("nodeSelector", true);
  out += R"(,"overhead":)";
  write_amounts(member_of(spec, "overhead"), out);
  add("priority", false);
  add("resourceClaims", false);
  if (const json::Value resources = member_of(spec, "resources")) {
    out += R"(,"resources":)";
    write_amounts(member_of(resources, "requests"), out);
  }
  add("runtimeClassName", false);
  add("tolerations", false);
  add("topologySpreadConstraints", false);
  return out + "}}";
}

// Which of its containers run beside the others from the beginning.
std::string sidecars_of(json::Value spec) {
  std::string out;
  const json::Value containers = member_of(spec, "initContainers");
  const bool listed = containers && containers.kind() == json::Kind::kArray;
  for (const json::NodeData& item : listed ? containers.items() : std::span<const json::NodeData>()) {
    const json::Value policy = member_of(json::Value(&item), "restartPolicy");
    out += policy && policy.kind() == json::Kind::kString && policy.text() == "Always" ? '1' : '0';
  }
  return out.find('1') == std::string::npos ? "" : out;
}

}  // namespace

std::string role_hash(json::Value spec) {
  constexpr std::size_t kDigits = 8;
  return sha256_hex(shape_of(spec) + sidecars_of(spec)).substr(0, kDigits);
}

bool same_place_and_size(json::Value a, json::Value b) {
  return shape_of(a) == shape_of(b) && sidecars_of(a) == sidecars_of(b) &&
         std::all_of(std::begin(kBesides), std::end(kBesides), [&](std::string_view key) {
           const json::Value left = member_of(a, key);
           const json::Value right = member_of(b, key);
           return left.present() == right.present() && (!left || json::equal(left, right));
         });
}

}  // namespace gantree::kueue
