#include "dialects/object.h"

#include <fmt/format.h>

namespace gantree {

namespace {

using Take = std::function<Result<>(const Object&)>;

// The kind that the items of a list may leave out: NodeList holds Nodes.
struct Inherited {
  std::string_view api_version;
  std::string_view kind;
};

Result<std::string_view> type_field(std::string_view file, json::Value object, std::string_view key,
                                    std::string_view inherited) {
  const json::Value value = object[key];
  if (!value || value.kind() == json::Kind::kNull) {
    if (!inherited.empty()) {
      return inherited;
    }
    return invalid(fmt::format("{}: this object has no {}", json::to_string({file, object.line()}), key));
  }
  if (value.kind() != json::Kind::kString || value.text().empty()) {
    return invalid(
        fmt::format("{}: {} must be a string that is not empty", json::to_string({file, value.line()}), key));
  }
  return value.text();
}

Result<> take_value(std::string_view file, json::Value value, Inherited inherited, const Take& take);

Result<> take_items(std::string_view file, json::Value items, Inherited inherited, const Take& take) {
  if (!items || items.kind() == json::Kind::kNull) {
    return {};
  }
  if (items.kind() != json::Kind::kArray) {
    return invalid(fmt::format("{}: items must be a list, not {}", json::to_string({file, items.line()}),
                               json::to_string(items.kind())));
  }
  for (const json::NodeData& item : items.items()) {
    if (auto taken = take_value(file, json::Value(&item), inherited, take); !taken) {
      return taken;
    }
  }
  return {};
}

Result<> take_value(std::string_view file, json::Value value, Inherited inherited, const Take& take) {
  if (value.kind() != json::Kind::kObject) {
    return invalid(fmt::format("{}: an API object must stand here, not {}", json::to_string({file, value.line()}),
                               json::to_string(value.kind())));
  }
  const auto kind = type_field(file, value, "kind", inherited.kind);
  if (!kind) {
    return tl::unexpected(kind.error());
  }
  const auto api_version = type_field(file, value, "apiVersion", inherited.api_version);
  if (!api_version) {
    return tl::unexpected(api_version.error());
  }
  constexpr std::string_view kList = "List";
  if (kind->ends_with(kList) && value["items"]) {
    const std::string_view of = kind->substr(0, kind->size() - kList.size());
    return take_items(file, value["items"], of.empty() ? Inherited{} : Inherited{*api_version, of}, take);
  }
  const std::size_t slash = api_version->find('/');
  const bool core = slash == std::string_view::npos;
  return take({.file = file,
               .group = core ? std::string_view{} : api_version->substr(0, slash),
               .version = core ? *api_version : api_version->substr(slash + 1),
               .kind = *kind,
               .value = value});
}

}  // namespace

Result<> for_each_object(const std::vector<json::Document>& documents, const Take& take) {
  for (const json::Document& document : documents) {
    if (auto taken = take_value(document.file(), document.root(), {}, take); !taken) {
      return taken;
    }
  }
  return {};
}

}  // namespace gantree
