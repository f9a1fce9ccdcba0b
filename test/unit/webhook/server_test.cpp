#include "webhook/server.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/base64.h"
#include "questions.h"
#include "unit/http/loopback.h"

namespace gantree::webhook {
namespace {

std::string pod_group(std::string_view spec, std::string_view annotations = "{}") {
  return fmt::format(
      R"({{"apiVersion":"scheduling.sigs.k8s.io/v1alpha1","kind":"PodGroup","metadata":{{"name":"n","namespace":"ns",)"
      R"("annotations":{}}},"spec":{}}})",
      annotations, spec);
}

std::string topology(std::string_view layers) {
  return fmt::format(R"({{"apiVersion":"scheduling.koordinator.sh/v1alpha1","kind":"ClusterNetworkTopology",)"
                     R"("metadata":{{"name":"default"}},"spec":{{"networkTopologySpec":{}}}}})",
                     layers);
}

Told ask(std::string_view path, const Question& question) {
  const http::Response response =
      respond(dialect_routes(),
              {.method = "POST", .path = std::string(path), .query = {}, .headers = {}, .body = review_of(question)});
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.content_type, "application/json");
  return told(response.body);
}

Told ask_pod_group(const std::string& object) {
  return ask("/validate/podgroups", {.object = object});
}

Told ask_topology(const std::string& layers) {
  const std::string object = topology(layers);
  return ask(
      "/validate/clusternetworktopologies",
      {.group = "scheduling.koordinator.sh", .kind = "ClusterNetworkTopology", .object = object, .name = "default"});
}

// A Workload of one pod, with this in its status.
std::string workload_with(std::string_view status) {
  return fmt::format(
      R"({{"metadata":{{"name":"n","namespace":"ns"}},"spec":{{"podSets":[{{"name":"main","count":1,"template":{{"spec":{{}}}}}}]}},)"
      R"("status":{}}})",
      status);
}

Told ask_status(std::string_view status, const Surroundings& surroundings) {
  const std::string object = workload_with(status);
  const std::string old = workload_with("{}");
  const Question question{.group = "kueue.x-k8s.io",
                          .kind = "Workload",
                          .operation = "UPDATE",
                          .object = object,
                          .old_object = old,
                          .subresource = "status",
                          .version = "v1beta2"};
  return told(
      respond(
          dialect_routes(surroundings),
          {.method = "POST", .path = "/validate/workloads", .query = {}, .headers = {}, .body = review_of(question)})
          .body);
}

TEST(WebhookServer, RefusesAStatusThatMakesNoSenseFromAnybodyButGantree) {
  const char* const kNothingGiven = R"({"conditions":[{"type":"QuotaReserved","status":"True"}]})";
  const Told refused = ask_status(kNothingGiven, {});
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(refused.code, 403);
  EXPECT_EQ(refused.message, R"(Workload "ns/n": status.admission is missing: quota is reserved by it)");
  EXPECT_TRUE(ask_status(R"({"conditions":[{"type":"QuotaReserved","status":"False"}]})", {}).allowed);
  EXPECT_TRUE(ask_status(kNothingGiven, {.self = [] { return std::optional<std::string>("u"); }}).allowed);
}

TEST(WebhookServer, LetsGoodPodGroupsPass) {
  EXPECT_TRUE(ask_pod_group(pod_group(R"({"minMember":3})")).allowed);
  EXPECT_TRUE(ask_pod_group(pod_group(R"({"minMember":3,"minResources":{"cpu":"1"},"scheduleTimeoutSeconds":60})",
                                      R"({"gang.scheduling.koordinator.sh/groups":"[\"ns/n\",\"ns/m\"]",
                                          "gang.scheduling.koordinator.sh/waiting-time":"90s",
                                          "gang.scheduling.koordinator.sh/network-topology-spec":"{\"gatherStrategy\":[{\"layer\":\"RackLayer\",\"strategy\":\"MustGather\"}]}"})"))
                  .allowed);
}

TEST(WebhookServer, RefusesPodGroupsThatMakeNoSense) {
  const std::pair<const char*, const char*> kWrong[] = {
      {R"({"minMember":-1})", "{}"},
      {R"({"minMember":"three"})", "{}"},
      {R"({"minMember":1})", R"({"gang.scheduling.koordinator.sh/groups":"ns/n"})"},
      {R"({"minMember":1})", R"({"gang.scheduling.koordinator.sh/groups":"[\"ns/other\"]"})"},
      {R"({"minMember":1})", R"({"gang.scheduling.koordinator.sh/mode":"Lax"})"},
      {R"({"minMember":1})", R"({"gang.scheduling.koordinator.sh/match-policy":"never"})"},
      {R"({"minMember":1})", R"({"gang.scheduling.koordinator.sh/waiting-time":"ten minutes"})"},
      {R"({"minMember":1})",
       R"({"gang.scheduling.koordinator.sh/network-topology-spec":"{\"gatherStrategy\":[{\"layer\":\"x\"}]}"})"},
  };
  for (const auto& [spec, annotations] : kWrong) {
    const Told answer = ask_pod_group(pod_group(spec, annotations));
    EXPECT_FALSE(answer.allowed) << spec << annotations;
    EXPECT_EQ(answer.code, 403);
    EXPECT_FALSE(answer.message.empty());
    EXPECT_EQ(answer.message.find("request:"), std::string::npos) << answer.message;
  }
}

constexpr std::string_view kJob =
    R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"n","labels":{"kueue.x-k8s.io/queue-name":"q"}},)"
    R"("spec":{"template":{"spec":{"containers":[]}}}})";

