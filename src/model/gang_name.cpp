#include "model/gang_name.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "base/edit_distance.h"

namespace gantree {

namespace {

// Kinds whose parts are gangs of their own, called NAME-INDEX.
constexpr std::string_view kReplicated[] = {"LeaderWorkerSet", "Deployment", "ReplicaSet"};

// As kubectl knows them.
constexpr std::pair<std::string_view, std::string_view> kShortNames[] = {
    {"po", "pod"},       {"deploy", "deployment"},   {"rs", "replicaset"}, {"sts", "statefulset"},
    {"ds", "daemonset"}, {"lws", "leaderworkerset"}, {"cj", "cronjob"},    {"wl", "workload"}};

bool equal_but_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

// `typed` is what somebody wrote.
bool same_kind(std::string_view typed, std::string_view kind) {
  typed = typed.substr(0, typed.find('.'));
  if (equal_but_case(typed, kind)) {
    return true;
  }
  if (typed.ends_with('s') && equal_but_case(typed.substr(0, typed.size() - 1), kind)) {
    return true;
  }
  return std::any_of(std::begin(kShortNames), std::end(kShortNames), [&](const auto& known) {
    return equal_but_case(typed, known.first) && equal_but_case(known.second, kind);
  });
}

struct Wanted {
  std::optional<std::string_view> ns;
  std::optional<std::string_view> kind;
  std::string_view name;

  [[nodiscard]] bool place(const GangKey& key) const {
    return (!ns || *ns == key.ns) && (!kind || same_kind(*kind, key.kind));
  }
  // A replica of the set of that name.
  [[nodiscard]] bool replica(const GangKey& key) const {
    const std::string_view full = key.name;
    if (std::find(std::begin(kReplicated), std::end(kReplicated), key.kind) == std::end(kReplicated) ||
        full.size() < name.size() + 2 || !full.starts_with(name) || full[name.size()] != '-') {
      return false;
    }
    const std::string_view index = full.substr(name.size() + 1);
    return std::all_of(index.begin(), index.end(), [](char c) { return c >= '0' && c <= '9'; });
  }
};

// The ways to read the text.
std::vector<Wanted> readings(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find('/', from), text.size());
    parts.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  switch (parts.size()) {
    case 1:
      return {{.ns = {}, .kind = {}, .name = parts[0]}};
    case 2:
      return {{.ns = parts[0], .kind = {}, .name = parts[1]}, {.ns = {}, .kind = parts[0], .name = parts[1]}};
    case 3:
      return {{.ns = parts[0], .kind = parts[1], .name = parts[2]}};
    default:
      return {};
  }
}

}  // namespace

std::vector<NamedGangs> find_gangs(const std::vector<GangKey>& all, std::string_view text) {
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<GangKey>> found;
  for (const Wanted& wanted : readings(text)) {
    for (const GangKey& key : all) {
      const bool named = wanted.place(key) && (key.name == wanted.name || wanted.replica(key));
      if (!named) {
        continue;
      }
      std::vector<GangKey>& keys = found[{key.ns, key.kind, std::string(wanted.name)}];
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
        keys.push_back(key);
      }
    }
  }
  std::vector<NamedGangs> named;
  for (auto& [names, keys] : found) {
    const auto& [ns, kind, name] = names;
    const auto exact = std::find_if(keys.begin(), keys.end(), [&](const GangKey& key) { return key.name == name; });
    named.push_back({.ns = ns,
                     .kind = kind,
                     .name = name,
                     .keys = exact == keys.end() ? std::move(keys) : std::vector<GangKey>{*exact}});
  }
  return named;
}

bool may_mean(std::string_view text, const GangKey& object) {
  const std::vector<Wanted> all = readings(text);
  return std::any_of(all.begin(), all.end(),
                     [&](const Wanted& wanted) { return wanted.place(object) && object.name == wanted.name; });
}

std::vector<std::string> similar_names(const std::vector<GangKey>& all, std::string_view text, std::size_t most) {
  const std::string_view name = text.substr(text.rfind('/') + 1);
  std::vector<std::pair<std::size_t, std::string>> order;
  for (const GangKey& key : all) {
    const bool inside = !name.empty() && key.name.find(name) != std::string::npos;
    const std::size_t far = inside ? 1 : edit_distance(name, key.name);
    if (is_near(far, name.size())) {
      order.emplace_back(far, key.ns.empty() ? key.name : key.ns + "/" + key.name);
    }
  }
  std::sort(order.begin(), order.end());
  order.erase(std::unique(order.begin(), order.end()), order.end());
  order.resize(std::min(order.size(), most));
  std::vector<std::string> names;
  for (auto& [far, found] : order) {
    names.push_back(std::move(found));
  }
  return names;
}

}  // namespace gantree
