// A cluster in memory with nothing but a grouper: objects from manifests, and what becomes of them.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "json/read.h"
#include "kai/grouper.h"
#include "support/tree.h"

namespace gantree::kai {

using test::Tree;

class SmallCluster {
 public:
  explicit SmallCluster(GrouperOptions options = {}) : options_(std::move(options)) { restart(); }

  // Objects of one or more documents of YAML, new or changed. Their uids are "uid-NAME" unless given.
  void put(const std::string& yaml) {
    const auto documents = json::read_documents("test.yaml", yaml);
    ASSERT_TRUE(documents) << documents.error().message;
    for (const json::Document& document : *documents) {
      Tree tree = Tree::of(document.root());
      const std::string name = tree.str({"metadata", "name"});
      if (tree.str({"metadata", "uid"}).empty()) {
        tree.at({"metadata", "uid"}) = Tree::string("uid-" + name);
      }
      const bool cluster_wide = tree.str({"kind"}) == "Topology" || tree.str({"kind"}) == "PriorityClass" ||
                                tree.str({"kind"}) == "ValidatingWebhookConfiguration";
      if (!cluster_wide && tree.str({"metadata", "namespace"}).empty()) {
        tree.at({"metadata", "namespace"}) = Tree::string("ns");
      }
      const std::string at = key(tree.str({"kind"}), name);
      objects_[at] = std::move(tree);
      tell(at);
    }
  }
  void remove(const std::string& kind, const std::string& name) {
    const Tree tree = objects_.at(key(kind, name));
    objects_.erase(key(kind, name));
    grouper_->removed(group_of(tree), kind, tree.str({"metadata", "namespace"}), name, now_);
  }

  // Steps until nothing is left to write, as if an API server did all at once.
  void settle() {
    for (int round = 0; round < 50; ++round) {
      const Step step = this->step();
      if (std::none_of(step.orders.begin(), step.orders.end(),
                       [](const Order& order) { return order.urgency != Urgency::kEvent; })) {
        return;
      }
      carry_out(step);
    }
    ADD_FAILURE() << "it does not come to rest";
  }
  Step step() {
    Step step;
    grouper_->step(now_, step);
    for (const Order& order : step.orders) {
      if (order.urgency == Urgency::kEvent) {
        const Tree event = Tree::parse(order.write.body);
        events_.push_back(fmt::format("{}/{}: {}", event.str({"regarding", "kind"}), event.str({"regarding", "name"}),
                                      event.str({"note"})));
      } else {
        ++writes_;
      }
    }
    return step;
  }
  void carry_out(const Step& step) {
    for (const Order& order : step.orders) {
      if (order.urgency == Urgency::kEvent) {
        continue;
      }
      const bool refused = refuses && refuses(order.write);
      if (!refused) {
        apply(order.write);
      }
      static_cast<void>(grouper_->answered(order.id, refused ? Answer::kRefused : Answer::kDone,
                                           refused ? "it is forbidden" : "", now_));
      if (!refused) {
        tell(key(order.write.object.kind, order.write.object.name));
      }
    }
  }
  void apply(const Write& write) {
    const std::string at = key(write.object.kind, write.object.name);
    if (write.verb == WriteVerb::kCreate) {
      ASSERT_FALSE(objects_.contains(at)) << at << " was made twice";
      objects_[at] = Tree::parse(write.body);
      objects_[at].at({"metadata", "uid"}) = Tree::string("uid-" + write.object.name);
      ++created_;
      return;
    }
    ASSERT_EQ(write.verb, WriteVerb::kPatch);
    const Tree body = Tree::parse(write.body);
    ASSERT_TRUE(objects_.contains(at)) << at;
    ASSERT_EQ(body.str({"metadata", "uid"}), objects_[at].str({"metadata", "uid"})) << "without the precondition";
    objects_[at].merge(body);
  }
  // The process is killed, and another starts, which lists all there is.
  void restart() {
    orders_ = std::make_unique<std::uint64_t>(1000);
    grouper_ = std::make_unique<Grouper>(*orders_, options_);
    for (const auto& [at, tree] : objects_) {
      tell(at);
    }
  }
  void pass(std::chrono::seconds time) { now_ += time; }

