// The parts of an explanation in words.
#pragma once

#include <string>
#include <vector>

#include "explain/why.h"
#include "state/cluster.h"

namespace gantree::view {

class ExplainWords {
 public:
  // Both are borrowed.
  ExplainWords(const Explanation& why, Cluster& cluster, bool unicode);

  // A reason as programs read it: "NotReady".
  [[nodiscard]] static const char* key(Ineligible reason);
  // "rack"; of -1 "anywhere".
  [[nodiscard]] std::string level(int level) const;
  [[nodiscard]] std::string level(TopologyId topology, int level) const;
  // "b1/r3"
  [[nodiscard]] std::string domain(const DomainPath& path) const;
  [[nodiscard]] std::string gang(const GangKey& key) const;
  // "60 of 64", or "480 of 512 nvidia.com/gpu" where several sets are measured together.
  [[nodiscard]] std::string offer(int offers) const;
  // So many of what is measured: "60", or "480" of the resource.
  [[nodiscard]] std::string amount(int count) const;
  // "pods of workers", or "nvidia.com/gpu".
  [[nodiscard]] std::string measured() const;
  // "one rack for all", "each 8 pods in one host": one text a constraint.
  [[nodiscard]] std::vector<std::string> constraint(const Constraint& constraint, TopologyId topology) const;
  // "3 hosts short of nvidia.com/gpu, 1 tainted (dedicated)"; "" where nothing is lacking.
  [[nodiscard]] std::string census(const HostCensus& hosts) const;
  // "held by team/a (priority 10, 32 nvidia.com/gpu), ..."; "" where nobody holds anything.
  [[nodiscard]] std::string holders(const NearDomain& near, std::size_t most) const;
  [[nodiscard]] std::string remedy(const Remedy& remedy) const;
  [[nodiscard]] std::string place(TopologyId topology, const std::vector<HostShare>& hosts, int width) const;
  // Why a placed gang is where it is: one sentence.
  [[nodiscard]] std::string choice() const;
  [[nodiscard]] std::string quota(const QuotaNeed& need, std::int64_t amount) const;

 private:
  [[nodiscard]] std::string victims(const std::vector<RemedyVictim>& victims, bool rules) const;
  [[nodiscard]] std::string change(const Remedy& remedy) const;
  [[nodiscard]] std::string subject(const std::string& name) const;
  [[nodiscard]] std::string resource(ResourceId id) const;

  const Explanation& why_;
  Cluster& cluster_;
  const bool unicode_;
};

}  // namespace gantree::view
