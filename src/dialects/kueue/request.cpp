#include "dialects/kueue/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "base/whole_number.h"
#include "dialects/kueue/names.h"
#include "json/read.h"

namespace gantree::kueue {

namespace {

json::Value annotation(json::Reader& read, json::Value annotations, std::string_view key) {
  return read.text(annotations, key) ? annotations[key] : json::Value();
}

json::Value read_unconstrained(Objection& objection, json::Value value) {
  if (!value || value.text() == "false") {
    return {};
  }
  if (value.text() != "true") {
    objection.raise(value, fmt::format("{} must be \"true\" or \"false\", not \"{}\"", kUnconstrained, value.text()));
  }
  return value;
}

// One level and one size.
void read_slice(Objection& objection, json::Value level, json::Value size, std::optional<int> default_size,
                TopologyRequest& request) {
  request.slices_at = level ? level : size;
  request.slices_annotation = level ? kSliceLevel : kSliceSize;
  if (!level) {
    objection.raise(size, fmt::format("{} needs {} beside it", kSliceSize, kSliceLevel));
    return;
  }
  if (!size && !default_size) {
    objection.raise(level, fmt::format("{} needs {} beside it", kSliceLevel, kSliceSize));
    return;
  }
  const auto number = size ? whole_number(size.text(), 1) : default_size;
  if (!number) {
    objection.raise(size, fmt::format("{} must be a whole number of at least 1, not \"{}\"", kSliceSize, size.text()));
    return;
  }
  if (*number > 0) {  // a template of no pods has no slices
    request.slices.push_back({.level = std::string(level.text()), .size = *number});
  }
}

// The layers of the JSON annotation; nothing where it is not as agreed.
std::optional<std::vector<SliceRequest>> parse_layers(std::string_view text) {
  const auto documents = json::read_documents("annotation", std::string(text));
  if (!documents || documents->size() != 1 || documents->front().root().kind() != json::Kind::kArray) {
    return std::nullopt;
  }
  std::vector<SliceRequest> layers;
  json::Reader read("annotation", "");
  for (const json::NodeData& item : documents->front().root().items()) {
    const json::Value layer(&item);
    SliceRequest& added = layers.emplace_back();
    added.level = read.require_text(layer, "topology");
    const auto size = read.integer(layer, "size", 1, std::numeric_limits<int>::max());
    if (!size || !read.ok()) {
      return std::nullopt;
    }
    added.size = static_cast<int>(*size);
  }
  return layers;
}

void read_layers(Objection& objection, json::Value value, TopologyRequest& request) {
  request.slices_at = value;
  request.slices_annotation = kSliceLayers;
  auto layers = parse_layers(value.text());
  if (!layers) {
    objection.raise(value, fmt::format("{} must be a JSON list of {{\"topology\": LEVEL, \"size\": NUMBER}}, sizes of "
                                       "at least 1",
                                       kSliceLayers));
    return;
  }
  if (layers->empty() || layers->size() > kMaxSliceLayers) {
    objection.raise(
        value, fmt::format("{} has {} layers; 1 to {} are allowed", kSliceLayers, layers->size(), kMaxSliceLayers));
    return;
  }
  for (std::size_t i = 1; i < layers->size(); ++i) {
    const int outer = (*layers)[i - 1].size;
    const int inner = (*layers)[i].size;
    if (outer % inner != 0) {
      objection.raise(
          value, fmt::format("{}: size {} does not divide size {} of the layer above it", kSliceLayers, inner, outer));
      return;
    }
  }
  request.slices = std::move(*layers);
}

void read_packing(Objection& objection, json::Value value, TopologyRequest& request) {
  if (!value) {
    return;
  }
  request.packing_at = value;
  if (value.text() == "pack") {
    request.packing = Packing::kPack;
  } else if (value.text() == "spread") {
    request.packing = Packing::kSpread;
  } else if (value.text() == "balanced") {
    request.packing = Packing::kBalanced;
    if (!request.required && !request.preferred) {
      objection.raise(value, fmt::format("{}: \"balanced\" needs {} or {} to say over which domains", kPlacement,
                                         kRequired, kPreferred));
    }
  } else {
    objection.raise(value, fmt::format("{} must be pack, spread or balanced, not \"{}\"", kPlacement, value.text()));
  }
}

// The letters that both have in the same places, from the front and from the back.
std::size_t in_common(std::string_view a, std::string_view b) {
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t front = 0;
  while (front < most && a[front] == b[front]) {
    ++front;
  }
  std::size_t back = 0;
  while (back < most - front && a[a.size() - 1 - back] == b[b.size() - 1 - back]) {
    ++back;
  }
  return front + back;
}

// The known annotation that is most like one; "" where none is.
std::string_view meant_by(std::string_view annotation) {
  constexpr std::size_t kMostWrong = 4;  // letters
  std::string_view best;
  std::size_t common = 0;
  for (const std::string_view known : kPodSetAnnotations) {
    if (const std::size_t same = in_common(annotation, known); same > common) {
      best = known;
      common = same;
    }
  }
  return std::max(best.size(), annotation.size()) <= common + kMostWrong ? best : std::string_view();
}

// A misspelt annotation would scatter a gang without a word.
void object_to_unknown(json::Value annotations, Objection& objection) {
  for (const json::MemberData& member : annotations.members()) {
    if (member.key.starts_with(kPodSetPrefix) && std::find(std::begin(kPodSetAnnotations), std::end(kPodSetAnnotations),
                                                           member.key) == std::end(kPodSetAnnotations)) {
      const std::string_view meant = meant_by(member.key);
      objection.raise(json::Value(&member.value),
                      fmt::format("annotation {} is not known{}", member.key,
                                  meant.empty() ? std::string() : fmt::format("; did you mean {}?", meant)));
    }
  }
}

// What can be no node label is no level of any topology.
void object_to_no_labels(const TopologyRequest& request, Objection& objection) {
  const auto check = [&](json::Value at, std::string_view annotation, std::string_view level) {
    if (at && level != kAuto && !is_label_key(level)) {
      objection.raise(at, fmt::format("{}: \"{}\" is no node label, and no level by that", annotation, level));
    }
  };
  check(request.required, kRequired, request.required ? request.required.text() : "");
  check(request.preferred, kPreferred, request.preferred ? request.preferred.text() : "");
  for (const SliceRequest& slice : request.slices) {
    check(request.slices_at, request.slices_annotation, slice.level);
  }
}

// Turns annotations into level indices; keeps the first failure.
class Resolver {
 public:
  Resolver(const TopologyRequest& request, const Topology& topology) : request_(request), topology_(topology) {}