TEST(WebhookServer, ChangesJobsThatNameAQueue) {
  const Question question{.group = "batch", .kind = "Job", .object = kJob, .version = "v1"};
  const Told answer = ask("/mutate/jobs", question);
  EXPECT_TRUE(answer.allowed);
  EXPECT_EQ(from_base64(answer.patch), R"([{"op":"add","path":"/spec/suspend","value":true}])");
  EXPECT_TRUE(ask("/validate/jobs", question).allowed);
  EXPECT_EQ(ask("/validate/jobs", question).patch, "");
  EXPECT_EQ(ask("/mutate/jobsets", question).code, 400);
}

TEST(WebhookServer, PutsNewJobsWithoutALabelIntoTheQueueOfTheirNamespace) {
  const std::string_view job =
      R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"n"},"spec":{"template":{"spec":{"containers":[]}}}})";
  const auto enqueue = [](const DefaultsIn& has_default, const Question& question) {
    const http::Response response =
        respond(dialect_routes({.defaults_in = has_default}),
                {.method = "POST", .path = "/enqueue/jobs", .query = {}, .headers = {}, .body = review_of(question)});
    const Told answer = told(response.body);
    EXPECT_TRUE(answer.allowed);
    return from_base64(answer.patch).value_or("");
  };
  const Question question{.group = "batch", .kind = "Job", .object = job, .version = "v1"};
  const auto here = [](std::string_view ns) { return JobDefaults{.queue = ns == "ns"}; };
  EXPECT_NE(enqueue(here, question).find(R"("/spec/suspend","value":true)"), std::string::npos);
  EXPECT_EQ(enqueue([](std::string_view) { return JobDefaults{}; }, question), "");
  EXPECT_EQ(enqueue({}, question), "");
  const Question update{
      .group = "batch", .kind = "Job", .operation = "UPDATE", .object = job, .old_object = job, .version = "v1"};
  EXPECT_EQ(enqueue(here, update), "") << "what is there already goes on";
}

TEST(WebhookServer, GivesNewJobsWithoutAClassTheOneNamedDefaultWhereThereIsOne) {
  const auto create = [](bool has_class, std::string_view path, std::string_view labels) {
    const std::string job = fmt::format(
        R"({{"apiVersion":"batch/v1","kind":"Job","metadata":{{"name":"n","labels":{{{}}}}},"spec":{{"template":{{"spec":{{"containers":[]}}}}}}}})",
        labels);
    const Question question{.group = "batch", .kind = "Job", .object = job, .version = "v1"};
    const http::Response response = respond(
        dialect_routes(
            {.defaults_in = [&](std::string_view) { return JobDefaults{.queue = true, .priority_class = has_class}; }}),
        {.method = "POST", .path = std::string(path), .query = {}, .headers = {}, .body = review_of(question)});
    return from_base64(told(response.body).patch).value_or("");
  };
  const std::string_view queue = R"("kueue.x-k8s.io/queue-name":"q")";
  const std::string given = R"("/metadata/labels/kueue.x-k8s.io~1priority-class","value":"default")";
  EXPECT_NE(create(true, "/mutate/jobs", queue).find(given), std::string::npos);
  EXPECT_NE(create(true, "/mutate/jobs", queue).find(R"("/spec/suspend","value":true)"), std::string::npos);
  EXPECT_NE(create(true, "/enqueue/jobs", "").find(given), std::string::npos);
  EXPECT_EQ(create(false, "/mutate/jobs", queue).find(given), std::string::npos);
  EXPECT_EQ(create(true, "/mutate/jobs", R"("kueue.x-k8s.io/queue-name":"q","kueue.x-k8s.io/priority-class":"own")")
                .find("priority-class"),
            std::string::npos);
}

