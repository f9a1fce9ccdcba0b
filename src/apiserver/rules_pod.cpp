// Pods, and the pods of workloads.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "apiserver/canonical.h"
#include "apiserver/names.h"
#include "apiserver/rules_common.h"

namespace gantree::apiserver {

namespace {

constexpr std::int64_t kNano = 1'000'000'000;

// Resources of devices and the like: not shared, so asked for in whole numbers, and no more than is asked for.
bool is_extended(std::string_view name) {
  return name.find('/') != std::string_view::npos && name.find("kubernetes.io/") == std::string_view::npos;
}
bool is_overcommitable(std::string_view name) {
  return !is_extended(name) && !name.starts_with("hugepages-");
}

class PodChecks {
 public:
  explicit PodChecks(FieldErrors& errors) : errors_(errors) {}

  void check(const Object& spec, const std::string& path) {
    collect_volumes(spec, path);
    const Array* containers = array_at(spec, {"containers"});
    if (containers == nullptr || containers->empty()) {
      errors_.push_back(required(child_path(path, "containers")));
    }
    for (const std::string_view key : {"initContainers", "containers"}) {
      const Array* list = array_at(spec, {key});
      for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
        if ((*list)[i].is_object()) {
          check_container((*list)[i].get_object(), index_path(child_path(path, key), i), key == "containers");
        }
      }
    }
    check_resources(value_at(spec, {"resources"}), child_path(path, "resources"));
    check_policies(spec, path);
    check_tolerations(array_at(spec, {"tolerations"}), child_path(path, "tolerations"));
    check_labels(spec.if_contains("nodeSelector"), child_path(path, "nodeSelector"), errors_);
    check_gates(spec, path);
    check_affinity(spec, path);
  }

 private:
  void collect_volumes(const Object& spec, const std::string& path) {
    const Array* volumes = array_at(spec, {"volumes"});
    for (std::size_t i = 0; volumes != nullptr && i < volumes->size(); ++i) {
      const std::string field = child_path(index_path(child_path(path, "volumes"), i), "name");
      const std::string name(text_at((*volumes)[i], {"name"}));
      if (name.empty()) {
        errors_.push_back(required(field));
      } else if (auto problem = not_dns_label(name)) {
        errors_.push_back(invalid_value(field, Value(name), *problem));
      } else if (!volumes_.insert(name).second) {
        errors_.push_back(duplicate(field, Value(name)));
      }
    }
  }

  void check_container(const Object& container, const std::string& path, bool main) {
    const std::string name(text_at(container, {"name"}));
    if (name.empty()) {
      errors_.push_back(required(child_path(path, "name")));
    } else if (auto problem = not_dns_label(name)) {
      errors_.push_back(invalid_value(child_path(path, "name"), Value(name), *problem));
    } else if (!names_.insert(name).second) {
      errors_.push_back(duplicate(child_path(path, "name"), Value(name)));
    }
    if (text_at(container, {"image"}).empty()) {
      errors_.push_back(required(child_path(path, "image")));
    }
    check_one_of(container, path, "imagePullPolicy", {"Always", "IfNotPresent", "Never"}, errors_);
    check_one_of(container, path, "terminationMessagePolicy", {"FallbackToLogsOnError", "File"}, errors_);
    if (!main) {
      check_one_of(container, path, "restartPolicy", {"Always", "Never", "OnFailure"}, errors_);
    }
    check_resources(value_at(container, {"resources"}), child_path(path, "resources"));
    check_ports(array_at(container, {"ports"}), child_path(path, "ports"));
    check_mounts(array_at(container, {"volumeMounts"}), child_path(path, "volumeMounts"));
    const Array* env = array_at(container, {"env"});
    for (std::size_t i = 0; env != nullptr && i < env->size(); ++i) {
      if (text_at((*env)[i], {"name"}).empty()) {
        errors_.push_back(required(child_path(index_path(child_path(path, "env"), i), "name")));
      }
    }
  }

  void check_amounts(const Value& resources, std::string_view which, const std::string& path) {
    const Object* amounts = object_at(resources, {which});
    if (amounts == nullptr) {
      return;
    }
    for (const auto& member : *amounts) {
      const std::string field = key_path(child_path(path, which), member.key());
      if (auto problem = not_qualified_name(member.key())) {
        errors_.push_back(invalid_value(field, Value(member.key()), *problem));
      }
      const auto amount = parse_amount(member.value());
      if (!amount) {
        continue;
      }
      if (amount->nanos < 0) {
        errors_.push_back(invalid_value(field, member.value(), "must be greater than or equal to 0"));
      } else if (!is_overcommitable(member.key()) && amount->nanos % kNano != 0) {
        errors_.push_back(invalid_value(field, member.value(), "must be an integer"));
      }
    }
  }

