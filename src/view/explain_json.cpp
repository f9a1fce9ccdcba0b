#include "view/explain_json.h"

#include "view/decision_json.h"
#include "view/explain_state.h"
#include "view/explain_words.h"
#include "view/present_json.h"

namespace gantree::view {

namespace {

json::Out texts(const std::vector<std::string>& items) {
  json::Out list = json::Out::array();
  for (const std::string& item : items) {
    list.push(item);
  }
  return list;
}

json::Out key_of(const GangKey& key) {
  return json::Out::object().add("namespace", key.ns).add("name", key.name).add("kind", key.kind);
}

class ExplainJson {
 public:
  ExplainJson(const Explanation& why, const std::vector<PresentGang>& known, Cluster& cluster)
      : why_(why),
        known_(known),
        is_(find(known, why.key)),
        cluster_(cluster),
        names_(cluster.inventory().resources()),
        words_(why, cluster, true) {}

  json::Out write() {
    json::Out out = key_of(why_.key);
    out.add("dialect", why_.dialect);
    const StateWords words = state_words(why_, is_);
    out.add("state", words.state);
    if (!why_.over) {
      out.add("priority", why_.priority);
    }
    if ((why_.over || why_.running || is_ != nullptr) && !words.message.empty()) {
      out.add("reason", words.reason.empty() ? words.state : words.reason).add("message", words.message);
    }
    if (is_ != nullptr) {
      stands(out);
    }
    if (why_.running) {
      out.add("hosts", holdings());
    } else if (is_open(why_, is_)) {
      decided(out);
    }
    if (why_.record) {
      record(out);
    }
    if (!why_.evictions.empty()) {
      out.add("evictions", evictions());
    }
    if (!why_.siblings.empty()) {
      out.add("replicas", siblings());
    }
    return out;
  }

 private:
  void record(json::Out& out) const {
    const GangRecord& known = *why_.record;
    out.add("workload", known.object);
    for (const auto& [key, value] : {std::pair("queue", &known.queue), std::pair("clusterQueue", &known.cluster_queue),
                                     std::pair("flavors", &known.flavors), std::pair("admittedAt", &known.since)}) {
      if (!value->empty()) {
        out.add(key, *value);
      }
    }
    if (known.admitted > 0) {
      out.add("podsAdmitted", known.admitted).add("podsAsked", known.asked);
    }
  }

  // As the cluster says.
  void stands(json::Out& out) const {
    if (!is_->why.since.empty()) {
      out.add("since", is_->why.since);
    }
    out.add("podSets", pod_sets_to_json(*is_, cluster_));
  }

  void decided(json::Out& out) {
    const bool placed = why_.decision.state == GangState::kPlaced;
    if (is_ != nullptr) {
      json::Out would = json::Out::object().add("state", to_string(why_.decision.state));
      decision(would);
      out.add("ifDecidedNow", std::move(would));
    } else {
      decision(out);
    }
    out.add("turn", why_.turn).add("turns", why_.turns);
    if (!why_.asked) {
      return;
    }
    out.add("waysToStart", static_cast<std::int64_t>(why_.ways));
    out.add("asks", group(why_.asked->gang.root, why_.asked->gang.topology));
    if (!why_.quota.empty()) {
      out.add("quota", quota(why_.quota));
    }
    if (!why_.levels.empty()) {
      out.add("measure", measure()).add("levels", levels()).add("hosts", census(why_.hosts));
      out.add("nodesOutside", why_.outside);
    }
    if (placed && why_.landing) {
      out.add("landing", landing());
    }
    if (!placed) {
      out.add("heldBack", why_.held_back);
      out.add("nearest", nearest());
      out.add("remedies", remedies());
    }
  }

  void decision(json::Out& out) const {
    if (why_.decision.state != GangState::kPlaced) {
      out.add("reason", to_string(why_.decision.reason)).add("message", why_.decision.message);
    }
    out.add("podSets", gantree::pod_sets_to_json(why_.decision, cluster_));
  }

  [[nodiscard]] json::Out label(TopologyId topology, int level) const {
    const Topology& levels = cluster_.engine().topology(topology);
    const auto at = static_cast<std::size_t>(level);
    return level < 0 ? json::Out()
                     : json::Out(at < levels.levels.size() ? std::string_view(levels.levels[at])
                                                           : std::string_view(kHostnameLabel));
  }

  [[nodiscard]] json::Out request(const Amounts& amounts) const {
    json::Out out = json::Out::object();
    for (const auto& [resource, amount] : amounts.entries()) {
      out.add(names_.name(resource), format_quantity(amount, ResourceNames::unit(resource)));
    }
    return out;
  }

