#include "dialects/core/metadata.h"

#include <fmt/format.h>

namespace gantree {

Owner read_controller(json::Reader& read, json::Value metadata) {
  const json::Value owners = read.array(metadata, "ownerReferences");
  if (!owners) {
    return {};
  }
  Owner first;
  for (const json::NodeData& item : owners.items()) {
    const json::Value owner(&item);
    const std::string_view api_version = read.text(owner, "apiVersion").value_or("");
    const std::size_t slash = api_version.find('/');
    const Owner found{.group = slash == std::string_view::npos ? std::string_view{} : api_version.substr(0, slash),
                      .kind = read.text(owner, "kind").value_or(""),
                      .name = read.text(owner, "name").value_or("")};
    if (read.boolean(owner, "controller").value_or(false)) {
      return found;
    }
    first = first.present() ? first : found;
  }
  return first;
}

std::int64_t read_created(json::Reader& read, json::Value metadata) {
  const auto text = read.text(metadata, "creationTimestamp");
  if (!text) {
    return 0;
  }
  const auto seconds = parse_time(*text);
  if (!seconds) {
    read.complain(metadata["creationTimestamp"],
                  fmt::format("creationTimestamp \"{}\" is not a time such as 2026-01-31T12:00:00Z", *text));
  }
  return seconds.value_or(0);
}

LabelMap read_labels(json::Reader& read, json::Value parent, std::string_view key) {
  LabelMap labels;
  if (const json::Value map = read.object(parent, key)) {
    for (const json::MemberData& member : map.members()) {
      labels.emplace(member.key, read.as_text(json::Value(&member.value), member.key));
    }
  }
  return labels;
}

std::optional<bool> condition(json::Reader& read, json::Value status, std::string_view type) {
  const json::Value conditions = read.array(status, "conditions");
  if (!conditions) {
    return std::nullopt;
  }
  for (const json::NodeData& item : conditions.items()) {
    const json::Value one(&item);
    if (read.text(one, "type") == type) {
      return read.text(one, "status") == "True";
    }
  }
  return std::nullopt;
}

}  // namespace gantree