  void check_resources(const Value& resources, const std::string& path) {
    check_amounts(resources, "limits", path);
    check_amounts(resources, "requests", path);
    const Object* requests = object_at(resources, {"requests"});
    const Object* limits = object_at(resources, {"limits"});
    if (requests == nullptr) {
      return;
    }
    for (const auto& request : *requests) {
      check_request(request.key(), request.value(), limits, path);
    }
  }

  void check_request(std::string_view name, const Value& request, const Object* limits, const std::string& path) {
    const Value* limit = limits == nullptr ? nullptr : limits->if_contains(name);
    const auto asked = parse_amount(request);
    if (limit == nullptr) {
      if (!is_overcommitable(name)) {
        errors_.push_back(
            required(child_path(path, "limits"), "needs a limit: nobody can have more of it than there is"));
      }
      return;
    }
    const auto most = parse_amount(*limit);
    if (!asked || !most) {
      return;
    }
    const std::string field = child_path(path, "requests");
    if (!is_overcommitable(name) && asked->nanos != most->nanos) {
      errors_.push_back(
          invalid_value(field, request, fmt::format("must be equal to {} limit of {}", name, to_text(*most))));
    } else if (is_overcommitable(name) && asked->nanos > most->nanos) {
      errors_.push_back(invalid_value(
          field, request, fmt::format("must be less than or equal to {} limit of {}", name, to_text(*most))));
    }
  }

  void check_ports(const Array* ports, const std::string& path) {
    for (std::size_t i = 0; ports != nullptr && i < ports->size(); ++i) {
      const std::string field = index_path(path, i);
      const Value* number = find((*ports)[i], {"containerPort"});
      if (number == nullptr || (number->is_int64() && number->get_int64() == 0)) {
        errors_.push_back(required(child_path(field, "containerPort")));
      } else if (number->is_int64() && (number->get_int64() < 1 || number->get_int64() > 65535)) {
        errors_.push_back(
            invalid_value(child_path(field, "containerPort"), *number, "must be between 1 and 65535, inclusive"));
      }
      if ((*ports)[i].is_object()) {
        check_one_of((*ports)[i].get_object(), field, "protocol", {"SCTP", "TCP", "UDP"}, errors_);
      }
    }
  }

  void check_mounts(const Array* mounts, const std::string& path) {
    for (std::size_t i = 0; mounts != nullptr && i < mounts->size(); ++i) {
      const std::string field = index_path(path, i);
      const std::string name(text_at((*mounts)[i], {"name"}));
      if (name.empty()) {
        errors_.push_back(required(child_path(field, "name")));
      } else if (!volumes_.contains(name)) {
        errors_.push_back(not_found(child_path(field, "name"), Value(name)));
      }
      if (text_at((*mounts)[i], {"mountPath"}).empty()) {
        errors_.push_back(required(child_path(field, "mountPath")));
      }
    }
  }