TEST(WebhookServer, WarnsWhoeverAsksForATopologyAndNamesNoQueue) {
  const auto warnings = [](std::string_view annotations) {
    const std::string job = fmt::format(
        R"({{"apiVersion":"batch/v1","kind":"Job","metadata":{{"name":"n"}},"spec":{{"template":{{"metadata":{{"annotations":{{{}}}}},"spec":{{"containers":[]}}}}}}}})",
        annotations);
    const Question question{.group = "batch", .kind = "Job", .object = job, .version = "v1"};
    return respond(dialect_routes(),
                   {.method = "POST", .path = "/enqueue/jobs", .query = {}, .headers = {}, .body = review_of(question)})
        .body;
  };
  EXPECT_NE(
      warnings(R"("kueue.x-k8s.io/podset-required-topology":"rack")").find("has no effect: this Job names no queue"),
      std::string::npos);
  EXPECT_EQ(warnings(R"("a":"b")").find("warnings"), std::string::npos);
}

TEST(WebhookServer, RefusesChangesOfJobsThatRun) {
  const std::string other =
      R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"n"},"spec":{"template":{"spec":{"containers":[]}}}})";
  const Question question{
      .group = "batch", .kind = "Job", .operation = "UPDATE", .object = other, .old_object = kJob, .version = "v1"};
  EXPECT_EQ(ask("/mutate/jobs", question).patch, "");
  const Told answer = ask("/validate/jobs", question);
  EXPECT_FALSE(answer.allowed);
  EXPECT_EQ(answer.code, 403);
  EXPECT_NE(answer.message.find("cannot change"), std::string::npos);
}

TEST(WebhookServer, ConvertsObjects) {
  const http::Response response = respond(
      dialect_routes(),
      {.method = "POST",
       .path = "/convert",
       .query = {},
       .headers = {},
       .body =
           R"({"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{"uid":"u","desiredAPIVersion":"kueue.x-k8s.io/v1beta2",)"
           R"("objects":[{"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"ClusterQueue","metadata":{"name":"q"},"spec":{"cohort":"c"}}]}})"});
  EXPECT_EQ(response.status, 200);
  EXPECT_NE(response.body.find(R"("apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue")"), std::string::npos);
  EXPECT_NE(response.body.find(R"("spec":{"cohortName":"c"})"), std::string::npos) << response.body;
}

TEST(WebhookServer, WarnsOfWhatHasNoEffect) {
  const Told answer = ask_pod_group(pod_group("{}", R"({"gang.scheduling.koordinator.sh/colour":"red"})"));
  EXPECT_TRUE(answer.allowed);
  EXPECT_EQ(answer.warnings.size(), 2U);
}

TEST(WebhookServer, LetsAGoodTopologyPass) {
  const Told answer = ask_topology(R"([{"topologyLayer":"BlockLayer","labelKey":["example.com/block"]},
    {"topologyLayer":"RackLayer","parentTopologyLayer":"BlockLayer","labelKey":["example.com/rack"]},
    {"topologyLayer":"NodeTopologyLayer","parentTopologyLayer":"RackLayer"}])");
  EXPECT_TRUE(answer.allowed);
  EXPECT_TRUE(answer.warnings.empty());
}

TEST(WebhookServer, WarnsWhereTheNodesAreNotListed) {
  const Told answer = ask_topology(R"([{"topologyLayer":"RackLayer","labelKey":["rack"]}])");
  EXPECT_TRUE(answer.allowed);
  EXPECT_EQ(answer.warnings.size(), 1U);
}

