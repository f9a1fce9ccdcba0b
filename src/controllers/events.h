// Events, as kubectl shows them: who tells of what.
//
// What is told again is counted up in the event that told it before. Of many that differ in nothing but their message,
// the first ones are told one by one, and the others in one event that counts and names the last. So a pod that cannot
// be placed, or whose container fails again and again, has a few events and not thousands.
//
// Their names ascend with time, and within a moment with the order in which they were told: whoever lists them gets
// them in that order.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/time.h"
#include "controllers/item.h"
#include "controllers/write.h"

namespace gantree::controllers {

// So many like events are told one by one; what follows in one.
inline constexpr std::int64_t kToldOneByOne = 10;
// What the message of such a one begins with.
inline constexpr std::string_view kCombined = "(combined from similar events): ";

struct Told {
  std::string_view type = "Normal";
  std::string_view reason = {};
  std::string_view message = {};
  std::int64_t count = 1;
};

class Events {
 public:
  // How it is told: by a new event, or by one that was told before.
  [[nodiscard]] Write tell(const Item& about, std::string_view component, const Told& told, Time now);
  // The event that counts these is gone: what comes next is told anew.
  void forget(const std::string& like);

 private:
  struct Known {
    std::string name;
    std::int64_t count = 0;
    Time last;
  };
  struct Similar {
    std::int64_t count = 0;  // told one by one
    Time last;
  };
  // What was used lately, in a bounded amount: when the newer half is full it becomes the older one.
  template <class T>
  class Memory {
   public:
    T& at(const std::string& key);
    void forget(const std::string& key);

   private:
    std::unordered_map<std::string, T> newer_;
    std::unordered_map<std::string, T> older_;
  };
  [[nodiscard]] std::string name_for(const Item& about, Time now);

  std::uint64_t last_ = 0;  // number of the last event that anybody told
  Memory<Known> known_;
  Memory<Similar> similar_;
};

}  // namespace gantree::controllers