  void check_policies(const Object& spec, const std::string& path) {
    check_one_of(spec, path, "restartPolicy", {"Always", "OnFailure", "Never"}, errors_);
    check_one_of(spec, path, "dnsPolicy", {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"}, errors_);
    check_one_of(spec, path, "preemptionPolicy", {"Never", "PreemptLowerPriority"}, errors_);
    const Value& deadline = value_at(spec, {"activeDeadlineSeconds"});
    if (deadline.is_int64() && (deadline.get_int64() < 1 || deadline.get_int64() > 2147483647)) {
      errors_.push_back(invalid_value(child_path(path, "activeDeadlineSeconds"), deadline,
                                      "must be between 1 and 2147483647, inclusive"));
    }
    for (const std::string_view key : {"nodeName", "serviceAccountName", "schedulerName", "priorityClassName"}) {
      const Value& name = value_at(spec, {key});
      const auto problem = text_of(name).empty() ? std::nullopt : not_dns_subdomain(text_of(name));
      if (problem) {
        errors_.push_back(invalid_value(child_path(path, key), name, *problem));
      }
    }
  }

  void check_tolerations(const Array* tolerations, const std::string& path) {
    for (std::size_t i = 0; tolerations != nullptr && i < tolerations->size(); ++i) {
      const Object* toleration = (*tolerations)[i].if_object();
      if (toleration == nullptr) {
        continue;
      }
      const std::string field = index_path(path, i);
      const std::string_view key = text_at(*toleration, {"key"});
      const std::string_view relation = text_at(*toleration, {"operator"});
      const auto problem = key.empty() ? std::nullopt : not_qualified_name(key);
      if (problem) {
        errors_.push_back(invalid_value(child_path(field, "key"), Value(key), *problem));
      }
      if (key.empty() && relation != "Exists") {
        errors_.push_back(invalid_value(child_path(field, "operator"), Value(relation),
                                        "without a key the operator must be Exists: all taints are meant"));
      }
      if (relation == "Exists" && !text_at(*toleration, {"value"}).empty()) {
        errors_.push_back(invalid_value(child_path(field, "operator"), Value(text_at(*toleration, {"value"})),
                                        "Exists takes no value"));
      }
      check_one_of(*toleration, field, "operator", {"Equal", "Exists", "Gt", "Lt"}, errors_);
      check_one_of(*toleration, field, "effect", {"", "NoSchedule", "PreferNoSchedule", "NoExecute"}, errors_);
      const bool evicts = text_at(*toleration, {"effect"}) == "NoExecute";
      if (!value_at(*toleration, {"tolerationSeconds"}).is_null() && !evicts) {
        errors_.push_back(invalid_value(child_path(field, "effect"), Value(text_at(*toleration, {"effect"})),
                                        "tolerationSeconds goes with NoExecute alone"));
      }
    }
  }

  void check_gates(const Object& spec, const std::string& path) {
    const Array* gates = array_at(spec, {"schedulingGates"});
    if (gates == nullptr || gates->empty()) {
      return;
    }
    std::set<std::string> seen;
    for (std::size_t i = 0; i < gates->size(); ++i) {
      const std::string field = index_path(child_path(path, "schedulingGates"), i);
      const std::string name(text_at((*gates)[i], {"name"}));
      if (auto problem = not_qualified_name(name)) {
        errors_.push_back(invalid_value(field, Value(name), *problem));
      }
      if (!seen.insert(name).second) {
        errors_.push_back(duplicate(field, Value(name)));
      }
    }
    if (!text_at(spec, {"nodeName"}).empty()) {
      errors_.push_back(forbidden(child_path(path, "nodeName"), "cannot be set as long as there are scheduling gates"));
    }
  }

  void check_affinity(const Object& spec, const std::string& path) {
    const Value* needed = find(spec, {"affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"});
    if (needed == nullptr || !needed->is_object()) {
      return;
    }
    const std::string field =
        path + ".affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
    const Array* terms = array_at(*needed, {"nodeSelectorTerms"});
    if (terms == nullptr || terms->empty()) {
      errors_.push_back(required(field, "must have at least one node selector term"));
      return;
    }
    for (std::size_t i = 0; i < terms->size(); ++i) {
      const Array* expressions = array_at((*terms)[i], {"matchExpressions"});
      for (std::size_t j = 0; expressions != nullptr && j < expressions->size(); ++j) {
        const std::string at = index_path(child_path(index_path(field, i), "matchExpressions"), j);
        check_expression((*expressions)[j], at);
      }
    }
  }

  void check_expression(const Value& expression, const std::string& path) {
    const std::string_view relation = text_at(expression, {"operator"});
    const Array* values = array_at(expression, {"values"});
    const std::size_t count = values == nullptr ? 0 : values->size();
    if ((relation == "In" || relation == "NotIn") && count == 0) {
      errors_.push_back(required(child_path(path, "values"), "In and NotIn need values"));
    } else if ((relation == "Exists" || relation == "DoesNotExist") && count > 0) {
      errors_.push_back(forbidden(child_path(path, "values"), "Exists and DoesNotExist take no values"));
    } else if ((relation == "Gt" || relation == "Lt") && count != 1) {
      errors_.push_back(required(child_path(path, "values"), "Lt and Gt need one value"));
    }
    if (expression.is_object()) {
      const std::vector<std::string> known = {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"};
      if (std::find(known.begin(), known.end(), relation) == known.end()) {
        errors_.push_back(
            invalid_value(child_path(path, "operator"), Value(relation), "not a valid selector operator"));
      }
    }
    if (auto problem = not_qualified_name(text_at(expression, {"key"}))) {
      errors_.push_back(invalid_value(child_path(path, "key"), Value(text_at(expression, {"key"})), *problem));
    }
  }

  FieldErrors& errors_;
  std::set<std::string> names_;
  std::set<std::string> volumes_;
};

}  // namespace

void check_pod_spec(const Object& spec, const std::string& path, FieldErrors& errors) {
  PodChecks(errors).check(spec, path);
  check_pod_parts(spec, path, errors);
}

}  // namespace gantree::apiserver
