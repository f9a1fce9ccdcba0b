// Remedies by hosts: mended ones, more of them, whole domains more.
#include <fmt/format.h>

#include <algorithm>

#include "explain/remedy.h"

namespace gantree {

namespace {

constexpr int kMostHosts = 64;
constexpr int kMostMended = 16;
constexpr int kMostDomains = 8;
constexpr std::size_t kDomainsTried = 3;

// Nodes that are there for a trial only. They are cordoned until they are opened: that leaves the trees as they are.
class ExtraNodes {
 public:
  explicit ExtraNodes(Cluster& cluster) : cluster_(cluster) {}
  ~ExtraNodes() {
    for (const std::string& name : names_) {
      cluster_.remove_node(name);
    }
  }
  ExtraNodes(const ExtraNodes&) = delete;
  ExtraNodes& operator=(const ExtraNodes&) = delete;

  // A node like another one, but for its name and the value of a label.
  void add(Node like, const std::string& suffix, std::optional<std::string> label = {}, const std::string& value = {}) {
    Interner& strings = cluster_.inventory().strings();
    std::string name = fmt::format("{}-{}", like.name, suffix);
    while (cluster_.inventory().find(name)) {
      name += "+";
    }
    for (Label& own : like.labels) {
      if (strings.text(own.key) == kHostnameLabel) {
        own.value = strings.intern(name);
      } else if (label && strings.text(own.key) == *label) {
        own.value = strings.intern(value);
      }
    }
    like.name = name;
    like.unschedulable = true;
    cluster_.upsert_node(std::move(like));
    names_.push_back(std::move(name));
  }

  // The first so many take pods, the others do not.
  void open(std::size_t count) {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      Node node = cluster_.inventory().node(*cluster_.inventory().find(names_[i]));
      if (node.unschedulable != (i >= count)) {
        node.unschedulable = i >= count;
        cluster_.upsert_node(std::move(node));
      }
    }
  }

 private:
  Cluster& cluster_;
  std::vector<std::string> names_;
};

// A domain near to holding the gang, by its nodes: those outlive changes of the tree.
struct Site {
  DomainPath path;
  std::vector<NodeId> nodes;
  bool taken = false;
};

class Hosts {
 public:
  Hosts(const Plight& plight, const Survey& survey)
      : plight_(plight), measure_(survey.measure()), shape_(survey.shape()) {
    for (const Fill fill : {Fill::kNow, Fill::kEmpty}) {
      for (const Domain domain : survey.nearest(fill, kDomainsTried)) {
        const NearDomain near = survey.describe(domain, {});
        Site site{.path = near.path, .nodes = {}, .taken = near.taken};
        const Range hosts = survey.tree().hosts(domain);
        for (std::uint32_t host = hosts.begin; host < hosts.end; ++host) {
          site.nodes.push_back(survey.tree().node(host));
        }
        const bool known =
            std::any_of(sites_.begin(), sites_.end(), [&](const Site& other) { return other.path == site.path; });
        if (!known) {
          sites_.push_back(std::move(site));
        }
      }
    }
  }

  std::vector<Remedy> find() {
    mend();
    const std::size_t before = found_.size();
    more_hosts();
    if (found_.size() == before) {
      more_domains();
    }
    return std::move(found_);
  }

 private:
  [[nodiscard]] std::optional<Trial> trial() const { return try_gang(plight_, plight_.alternative.gang); }

  // Ready, schedulable, and without the taints by which the control plane says that it is not.
  [[nodiscard]] Node mended(Node node) const {
    const Interner& strings = plight_.cluster.inventory().strings();
    std::erase_if(node.taints,
                  [&](const Taint& taint) { return strings.text(taint.key).starts_with("node.kubernetes.io/"); });
    node.unschedulable = false;
    node.ready = true;
    return node;
  }

