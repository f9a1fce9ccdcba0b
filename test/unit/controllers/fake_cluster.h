// A cluster for the controllers to work on: objects in memory, written to as an API server would, time by hand.
//
// Knows as much of the API as the controllers rely on: generated names, uids, versions, merge patches with
// preconditions, generation, finalizers, grace, and that what a gone owner controls is deleted. A status that an API
// server would not take from a controller fails the test.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/rules.h"
#include "controllers/conductor.h"
#include "controllers/names.h"

namespace gantree::controllers {

class FakeCluster {
 public:
  explicit FakeCluster(Options options = {}) : conductor_(options) {}

  // JSON with single quotes, for legibility.
  void add(Kind kind, std::string text, const std::string& ns = "default") {
    create(kind, ns, parsed(std::move(text)));
    settle();
  }
  void add_node(const std::string& name, const std::string& labels = "{}") {
    add(Kind::kNode,
        fmt::format("{{'metadata':{{'name':'{}','labels':{}}},'status':{{'capacity':{{'cpu':'8','pods':'110'}}}}}}",
                    name, labels),
        "");
  }
  // A user's merge patch.
  void change(Kind kind, const std::string& name, std::string patch, const std::string& ns = "default") {
    ASSERT_EQ(merge(kind, key(ns, name), parsed(std::move(patch)), nullptr), 200);
    settle();
  }
  void erase(Kind kind, const std::string& name, const std::string& ns = "default") {
    remove(kind, key(ns, name), std::nullopt);
    settle();
  }

  // A scheduler that puts everything on one node.
  void bind_all(const std::string& node) {
    const std::map<std::string, Object> pods = objects(Kind::kPod);
    for (const auto& [name, known] : pods) {
      if (text_at(known, {"spec", "nodeName"}).empty()) {
        Object object = known;
        Array conditions = conditions_of(object);
        set_condition(conditions, {"PodScheduled", "True", "", "", {}, "lastProbeTime"}, now_);
        object_in(object, "spec")["nodeName"] = node;
        object_in(object, "status")["conditions"] = std::move(conditions);
        store(Kind::kPod, name, object);
      }
    }
    settle();
  }
  // Lets time go by, with all that happens meanwhile.
  void pass(std::chrono::milliseconds time) {
    const Time end = now_ + time;
    while (now_ < end) {
      settle();
      const auto due = conductor_.due();
      now_ = due && *due > now_ && *due < end ? *due : end;
    }
    settle();
  }
  // Binds what is there and what follows from it, until all runs.
  void run_pods(const std::string& node = "n1") {
    for (int i = 0; i < 6; ++i) {
      bind_all(node);
      pass(std::chrono::seconds(2));
    }
  }
  // A pod's containers end.
  void end_pod(const std::string& name, bool good) {
    Object pod = objects(Kind::kPod).at(key("default", name));
    object_in(pod, "status")["phase"] = good ? "Succeeded" : "Failed";
    Object ended{{"exitCode", good ? 0 : 1}, {"finishedAt", rfc3339(now_)}};
    Object container{{"name", "main"}, {"state", Object{{"terminated", std::move(ended)}}}};
    object_in(pod, "status")["containerStatuses"] = Array{std::move(container)};
    store(Kind::kPod, key("default", name), pod);
    settle();
  }

  [[nodiscard]] std::vector<std::string> names(Kind kind) {
    std::vector<std::string> all;
    for (const auto& [name, object] : objects(kind)) {
      all.emplace_back(text_at(object, {"metadata", "name"}));
    }
    return all;
  }
  [[nodiscard]] const Object& get(Kind kind, const std::string& name, const std::string& ns = "default") {
    static const Object kNone;
    const auto at = objects(kind).find(key(ns, name));
    return at == objects(kind).end() ? kNone : at->second;
  }
  [[nodiscard]] std::size_t count(Kind kind) { return objects(kind).size(); }
  [[nodiscard]] std::size_t writes() const { return writes_; }
  [[nodiscard]] std::map<std::string, Object>& objects(Kind kind) { return objects_[kind]; }
  [[nodiscard]] Time now() const { return now_; }
  void pause(const std::string& parts) {
    conductor_.pause(parse_parts(parts));
    settle();
  }
  // The next so many writes are refused, as by a server that is busy.
  void refuse(int times) { refused_ = times; }

