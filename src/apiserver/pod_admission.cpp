#include "apiserver/pod_admission.h"

#include <fmt/format.h>

#include <vector>

#include "apiserver/canonical.h"
#include "apiserver/defaults.h"

namespace gantree::apiserver {

namespace {

constexpr std::string_view kRuntimeClasses = "runtimeclasses.node.k8s.io";

std::optional<std::string> check_service_account(const Core& core, const std::string& ns, Object& spec) {
  const std::string name(text_at(spec, {"serviceAccountName"}));
  // The one called default is made a moment after its namespace; nobody has to wait for that here.
  const auto account = core.read("serviceaccounts", {ns, name.empty() ? "default" : name});
  if (!account) {
    return name.empty() || name == "default"
               ? std::nullopt
               : std::optional(fmt::format("there is no service account \"{}\" in namespace {}", name, ns));
  }
  const Array* secrets = array_at(*account, {"imagePullSecrets"});
  if (secrets != nullptr && !secrets->empty()) {
    fall_back(spec, "imagePullSecrets", *secrets);
  }
  return std::nullopt;
}

std::optional<std::string> heed_runtime_class(const Core& core, Object& spec) {
  const std::string name(text_at(spec, {"runtimeClassName"}));
  if (name.empty()) {
    return std::nullopt;
  }
  const auto runtime = core.read(kRuntimeClasses, {"", name});
  if (!runtime) {
    return fmt::format("there is no RuntimeClass \"{}\"", name);
  }
  if (const Object* overhead = object_at(*runtime, {"overhead", "podFixed"})) {
    fall_back(spec, "overhead", *overhead);
  }
  if (const Object* selector = object_at(*runtime, {"scheduling", "nodeSelector"})) {
    Object& wanted = object_in(spec, "nodeSelector");
    for (const auto& label : *selector) {
      const Value& there = fall_back(wanted, label.key(), label.value());
      if (!same(there, label.value())) {
        return fmt::format("its nodeSelector contradicts that of RuntimeClass \"{}\"", name);
      }
    }
  }
  if (const Array* tolerations = array_at(*runtime, {"scheduling", "tolerations"})) {
    Value& list = fall_back(spec, "tolerations", Array());
    for (const Value& toleration : *tolerations) {
      if (list.is_array()) {
        list.get_array().push_back(toleration);
      }
    }
  }
  return std::nullopt;
}

// --- limit ranges ---

std::vector<Object> limit_ranges(const Core& core, const std::string& ns) {
  std::vector<Object> ranges;
  if (const Table* table = core.store.find_table("limitranges")) {
    for (auto it = table->entries.lower_bound({ns, ""}); it != table->entries.end() && it->first.ns == ns; ++it) {
      if (auto range = core.read("limitranges", it->first)) {
        ranges.push_back(std::move(*range));
      }
    }
  }
  return ranges;
}

template <class Do>
void for_each_limit(const std::vector<Object>& ranges, std::string_view type, Do act) {
  for (const Object& range : ranges) {
    const Array* limits = array_at(range, {"spec", "limits"});
    for (std::size_t i = 0; limits != nullptr && i < limits->size(); ++i) {
      if (text_at((*limits)[i], {"type"}) == type) {
        act((*limits)[i]);
      }
    }
  }
}

// What was filled in: "cpu, memory".
std::string fill(Object& container, std::string_view part, const Value& limit, std::string_view defaults) {
  const Object* given = object_at(limit, {defaults});
  std::string names;
  for (std::size_t i = 0; given != nullptr && i < given->size(); ++i) {
    const auto& member = *(given->begin() + static_cast<std::ptrdiff_t>(i));
    Object& amounts = object_in(object_in(container, "resources"), part);
    if (!amounts.contains(member.key())) {
      amounts[member.key()] = member.value();
      names += (names.empty() ? "" : ", ") + std::string(member.key());
    }
  }
  return names;
}

void fill_containers(const std::vector<Object>& ranges, Object& pod) {
  std::string told;
  const auto tell = [&](const std::string& names, std::string_view what, std::string_view kind,
                        const Object& container) {
    if (!names.empty()) {
      told +=
          fmt::format("{}{} {} for {} {}", told.empty() ? "" : "; ", names, what, kind, text_at(container, {"name"}));
    }
  };
  for (const auto& [list, kind] : {std::pair<std::string_view, std::string_view>{"containers", "container"},
                                   {"initContainers", "init container"}}) {
    Value* containers = find(pod, {"spec", list});
    for (std::size_t i = 0; containers != nullptr && containers->is_array() && i < containers->get_array().size();
         ++i) {
      Value& container = containers->get_array()[i];
      for_each_limit(ranges, "Container", [&, which = kind](const Value& limit) {
        if (container.is_object()) {
          tell(fill(container.get_object(), "requests", limit, "defaultRequest"), "request", which,
               container.get_object());
          tell(fill(container.get_object(), "limits", limit, "default"), "limit", which, container.get_object());
        }
      });
    }
  }
  if (!told.empty()) {
    object_in(object_in(pod, "metadata"), "annotations")["kubernetes.io/limit-ranger"] =
        "LimitRanger plugin set: " + told;
  }
}

std::optional<Amount> amount_at(const Value& value, std::initializer_list<std::string_view> keys) {
  const Value* found = find(value, keys);
  return found == nullptr ? std::nullopt : parse_amount(*found);
}

// Whether what a container asks for lies within the bounds.
std::optional<std::string> beyond(const Value& container, const Value& limit) {
  struct Bound {
    std::string_view name;
    std::string_view part;  // that must be given
    bool upper;
  };
  for (const Bound& bound : {Bound{"max", "limits", true}, Bound{"min", "requests", false}}) {
    const Object* bounds = object_at(limit, {bound.name});
    for (std::size_t i = 0; bounds != nullptr && i < bounds->size(); ++i) {
      const auto& member = *(bounds->begin() + static_cast<std::ptrdiff_t>(i));
      const auto edge = parse_amount(member.value());
      if (!edge) {
        continue;
      }
      if (!amount_at(container, {"resources", bound.part, member.key()})) {
        return fmt::format("the {} of {} in a container is {}, and one states no {}", bound.name,
                           std::string_view(member.key()), text_of(member.value()), bound.part);
      }
      for (const std::string_view part : {"requests", "limits"}) {
        const auto asked = amount_at(container, {"resources", part, member.key()});
        if (asked && (bound.upper ? asked->nanos > edge->nanos : asked->nanos < edge->nanos)) {
          return fmt::format("the {} of {} in a container is {}", bound.name, std::string_view(member.key()),
                             text_of(member.value()));
        }
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> heed_limit_ranges(const Core& core, const std::string& ns, Object& pod) {
  const std::vector<Object> ranges = limit_ranges(core, ns);
  if (ranges.empty()) {
    return std::nullopt;
  }
  fill_containers(ranges, pod);
  std::optional<std::string> problem;
  for (const std::string_view list : {"containers", "initContainers"}) {
    const Array* containers = array_at(pod, {"spec", list});
    for (std::size_t i = 0; containers != nullptr && i < containers->size(); ++i) {
      for_each_limit(ranges, "Container", [&](const Value& limit) {
        if (!problem) {
          problem = beyond((*containers)[i], limit);
        }
      });
    }
  }
  return problem;
}

}  // namespace

std::optional<std::string> admit_pod(const Core& core, Object& pod) {
  const std::string ns(text_at(pod, {"metadata", "namespace"}));
  Object* spec = object_or_new(pod, "spec");
  if (spec == nullptr) {
    return std::nullopt;
  }
  if (auto problem = heed_limit_ranges(core, ns, pod)) {
    return problem;
  }
  if (auto problem = check_service_account(core, ns, *spec)) {
    return problem;
  }
  return heed_runtime_class(core, *spec);
}

}  // namespace gantree::apiserver
