#include "apiserver/defaults.h"

#include <gtest/gtest.h>

namespace gantree::apiserver {
namespace {

Object object(std::string_view text) {
  auto value = parse_json(text);
  EXPECT_TRUE(value.has_value() && value->is_object()) << text;
  return value ? value->get_object() : Object();
}

Object made(std::string_view group, std::string_view kind, std::string_view text) {
  Object result = object(text);
  fill_defaults(group, kind, result);
  prepare_create(group, kind, result);
  return result;
}

TEST(Defaults, PodsBecomeWhatTheServerMakesOfThem) {
  const Object pod = made(
      "", "Pod",
      R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"a","image":"x:1","resources":{"limits":{"cpu":"1"}},"ports":[{"containerPort":80}]}]}})");
  EXPECT_EQ(
      to_json(pod.at("spec")),
      R"({"containers":[{"name":"a","image":"x:1","resources":{"limits":{"cpu":"1"},"requests":{"cpu":"1"}},"ports":[{"containerPort":80,"protocol":"TCP"}],)"
      R"("imagePullPolicy":"IfNotPresent","terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}],)"
      R"("restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","securityContext":{},"schedulerName":"default-scheduler",)"
      R"("enableServiceLinks":true,"serviceAccountName":"default","serviceAccount":"default",)"
      R"("tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},)"
      R"({"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}]})");
  EXPECT_EQ(to_json(pod.at("status")), R"({"phase":"Pending","qosClass":"Burstable"})");
}

TEST(Defaults, FillingTwiceIsAsOnce) {
  Object pod = made(
      "", "Pod",
      R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"a","image":"x"}],"volumes":[{"name":"v"},{"name":"s","secret":{"secretName":"t"}}]}})");
  const Object before = pod;
  fill_defaults("", "Pod", pod);
  EXPECT_EQ(to_json(pod), to_json(before));
  EXPECT_EQ(to_json(pod.at("spec").at("volumes")),
            R"([{"name":"v","emptyDir":{}},{"name":"s","secret":{"secretName":"t","defaultMode":420}}])");
}

TEST(Defaults, ImagesWithoutATagAreAlwaysPulled) {
  for (const auto& [image, policy] :
       {std::pair("x", "Always"), std::pair("r:5000/x", "Always"), std::pair("x:latest", "Always"),
        std::pair("x:1", "IfNotPresent"), std::pair("x@sha256:0", "IfNotPresent")}) {
    Object pod;
    object_in(pod, "spec")["containers"] = Array{Object{{"name", "a"}, {"image", image}}};
    fill_defaults("", "Pod", pod);
    EXPECT_EQ(std::string_view(pod.at("spec").at("containers").at(0).at("imagePullPolicy").as_string()), policy)
        << image;
  }
}

TEST(Defaults, PodsAskForWhatTheirContainersDoBeforeTheirOwnLimitsCount) {
  const Object pod = made("", "Pod",
                          R"({"spec":{"resources":{"limits":{"cpu":"8","memory":"4Gi"}},"containers":[)"
                          R"({"name":"a","image":"x:1","resources":{"requests":{"cpu":"1500m"}}},)"
                          R"({"name":"b","image":"x:1","resources":{"requests":{"cpu":"1"}}}]}})");
  EXPECT_EQ(to_json(pod.at("spec").at("resources").at("requests")), R"({"cpu":"2500m","memory":"4Gi"})");
}

TEST(Defaults, QualityFollowsFromRequestsAndLimits) {
  EXPECT_EQ(quality_of(object(R"({"containers":[{"name":"a"}]})")), "BestEffort");
  EXPECT_EQ(quality_of(object(R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}]})")), "Burstable");
  EXPECT_EQ(
      quality_of(object(
          R"({"containers":[{"resources":{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"1000m","memory":"1024Mi"}}}]})")),
      "Guaranteed");
  EXPECT_EQ(quality_of(object(R"({"containers":[{"resources":{"limits":{"cpu":"1","memory":"1Gi"}}},{}]})")),
            "Burstable");
}

