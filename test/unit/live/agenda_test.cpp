#include "live/agenda.h"

#include <gtest/gtest.h>

namespace gantree {
namespace {

constexpr Time at(int seconds) {
  return Time(std::chrono::seconds(seconds));
}

TEST(Agenda, HasEachOnceAtTheEarliestMoment) {
  Agenda agenda;
  agenda.add(at(5), "a");
  agenda.add(at(3), "a");
  agenda.add(at(9), "a");
  agenda.add(at(4), "b");
  EXPECT_EQ(agenda.next(), at(3));
  std::set<std::string> due;
  agenda.take(at(3), due);
  EXPECT_EQ(due, std::set<std::string>{"a"});
  EXPECT_EQ(agenda.next(), at(4));
  due.clear();
  agenda.take(at(100), due);
  EXPECT_EQ(due, std::set<std::string>{"b"});
  EXPECT_FALSE(agenda.next());
}

}  // namespace
}  // namespace gantree
