#include "view/where.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "view/words.h"

namespace gantree::view {

namespace {

constexpr std::size_t kMaxNamedRows = 64;  // more are numbers on any terminal

// A lowest domain above the hosts, and how many hosts of it are meant.
struct Row {
  Domain domain;
  std::vector<std::uint32_t> hosts;
};

std::vector<Row> rows_of(const DomainTree& tree, const std::set<std::uint32_t>& hosts) {
  const int level = tree.host_level() - 1;
  std::vector<Row> rows;
  for (const std::uint32_t host : hosts) {
    const Domain domain = level < 0 ? kWholeTree : Domain{level, tree.parent(tree.host_level(), host)};
    if (rows.empty() || rows.back().domain != domain) {
      rows.push_back({domain, {}});
    }
    rows.back().hosts.push_back(host);
  }
  return rows;
}

std::string one_row(const DomainTree& tree, const Row& row, bool unicode) {
  const std::string path = path_text(tree, row.domain, unicode);
  if (row.hosts.size() == 1) {
    return path_text(tree, {tree.host_level(), row.hosts.front()}, unicode);
  }
  return fmt::format("{}{}{}", path, path.empty() ? "" : ": ",
                     counted(static_cast<std::int64_t>(row.hosts.size()), "host"));
}

std::uint32_t parent_of(const DomainTree& tree, Domain domain) {
  return domain.level == 0 ? 0 : tree.parent(domain.level, domain.index);
}

// Whether b is the next sibling of a by name.
bool adjacent(const DomainTree& tree, Domain a, Domain b) {
  const Range siblings = tree.children({a.level - 1, parent_of(tree, a)});
  for (std::uint32_t other = siblings.begin; other < siblings.end; ++other) {
    const std::string& name = tree.name({a.level, other});
    if (natural_less(tree.name(a), name) && natural_less(name, tree.name(b))) {
      return false;
    }
  }
  return true;
}

// "r1, r3–r6"; or, where sizes differ, "r1 (4), r2 (7 hosts)". Rows of one parent, in order.
std::string siblings_text(const DomainTree& tree, std::span<const Row> rows, bool equal, bool unicode) {
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += i == 0 ? "" : ", ";
    text += printable(tree.name(rows[i].domain), unicode);
    if (!equal) {
      const auto hosts = static_cast<std::int64_t>(rows[i].hosts.size());
      text += i + 1 == rows.size() ? fmt::format(" ({})", counted(hosts, "host")) : fmt::format(" ({})", hosts);
      continue;
    }
    std::size_t last = i;
    while (last + 1 < rows.size() && adjacent(tree, rows[last].domain, rows[last + 1].domain)) {
      ++last;
    }
    if (last > i + 1) {
      text += (unicode ? "–" : "-") + printable(tree.name(rows[last].domain), unicode);
      i = last;
    }
  }
  return text;
}

std::string several_rows(const DomainTree& tree, std::vector<Row> rows, bool unicode) {
  const std::size_t each = rows.front().hosts.size();
  const bool equal = std::all_of(rows.begin(), rows.end(), [&](const Row& row) { return row.hosts.size() == each; });
  const auto parent = [&](const Row& row) { return parent_of(tree, row.domain); };
  std::stable_sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
    return parent(a) != parent(b) ? parent(a) < parent(b) : natural_less(tree.name(a.domain), tree.name(b.domain));
  });
  std::string text;
  for (std::size_t i = 0, end = 0; i < rows.size(); i = end) {
    while (end < rows.size() && parent(rows[end]) == parent(rows[i])) {
      ++end;
    }
    const Domain above{rows[i].domain.level - 1, parent(rows[i])};
    text += i == 0 ? "" : "; ";
    text += above.level < 0 ? "" : path_text(tree, above, unicode) + ": ";
    text += siblings_text(tree, std::span(rows).subspan(i, end - i), equal, unicode);
  }
  return equal ? fmt::format("{} ({} each)", text, counted(static_cast<std::int64_t>(each), "host")) : text;
}

// "b4: 4 racks, 48 hosts": the lowest domain that holds all, and how many there are below it.
std::string in_numbers(const Topology& topology, const DomainTree& tree, const std::set<std::uint32_t>& hosts,
                       bool unicode) {
  const std::vector<std::string> words = level_words(topology);
  Domain common = kWholeTree;
  std::string text;
  for (int level = 0; level < tree.host_level(); ++level) {
    std::set<std::uint32_t> domains;
    for (const std::uint32_t host : hosts) {
      domains.insert(tree.ancestor(tree.host_level(), host, level));
    }
    if (domains.size() == 1) {
      common = {level, *domains.begin()};
    } else {
      text += counted(static_cast<std::int64_t>(domains.size()), words[static_cast<std::size_t>(level)]) + ", ";
    }
  }
  const std::string path = path_text(tree, common, unicode);
  return (path.empty() ? "" : path + ": ") + text + counted(static_cast<std::int64_t>(hosts.size()), "host");
}

}  // namespace

std::string path_text(const DomainTree& tree, Domain domain, bool unicode) {
  std::string text;
  for (int level = 0; level <= domain.level; ++level) {
    text += level == 0 ? "" : "/";
    text += printable(tree.name({level, tree.ancestor(domain.level, domain.index, level)}), unicode);
  }
  return text;
}

std::string where_text(const Topology& topology, const DomainTree& tree, std::span<const HostShare> shares, int width,
                       bool unicode) {
  std::set<std::uint32_t> hosts;
  for (const HostShare& share : shares) {
    if (const std::uint32_t host = tree.host_of(share.node); host != DomainTree::kNowhere && share.count > 0) {
      hosts.insert(host);
    }
  }
  if (hosts.empty()) {
    return "nowhere";
  }
  std::vector<Row> rows = rows_of(tree, hosts);
  if (rows.size() > kMaxNamedRows) {
    return in_numbers(topology, tree, hosts, unicode);
  }
  const std::string text =
      rows.size() == 1 ? one_row(tree, rows.front(), unicode) : several_rows(tree, std::move(rows), unicode);
  return columns(text) <= width ? text : in_numbers(topology, tree, hosts, unicode);
}

}  // namespace gantree::view
