// Requests to an API server by the roll of a die: sound ones, and such as nobody means to send. Pure.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/json.h"
#include "support/api_judge.h"

namespace gantree::test {

// One kind that requests are about.
struct Sample {
  std::string_view collection;  // "/api/v1/namespaces/default/pods"
  std::string_view object;      // a sound one, without a name
  std::string_view parts;       // subresources, by commas
};
[[nodiscard]] const std::vector<Sample>& samples();
// Of all namespaces, as a watch names them.
[[nodiscard]] std::vector<std::string> all_collections();

class RequestDie {
 public:
  explicit RequestDie(std::uint64_t seed) : random_(seed) {}

  [[nodiscard]] ApiRequest next();
  // A text that a list gave for its next page; requests may come back to it.
  void remember(std::string token) { token_ = std::move(token); }

 private:
  [[nodiscard]] std::size_t below(std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
  }
  [[nodiscard]] bool chance(double share) { return std::bernoulli_distribution(share)(random_); }
  template <class T>
  [[nodiscard]] const T& one_of(const std::vector<T>& list) {
    return list[below(list.size())];
  }

  [[nodiscard]] ApiRequest create(const Sample& sample);
  [[nodiscard]] ApiRequest update(const Sample& sample);
  [[nodiscard]] ApiRequest patch(const Sample& sample);
  [[nodiscard]] ApiRequest remove(const Sample& sample);
  [[nodiscard]] ApiRequest read(const Sample& sample);
  [[nodiscard]] ApiRequest below_object(const Sample& sample);
  [[nodiscard]] ApiRequest nonsense();
  [[nodiscard]] std::string name();
  [[nodiscard]] std::string path_of(const Sample& sample);
  [[nodiscard]] std::string query();
  [[nodiscard]] apiserver::Object object_of(const Sample& sample);
  [[nodiscard]] apiserver::Value json_patch_for(const apiserver::Object& object);
  [[nodiscard]] apiserver::Value odd_value(int depth);
  // Changes one thing somewhere in it.
  void spoil(apiserver::Value& value, int depth);
  void spoil_text(std::string& text);

  std::mt19937_64 random_;
  std::string token_;
};

}  // namespace gantree::test