  void settle() {
    for (int round = 0; round < 10'000 && conductor_.more(now_); ++round) {
      for (const Write& write : conductor_.next(now_)) {
        ++writes_;
        Text text;
        const bool refused = refused_ > 0 && write.kind != Kind::kEvent;
        refused_ -= refused ? 1 : 0;
        const int status = refused ? 500 : carry_out(write, text);
        conductor_.answered(write.id, {status, text}, now_);
      }
    }
    ASSERT_FALSE(conductor_.more(now_)) << "the controllers never come to rest";
  }

 private:
  static std::string key(const std::string& ns, const std::string& name) { return ns.empty() ? name : ns + "/" + name; }

  static Object parsed(std::string text) {
    std::replace(text.begin(), text.end(), '\'', '"');
    return parsed_json(text);
  }
  static Object parsed_json(const std::string& text) {
    const Result<Value> value = apiserver::parse_json(text);
    EXPECT_TRUE(value) << (value ? "" : value.error().message) << text;
    return value ? value->as_object() : Object();
  }

  void store(Kind kind, const std::string& name, Object& object) {
    object_in(object, "metadata")["resourceVersion"] = std::to_string(++version_);
    const Result<> taken = conductor_.changed(kind, std::make_shared<const std::string>(apiserver::to_json(object)));
    ASSERT_TRUE(taken) << taken.error().message;
    objects_[kind][name] = object;
  }

  std::string create(Kind kind, const std::string& ns, Object object) {
    Object& metadata = object_in(object, "metadata");
    if (!metadata.contains("name")) {
      metadata["name"] = fmt::format("{}{:05}", text_at(metadata, {"generateName"}), ++generated_);
    }
    const bool namespaced = facts(kind).namespaced;
    if (namespaced) {
      metadata["namespace"] = ns;
    }
    metadata["uid"] = fmt::format("uid-{}", ++uids_);
    metadata["generation"] = 1;
    metadata["creationTimestamp"] = rfc3339(now_);
    if (kind == Kind::kPod) {
      object_in(object, "status")["phase"] = "Pending";
    }
    const std::string name = key(namespaced ? ns : "", std::string(text_at(object, {"metadata", "name"})));
    if (objects_[kind].contains(name)) {
      return {};
    }
    store(kind, name, object);
    return name;
  }

  static void merge_into(Object& target, const Object& patch) {
    for (const auto& [name, value] : patch) {
      if (value.is_null()) {
        if (const auto at = target.find(name); at != target.end()) {
          target.stable_erase(at);
        }
      } else if (value.is_object()) {
        merge_into(object_in(target, name), value.get_object());
      } else {
        target[name] = value;
      }
    }
  }

  int merge(Kind kind, const std::string& name, const Object& patch, Text* text, bool of_status = false) {
    const auto at = objects_[kind].find(name);
    if (at == objects_[kind].end()) {
      return 404;
    }
    Object object = at->second;
    const std::string_view uid = text_at(patch, {"metadata", "uid"});
    const std::string_view version = text_at(patch, {"metadata", "resourceVersion"});
    if ((!uid.empty() && uid != text_at(object, {"metadata", "uid"})) ||
        (!version.empty() && version != text_at(object, {"metadata", "resourceVersion"}))) {
      return 409;
    }
    merge_into(object, patch);
    if (text != nullptr) {
      const KindFacts& of = facts(kind);
      for (const apiserver::FieldError& error : apiserver::check_status(of.group, of.name, at->second, object)) {
        ADD_FAILURE() << "an API server would refuse it: " << error.field << ": " << error.message;
      }
    }
    const auto differ = [&](std::initializer_list<std::string_view> keys) {
      const Value* before = apiserver::find(at->second, keys);
      const Value* now = apiserver::find(object, keys);
      return !apiserver::same(before == nullptr ? Value() : *before, now == nullptr ? Value() : *now);
    };
    if (!of_status && (differ({"spec"}) || (kind == Kind::kDeployment && differ({"metadata", "annotations"})))) {
      object_in(object, "metadata")["generation"] = whole_at(object, {"metadata", "generation"}) + 1;
    }
    store(kind, name, object);
    const bool over = !text_at(object, {"metadata", "deletionTimestamp"}).empty() && !has_finalizers(object) &&
                      (kind != Kind::kPod || whole_at(object, {"metadata", "deletionGracePeriodSeconds"}) == 0);
    if (over) {
      drop(kind, name);
    } else if (text != nullptr) {
      *text = std::make_shared<const std::string>(apiserver::to_json(object));
    }
    return 200;
  }