  int level(json::Value at, std::string_view annotation, std::string_view label) {
    const int found = topology_.level(label);
    if (found < 0) {
      // Another topology may have it, or this one may get it.
      code_ = error_ ? code_ : Errc::kNotFound;
      complain(at, fmt::format("{}: Topology \"{}\" has no level \"{}\" (it has {})", annotation, topology_.name, label,
                               fmt::join(topology_.levels, ", ")));
    }
    return found;
  }
  void complain(json::Value at, std::string_view message) {
    if (!error_) {
      error_ = fmt::format("{}: {}", json::to_string({request_.file, at.line()}), message);
    }
  }
  [[nodiscard]] bool failed() const { return error_.has_value(); }
  // Requires failed().
  [[nodiscard]] tl::unexpected<Error> error() const { return fail(code_, *error_); }

 private:
  const TopologyRequest& request_;
  const Topology& topology_;
  Errc code_ = Errc::kInvalid;
  std::optional<std::string> error_;
};

void resolve_slices(const TopologyRequest& request, Resolver& resolver, Constraint& constraint) {
  int above = -1;
  for (const SliceRequest& slice : request.slices) {
    const int level = resolver.level(request.slices_at, request.slices_annotation, slice.level);
    if (level >= 0 && level <= above) {
      resolver.complain(request.slices_at, fmt::format("{}: level \"{}\" is not below the level before it",
                                                       request.slices_annotation, slice.level));
    }
    above = level;
    if (level >= 0 && constraint.required && level < *constraint.required) {
      resolver.complain(request.slices_at, fmt::format("{}: level \"{}\" is above the level of {}",
                                                       request.slices_annotation, slice.level, kRequired));
    }
    // All pods are inside one domain of the required level, so its slices are too.
    if (!constraint.required || level > *constraint.required) {
      constraint.slices.push_back({.level = level, .size = slice.size});
    }
  }
}

}  // namespace

std::string_view TopologyRequest::asking_annotation() const {
  if (required) {
    return kRequired;
  }
  if (preferred) {
    return kPreferred;
  }
  return slices.empty() ? kUnconstrained : slices_annotation;
}

json::Value TopologyRequest::asking_at() const {
  if (required) {
    return required;
  }
  if (preferred) {
    return preferred;
  }
  return slices.empty() ? unconstrained : slices_at;
}

std::vector<std::string_view> TopologyRequest::named_levels() const {
  std::vector<std::string_view> levels;
  for (const json::Value value : {required, preferred}) {
    if (value && value.text() != kAuto) {
      levels.push_back(value.text());
    }
  }
  for (const SliceRequest& slice : slices) {
    levels.push_back(slice.level);
  }
  return levels;
}

TopologyRequest read_topology_request(json::Reader& read, Objection& objection, std::string_view file,
                                      json::Value annotations, std::optional<int> default_slice_size) {
  TopologyRequest request;
  request.file = file;
  if (!annotations) {
    return request;
  }
  object_to_unknown(annotations, objection);
  request.required = annotation(read, annotations, kRequired);
  request.preferred = annotation(read, annotations, kPreferred);
  request.unconstrained = read_unconstrained(objection, annotation(read, annotations, kUnconstrained));
  if (request.unconstrained && (request.required || request.preferred)) {
    objection.raise(request.unconstrained,
                    fmt::format("{} contradicts {}", kUnconstrained, request.asking_annotation()));
  }
  const json::Value level = annotation(read, annotations, kSliceLevel);
  const json::Value size = annotation(read, annotations, kSliceSize);
  const json::Value layers = annotation(read, annotations, kSliceLayers);
  if (layers && (level || size)) {
    objection.raise(layers, fmt::format("{} excludes {}", kSliceLayers, level ? kSliceLevel : kSliceSize));
  } else if (layers) {
    read_layers(objection, layers, request);
  } else if (level || size) {
    read_slice(objection, level, size, default_slice_size, request);
  }
  request.group_at = annotation(read, annotations, kGroupName);
  if (request.group_at) {
    request.group_name = request.group_at.text();
    if (request.group_name.empty()) {
      objection.raise(request.group_at, fmt::format("{} must not be empty", kGroupName));
    }
  }
  read_packing(objection, annotation(read, annotations, kPlacement), request);
  object_to_no_labels(request, objection);
  return request;
}

Result<Constraint> resolve(const TopologyRequest& request, TopologyId id, const Topology& topology) {
  Resolver resolver(request, topology);
  Constraint constraint;
  constraint.topology = id;
  if (request.required) {
    const std::string_view label = request.required.text();
    constraint.required = label == kAuto ? 0 : resolver.level(request.required, kRequired, label);
  }
  if (request.preferred) {
    const std::string_view label = request.preferred.text();
    constraint.preferred = label == kAuto ? static_cast<int>(topology.levels.size()) - 1
                                          : resolver.level(request.preferred, kPreferred, label);
  }
  if (constraint.required && constraint.preferred && *constraint.preferred < *constraint.required) {
    resolver.complain(request.preferred, fmt::format("{} must not be above the level of {}", kPreferred, kRequired));
  }
  resolve_slices(request, resolver, constraint);
  if (resolver.failed()) {
    return resolver.error();
  }
  const bool near = constraint.required || constraint.preferred || !request.slices.empty();
  constraint.packing = request.packing.value_or(near ? Packing::kPack : Packing::kTightest);
  if (constraint.packing == Packing::kBalanced) {
    constraint.balance = constraint.preferred ? constraint.preferred : constraint.required;
  }
  return constraint;
}

}  // namespace gantree::kueue
