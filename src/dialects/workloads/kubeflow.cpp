// The training jobs of Kubeflow: replica specs by role under a member that depends on the kind.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "dialects/workloads/workload_reader.h"

namespace gantree {

namespace {

struct Layout {
  std::string_view kind;
  std::string_view member;                // of the spec
  std::array<std::string_view, 6> roles;  // in rank order; "" beyond the last
};

constexpr Layout kLayouts[] = {
    {"PyTorchJob", "pytorchReplicaSpecs", {"Master", "Worker"}},
    {"TFJob", "tfReplicaSpecs", {"Chief", "Master", "PS", "Worker", "Evaluator", "Eval"}},
    {"XGBoostJob", "xgbReplicaSpecs", {"Master", "Worker"}},
    {"JAXJob", "jaxReplicaSpecs", {"Worker"}},
    {"PaddleJob", "paddleReplicaSpecs", {"Master", "Worker"}},
    {"MPIJob", "mpiReplicaSpecs", {"Launcher", "Worker"}},
};

const Layout& layout_of(std::string_view kind) {
  return *std::find_if(std::begin(kLayouts), std::end(kLayouts),
                       [&](const Layout& layout) { return layout.kind == kind; });
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

// The operators accept role names in any letter case. nullptr where the job does without.
const json::MemberData* role_spec(json::Value specs, std::string_view role) {
  for (const json::MemberData& member : specs.members()) {
    if (lower(member.key) == lower(role)) {
      return &member;
    }
  }
  return nullptr;
}

bool knows(const Layout& layout, std::string_view role) {
  return std::any_of(layout.roles.begin(), layout.roles.end(),
                     [&](std::string_view known) { return !known.empty() && lower(known) == lower(role); });
}

// A role that its operator does not know is most likely misspelt, and its pods would be missing in the gang.
void object_to_strangers(WorkloadReader& reader, const Layout& layout, json::Value specs) {
  for (const json::MemberData& member : specs.members()) {
    if (!knows(layout, member.key)) {
      reader.objection().raise(json::Value(&member.value), fmt::format("spec.{}.{}: a {} has no such role",
                                                                       layout.member, member.key, layout.kind));
    }
  }
}

}  // namespace

void read_kubeflow_job(WorkloadReader& reader) {
  json::Reader& read = reader.read();
  Workload& workload = reader.workload();
  const Layout& layout = layout_of(reader.object().kind);
  const json::Value policy = read.object(reader.spec(), "runPolicy");
  const bool suspended =
      read.boolean(policy, "suspend").value_or(false) || read.boolean(reader.spec(), "suspend").value_or(false);
  workload.over = workload.over || reader.any_condition({"Succeeded", "Failed"});
  workload.running = !suspended && reader.any_condition({"Running"});
  const json::Value specs = read.require_object(reader.spec(), layout.member);
  if (!specs) {
    return;
  }
  for (const std::string_view role : layout.roles) {
    if (role.empty()) {
      continue;
    }
    if (const json::MemberData* found = role_spec(specs, role)) {
      const json::Value replica(&found->value);
      reader.add(lower(role), read.as_object(replica, role), 1, reader.count(replica, "replicas", 1), "replicas")
          .pointer = fmt::format("/spec/{}/{}/template", layout.member, found->key);
    }
  }
  object_to_strangers(reader, layout, specs);
  if (workload.templates.empty()) {
    reader.objection().raise(specs, fmt::format("{} has no role that a {} knows", layout.member, layout.kind));
  }
}

}  // namespace gantree