TEST(WebhookServer, RefusesTopologiesThatMakeNoSense) {
  std::string seventeen = R"([{"topologyLayer":"L0","labelKey":["l0"]})";
  for (int i = 1; i < 17; ++i) {
    seventeen +=
        fmt::format(R"(,{{"topologyLayer":"L{}","parentTopologyLayer":"L{}","labelKey":["l{}"]}})", i, i - 1, i);
  }
  const std::pair<std::string, const char*> kWrong[] = {
      {"[]", "no layer"},
      {R"([{"topologyLayer":"A","labelKey":["a"]},{"topologyLayer":"a","labelKey":["b"]}])", "twice"},
      {R"([{"topologyLayer":"A","labelKey":["a"]},{"topologyLayer":"B","labelKey":["b"]}])", "root"},
      {R"([{"topologyLayer":"A","labelKey":["a"]},{"topologyLayer":"B","parentTopologyLayer":"X","labelKey":["b"]}])",
       "not listed"},
      {R"([{"topologyLayer":"A","parentTopologyLayer":"B","labelKey":["a"]},{"topologyLayer":"B","parentTopologyLayer":"A","labelKey":["b"]}])",
       "root"},
      {R"([{"topologyLayer":"A","labelKey":["not a label"]}])", "label key"},
      {R"([{"topologyLayer":"A"}])", "label key"},
      {R"([{"topologyLayer":"A","labelKey":["a"]},{"topologyLayer":"NodeTopologyLayer","parentTopologyLayer":"A"},{"topologyLayer":"B","parentTopologyLayer":"NodeTopologyLayer","labelKey":["b"]}])",
       "below"},
      {seventeen + "]", "16"},
  };
  for (const auto& [layers, word] : kWrong) {
    const Told answer = ask_topology(layers);
    EXPECT_FALSE(answer.allowed) << layers;
    EXPECT_NE(answer.message.find(word), std::string::npos) << layers << answer.message;
  }
}

TEST(WebhookServer, HoldsNobodyUpForWhatWasWrongBefore) {
  const std::string bad = pod_group(R"({"minMember":-1})");
  const std::string worse = pod_group(R"({"minMember":-2})");
  const Told same = ask("/validate/podgroups", {.operation = "UPDATE", .object = bad, .old_object = bad});
  EXPECT_TRUE(same.allowed);
  EXPECT_EQ(same.warnings.size(), 1U);
  EXPECT_FALSE(ask("/validate/podgroups", {.operation = "UPDATE", .object = worse, .old_object = bad}).allowed);
  EXPECT_TRUE(ask("/validate/podgroups", {.operation = "DELETE", .old_object = bad}).allowed);
}

TEST(WebhookServer, TellsKindsOfOneNameApart) {
  const std::string group = R"({"metadata":{"name":"n"},"spec":{"minMember":1,"minSubGroup":1}})";
  const Question ours{.group = "scheduling.run.ai", .object = group, .version = "v2alpha2"};
  EXPECT_NE(ask("/validate/kai-podgroups", ours).message.find("exclude each other"), std::string::npos);
  EXPECT_EQ(ask("/validate/podgroups", ours).code, 400);
  EXPECT_EQ(ask("/validate/kai-podgroups", {.object = group}).code, 400);
}

TEST(WebhookServer, KeepsAQueueThatOthersAreBelow) {
  const std::string empty = R"({"metadata":{"name":"n"},"spec":{"resources":{}}})";
  const std::string parent = R"({"metadata":{"name":"n"},"spec":{"resources":{}},"status":{"childQueues":["a"]}})";
  Question question{.group = "scheduling.run.ai", .kind = "Queue", .operation = "DELETE", .version = "v2"};
  question.old_object = empty;
  EXPECT_TRUE(ask("/validate/kai-queues", question).allowed);
  question.old_object = parent;
  const Told kept = ask("/validate/kai-queues", question);
  EXPECT_EQ(kept.code, 403);
  EXPECT_EQ(kept.message, "Queue \"n\" cannot be deleted while other queues are below it: a");
  question.group = "kueue.x-k8s.io";
  EXPECT_EQ(ask("/validate/kai-queues", question).code, 400);
}

TEST(WebhookServer, RefusesObjectsOfAnotherKind) {
  EXPECT_FALSE(ask("/validate/clusternetworktopologies", {.object = "{}"}).allowed);
}

TEST(WebhookServer, TellsWrongPathsAndMethods) {
  const Routes routes = dialect_routes();
  const auto status = [&](std::string method, std::string path) {
    return respond(routes,
                   {.method = std::move(method), .path = std::move(path), .query = {}, .headers = {}, .body = {}})
        .status;
  };
  EXPECT_EQ(status("POST", "/validate/nodes"), 404);
  EXPECT_EQ(status("POST", "/mutate/podgroups"), 404);
  EXPECT_EQ(status("GET", "/validate/podgroups"), 405);
}

