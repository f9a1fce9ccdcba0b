#include "live/shape.h"

#include <functional>
#include <string_view>

namespace gantree {

namespace {

class Digest {
 public:
  void add(std::uint64_t number) {
    sum_ ^= number + 0x9e3779b97f4a7c15U + (sum_ << 6U) + (sum_ >> 2U);
    sum_ *= 0xbf58476d1ce4e5b9U;
    sum_ ^= sum_ >> 31U;
  }
  void add(std::string_view text) { add(std::hash<std::string_view>{}(text)); }
  template <class Tag>
  void add(Id<Tag> id) {
    add(std::uint64_t{id.index()});
  }
  template <class T>
  void add(const std::optional<T>& value) {
    add(std::uint64_t{value.has_value()});
    if (value) {
      add_value(*value);
    }
  }
  [[nodiscard]] std::uint64_t sum() const { return sum_; }

 private:
  template <class Tag>
  void add_value(Id<Tag> id) {
    add(id);
  }
  void add_value(int number) { add(static_cast<std::uint64_t>(number)); }
  void add_value(TaintEffect effect) { add(static_cast<std::uint64_t>(effect)); }

  std::uint64_t sum_ = 0;
};

void add(Digest& digest, const SelectorTerm& term) {
  for (const auto* requirements : {&term.labels, &term.fields}) {
    digest.add(requirements->size());
    for (const SelectorRequirement& one : *requirements) {
      digest.add(one.key);
      digest.add(static_cast<std::uint64_t>(one.op));
      digest.add(static_cast<std::uint64_t>(one.bound));
      digest.add(one.values.size());
      for (const StringId value : one.values) {
        digest.add(value);
      }
    }
  }
}

void add(Digest& digest, const std::vector<Label>& labels) {
  digest.add(labels.size());
  for (const Label& label : labels) {
    digest.add(label.key);
    digest.add(label.value);
  }
}

void add(Digest& digest, const PodShape& shape) {
  digest.add(shape.requests.entries().size());
  for (const auto& [resource, amount] : shape.requests.entries()) {
    digest.add(resource);
    digest.add(static_cast<std::uint64_t>(amount));
  }
  add(digest, shape.node_selector);
  add(digest, shape.flavor_labels);
  digest.add(shape.affinity ? shape.affinity->size() + 1 : 0);
  for (const SelectorTerm& term : shape.affinity.value_or(std::vector<SelectorTerm>())) {
    add(digest, term);
  }
  digest.add(shape.preferred.size());
  for (const PreferredTerm& preferred : shape.preferred) {
    digest.add(static_cast<std::uint64_t>(preferred.weight));
    add(digest, preferred.term);
  }
  digest.add(shape.tolerations.size());
  for (const Toleration& toleration : shape.tolerations) {
    digest.add(toleration.key);
    digest.add(static_cast<std::uint64_t>(toleration.op));
    digest.add(toleration.value);
    digest.add(toleration.effect);
  }
}

void add(Digest& digest, const Constraint& constraint) {
  digest.add(constraint.topology);
  for (const auto& level : {constraint.required, constraint.preferred, constraint.exclusive, constraint.balance}) {
    digest.add(level);
  }
  digest.add(constraint.slices.size());
  for (const Slice& slice : constraint.slices) {
    digest.add(static_cast<std::uint64_t>(slice.level));
    digest.add(static_cast<std::uint64_t>(slice.size));
  }
  digest.add(static_cast<std::uint64_t>(constraint.packing));
}

void add(Digest& digest, const Group& group) {
  add(digest, group.constraint);
  digest.add(group.min_pods);
  digest.add(group.min_groups);
  digest.add(group.pod_sets.size());
  for (const PodSet& set : group.pod_sets) {
    add(digest, set.shape);
    digest.add(static_cast<std::uint64_t>(set.count));
    digest.add(static_cast<std::uint64_t>(set.min_count));
    add(digest, set.constraint);
  }
  digest.add(group.groups.size());
  for (const Group& nested : group.groups) {
    add(digest, nested);
  }
}

}  // namespace

std::uint64_t shape_of(const Submission& submission) {
  Digest digest;
  digest.add(std::uint64_t{submission.may_evict});
  digest.add(static_cast<std::uint64_t>(submission.begun));
  if (const auto& rejection = submission.rejection) {
    digest.add(static_cast<std::uint64_t>(rejection->reason));
    digest.add(std::uint64_t{rejection->waits});
    digest.add(rejection->message);
  }
  digest.add(submission.parts.size());
  for (const std::vector<Alternative>& ways : submission.parts) {
    digest.add(ways.size());
    for (const Alternative& way : ways) {
      digest.add(way.gang.topology);
      digest.add(way.gang.exclusive_kind);
      add(digest, way.gang.root);
    }
  }
  return digest.sum();
}

}  // namespace gantree
