#include "service/loop.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdio>

#include "fake_transport.h"

namespace gantree {
namespace {

using testing::HasSubstr;

// A loop whose writes go nowhere. It leads, and has seen every list.
struct LoopAlone {
  void tell(const std::string& group, const std::string& version, const std::string& kind, const std::string& text) {
    auto object = prune(group, version, kind, text);
    ASSERT_TRUE(object) << object.error().message;
    mailbox.post(ObjectChanged{std::move(*object)});
  }
  // Runs until something is written to an object of that path; what was written.
  std::string run_until_written(const std::string& path) {
    std::string body;
    transport.on_send = [&](const http::Request& request) {
      if (request.target.find(path) != std::string::npos && body.empty()) {
        body = request.body;
        mailbox.post(Stop{});
      }
    };
    static_cast<void>(loop.run(std::chrono::milliseconds(0)));
    return body;
  }

  FakeTransport transport;
  kube::Client client{transport, nullptr};
  LoopMailbox mailbox;
  Log log{stderr, LogLevel::kError, LogFormat::kText};
  Loop loop{{.mailbox = mailbox, .log = log, .writer = client, .synced = [] { return true; }}, {}, {}, true};
};

TEST(Loop, WhatGoesOfOneFamilyTakesNothingOfTheSameNameFromAnother) {
  const std::string group = "kueue.x-k8s.io";
  LoopAlone alone;
  alone.tell(group, "v1beta2", "Topology",
             R"({"metadata":{"name":"default"},"spec":{"levels":[{"nodeLabel":"kubernetes.io/hostname"}]}})");
  alone.tell(group, "v1beta2", "ResourceFlavor",
             R"({"metadata":{"name":"gpus"},"spec":{"nodeLabels":{"pool":"a"},"topologyName":"default"}})");
  alone.tell(group, "v1beta2", "ClusterQueue",
             R"({"metadata":{"name":"q","uid":"u","resourceVersion":"1"},"spec":{"namespaceSelector":{},)"
             R"("resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"gpus","resources":[)"
             R"({"name":"cpu","nominalQuota":"4"}]}]}]}})");
  alone.mailbox.post(ObjectRemoved{.group = "kai.scheduler", .kind = "Topology", .ns = "", .name = "default"});
  EXPECT_THAT(alone.run_until_written("clusterqueues/q/status"), HasSubstr(R"("reason":"Ready")"));
}

}  // namespace
}  // namespace gantree
