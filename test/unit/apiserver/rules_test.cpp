#include "apiserver/rules.h"

#include <gtest/gtest.h>

#include "apiserver/builtin.h"
#include "apiserver/defaults.h"

namespace gantree::apiserver {
namespace {

Object object(std::string_view text) {
  auto value = parse_json(text);
  EXPECT_TRUE(value.has_value() && value->is_object()) << text;
  return value ? value->get_object() : Object();
}

// As the server would have it after a create.
Object made(std::string_view group, std::string_view kind, std::string_view text) {
  Object result = object(text);
  fill_defaults(group, kind, result);
  prepare_create(group, kind, result);
  return result;
}

std::string text_of(const FieldErrors& errors) {
  std::string all;
  for (const FieldError& error : errors) {
    all += (all.empty() ? "" : "; ") + to_text(error);
  }
  return all;
}

std::string create(std::string_view group, std::string_view kind, std::string_view text) {
  return text_of(check_create(group, kind, made(group, kind, text)));
}

Object pod(std::string_view spec) {
  return made("", "Pod", std::string(R"({"metadata":{"name":"p"},"spec":)") + std::string(spec) + "}");
}

std::string pod_update(std::string_view before, std::string_view after) {
  return text_of(check_update("", "Pod", pod(before), pod(after)));
}

TEST(Rules, StatusNamesTheKindTheObjectAndTheCauses) {
  const Object one = invalid_status("batch", "Job", "j", {required("spec.template")});
  EXPECT_EQ(std::string_view(one.at("message").as_string()),
            "Job.batch \"j\" is invalid: spec.template: Required value");
  EXPECT_EQ(
      to_json(one.at("details")),
      R"({"name":"j","group":"batch","kind":"Job","causes":[{"reason":"FieldValueRequired","message":"Required value","field":"spec.template"}]})");
  const Object two = invalid_status("", "Pod", "p", {required("a"), required("b")});
  EXPECT_EQ(std::string_view(two.at("message").as_string()),
            "Pod \"p\" is invalid: [a: Required value, b: Required value]");
}

TEST(Rules, NamesAndLabelsMustHaveTheirForm) {
  EXPECT_EQ(
      text_of(check_metadata(
          "", "Pod", object(R"({"metadata":{"name":"a.b-c","labels":{"a/b":"c"},"annotations":{"X.y/Z":"any"}}})"))),
      "");
  EXPECT_EQ(text_of(check_metadata("", "Pod", object(R"({"metadata":{}})"))),
            "metadata.name: Required value: name or generateName is required");
  EXPECT_NE(text_of(check_metadata("", "Pod", object(R"({"metadata":{"name":"A"}})")))
                .find("metadata.name: Invalid value: \"A\": must be a DNS name"),
            std::string::npos);
  EXPECT_NE(
      text_of(check_metadata("", "Namespace", object(R"({"metadata":{"name":"a.b"}})"))).find("must be a DNS label"),
      std::string::npos);
  EXPECT_NE(text_of(check_metadata("", "Pod", object(R"({"metadata":{"name":"a","labels":{"x":"a b"}}})")))
                .find("metadata.labels: Invalid value: \"a b\": must be empty, or letters"),
            std::string::npos);
  EXPECT_EQ(text_of(check_metadata("rbac.authorization.k8s.io", "Role", object(R"({"metadata":{"name":"system:a"}})"))),
            "");
}

TEST(Rules, PodsNeedContainersWithNamesAndImages) {
  EXPECT_EQ(create("", "Pod", R"({"spec":{}})"), "spec.containers: Required value");
  EXPECT_EQ(create("", "Pod", R"({"spec":{"containers":[{"name":"a","image":"x"},{"name":"a","image":"y"}]}})"),
            "spec.containers[1].name: Duplicate value: \"a\"");
  EXPECT_EQ(create("", "Pod", R"({"spec":{"containers":[{"image":"x"},{"name":"b"}]}})"),
            "spec.containers[0].name: Required value; spec.containers[1].image: Required value");
  EXPECT_EQ(
      create("", "Pod",
             R"({"spec":{"containers":[{"name":"a","image":"x","volumeMounts":[{"name":"v","mountPath":"/v"}]}]}})"),
      "spec.containers[0].volumeMounts[0].name: Not found: \"v\"");
}

TEST(Rules, RequestsStayWithinLimits) {
  EXPECT_EQ(
      create(
          "", "Pod",
          R"({"spec":{"containers":[{"name":"a","image":"x","resources":{"requests":{"cpu":"2"},"limits":{"cpu":"1500m"}}}]}})"),
      "spec.containers[0].resources.requests: Invalid value: \"2\": must be less than or equal to cpu limit of 1500m");
  EXPECT_EQ(
      create("", "Pod",
             R"({"spec":{"containers":[{"name":"a","image":"x","resources":{"requests":{"nvidia.com/gpu":"2"}}}]}})"),
      "spec.containers[0].resources.limits: Required value: needs a limit: nobody can have more of it than there is");
  EXPECT_EQ(
      create("", "Pod",
             R"({"spec":{"containers":[{"name":"a","image":"x","resources":{"limits":{"nvidia.com/gpu":"1.5"}}}]}})"),
      "spec.containers[0].resources.limits[nvidia.com/gpu]: Invalid value: \"1.5\": must be an integer; "
      "spec.containers[0].resources.requests[nvidia.com/gpu]: Invalid value: \"1.5\": must be an integer");
  EXPECT_EQ(
      create("", "Pod",
             R"({"spec":{"containers":[{"name":"a","image":"x","resources":{"limits":{"nvidia.com/gpu":"8"}}}]}})"),
      "");
}

constexpr std::string_view kPlain = R"({"containers":[{"name":"a","image":"x"}]})";
constexpr std::string_view kGated =
    R"({"containers":[{"name":"a","image":"x"}],"schedulingGates":[{"name":"g"}],"nodeSelector":{"a":"1"}})";

TEST(Rules, OfAPodOnlyImageDeadlineAndMoreTolerationsMayChange) {
  EXPECT_EQ(pod_update(kPlain, kPlain), "");
  EXPECT_EQ(
      pod_update(
          kPlain,
          R"({"containers":[{"name":"a","image":"y","imagePullPolicy":"Always"}],"activeDeadlineSeconds":5,"tolerations":[{"key":"k","operator":"Exists"}]})"),
      "");
  EXPECT_NE(pod_update(kPlain, R"({"containers":[{"name":"a","image":"x"}],"nodeName":"n"})")
                .find("spec: Forbidden: of a pod only images"),
            std::string::npos);
  EXPECT_NE(pod_update(kPlain, R"({"containers":[{"name":"a","image":"x"}],"nodeSelector":{"a":"1"}})")
                .find("spec: Forbidden"),
            std::string::npos);
  EXPECT_EQ(pod_update(R"({"containers":[{"name":"a","image":"x"}],"tolerations":[{"key":"k","operator":"Exists"}]})",
                       kPlain),
            "spec.tolerations: Forbidden: of a toleration that is there only tolerationSeconds may change");
}

TEST(Rules, GatesMayOnlyGoAndGatedPodsMayOnlyBeNarrowed) {
  EXPECT_NE(pod_update(kPlain, kGated)
                .find("spec.schedulingGates[0].name: Forbidden: gates may only be taken away, and 'g' is new"),
            std::string::npos);
  EXPECT_EQ(pod_update(kGated, R"({"containers":[{"name":"a","image":"x"}],"nodeSelector":{"a":"1","b":"2"}})"), "");
  EXPECT_EQ(
      pod_update(kGated,
                 R"({"containers":[{"name":"a","image":"x"}],"schedulingGates":[{"name":"g"}],"nodeSelector":{"a":"1"},
    "affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Exists"}]}]}}}})"),
      "");
  EXPECT_EQ(
      pod_update(
          kGated,
          R"({"containers":[{"name":"a","image":"x"}],"schedulingGates":[{"name":"g"}],"nodeSelector":{"a":"2"}})"),
      "spec.nodeSelector: Invalid value: {\"a\":\"2\"}: a gated pod's node selector may only grow");
}