  static bool has_finalizers(const Object& object) {
    const Array* all = array_at(object, {"metadata", "finalizers"});
    return all != nullptr && !all->empty();
  }

  int remove(Kind kind, const std::string& name, std::optional<std::int64_t> grace) {
    const auto at = objects_[kind].find(name);
    if (at == objects_[kind].end()) {
      return 404;
    }
    Object object = at->second;
    const bool bound = !text_at(object, {"spec", "nodeName"}).empty();
    const std::int64_t usual = whole_at(object, {"spec", "terminationGracePeriodSeconds"}, 30);
    const std::int64_t seconds = kind == Kind::kPod && bound ? grace.value_or(usual) : 0;
    if (seconds == 0 && !has_finalizers(object)) {
      drop(kind, name);
      return 200;
    }
    Object& metadata = object_in(object, "metadata");
    if (!metadata.contains("deletionTimestamp") ||
        (seconds == 0 && whole_at(object, {"metadata", "deletionGracePeriodSeconds"}) != 0)) {
      metadata["deletionTimestamp"] = rfc3339(now_ + std::chrono::seconds(seconds));
      metadata["deletionGracePeriodSeconds"] = seconds;
      store(kind, name, object);
    }
    return 200;
  }

  void drop(Kind kind, const std::string& name) {
    const Object object = objects_[kind].at(name);
    objects_[kind].erase(name);
    conductor_.removed(kind, text_at(object, {"metadata", "namespace"}), text_at(object, {"metadata", "name"}));
    const std::string uid(text_at(object, {"metadata", "uid"}));
    for (const KindFacts& other : all_kind_facts()) {
      std::vector<std::string> orphans;
      for (const auto& [child, value] : objects_[other.kind]) {
        const Array* owners = array_at(value, {"metadata", "ownerReferences"});
        if (owners != nullptr && !owners->empty() && text_at((*owners)[0], {"uid"}) == uid) {
          orphans.push_back(child);
        }
      }
      for (const std::string& child : orphans) {
        remove(other.kind, child, std::nullopt);
      }
    }
  }

  int carry_out(const Write& write, Text& text) {
    const Object body = parsed_json(write.body);
    const std::string name = key(write.ns, write.name);
    switch (write.verb) {
      case Verb::kCreate: {
        const std::string made = create(write.kind, write.ns, body);
        if (made.empty()) {
          return 409;
        }
        text = std::make_shared<const std::string>(apiserver::to_json(objects_[write.kind].at(made)));
        return 201;
      }
      case Verb::kPatch:
      case Verb::kPatchStatus:
        return merge(write.kind, name, body, &text, write.verb == Verb::kPatchStatus);
      case Verb::kBind: {
        Object pod = objects_[Kind::kPod].at(name);
        object_in(pod, "spec")["nodeName"] = write.node;
        Array conditions = conditions_of(pod);
        set_condition(conditions, {"PodScheduled", "True", "", "", {}, "lastProbeTime"}, now_);
        object_in(pod, "status")["conditions"] = std::move(conditions);
        store(Kind::kPod, name, pod);
        return 201;
      }
      case Verb::kDelete: {
        const auto at = objects_[write.kind].find(name);
        if (at != objects_[write.kind].end() && text_at(at->second, {"metadata", "uid"}) != write.uid) {
          return 409;
        }
        return remove(write.kind, name, number_at(body, {"gracePeriodSeconds"}));
      }
    }
    return 500;
  }

  Conductor conductor_;
  std::map<Kind, std::map<std::string, Object>> objects_;
  Time now_ = Time(std::chrono::seconds(1'800'000'000));
  std::uint64_t version_ = 0;
  std::uint64_t uids_ = 0;
  std::uint64_t generated_ = 0;
  std::size_t writes_ = 0;
  int refused_ = 0;
};

}  // namespace gantree::controllers
