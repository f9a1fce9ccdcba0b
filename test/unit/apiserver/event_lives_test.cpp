// Events do not stay for ever.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "unit/apiserver/world.h"

namespace gantree::apiserver {
namespace {

using std::chrono::minutes;

constexpr const char* kEvents = "/api/v1/namespaces/default/events";

std::string event(std::string_view name) {
  return R"({"metadata":{"name":")" + std::string(name) +
         R"("},"involvedObject":{"kind":"Pod","name":"p","namespace":"default"},"reason":"R","message":"m"})";
}

// A clock that a test sets forward.
struct SetClock {
  std::shared_ptr<std::atomic<std::int64_t>> ahead = std::make_shared<std::atomic<std::int64_t>>(0);
  void pass(minutes time) const { *ahead += time.count(); }
  [[nodiscard]] std::function<std::chrono::system_clock::time_point()> now() const {
    return [ahead = ahead] { return std::chrono::system_clock::now() + minutes(*ahead); };
  }
};

TEST(Events, GoAnHourAfterTheyWereLastWritten) {
  const SetClock clock;
  World world({.clock = clock.now()});
  EXPECT_EQ(world.post(kEvents, event("once")).status, 201);
  EXPECT_EQ(world.post(kEvents, event("again")).status, 201);
  EXPECT_EQ(world.post(kMaps, config_map("kept")).status, 201);
  const auto seen = watch(world, kEvents, "");
  clock.pass(minutes(40));
  EXPECT_EQ(world.merge(std::string(kEvents) + "/again", R"({"count":2})").status, 200);
  clock.pass(minutes(21));
  EXPECT_TRUE(World::eventually([&] { return world.get(std::string(kEvents) + "/once").status == 404; }));
  EXPECT_EQ(world.get(std::string(kEvents) + "/again").status, 200);
  EXPECT_EQ(seen->wait(4).back(), "DELETED once");
  clock.pass(minutes(40));
  EXPECT_TRUE(World::eventually([&] { return world.get(std::string(kEvents) + "/again").status == 404; }));
  EXPECT_EQ(world.get(std::string(kMaps) + "/kept").status, 200);
}

TEST(Events, DoNotBeginANewHourWithTheServer) {
  const auto folder = std::filesystem::temp_directory_path() / ("gantree-events-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string file = (folder / "cluster.db").string();
  const SetClock clock;
  {
    World world({.file = file, .clock = clock.now()});
    EXPECT_EQ(world.post(kEvents, event("old")).status, 201);
    clock.pass(minutes(40));
    EXPECT_EQ(world.post(kEvents, event("young")).status, 201);
  }
  clock.pass(minutes(30));
  {
    World world({.file = file, .clock = clock.now()});
    EXPECT_TRUE(World::eventually([&] { return world.get(std::string(kEvents) + "/old").status == 404; }));
    EXPECT_EQ(world.get(std::string(kEvents) + "/young").status, 200);
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace gantree::apiserver
