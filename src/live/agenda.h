// What is to be looked at again, and when: each once, at the earliest moment that was asked for.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/time.h"

namespace gantree {

class Agenda {
 public:
  // Whoever is looked at before its time asks again where there is still something to wait for.
  void add(Time at, const std::string& key) {
    const auto [it, fresh] = times_.try_emplace(key, at);
    if (!fresh && it->second <= at) {
      return;
    }
    if (!fresh) {
      order_.erase({it->second, key});
      it->second = at;
    }
    order_.emplace(at, key);
  }
  // Moves those whose time has come.
  void take(Time now, std::set<std::string>& due) {
    while (!order_.empty() && order_.begin()->first <= now) {
      times_.erase(order_.begin()->second);
      due.insert(order_.begin()->second);
      order_.erase(order_.begin());
    }
  }
  void clear() {
    order_.clear();
    times_.clear();
  }
  [[nodiscard]] std::optional<Time> next() const {
    return order_.empty() ? std::nullopt : std::optional(order_.begin()->first);
  }

 private:
  std::set<std::pair<Time, std::string>> order_;
  std::map<std::string, Time> times_;
};

}  // namespace gantree