  [[nodiscard]] const Tree& object(const std::string& kind, const std::string& name) const {
    static const Tree kNone;
    const auto it = objects_.find(key(kind, name));
    EXPECT_NE(it, objects_.end()) << kind << " " << name;
    return it == objects_.end() ? kNone : it->second;
  }
  [[nodiscard]] bool has(const std::string& kind, const std::string& name) const {
    return objects_.contains(key(kind, name));
  }
  // "group" or "group/subgroup" of a pod; "" where it is in none.
  [[nodiscard]] std::string group_of_pod(const std::string& pod) const {
    const Tree& tree = object("Pod", pod);
    const std::string subgroup = tree.str({"metadata", "labels", "kai.scheduler/subgroup-name"});
    return tree.str({"metadata", "annotations", "pod-group-name"}) + (subgroup.empty() ? "" : "/" + subgroup);
  }
  // The spec of a PodGroup in one line, without queue and class.
  [[nodiscard]] std::string spec(const std::string& group) const {
    Tree spec = *object("PodGroup", group).find({"spec"});
    spec.erase({"queue"});
    spec.erase({"priorityClassName"});
    return spec.to_json();
  }
  [[nodiscard]] std::set<std::string> groups() const {
    std::set<std::string> names;
    for (const auto& [at, tree] : objects_) {
      if (tree.str({"kind"}) == "PodGroup") {
        names.insert(tree.str({"metadata", "name"}));
      }
    }
    return names;
  }
  [[nodiscard]] Grouper& grouper() { return *grouper_; }
  [[nodiscard]] const std::vector<std::string>& events() const { return events_; }
  [[nodiscard]] int writes() const { return writes_; }
  [[nodiscard]] int created() const { return created_; }

  std::function<bool(const Write&)> refuses;

 private:
  static std::string key(const std::string& kind, const std::string& name) { return kind + "/" + name; }
  static std::string group_of(const Tree& tree) {
    const std::string api = tree.str({"apiVersion"});
    return api.find('/') == std::string::npos ? "" : api.substr(0, api.find('/'));
  }
  void tell(const std::string& at) {
    Tree& tree = objects_.at(at);
    tree.at({"metadata", "resourceVersion"}) = Tree::string(std::to_string(++versions_));
    const std::string api = tree.str({"apiVersion"});
    const std::string version = api.substr(api.find('/') == std::string::npos ? 0 : api.find('/') + 1);
    const auto object = prune(group_of(tree), version, tree.str({"kind"}), tree.to_json());
    ASSERT_TRUE(object) << object.error().message;
    const auto taken = grouper_->changed(*object, now_);
    EXPECT_TRUE(taken) << taken.error().message;
  }

  GrouperOptions options_;
  std::unique_ptr<std::uint64_t> orders_;
  std::unique_ptr<Grouper> grouper_;
  std::map<std::string, Tree> objects_;
  std::vector<std::string> events_;
  Time now_ = Time(std::chrono::seconds(1'800'000'000));
  int versions_ = 0;
  int writes_ = 0;
  int created_ = 0;
};

// A pod of KAI's scheduler with an owner ("Job/j", or "" for none) of that API. `more` goes into its metadata.
inline std::string pod(const std::string& name, const std::string& api, const std::string& owner,
                       const std::string& more = "", const std::string& spec = "") {
  std::string reference;
  if (!owner.empty()) {
    const std::size_t slash = owner.find('/');
    reference =
        fmt::format(", ownerReferences: [{{apiVersion: {}, kind: {}, name: {}, uid: uid-{}, controller: true}}]", api,
                    owner.substr(0, slash), owner.substr(slash + 1), owner.substr(slash + 1));
  }
  return fmt::format(
      "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {}{}{}}}\nspec: {{schedulerName: kai-scheduler, containers: "
      "[{{name: c}}]{}}}\n",
      name, reference, more.empty() ? "" : ", " + more, spec.empty() ? "" : ", " + spec);
}

// Any other object; `more` goes into its metadata, `owner` as above.
inline std::string made(const std::string& api, const std::string& kind, const std::string& name,
                        const std::string& more, const std::string& spec, const std::string& owner_api = "",
                        const std::string& owner = "") {
  std::string reference;
  if (!owner.empty()) {
    const std::size_t slash = owner.find('/');
    reference =
        fmt::format(", ownerReferences: [{{apiVersion: {}, kind: {}, name: {}, uid: uid-{}, controller: true}}]",
                    owner_api, owner.substr(0, slash), owner.substr(slash + 1), owner.substr(slash + 1));
  }
  return fmt::format("---\napiVersion: {}\nkind: {}\nmetadata: {{name: {}{}{}}}\nspec: {}\n", api, kind, name,
                     reference, more.empty() ? "" : ", " + more, spec);
}

inline constexpr char kTemplate[] = "{spec: {schedulerName: kai-scheduler, containers: [{name: c}]}}";

inline std::string job(const std::string& name, int parallelism, const std::string& more = "") {
  return made("batch/v1", "Job", name, more, fmt::format("{{parallelism: {}, template: {}}}", parallelism, kTemplate));
}

}  // namespace gantree::kai
