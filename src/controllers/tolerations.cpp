#include "controllers/tolerations.h"

#include <algorithm>
#include <charconv>

#include "controllers/objects.h"

namespace gantree::controllers {

namespace {

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

bool meets(const Value& requirement, const Labels& labels, const std::string& name, bool fields) {
  const std::string_view op = text_at(requirement, {"operator"});
  if (fields || (op != "Gt" && op != "Lt")) {
    Array one{requirement};
    const Object selector{{"matchExpressions", std::move(one)}};
    return selects(&selector, fields ? Labels{{"metadata.name", name}} : labels);
  }
  const std::string_view key = text_at(requirement, {"key"});
  const auto at = std::find_if(labels.begin(), labels.end(), [&](const auto& label) { return label.first == key; });
  const Array* values = array_at(requirement, {"values"});
  const auto has = at == labels.end() ? std::nullopt : number(at->second);
  const auto limit = values == nullptr || values->empty() ? std::nullopt : number(text_of((*values)[0]));
  return has && limit && (op == "Gt" ? *has > *limit : *has < *limit);
}

}  // namespace

bool matches_node(const Value& term, const Item& node) {
  bool any = false;
  for (const std::string_view list : {"matchExpressions", "matchFields"}) {
    const Array* requirements = array_at(term, {list});
    for (std::size_t i = 0; requirements != nullptr && i < requirements->size(); ++i) {
      any = true;
      if (!meets((*requirements)[i], node.labels, node.name, list == "matchFields")) {
        return false;
      }
    }
  }
  return any;
}

bool tolerates(const Value& toleration, const Taint& taint) {
  const std::string_view effect = text_at(toleration, {"effect"});
  const std::string_view key = text_at(toleration, {"key"});
  if ((!effect.empty() && effect != taint.effect) || (!key.empty() && key != taint.key)) {
    return false;
  }
  if (text_at(toleration, {"operator"}) == "Exists") {
    return true;
  }
  return !key.empty() && text_at(toleration, {"value"}) == taint.value;
}

bool tolerates_all(const Array* tolerations, const std::vector<Taint>& taints,
                   std::initializer_list<std::string_view> effects) {
  return std::all_of(taints.begin(), taints.end(), [&](const Taint& taint) {
    if (std::find(effects.begin(), effects.end(), taint.effect) == effects.end()) {
      return true;
    }
    return tolerations != nullptr && std::any_of(tolerations->begin(), tolerations->end(),
                                                 [&](const Value& one) { return tolerates(one, taint); });
  });
}

std::optional<std::chrono::seconds> how_long_tolerated(const Array* tolerations, const std::vector<Taint>& taints) {
  std::optional<std::chrono::seconds> stays;
  for (const Taint& taint : taints) {
    bool any = false;
    for (std::size_t i = 0; tolerations != nullptr && i < tolerations->size(); ++i) {
      const Value& toleration = (*tolerations)[i];
      if (!tolerates(toleration, taint)) {
        continue;
      }
      any = true;
      if (find(toleration, {"tolerationSeconds"}) != nullptr) {
        const std::chrono::seconds seconds(std::max<std::int64_t>(whole_at(toleration, {"tolerationSeconds"}), 0));
        stays = stays ? std::min(*stays, seconds) : seconds;
      }
    }
    if (!any) {
      return std::chrono::seconds(0);
    }
  }
  return stays;
}

bool wants_node(const Object& pod_spec, const Item& node) {
  if (const Object* selector = object_at(pod_spec, {"nodeSelector"})) {
    for (const auto& [key, value] : *selector) {
      if (node.label(key) != text_of(value)) {
        return false;
      }
    }
  }
  const Array* terms = array_at(
      pod_spec, {"affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"});
  return terms == nullptr ||
         std::any_of(terms->begin(), terms->end(), [&](const Value& term) { return matches_node(term, node); });
}

}  // namespace gantree::controllers
