// The parts of object metadata that decisions depend on.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/timestamp.h"
#include "json/decode.h"

namespace gantree {

using LabelMap = std::map<std::string, std::string, std::less<>>;

// The labels or annotations of metadata that was read already; absent also where they are null.
[[nodiscard]] inline json::Value map_at(json::Value metadata, std::string_view key) {
  const json::Value map = metadata ? metadata[key] : json::Value();
  return map && map.kind() == json::Kind::kObject ? map : json::Value();
}

// The items of a list; none where there is no list.
[[nodiscard]] inline std::span<const json::NodeData> items_of(json::Value list) {
  return list && list.kind() == json::Kind::kArray ? list.items() : std::span<const json::NodeData>();
}

// The owner that controls an object; the first where none says that it does; all "" where there is none.
struct Owner {
  std::string_view group;  // of its API
  std::string_view kind;
  std::string_view name;
  [[nodiscard]] bool present() const { return !kind.empty(); }
};
[[nodiscard]] Owner read_controller(json::Reader& read, json::Value metadata);

// metadata.creationTimestamp; 0 where there is none. Complains about malformed ones.
[[nodiscard]] std::int64_t read_created(json::Reader& read, json::Value metadata);

// A map of strings, say metadata.labels. Complains about values that are no strings.
[[nodiscard]] LabelMap read_labels(json::Reader& read, json::Value parent, std::string_view key);

// Whether the conditions of a status say so: {type, status: "True"}. nullopt where the type is not among them.
[[nodiscard]] std::optional<bool> condition(json::Reader& read, json::Value status, std::string_view type);

}  // namespace gantree