TEST(Rules, GatedBoundAndDyingPodsCannotBeBound) {
  EXPECT_EQ(binding_problem(pod(kPlain)), std::nullopt);
  EXPECT_EQ(binding_problem(pod(kGated)), "pod p still has scheduling gates");
  EXPECT_EQ(binding_problem(pod(R"({"containers":[],"nodeName":"n"})")), "pod p has its node already, \"n\"");
}

Object job(std::string_view spec) {
  return made("batch", "Job", std::string(R"({"metadata":{"name":"j","uid":"u"},"spec":)") + std::string(spec) + "}");
}

TEST(Rules, JobsOfADefinedShapeKeepIt) {
  constexpr std::string_view kOne =
      R"({"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"a","image":"x"}]}}})";
  EXPECT_EQ(text_of(check_create("batch", "Job", job(kOne))), "");
  EXPECT_EQ(
      text_of(check_create("batch", "Job", job(R"({"template":{"spec":{"containers":[{"name":"a","image":"x"}]}}})"))),
      "spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", \"Never\"");
  EXPECT_EQ(
      text_of(check_create(
          "batch", "Job",
          job(R"({"completionMode":"Indexed","parallelism":2,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"a","image":"x"}]}}})"))),
      "spec.completions: Required value: when completion mode is Indexed");
  Object changed = job(kOne);
  object_in(changed, "spec")["completions"] = 3;
  EXPECT_EQ(text_of(check_update("batch", "Job", job(kOne), changed)),
            "spec.completions: Invalid value: 3: field is immutable");
}