TEST(WebhookServer, AnswersOverTlsAlsoWhenTheBodyIsTooLarge) {
  const http::SelfSigned own = http::self_signed();
  const auto server = Server::start("127.0.0.1:0", {own.certificate, own.key}, dialect_routes());
  ASSERT_TRUE(server) << server.error().message;
  http::Wire wire(server.value()->port(), http::TlsClient{});
  const auto post = [&](const std::string& body) {
    wire.send(
        fmt::format("POST /validate/podgroups?timeout=10s HTTP/1.1\r\nHost: x\r\nContent-Type: "
                    "application/json\r\nContent-Length: {}\r\n\r\n",
                    body.size()));
    wire.send(body);
    const std::string response = wire.receive();
    EXPECT_TRUE(response.starts_with("HTTP/1.1 200")) << response;
    return told(response.substr(response.find("\r\n\r\n") + 4));
  };
  EXPECT_TRUE(post(review_of({.object = pod_group(R"({"minMember":3})")})).allowed);
  EXPECT_EQ(post("nonsense").code, 400);
  const std::string padding(std::size_t{9} << 20, 'x');
  const Told large = post(review_of({.object = pod_group(R"({"minMember":3})", R"({"a":")" + padding + R"("})")}));
  EXPECT_FALSE(large.allowed);
  EXPECT_EQ(large.code, 413);
  EXPECT_EQ(large.uid, "4f5c-1");
}

constexpr std::string_view kWorkload =
    R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"n"},"spec":{"queueName":"q",)"
    R"("priority":9,"podSets":[{"name":"m","count":1,"template":{"spec":{"containers":[]}}}]}})";

Told ask_workload(const Surroundings& surroundings) {
  const Question question{.group = "kueue.x-k8s.io", .kind = "Workload", .object = kWorkload, .version = "v1beta2"};
  const http::Response response = respond(
      dialect_routes(surroundings),
      {.method = "POST", .path = "/validate/workloads", .query = {}, .headers = {}, .body = review_of(question)});
  return told(response.body);
}

TEST(WebhookServer, TakesWorkloadsOnlyFromThoseWhoAdministerQueues) {
  std::string asked;
  const auto says = [&](Result<bool> answer) {
    return Surroundings{.self = [] { return std::string("gantree"); },
                        .administers =
                            [&asked, answer](const Review& review) {
                              asked = review.user;
                              return answer;
                            }};
  };
  EXPECT_TRUE(ask_workload(says(true)).allowed);
  EXPECT_EQ(asked, "u");
  const Told refused = ask_workload(says(false));
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(refused.code, 403);
  EXPECT_NE(refused.message.find("only by those who may update ClusterQueues"), std::string::npos) << refused.message;
  const Told unknown = ask_workload(says(fail(Errc::kIo, "no answer")));
  EXPECT_FALSE(unknown.allowed);
  EXPECT_EQ(unknown.code, 500);
}

TEST(WebhookServer, AsksNobodyAboutTheWorkloadsOfGantreeItself) {
  for (const std::string self : {"u", ""}) {
    const Surroundings surroundings{.self = [self] { return self; },
                                    .administers = [](const Review&) -> Result<bool> {
                                      ADD_FAILURE() << "nobody is to be asked";
                                      return false;
                                    }};
    EXPECT_TRUE(ask_workload(surroundings).allowed) << "as \"" << self << "\"; \"\" cannot be known";
  }
}

TEST(WebhookServer, PutsOffWhatOnlyGantreeMayDoWhileItDoesNotKnowItself) {
  const auto says = [](bool administers) {
    return Surroundings{.self = [] { return std::optional<std::string>(); },
                        .administers = [administers](const Review&) -> Result<bool> { return administers; }};
  };
  EXPECT_TRUE(ask_workload(says(true)).allowed);
  const Told unknown = ask_workload(says(false));
  EXPECT_FALSE(unknown.allowed);
  EXPECT_EQ(unknown.code, 503);
  EXPECT_NE(unknown.message.find("try again"), std::string::npos) << unknown.message;
}