  void mend() {
    std::optional<Remedy> best;
    for (const Site& site : sites_) {
      std::vector<Node> broken;
      for (const NodeId id : site.nodes) {
        const Node& node = plight_.cluster.inventory().node(id);
        if (node.unschedulable || !node.ready) {
          broken.push_back(node);
        }
      }
      Remedy remedy{.kind = RemedyKind::kMendHosts, .domain = site.path};
      std::optional<Trial> tried;
      const auto most = std::min<std::size_t>(broken.size(), kMostMended);
      for (std::size_t i = 0; i < most && !tried; ++i) {
        plight_.cluster.upsert_node(mended(broken[i]));
        remedy.nodes.push_back(broken[i].name);
        tried = trial();
      }
      for (std::size_t i = 0; i < remedy.nodes.size(); ++i) {
        plight_.cluster.upsert_node(broken[i]);
      }
      if (tried && (!best || remedy.nodes.size() < best->nodes.size())) {
        remedy.with_quota = !tried->quota;
        best = std::move(remedy);
      }
    }
    if (best) {
      found_.push_back(std::move(*best));
    }
  }

  // The host of a site on which most of the pods would fit, were it empty.
  [[nodiscard]] std::optional<Node> model(const Site& site) const {
    const Inventory& inventory = plight_.cluster.inventory();
    std::optional<NodeId> best;
    const auto room = [&](NodeId node) { return inventory.room_when_empty(node, shape_.requests); };
    for (const NodeId node : site.nodes) {
      const bool may = eligibility(shape_, inventory.node(node), inventory.strings()) == Ineligible::kNo;
      if (may && room(node) > 0 && (!best || room(node) > room(*best))) {
        best = node;
      }
    }
    return best ? std::optional(inventory.node(*best)) : std::nullopt;
  }

  void more_hosts() {
    std::optional<Remedy> best;
    for (const Site& site : sites_) {
      const std::optional<Node> like = model(site);
      if (site.taken || !like) {
        continue;
      }
      ExtraNodes extra(plight_.cluster);
      const int most = best ? best->count - 1 : kMostHosts;
      for (int i = 0; i < most; ++i) {
        extra.add(*like, fmt::format("more-{}", i));
      }
      std::optional<Trial> tried;
      int high = most + 1;
      for (int low = 0; high - low > 1;) {
        // The largest number first: where that does not help there is nothing to find.
        const int middle = high > most ? most : low + (high - low) / 2;
        extra.open(static_cast<std::size_t>(middle));
        if (auto now = trial()) {
          tried = std::move(now);
          high = middle;
        } else if (middle == most) {
          break;
        } else {
          low = middle;
        }
      }
      if (tried) {
        best = Remedy{.kind = RemedyKind::kMoreHosts,
                      .with_quota = !tried->quota,
                      .count = high,
                      .to = static_cast<int>(site.path.size()) - 1,
                      .topology = measure_.topology,
                      .domain = site.path,
                      .like = like->name};
      }
    }
    if (best) {
      found_.push_back(std::move(*best));
    }
  }

  // Copies of the largest domain, empty.
  void more_domains() {
    const Topology& topology = plight_.cluster.engine().topology(measure_.topology);
    if (sites_.empty() || measure_.level < 0 || static_cast<std::size_t>(measure_.level) >= topology.levels.size()) {
      return;
    }
    const std::string label = topology.levels[static_cast<std::size_t>(measure_.level)];
    for (const Site& site : sites_) {
      for (int count = 1; count <= kMostDomains; ++count) {
        ExtraNodes extra(plight_.cluster);
        for (int i = 0; i < count; ++i) {
          for (const NodeId node : site.nodes) {
            const Node& like = plight_.cluster.inventory().node(node);
            extra.add(like, fmt::format("more-{}", i), label, fmt::format("{}-more-{}", site.path.back(), i));
          }
        }
        extra.open(static_cast<std::size_t>(count) * site.nodes.size());
        if (const auto tried = trial()) {
          found_.push_back({.kind = RemedyKind::kMoreDomains,
                            .with_quota = !tried->quota,
                            .count = count,
                            .to = measure_.level,
                            .topology = measure_.topology,
                            .domain = site.path,
                            .hosts_each = static_cast<int>(site.nodes.size())});
          return;
        }
      }
    }
  }

  const Plight& plight_;
  const Measure measure_;
  const PodShape shape_;
  std::vector<Site> sites_;
  std::vector<Remedy> found_;
};

}  // namespace

std::vector<Remedy> remedies_of_hosts(const Plight& plight, const Survey& survey) {
  // Where there is a place already, hosts are not what is missing.
  if (try_gang(plight, plight.alternative.gang)) {
    return {};
  }
  return Hosts(plight, survey).find();
}

}  // namespace gantree
