#include "dialects/koordinator/gather.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "dialects/koordinator/names.h"
#include "json/read.h"

namespace gantree::koordinator {

namespace {

std::string lowered(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

std::optional<std::string> unknown_field(json::Value object, std::initializer_list<std::string_view> known) {
  for (const json::MemberData& member : object.members()) {
    if (std::find(known.begin(), known.end(), member.key) == known.end()) {
      return fmt::format("the field \"{}\" is not known", member.key);
    }
  }
  return std::nullopt;
}

// One rule, or what is wrong with it.
tl::expected<GatherRule, std::string> read_rule(json::Value value) {
  if (value.kind() != json::Kind::kObject) {
    return tl::unexpected(fmt::format("a rule must be an object, not {}", json::to_string(value.kind())));
  }
  if (auto unknown = unknown_field(value, {"layer", "strategy", "podCountMultiple"})) {
    return tl::unexpected(*unknown);
  }
  json::Reader read("", "");
  const std::string_view layer = read.text(value, "layer").value_or("");
  const std::string_view strategy = read.text(value, "strategy").value_or("");
  const auto multiple = read.integer(value, "podCountMultiple", 0, std::numeric_limits<std::int32_t>::max());
  if (!read.ok()) {
    return tl::unexpected(std::string("layer and strategy must be strings, podCountMultiple a whole number from 0"));
  }
  if (layer.empty()) {
    return tl::unexpected(std::string("a rule names no layer"));
  }
  if (strategy != "MustGather" && strategy != "PreferGather") {
    return tl::unexpected(
        fmt::format("strategy of {} must be MustGather or PreferGather, not \"{}\"", layer, strategy));
  }
  return GatherRule{.layer = lowered(layer),
                    .written = std::string(layer),
                    .must = strategy == "MustGather",
                    .multiple = static_cast<int>(std::max<std::int64_t>(1, multiple.value_or(1)))};
}

tl::expected<std::vector<GatherRule>, std::string> read_rules(json::Value root) {
  if (root.kind() != json::Kind::kObject) {
    return tl::unexpected(fmt::format("it must hold a JSON object, not {}", json::to_string(root.kind())));
  }
  if (auto unknown = unknown_field(root, {"gatherStrategy"})) {
    return tl::unexpected(*unknown);
  }
  std::vector<GatherRule> rules;
  const json::Value list = root["gatherStrategy"];
  if (!list || list.kind() == json::Kind::kNull) {
    return rules;
  }
  if (list.kind() != json::Kind::kArray) {
    return tl::unexpected(fmt::format("gatherStrategy must be a list, not {}", json::to_string(list.kind())));
  }
  for (const json::NodeData& item : list.items()) {
    auto rule = read_rule(json::Value(&item));
    if (!rule) {
      return tl::unexpected(rule.error());
    }
    const auto same = [&](const GatherRule& other) { return other.layer == rule->layer; };
    if (std::any_of(rules.begin(), rules.end(), same)) {
      return tl::unexpected(fmt::format("the layer {} has two rules", rule->written));
    }
    rules.push_back(std::move(*rule));
  }
  std::sort(rules.begin(), rules.end(), [](const GatherRule& a, const GatherRule& b) { return a.layer < b.layer; });
  return rules;
}

// Slices from coarse to fine, each size a multiple of the next. Those of layers that are not finer
// than the required one say nothing: all pods are in one domain there.
Result<std::vector<Slice>> slices_of(const std::map<int, int>& multiples, int required) {
  std::vector<Slice> slices;
  std::int64_t size = 1;
  for (auto it = multiples.rbegin(); it != multiples.rend() && it->first > required; ++it) {
    size = std::lcm(size, std::int64_t{it->second});
    if (size > std::numeric_limits<std::int32_t>::max()) {
      return invalid("the values of podCountMultiple have no common multiple that is small enough");
    }
    slices.insert(slices.begin(), Slice{.level = it->first, .size = static_cast<int>(size)});
  }
  return slices;
}

}  // namespace

GatherSpec read_gather_spec(Objection& objection, std::string_view file, json::Value annotation) {
  GatherSpec spec{.rules = {}, .at = annotation, .file = file};
  if (!annotation) {
    return spec;
  }
  const auto documents = json::read_documents(std::string(kTopologySpec), std::string(annotation.text()));
  if (!documents || documents->size() != 1) {
    objection.raise(annotation, fmt::format("{} is not JSON{}{}", kTopologySpec, documents ? "" : ": ",
                                            documents ? "" : documents.error().message));
    return spec;
  }
  auto rules = read_rules(documents->front().root());
  if (!rules) {
    objection.raise(annotation, fmt::format("{}: {}", kTopologySpec, rules.error()));
    return spec;
  }
  spec.rules = std::move(*rules);
  return spec;
}

Result<Constraint> resolve(const GatherSpec& spec, const NetworkTopology& network, const Topology& topology,
                           std::vector<std::string>& ignored) {
  const int hosts = static_cast<int>(topology.levels.size()) - (topology.levels.back() == kHostnameLabel ? 1 : 0);
  int required = -1;
  int preferred = -1;
  std::map<int, int> multiples;
  for (const GatherRule& rule : spec.rules) {
    const auto found = network.level(rule.written);
    if (!found && (rule.must || rule.multiple > 1)) {
      return invalid(fmt::format("{}: {}: {} \"{}\" has no layer {} (it has {})",
                                 json::to_string({spec.file, spec.at.line()}), kTopologySpec, kTopologyKind,
                                 network.name, rule.written, network.known_layers()));
    }
    if (!found) {
      ignored.push_back(rule.written);
      continue;
    }
    const int level = std::min(*found, hosts);
    if (rule.multiple > 1 && level >= 0) {
      multiples[level] = rule.multiple;
    }
    int& deepest = rule.must ? required : preferred;
    deepest = std::max(deepest, level);
  }
  const auto slices = slices_of(multiples, required);
  if (!slices) {
    return invalid(
        fmt::format("{}: {}: {}", json::to_string({spec.file, spec.at.line()}), kTopologySpec, slices.error().message));
  }
  Constraint constraint;
  constraint.packing = Packing::kPack;
  constraint.slices = *slices;
  if (required >= 0) {
    constraint.required = required;
  }
  if (preferred > required) {
    constraint.preferred = preferred;
  }
  return constraint;
}

}  // namespace gantree::koordinator
