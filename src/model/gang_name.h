// Gangs by the names that people type.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/gang.h"

namespace gantree {

// Gangs that one name stands for: one, or all replicas of a set.
struct NamedGangs {
  std::string ns;
  std::string kind;
  std::string name;  // without the index of a replica
  std::vector<GangKey> keys;
};

// What NAME, NAMESPACE/NAME, KIND/NAME or NAMESPACE/KIND/NAME stands for; kinds in any case, in the plural, with their
// group, or by their short names. A gang that is called as the text says goes before replicas (of a LeaderWorkerSet, a
// Deployment) whose set is called so. In the order of namespace, kind, name.
[[nodiscard]] std::vector<NamedGangs> find_gangs(const std::vector<GangKey>& all, std::string_view text);

// Whether the text may stand for that object.
[[nodiscard]] bool may_mean(std::string_view text, const GangKey& object);

// Names that the text may have meant, the nearest first; as NAMESPACE/NAME.
[[nodiscard]] std::vector<std::string> similar_names(const std::vector<GangKey>& all, std::string_view text,
                                                     std::size_t most);

}  // namespace gantree