TEST(Rules, OnlyJobsThatHaveNotStartedMayBeSentElsewhere) {
  constexpr std::string_view kSuspended =
      R"({"suspend":true,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"a","image":"x"}]}}})";
  constexpr std::string_view kElsewhere =
      R"({"suspend":false,"template":{"metadata":{"annotations":{"a":"b"}},"spec":{"restartPolicy":"Never","nodeSelector":{"a":"b"},"containers":[{"name":"a","image":"x"}]}}})";
  EXPECT_EQ(text_of(check_update("batch", "Job", job(kSuspended), job(kElsewhere))), "");
  Object started = job(kSuspended);
  object_in(started, "status")["startTime"] = "2026-01-01T00:00:00Z";
  EXPECT_NE(text_of(check_update("batch", "Job", started, job(kElsewhere))).find("spec.template: Invalid value:"),
            std::string::npos);
}

TEST(Rules, SelectorsMatchTheirTemplatesAndStay) {
  constexpr std::string_view kGood =
      R"({"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"1"}},"template":{"metadata":{"labels":{"a":"1"}},"spec":{"containers":[{"name":"a","image":"x"}]}}}})";
  EXPECT_EQ(create("apps", "Deployment", kGood), "");
  EXPECT_NE(
      create(
          "apps", "Deployment",
          R"({"spec":{"selector":{"matchLabels":{"a":"2"}},"template":{"metadata":{"labels":{"a":"1"}},"spec":{"containers":[{"name":"a","image":"x"}]}}}})")
          .find("spec.template.metadata.labels: Invalid value: {\"a\":\"1\"}: `selector` does not match template "
                "`labels`"),
      std::string::npos);
  Object changed = made("apps", "Deployment", kGood);
  object_in(object_in(changed, "spec"), "selector")["matchLabels"] = Object{{"a", "1"}, {"b", "2"}};
  EXPECT_NE(text_of(check_update("apps", "Deployment", made("apps", "Deployment", kGood), changed))
                .find("spec.selector: Invalid value: {\"matchLabels\":{\"a\":\"1\",\"b\":\"2\"}}: field is immutable"),
            std::string::npos);
  Object set = made("apps", "StatefulSet", kGood);
  object_in(set, "spec")["serviceName"] = "other";
  EXPECT_NE(text_of(check_update("apps", "StatefulSet", made("apps", "StatefulSet", kGood), set))
                .find("spec: Forbidden: of a StatefulSet only"),
            std::string::npos);
}

TEST(Rules, CronJobsNameATimeZoneThatThereIs) {
  const auto cron_job = [](std::string_view zone) {
    return made("batch", "CronJob",
                R"({"metadata":{"name":"c"},"spec":{"schedule":"@daily","timeZone":")" + std::string(zone) +
                    R"(","jobTemplate":{"spec":{"template":{"spec":{
        "restartPolicy":"Never","containers":[{"name":"a","image":"i"}]}}}}}})");
  };
  EXPECT_EQ(text_of(check_create("batch", "CronJob", cron_job("UTC"))), "");
  for (const char* zone : {"", "Local", "../etc/passwd", "/etc/passwd"}) {
    EXPECT_NE(text_of(check_create("batch", "CronJob", cron_job(zone))).find("spec.timeZone"), std::string::npos)
        << zone;
  }
  EXPECT_EQ(text_of(check_update("batch", "CronJob", cron_job("Local"), cron_job("Local"))), "");
}

TEST(Rules, StatusesOfJobsTellNothingThatCannotBe) {
  const auto fields = [](std::string_view before, std::string_view after) {
    const auto job = [](std::string_view status) {
      return object(R"({"spec":{"completions":2,"parallelism":1},"status":)" + std::string(status) + "}");
    };
    std::string all;
    for (const FieldError& error : check_status("batch", "Job", job(before), job(after))) {
      all += error.field + " ";
    }
    return all;
  };
  const std::string done =
      R"({"startTime":"2026-01-01T00:00:00Z","completionTime":"2026-01-01T00:00:01Z","succeeded":2,"conditions":[
      {"type":"SuccessCriteriaMet","status":"True"},{"type":"Complete","status":"True"}]})";
  EXPECT_EQ(fields(R"({"startTime":"2026-01-01T00:00:00Z","active":1})", done), "");
  EXPECT_EQ(fields("{}", R"({"active":-1})"), "status.active ");
  EXPECT_EQ(fields("{}", R"({"conditions":[{"type":"Complete","status":"True"}]})"),
            "status.conditions status.completionTime status.startTime ");
  EXPECT_EQ(fields(done, R"({"startTime":"2026-01-01T00:00:00Z","succeeded":1})"),
            "status.conditions status.succeeded ");
  EXPECT_EQ(fields("{}", R"({"active":1,"ready":2})"), "status.ready ");
}