TEST(Defaults, JobsSelectTheirPodsByUid) {
  const Object job = made(
      "batch", "Job",
      R"({"metadata":{"name":"j","uid":"u-1"},"spec":{"parallelism":2,"template":{"spec":{"containers":[],"restartPolicy":"Never"}}}})");
  const Value& spec = job.at("spec");
  EXPECT_EQ(find(spec, {"completions"}), nullptr);
  EXPECT_EQ(to_json(spec.at("selector")), R"({"matchLabels":{"batch.kubernetes.io/controller-uid":"u-1"}})");
  EXPECT_EQ(
      to_json(spec.at("template").at("metadata").at("labels")),
      R"({"batch.kubernetes.io/controller-uid":"u-1","batch.kubernetes.io/job-name":"j","controller-uid":"u-1","job-name":"j"})");
  EXPECT_EQ(spec.at("backoffLimit").as_int64(), 6);
  EXPECT_EQ(std::string_view(spec.at("podReplacementPolicy").as_string()), "TerminatingOrFailed");
  EXPECT_NE(find(job, {"metadata", "labels", "job-name"}), nullptr);
}

TEST(Defaults, WorkloadsRollByQuarters) {
  const Object deployment =
      made("apps", "Deployment", R"({"metadata":{"name":"d"},"spec":{"template":{"spec":{"containers":[]}}}})");
  EXPECT_EQ(to_json(deployment.at("spec").at("strategy")),
            R"({"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"25%","maxSurge":"25%"}})");
  EXPECT_EQ(deployment.at("spec").at("replicas").as_int64(), 1);
  const Object recreate = made("apps", "Deployment", R"({"spec":{"strategy":{"type":"Recreate"},"template":{}}})");
  EXPECT_EQ(to_json(recreate.at("spec").at("strategy")), R"({"type":"Recreate"})");
}

TEST(Defaults, NamespacesCarryTheirNameAndFinalizer) {
  const Object space = made("", "Namespace", R"({"metadata":{"name":"n"}})");
  EXPECT_EQ(
      to_json(space),
      R"({"metadata":{"name":"n","labels":{"kubernetes.io/metadata.name":"n"}},"spec":{"finalizers":["kubernetes"]},"status":{"phase":"Active"}})");
}

TEST(Defaults, PriorityComesFromTheClass) {
  const std::vector<PriorityClassFacts> classes{{"high", 100, "Never", false}, {"usual", 5, "", true}};
  Object pod = object(R"({"spec":{"priorityClassName":"high"}})");
  EXPECT_EQ(resolve_priority(pod, classes), std::nullopt);
  EXPECT_EQ(to_json(pod), R"({"spec":{"priorityClassName":"high","priority":100,"preemptionPolicy":"Never"}})");
  Object other = object(R"({"spec":{}})");
  EXPECT_EQ(resolve_priority(other, classes), std::nullopt);
  EXPECT_EQ(to_json(other),
            R"({"spec":{"priorityClassName":"usual","priority":5,"preemptionPolicy":"PreemptLowerPriority"}})");
  Object lost = object(R"({"spec":{"priorityClassName":"none"}})");
  EXPECT_EQ(resolve_priority(lost, classes), "no PriorityClass with name none was found");
}

TEST(Defaults, SecretsAndServicesAndDefinitions) {
  EXPECT_EQ(to_json(made("", "Secret", R"({"stringData":{"a":"b"}})")), R"({"type":"Opaque","data":{"a":"Yg=="}})");
  Object service = made("", "Service", R"({"spec":{"ports":[{"port":80}]}})");
  EXPECT_TRUE(wants_cluster_ip(service));
  set_cluster_ip(service, "10.96.0.7");
  EXPECT_FALSE(wants_cluster_ip(service));
  EXPECT_EQ(to_json(service.at("spec").at("ports")), R"([{"port":80,"protocol":"TCP","targetPort":80}])");
  const Object definition = made("apiextensions.k8s.io", "CustomResourceDefinition",
                                 R"({"spec":{"names":{"kind":"Queue"},"versions":[{"name":"v1","storage":true}]}})");
  EXPECT_EQ(to_json(definition.at("spec").at("names")),
            R"({"kind":"Queue","listKind":"QueueList","singular":"queue"})");
  EXPECT_EQ(to_json(definition.at("status").at("storedVersions")), R"(["v1"])");
}

TEST(Defaults, NothingBreaksOnObjectsOfTheWrongShape) {
  for (const auto& [group, kind] : {std::pair("", "Pod"), std::pair("batch", "Job"), std::pair("batch", "CronJob"),
                                    std::pair("apps", "StatefulSet"), std::pair("", "Service"), std::pair("", "Secret"),
                                    std::pair("apiextensions.k8s.io", "CustomResourceDefinition")}) {
    for (const std::string_view text :
         {R"({"spec":5})", R"({"spec":{"template":[],"containers":{},"names":1,"jobTemplate":1,"ports":1}})",
          R"({"spec":null,"data":1,"stringData":2})"}) {
      (void)made(group, kind, text);
    }
  }
}

}  // namespace
}  // namespace gantree::apiserver