  void constraint(const Constraint& asked, TopologyId topology, json::Out& out) const {
    const auto level = [&](std::string_view name, const std::optional<int>& at) {
      if (at) {
        out.add(name, label(topology, *at));
      }
    };
    level("required", asked.required);
    level("preferred", asked.preferred);
    level("exclusive", asked.exclusive);
    if (!asked.slices.empty()) {
      json::Out slices = json::Out::array();
      for (const Slice& slice : asked.slices) {
        slices.push(json::Out::object().add("level", label(topology, slice.level)).add("size", slice.size));
      }
      out.add("slices", std::move(slices));
    }
  }

  [[nodiscard]] json::Out group(const Group& asked, TopologyId inherited) const {
    const TopologyId topology = asked.constraint.topology.value_or(inherited);
    json::Out out = json::Out::object();
    if (!asked.name.empty()) {
      out.add("name", asked.name);
    }
    constraint(asked.constraint, topology, out);
    json::Out sets = json::Out::array();
    for (const PodSet& set : asked.pod_sets) {
      json::Out one = json::Out::object();
      one.add("name", set.name).add("count", set.count).add("minCount", set.min_count);
      one.add("requests", request(set.shape.requests));
      constraint(set.constraint, set.constraint.topology.value_or(topology), one);
      sets.push(std::move(one));
    }
    out.add("podSets", std::move(sets));
    if (asked.min_pods) {
      out.add("minPods", *asked.min_pods);
    }
    if (asked.min_groups) {
      out.add("minGroups", *asked.min_groups);
    }
    if (!asked.groups.empty()) {
      json::Out groups = json::Out::array();
      for (const Group& nested : asked.groups) {
        groups.push(group(nested, topology));
      }
      out.add("groups", std::move(groups));
    }
    return out;
  }

  [[nodiscard]] json::Out quota(const std::vector<QuotaNeed>& needs) const {
    json::Out list = json::Out::array();
    for (const QuotaNeed& need : needs) {
      json::Out one = json::Out::object();
      one.add("queue", need.queue).add("flavor", need.flavor).add("resource", need.resource);
      one.add("needed", format_quantity(need.needed, need.unit));
      if (need.left != kUnlimited) {
        one.add("left", format_quantity(need.left, need.unit));
      }
      one.add("borrowed", format_quantity(need.borrowed, need.unit));
      one.add("missing", format_quantity(need.missing(), need.unit));
      list.push(std::move(one));
    }
    return list;
  }

  [[nodiscard]] json::Out measure() const {
    const Measure& measure = why_.measure;
    json::Out out = json::Out::object();
    if (measure.resource) {
      out.add("resource", names_.name(*measure.resource));
      out.add("unit", format_quantity(measure.unit, ResourceNames::unit(*measure.resource)));
    } else {
      out.add("podSet", measure.pod_set);
    }
    out.add("needed", measure.needed).add("level", label(measure.topology, measure.level));
    out.add("topology", cluster_.engine().topology(measure.topology).name);
    return out;
  }

  [[nodiscard]] json::Out levels() const {
    json::Out list = json::Out::array();
    for (const LevelRow& row : why_.levels) {
      json::Out one = json::Out::object();
      one.add("level", label(why_.measure.topology, row.level)).add("domains", row.domains);
      one.add("holdWhenEmpty", row.when_empty).add("holdNow", row.now);
      one.add("offers", row.offers).add("offersWhenEmpty", row.offers_when_empty).add("values", texts(row.best));
      list.push(std::move(one));
    }
    return list;
  }

  [[nodiscard]] json::Out census(const HostCensus& hosts) const {
    json::Out out = json::Out::object();
    out.add("hosts", hosts.hosts).add("withRoom", hosts.roomy);
    json::Out left_out = json::Out::object();
    for (const auto& [reason, count] : hosts.left_out) {
      left_out.add(ExplainWords::key(reason), count);
    }
    const auto by_resource = [&](const std::vector<std::pair<ResourceId, int>>& counts) {
      json::Out list = json::Out::object();
      for (const auto& [resource, count] : counts) {
        list.add(names_.name(resource), count);
      }
      return list;
    };
    json::Out taints = json::Out::object();
    for (const auto& [taint, count] : hosts.taints) {
      taints.add(taint, count);
    }
    out.add("leftOut", std::move(left_out)).add("taints", std::move(taints));
    out.add("tooSmall", by_resource(hosts.too_small)).add("short", by_resource(hosts.short_now));
    out.add("noWholeSlice", hosts.no_slice);
    return out;
  }

  [[nodiscard]] json::Out nearest() const {
    json::Out list = json::Out::array();
    for (const NearDomain& near : why_.nearest) {
      const Unit unit = ResourceNames::unit(near.resource);
      json::Out holders = json::Out::array();
      for (const Holder& holder : near.holders) {
        json::Out one = key_of(holder.key);
        one.add("priority", holder.priority).add("pods", holder.pods);
        one.add("amount", format_quantity(holder.amount, unit)).add("wentBefore", holder.planned);
        holders.push(std::move(one));
      }
      json::Out one = json::Out::object();
      one.add("values", texts(near.path)).add("offers", near.offers).add("offersWhenEmpty", near.offers_when_empty);
      one.add("takenByItsKind", near.taken).add("hosts", census(near.hosts));
      one.add("resource", names_.name(near.resource)).add("holders", std::move(holders));
      one.add("others", format_quantity(near.others, unit));
      list.push(std::move(one));
    }
    return list;
  }