TEST(Rules, PodsStayInTheirClassOfServiceWhenTheyAreResized) {
  const auto asking = [](std::string_view resources) {
    return pod(R"({"containers":[{"name":"a","image":"i","resources":)" + std::string(resources) + "}]}");
  };
  const Object pod = asking(R"({"requests":{"cpu":"1","x/y":"1"},"limits":{"x/y":"1"}})");
  EXPECT_EQ(
      text_of(check_resize(pod, asking(R"({"requests":{"cpu":"2","memory":"1Gi","x/y":"1"},"limits":{"x/y":"1"}})"))),
      "");
  const auto field_of = [&](std::string_view before, std::string_view after) {
    const FieldErrors errors = check_resize(asking(before), asking(after));
    return errors.empty() ? std::string() : errors.front().field;
  };
  EXPECT_EQ(field_of("{}", R"({"requests":{"cpu":"1"}})"), "spec");
  EXPECT_EQ(field_of(R"({"requests":{"cpu":"1","memory":"1"}})", R"({"requests":{"cpu":"1"}})"),
            "spec.containers[0].resources.requests");
  EXPECT_EQ(
      field_of(R"({"requests":{"cpu":"1"},"limits":{"x/y":"1"}})", R"({"requests":{"cpu":"1"},"limits":{"x/y":"2"}})"),
      "spec");
}

TEST(Rules, PriorityClassesKeepTheirValueAndOneIsTheDefault) {
  const Object low =
      made("scheduling.k8s.io", "PriorityClass", R"({"metadata":{"name":"low"},"value":1,"globalDefault":true})");
  Object high = low;
  high["value"] = 2;
  EXPECT_EQ(text_of(check_update("scheduling.k8s.io", "PriorityClass", low, high)), "value: Forbidden: cannot change");
  const std::vector<PriorityClassFacts> classes{{"other", 5, "", true}};
  EXPECT_EQ(second_default_problem(low, classes),
            "PriorityClass other is the default already, and there can be one only");
  EXPECT_EQ(create("scheduling.k8s.io", "PriorityClass", R"({"metadata":{"name":"a"},"value":2000000000})"),
            "value: Forbidden: users' classes go up to 1000000000");
}

TEST(Rules, DefinitionsAreNamedAfterWhatTheyDefine) {
  EXPECT_EQ(
      create("apiextensions.k8s.io", "CustomResourceDefinition",
             R"({"metadata":{"name":"x"},"spec":{"group":"a.b","scope":"Cluster","names":{"plural":"qs","kind":"Q"},
    "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})"),
      "metadata.name: Invalid value: \"x\": must be the plural name, a dot and the group");
}

TEST(Rules, RolesSayWhatTheyGiveAndBindingsToWhom) {
  const std::string_view group = "rbac.authorization.k8s.io";
  EXPECT_EQ(create(group, "Role", R"({"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]})"), "");
  EXPECT_EQ(create(group, "Role", R"({"rules":[{}]})"),
            "rules[0].verbs: Required value; rules[0].apiGroups: Required value; rules[0].resources: Required value");
  EXPECT_EQ(create(group, "ClusterRoleBinding",
                   R"({"roleRef":{"kind":"ClusterRole","name":"x"},"subjects":[{"kind":"User","name":"u"}]})"),
            "");
  EXPECT_NE(create(group, "ClusterRoleBinding", R"({"roleRef":{"kind":"Role","name":"x"}})").find("roleRef.kind"),
            std::string::npos);
}

TEST(Rules, PartsOfPodsMustFitTogether) {
  const auto complaint = [](std::string_view container) {
    return create("", "Pod", R"({"spec":{"containers":[{"name":"a","image":"i",)" + std::string(container) + "}]}}");
  };
  EXPECT_NE(complaint(R"("livenessProbe":{})").find("livenessProbe: Required"), std::string::npos);
  EXPECT_NE(complaint(R"("resources":{"limits":{"gpus":"1"}})").find("limits[gpus]"), std::string::npos);
  EXPECT_NE(complaint(R"("env":[{"name":"A","valueFrom":{"fieldRef":{"fieldPath":"spec.none"}}}])").find("fieldPath"),
            std::string::npos);
  EXPECT_EQ(complaint(R"("ports":[{"name":"a","containerPort":1}],"readinessProbe":{"httpGet":{"port":80}})"), "");
}

}  // namespace
}  // namespace gantree::apiserver
