// The question of a gang as an integer program.
//
// Groups with the same rules and contents are one kind, and a column says how many of a kind are in a domain. Where
// every kind has one group only (Naming::kEach), the program is the question itself. Otherwise it is exact in what
// fits; of the domains that groups use below the level they require it knows the fewest there must be.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "oracle/integer_program.h"
#include "oracle/problem.h"

namespace gantree::oracle {

enum class Naming : std::uint8_t { kEach, kKinds };
enum class Minima : std::uint8_t { kIgnored, kHeld };  // held: every group by itself, and no slices

class Formulation {
 public:
  Formulation(const Problem& problem, Naming naming, Minima minima);

  using Columns = std::vector<int>;
  IntegerProgram& program() { return program_; }
  // Whose sum is a part of the score.
  [[nodiscard]] const Columns& part(std::size_t index) const { return parts_[index]; }
  [[nodiscard]] std::size_t parts() const { return parts_.size(); }
  // Whose sum is the number of pods that do not start (with minima).
  [[nodiscard]] const Columns& missing() const { return missing_; }
  void limit(const Columns& columns, int most);
  // Of named groups.
  [[nodiscard]] Assignment read(const std::vector<int>& values) const;

 private:
  // Pod sets that are alike.
  struct Leaf {
    std::size_t pod_set = 0;  // one of them
    int sets = 1;
    Columns pods;  // by host
  };
  // Groups, or pod sets, that are alike and ask for something.
  struct Kind {
    const Problem::Unit* unit = nullptr;
    int groups = 1;
    std::vector<std::size_t> leaves;
    Columns inside;  // by domain of the required level: how many of them
  };

  [[nodiscard]] std::string signature(std::size_t pod_set);
  [[nodiscard]] std::string signature(const Problem::Group& group);
  [[nodiscard]] std::string unit_signature(const std::optional<std::size_t>& unit) const;
  std::vector<std::size_t> add_groups(const std::vector<const Problem::Group*>& alike);
  std::size_t add_leaf(const std::vector<std::size_t>& alike);
  void add_kind(const std::optional<std::size_t>& unit, std::size_t groups, std::vector<std::size_t> leaves);
  void add_starts(const Problem::Group& group, int started);
  void add_capacity();
  void add_required(Kind& kind);
  void add_exclusive();
  void add_slices();
  void add_score();
  void count_domains(const std::vector<std::size_t>& leaves, int groups, std::size_t first_part);
  [[nodiscard]] int each(std::size_t leaf, int groups) const;  // pods of it in one group
  [[nodiscard]] const Problem::PodSet& set(std::size_t leaf) const { return problem_.pod_sets[leaves_[leaf].pod_set]; }
  [[nodiscard]] const std::vector<std::size_t>& hosts_in(int level, int domain) const;
  [[nodiscard]] int above(int level, int domain, int at) const;  // the domain of a higher level around it

  const Problem& problem_;
  bool named_;
  bool minima_;
  int next_name_ = 0;
  IntegerProgram program_;
  std::vector<Leaf> leaves_;
  std::vector<Kind> kinds_;
  std::map<int, int> most_;     // of columns of pods
  Columns missing_;             // by leaf, with minima
  std::vector<Columns> parts_;  // of the score
  std::vector<std::vector<std::vector<std::size_t>>> hosts_;
};

}  // namespace gantree::oracle