TEST(WebhookServer, LetsOnlyGantreeStartAJobThatWaits) {
  std::string waits(kJob);
  waits.replace(waits.find("\"spec\":{"), 8, R"("spec":{"suspend":true,)");
  const Question starts{
      .group = "batch", .kind = "Job", .operation = "UPDATE", .object = kJob, .old_object = waits, .version = "v1"};
  const Question stops{
      .group = "batch", .kind = "Job", .operation = "UPDATE", .object = waits, .old_object = kJob, .version = "v1"};
  const auto asked_by = [](const std::optional<std::string>& self, std::string_view path, const Question& question) {
    const http::Response response =
        respond(dialect_routes({.self = [self] { return self; }}),
                {.method = "POST", .path = std::string(path), .query = {}, .headers = {}, .body = review_of(question)});
    return told(response.body);
  };
  const Told refused = asked_by("gantree", "/validate/jobs", starts);
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(refused.code, 403);
  EXPECT_NE(refused.message.find("spec.suspend cannot be set to false"), std::string::npos) << refused.message;
  EXPECT_TRUE(asked_by("u", "/validate/jobs", starts).allowed);
  EXPECT_TRUE(asked_by("", "/validate/jobs", starts).allowed) << "it might be Gantree, for all that can be known";
  EXPECT_EQ(asked_by("u", "/mutate/jobs", starts).patch, "");
  EXPECT_NE(asked_by("gantree", "/mutate/jobs", stops).patch, "") << "its user's doing is noted";
  for (const auto& [path, question] : {std::pair("/validate/jobs", starts), std::pair("/mutate/jobs", stops)}) {
    EXPECT_EQ(asked_by(std::nullopt, path, question).code, 503) << path << ": whose doing it is, is not known yet";
  }
  EXPECT_TRUE(asked_by(std::nullopt, "/validate/jobs", stops).allowed);
}

TEST(WebhookServer, LetsOnlyGantreeTakeTheGateOffAPod) {
  const auto pod = [](std::string_view gates) {
    return fmt::format(
        R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"n","labels":{{"kueue.x-k8s.io/queue-name":"q",)"
        R"("kueue.x-k8s.io/managed":"true"}}}},"spec":{{"schedulingGates":[{}],"containers":[]}}}})",
        gates);
  };
  const std::string held = pod(R"({"name":"kueue.x-k8s.io/admission"})");
  const std::string freed = pod("");
  const auto code = [&](const std::optional<std::string>& self) {
    const Question question{
        .group = "", .kind = "Pod", .operation = "UPDATE", .object = freed, .old_object = held, .version = "v1"};
    return told(respond(dialect_routes({.self = [self] { return self; }}), {.method = "POST",
                                                                            .path = "/validate/pods",
                                                                            .query = {},
                                                                            .headers = {},
                                                                            .body = review_of(question)})
                    .body)
        .code;
  };
  EXPECT_EQ(code("gantree"), 403);
  EXPECT_EQ(code("u"), 0);
  EXPECT_EQ(code(std::nullopt), 503);
}

TEST(WebhookServer, AnswersOthersWhileOneTakesItsTime) {
  std::promise<void> over;
  const std::shared_future<void> end = over.get_future().share();
  std::atomic<int> waiting = 0;
  Routes routes;
  routes.validate("slow", [&](const Review&) {
    ++waiting;
    end.wait();
    return Answer{};
  });
  routes.validate("fast", [](const Review&) { return Answer{}; });
  routes.convert([&](json::Value, std::string_view, kueue::ExpansionBudget&) -> Result<json::Out> {
    ++waiting;
    end.wait();
    return json::Out::object();
  });
  const http::SelfSigned own = http::self_signed();
  const auto server = Server::start("127.0.0.1:0", {own.certificate, own.key}, routes);
  ASSERT_TRUE(server) << server.error().message;
  const auto post = [&](http::Wire& wire, std::string_view path, const std::string& body) {
    ASSERT_TRUE(
        wire.send(fmt::format("POST {} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n{}", path, body.size(), body)));
  };
  const std::string question = review_of({.object = "{}"});
  const std::string conversion =
      R"({"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{"uid":"u","desiredAPIVersion":"v","objects":[{}]}})";
  std::vector<std::unique_ptr<http::Wire>> wires;
  for (int i = 0; i < 3; ++i) {
    post(*wires.emplace_back(std::make_unique<http::Wire>((*server)->port(), http::TlsClient{})), "/validate/slow",
         question);
    post(*wires.emplace_back(std::make_unique<http::Wire>((*server)->port(), http::TlsClient{})), "/convert",
         conversion);
  }
  for (int i = 0; i < 500 && waiting < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(waiting, 5) << "three of objects, and as many conversions as there are threads for them";
  http::Wire wire((*server)->port(), http::TlsClient{});
  post(wire, "/validate/fast", question);
  EXPECT_NE(wire.receive().find("\"allowed\":true"), std::string::npos);
  over.set_value();
  for (const auto& one : wires) {
    EXPECT_NE(one->receive(), "");
  }
}

}  // namespace
}  // namespace gantree::webhook
