// A sink that writes down what it is told.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "kube/reflector.h"

namespace gantree::test {

class Recorder final : public kube::Sink {
 public:
  void changed(const kube::ObjectRef& object, std::string_view json) override {
    const std::lock_guard lock(mutex_);
    log_.push_back("changed " + key(object));
    EXPECT_TRUE(json.starts_with('{') && json.ends_with('}')) << json;
    objects_[key(object)] = std::string(json);
  }
  void removed(const kube::ObjectRef& object, std::string_view last_json) override {
    const std::lock_guard lock(mutex_);
    log_.push_back("removed " + key(object) + (last_json.empty() ? " unseen" : ""));
    EXPECT_EQ(objects_.erase(key(object)), 1U) << key(object);
    last_removed_uid_ = object.uid;
  }
  void synced() override {
    const std::lock_guard lock(mutex_);
    log_.push_back("synced");
    ++syncs_;
  }
  void trouble(const std::string& sentence, int) override {
    const std::lock_guard lock(mutex_);
    troubles_.push_back(sentence);
  }

  [[nodiscard]] std::vector<std::string> log() const {
    const std::lock_guard lock(mutex_);
    return log_;
  }
  [[nodiscard]] std::vector<std::string> troubles() const {
    const std::lock_guard lock(mutex_);
    return troubles_;
  }
  [[nodiscard]] int syncs() const {
    const std::lock_guard lock(mutex_);
    return syncs_;
  }
  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return objects_.size();
  }
  [[nodiscard]] std::string object(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(key);
    return found == objects_.end() ? "" : found->second;
  }
  [[nodiscard]] int count(const std::string& line) const {
    const std::lock_guard lock(mutex_);
    return static_cast<int>(std::count(log_.begin(), log_.end(), line));
  }
  [[nodiscard]] std::string last_removed_uid() const {
    const std::lock_guard lock(mutex_);
    return last_removed_uid_;
  }

 private:
  static std::string key(const kube::ObjectRef& object) {
    return std::string(object.name_space) + "/" + std::string(object.name);
  }

  mutable std::mutex mutex_;
  std::vector<std::string> log_;
  std::vector<std::string> troubles_;
  std::map<std::string, std::string> objects_;
  std::string last_removed_uid_;
  int syncs_ = 0;
};

}  // namespace gantree::test
