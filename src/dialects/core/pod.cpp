#include "dialects/core/pod.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/whole_number.h"
#include "dialects/core/amounts.h"
#include "dialects/core/metadata.h"
#include "dialects/core/node.h"

namespace gantree {

namespace {

// What the readers below share.
struct Context {
  json::Reader& read;
  Interner& strings;
  bool asked = true;  // by a pod, rather than said by an administrator

  [[nodiscard]] StringId name(std::string_view text) const {
    return asked ? strings.intern_asked(text) : strings.intern(text);
  }
};

std::optional<TaintEffect> toleration_effect(Context context, json::Value toleration) {
  const std::string_view effect = context.read.text(toleration, "effect").value_or("");
  if (effect == "NoSchedule") {
    return TaintEffect::kNoSchedule;
  }
  if (effect == "PreferNoSchedule") {
    return TaintEffect::kPreferNoSchedule;
  }
  if (effect == "NoExecute") {
    return TaintEffect::kNoExecute;
  }
  if (!effect.empty()) {
    context.read.complain(toleration, fmt::format("toleration effect \"{}\" is not known", effect));
  }
  return std::nullopt;
}

Toleration read_toleration(Context context, json::Value value) {
  Toleration toleration;
  const std::string_view key = context.read.text(value, "key").value_or("");
  const std::string_view op = context.read.text(value, "operator").value_or("");
  toleration.value = context.name(context.read.text(value, "value").value_or(""));
  toleration.effect = toleration_effect(context, value);
  if (!key.empty()) {
    toleration.key = context.name(key);
  }
  if (op == "Exists") {
    toleration.op = TolerationOperator::kExists;
    toleration.value = context.strings.intern("");
  } else if (!op.empty() && op != "Equal") {
    context.read.complain(value, fmt::format("toleration operator \"{}\" is not known", op));
  } else if (key.empty()) {
    context.read.complain(value, "a toleration without a key needs the operator Exists");
  }
  return toleration;
}

std::vector<Toleration> tolerations_of(Context context, json::Value parent) {
  std::vector<Toleration> tolerations;
  if (const json::Value list = context.read.array(parent, "tolerations")) {
    for (const json::NodeData& item : list.items()) {
      tolerations.push_back(read_toleration(context, json::Value(&item)));
    }
  }
  return tolerations;
}

std::optional<SelectorOperator> selector_operator(std::string_view text) {
  constexpr std::pair<std::string_view, SelectorOperator> kOperators[] = {
      {"In", SelectorOperator::kIn},         {"NotIn", SelectorOperator::kNotIn},
      {"Exists", SelectorOperator::kExists}, {"DoesNotExist", SelectorOperator::kDoesNotExist},
      {"Gt", SelectorOperator::kGt},         {"Lt", SelectorOperator::kLt},
  };
  for (const auto& [name, op] : kOperators) {
    if (name == text) {
      return op;
    }
  }
  return std::nullopt;
}

void read_bound(Context context, json::Value at, SelectorRequirement& requirement) {
  const json::Value values = context.read.array(at, "values");
  if (values && values.items().size() == 1) {
    const json::Value value(&values.items().front());
    if (const auto bound = whole_number<std::int64_t>(context.read.as_text(value, "a value"))) {
      requirement.bound = *bound;
      return;
    }
  }
  context.read.complain(at, "the operators Gt and Lt need exactly one value, a whole number");
}

SelectorRequirement read_requirement(Context context, json::Value value) {
  SelectorRequirement requirement;
  requirement.key = context.name(context.read.require_text(value, "key"));
  if (const json::Value values = context.read.array(value, "values")) {
    for (const json::NodeData& item : values.items()) {
      requirement.values.push_back(context.name(context.read.as_text(json::Value(&item), "a value")));
    }
  }
  const std::string_view op = context.read.require_text(value, "operator");
  const auto known = selector_operator(op);
  if (!known) {
    context.read.complain(value, fmt::format("operator \"{}\" is not known", op));
    return requirement;
  }
  requirement.op = *known;
  const bool lists = *known == SelectorOperator::kIn || *known == SelectorOperator::kNotIn;
  const bool compares = *known == SelectorOperator::kGt || *known == SelectorOperator::kLt;
  if (compares) {
    read_bound(context, value, requirement);
  } else if (lists == requirement.values.empty()) {
    context.read.complain(value, fmt::format("operator {} {}", op, lists ? "needs values" : "takes no values"));
  }
  std::sort(requirement.values.begin(), requirement.values.end());
  return requirement;
}

SelectorTerm read_term(Context context, json::Value value) {
  SelectorTerm term;
  if (const json::Value expressions = context.read.array(value, "matchExpressions")) {
    for (const json::NodeData& item : expressions.items()) {
      term.labels.push_back(read_requirement(context, json::Value(&item)));
    }
  }
  if (const json::Value fields = context.read.array(value, "matchFields")) {
    static_cast<void>(context.strings.intern("metadata.name"));  // known by its name, however many others there are
    for (const json::NodeData& item : fields.items()) {
      const json::Value field(&item);
      term.fields.push_back(read_requirement(context, field));
      if (context.read.require_text(field, "key") != "metadata.name") {
        context.read.complain(field, "matchFields knows only metadata.name");
      }
    }
  }
  return term;
}

void read_node_affinity(Context context, json::Value spec, PodShape& shape) {
  const json::Value affinity = context.read.object(context.read.object(spec, "affinity"), "nodeAffinity");
  if (const json::Value required = context.read.object(affinity, "requiredDuringSchedulingIgnoredDuringExecution")) {
    shape.affinity.emplace();
    if (const json::Value terms = context.read.array(required, "nodeSelectorTerms")) {
      for (const json::NodeData& item : terms.items()) {
        shape.affinity->push_back(read_term(context, json::Value(&item)));
      }
    }
  }
  if (const json::Value preferred = context.read.array(affinity, "preferredDuringSchedulingIgnoredDuringExecution")) {
    for (const json::NodeData& item : preferred.items()) {
      const json::Value value(&item);
      PreferredTerm& term = shape.preferred.emplace_back();
      const auto weight = context.read.integer(value, "weight", 1, 100);
      term.weight = static_cast<int>(weight.value_or(1));
      term.term = read_term(context, context.read.require_object(value, "preference"));
    }
  }
}

// A pod bound by its template runs there or nowhere, whatever else it asks for.
void pin_to_node(std::string_view node, Interner& strings, PodShape& shape) {
  SelectorRequirement here;
  here.key = strings.intern("metadata.name");
  here.values.push_back(strings.intern(node));
  if (!shape.affinity) {
    shape.affinity.emplace(1);
  }
  for (SelectorTerm& term : *shape.affinity) {
    term.fields.push_back(here);
  }
}

}  // namespace

Result<std::optional<PodRecord>> read_pod(const NamedObject& named, ResourceNames& names) {
  const Object& object = named.object;
  PodRecord pod;
  pod.object = object;
  pod.ns = named.ns;
  pod.name = named.name;
  json::Reader read(object.file, object.value, fmt::format("Pod \"{}/{}\"", named.ns, named.name));
  const json::Value metadata = object.metadata();
  const json::Value spec = read.object(object.value, "spec");
  const std::string_view phase = read.text(read.object(object.value, "status"), "phase").value_or("");
  const bool ended = phase == "Succeeded" || phase == "Failed";
  if (!ended) {
    pod.node = read.text(spec, "nodeName").value_or("");
    pod.scheduler = read.text(spec, "schedulerName").value_or("");
    pod.requests = read_pod_requests(read, spec, names);
    pod.owner = read_controller(read, metadata);
    pod.created_seconds = read_created(read, metadata);
    pod.deleting = read.text(metadata, "deletionTimestamp").has_value();
    static_cast<void>(read.texts(metadata, "labels"));
    static_cast<void>(read.texts(metadata, "annotations"));
  }
  if (!read.ok()) {
    return read.error();
  }
  if (ended) {
    return std::optional<PodRecord>();
  }
  return pod;
}

std::vector<Toleration> read_tolerations(json::Reader& read, json::Value parent, Interner& strings) {
  return tolerations_of({.read = read, .strings = strings, .asked = false}, parent);
}

PodShape read_pod_shape(json::Reader& read, json::Value spec, Inventory& inventory) {
  Interner& strings = inventory.strings();
  PodShape shape;
  shape.requests = read_pod_requests(read, spec, inventory.resources());
  shape.node_selector = read_selected_labels(read, spec, "nodeSelector", strings);
  const Context context{.read = read, .strings = strings};
  shape.tolerations = tolerations_of(context, spec);
  read_node_affinity(context, spec, shape);
  const std::string_view node = read.text(spec, "nodeName").value_or("");
  if (!node.empty()) {
    pin_to_node(node, strings, shape);
  }
  return shape;
}

}  // namespace gantree