  [[nodiscard]] json::Out victims(const Remedy& remedy) const {
    json::Out list = json::Out::array();
    for (const RemedyVictim& victim : remedy.victims) {
      json::Out one = key_of(victim.key);
      one.add("priority", victim.priority).add("pods", victim.pods);
      if (remedy.kind == RemedyKind::kEvict) {
        one.add("allowed", victim.forbidden.empty());
      }
      if (!victim.forbidden.empty()) {
        one.add("why", victim.forbidden);
      }
      list.push(std::move(one));
    }
    return list;
  }

  [[nodiscard]] json::Out remedies() const {
    json::Out list = json::Out::array();
    for (const Remedy& remedy : why_.remedies) {
      json::Out one = json::Out::object();
      one.add("kind", to_string(remedy.kind)).add("message", words_.remedy(remedy));
      one.add("needsQuotaToo", remedy.with_quota);
      if (remedy.count > 0) {
        one.add("count", remedy.count);
      }
      if (remedy.asked > 0) {
        one.add("asked", remedy.asked);
      }
      if (!remedy.subject.empty()) {
        one.add(remedy.kind == RemedyKind::kTolerate ? "taint" : "podSet", remedy.subject);
      }
      if (remedy.kind == RemedyKind::kSmallerPods) {
        const Unit unit = ResourceNames::unit(remedy.resource);
        one.add("resource", names_.name(remedy.resource)).add("amount", format_quantity(remedy.amount, unit));
        one.add("askedAmount", format_quantity(remedy.asked_amount, unit));
      }
      if (remedy.relaxed) {
        one.add("requiringNoLevel", true);
      }
      if (remedy.from >= 0) {
        one.add("from", label(remedy.topology, remedy.from)).add("to", label(remedy.topology, remedy.to));
      }
      if (!remedy.domain.empty()) {
        one.add("values", texts(remedy.domain));
      }
      if (!remedy.like.empty()) {
        one.add("like", remedy.like);
      }
      if (!remedy.nodes.empty()) {
        one.add("nodes", texts(remedy.nodes));
      }
      if (!remedy.victims.empty()) {
        one.add("gangs", victims(remedy));
      }
      if (!remedy.quota.empty()) {
        one.add("quota", quota(remedy.quota));
      }
      list.push(std::move(one));
    }
    return list;
  }

  [[nodiscard]] json::Out landing() const {
    const Landing& landing = *why_.landing;
    json::Out used = json::Out::array();
    for (const int count : landing.used) {
      used.push(count);
    }
    json::Out out = json::Out::object();
    out.add("message", words_.choice()).add("level", label(landing.topology, landing.level));
    out.add("values", texts(landing.domain)).add("couldHold", landing.could).add("offered", landing.offered);
    out.add("domainsUsed", std::move(used));
    return out;
  }

  [[nodiscard]] json::Out holdings() const {
    json::Out list = json::Out::array();
    for (const Holding& holding : why_.holdings) {
      json::Out one = json::Out::object();
      one.add("node", cluster_.inventory().node(holding.node).name).add("count", holding.count);
      if (!holding.pod_set.empty()) {
        one.add("podSet", holding.pod_set);
      }
      list.push(one.add("requests", request(holding.requests)));
    }
    return list;
  }

  [[nodiscard]] json::Out evictions() const {
    json::Out list = json::Out::array();
    for (const Eviction& eviction : why_.evictions) {
      json::Out one = key_of(eviction.key);
      one.add("for", words_.gang(eviction.by)).add("reason", to_string(eviction.reason));
      one.add("message", eviction.message).add("priority", eviction.priority).add("pods", eviction.pods);
      list.push(std::move(one));
    }
    return list;
  }

  [[nodiscard]] json::Out siblings() const {
    json::Out list = json::Out::array();
    for (const Sibling& sibling : why_.siblings) {
      json::Out one = key_of(sibling.key);
      const PresentGang* is = find(known_, sibling.key);
      list.push(one.add("state", is != nullptr     ? to_string(is->state)
                                 : sibling.running ? "Running"
                                                   : to_string(sibling.state)));
    }
    return list;
  }

  const Explanation& why_;
  const std::vector<PresentGang>& known_;
  const PresentGang* is_;  // nullptr where no cluster knows it
  Cluster& cluster_;
  const ResourceNames& names_;
  ExplainWords words_;
};

}  // namespace

json::Out explanation_to_json(const Explanation& why, const std::vector<PresentGang>& known, Cluster& cluster) {
  return ExplainJson(why, known, cluster).write();
}

}  // namespace gantree::view
