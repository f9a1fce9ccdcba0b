// What a cluster has of itself: health, numbers, the way to the server, and kinds that are only kept.
#include <gmock/gmock.h>

#include "unit/apiserver/world.h"

namespace gantree::apiserver {
namespace {

using testing::HasSubstr;

TEST(Health, IsToldAtOnceOrCheckByCheck) {
  World world;
  EXPECT_EQ(world.get("/readyz").text(), "ok");
  EXPECT_EQ(world.get("/readyz?verbose").text(), "[+]ping ok\n[+]storage ok\nreadyz check passed\n");
  EXPECT_EQ(world.get("/livez/ping").text(), "ok");
  EXPECT_EQ(world.get("/readyz/gantree-scheduler").status, 404);
  world.api().set_service("a/b", "127.0.0.1:1");
  EXPECT_EQ(world.get("/readyz/gantree-scheduler").status, 200);
}

TEST(Metrics, CountRequestsAndObjects) {
  World world;
  EXPECT_EQ(world.post("/api/v1/namespaces/default/configmaps", R"({"metadata":{"name":"a"}})").status, 201);
  EXPECT_EQ(world.get("/api/v1/namespaces/default/configmaps/none").status, 404);
  const std::string text = world.get("/metrics").text();
  EXPECT_THAT(text, HasSubstr("apiserver_request_total{verb=\"POST\",code=\"201\"}"));
  EXPECT_THAT(text, HasSubstr("apiserver_request_total{verb=\"GET\",code=\"404\"} "));
  EXPECT_THAT(text, HasSubstr("apiserver_storage_objects{resource=\"configmaps\"} 1\n"));
}

TEST(Announced, TheWayToTheServerIsInTheCluster) {
  World world;
  EXPECT_EQ(world.get("/api/v1/namespaces/default/services/kubernetes").status, 404);
  world.api().announce("127.0.0.1", 6443, "authority");
  EXPECT_TRUE(
      World::eventually([&] { return world.get("/api/v1/namespaces/default/endpoints/kubernetes").status == 200; }));
  EXPECT_EQ(text_in(world.get("/api/v1/namespaces/default/services/kubernetes"), {"spec", "clusterIP"}), "10.96.0.1");
  EXPECT_TRUE(World::eventually([&] {
    return text_in(world.get("/api/v1/namespaces/kube-system/configmaps/kube-root-ca.crt"), {"data", "ca.crt"}) ==
           "authority";
  }));
  // They come back, and follow the server.
  EXPECT_EQ(world.remove("/api/v1/namespaces/default/services/kubernetes").status, 200);
  EXPECT_EQ(world.remove("/api/v1/namespaces/default/configmaps/kube-root-ca.crt").status, 200);
  EXPECT_TRUE(World::eventually([&] {
    return world.get("/api/v1/namespaces/default/services/kubernetes").status == 200 &&
           world.get("/api/v1/namespaces/default/configmaps/kube-root-ca.crt").status == 200;
  }));
  world.api().announce("127.0.0.1", 7443, "another");
  EXPECT_TRUE(World::eventually([&] {
    return world.get("/api/v1/namespaces/default/endpoints/kubernetes").text().find("7443") != std::string::npos &&
           text_in(world.get("/api/v1/namespaces/default/configmaps/kube-root-ca.crt"), {"data", "ca.crt"}) ==
               "another";
  }));
}

TEST(Leases, OfNodesAreMadeUpWhenAskedFor) {
  World world;
  EXPECT_EQ(world.post("/api/v1/nodes", R"({"metadata":{"name":"n1"}})").status, 201);
  const std::string path = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
  EXPECT_EQ(text_in(world.get(path + "/n1"), {"spec", "holderIdentity"}), "n1");
  EXPECT_EQ(world.get(path + "/n2").status, 404);
  EXPECT_TRUE(names_in(world.get(path)).empty());
}

TEST(Autoscalers, AreKeptInBothVersions) {
  World world;
  const std::string body = R"({"metadata":{"name":"h"},"spec":{"maxReplicas":3,"scaleTargetRef":{"kind":"Deployment",
    "name":"web","apiVersion":"apps/v1"},"targetCPUUtilizationPercentage":50}})";
  EXPECT_EQ(world.post("/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers", body).status, 201);
  const Answer second = world.get("/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/h");
  const Value object = body_of(second);
  const Array* metrics = array_at(object, {"spec", "metrics"});
  ASSERT_NE(metrics, nullptr) << second.text();
  EXPECT_EQ(text_at((*metrics)[0], {"resource", "name"}), "cpu");
  EXPECT_EQ(text_in(world.get("/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers/h"),
                    {"spec", "targetCPUUtilizationPercentage"}),
            "50");
}

TEST(Data, OfAMebibyteIsTheMost) {
  World world;
  const auto with = [](std::size_t size) {
    return R"({"metadata":{"name":"c"},"data":{"a":")" + std::string(size, 'x') + R"("}})";
  };
  EXPECT_EQ(world.post("/api/v1/namespaces/default/configmaps", with((1 << 20) + 1)).status, 422);
  EXPECT_EQ(world.post("/api/v1/namespaces/default/configmaps", with(1 << 20)).status, 201);
}

TEST(Streams, IntoPodsAreRefusedInASentence) {
  World world;
  EXPECT_EQ(world.get("/api/v1/namespaces/default/pods/p/exec?command=sh").status, 404);
  ASSERT_EQ(world
                .post("/api/v1/namespaces/default/pods",
                      R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"m","image":"i"}]}})")
                .status,
            201);
  for (const char* part : {"exec", "attach", "portforward", "proxy"}) {
    const Answer answer = world.send("POST", std::string("/api/v1/namespaces/default/pods/p/") + part);
    EXPECT_EQ(answer.status, 400) << part;
    EXPECT_THAT(text_in(answer, {"message"}), HasSubstr("pod \"p\" is simulated"));
  }
}

}  // namespace
}  // namespace gantree::apiserver
