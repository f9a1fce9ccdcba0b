// Lists and watches against a server that fails in the ways servers do.
#include "kube/reflector.h"

#include <gtest/gtest.h>

#include "client/fake_server.h"
#include "client/recorder.h"

namespace gantree::kube {
namespace {

using test::eventually;
using test::FakeServer;
using test::Recorder;

class ReflectorTest : public ::testing::Test {
 protected:
  static http::Endpoint endpoint(const FakeServer& server) {
    http::Endpoint endpoint;
    endpoint.base_url = server.url();
    return endpoint;
  }
  static ReflectorOptions quick() {
    ReflectorOptions options;
    options.page_size = 10;
    options.first_backoff = http::Milliseconds(20);
    options.max_backoff = http::Milliseconds(200);
    return options;
  }
  void fill(int count) const {
    server_.control(R"({"op":"fill","resource":"v1/pods","name":"pod","count":)" + std::to_string(count) + "}");
  }
  void put(const std::string& name, const std::string& more = {}) const {
    server_.control(R"({"op":"put","resource":"v1/pods","object":{"metadata":{"namespace":"default","name":")" + name +
                    "\"" + more + "}}}");
  }
  void remove(const std::string& name) const {
    server_.control(R"({"op":"delete","resource":"v1/pods","namespace":"default","name":")" + name + "\"}");
  }

  FakeServer server_;
  http::Client transport_{endpoint(server_)};
  Client client_{transport_, nullptr};
  Recorder sink_;
};

TEST_F(ReflectorTest, ListsInPagesThenTellsChangesAsTheyCome) {
  fill(25);
  const Reflector reflector(client_, pods(), sink_, quick());
  ASSERT_TRUE(eventually([&] { return sink_.syncs() == 1; }));
  EXPECT_EQ(sink_.size(), 25U);
  EXPECT_EQ(server_.requests("GET", "limit=10"), 3);
  EXPECT_TRUE(reflector.synced());

  put("new");
  put("new", R"(,"labels":{"a":"b"})");
  remove("pod-000007");
  ASSERT_TRUE(eventually([&] { return sink_.count("removed default/pod-000007") == 1; }));
  EXPECT_EQ(sink_.count("changed default/new"), 2);
  EXPECT_NE(sink_.object("default/new").find("\"a\""), std::string::npos);
  EXPECT_EQ(reflector.size(), 25U);
}

}  // namespace
}  // namespace gantree::kube
