#include "install/checks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "json/read.h"

namespace gantree {
namespace {

using namespace std::chrono_literals;

const webhook::WallTime kNow = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
const std::int64_t kNowSeconds = kNow.time_since_epoch().count();
const std::vector<std::string> kNames{"gantree", "koord-scheduler"};

bool says(const Finding& finding, Health health, std::string_view words) {
  const bool found = finding.health == health && finding.sentence.find(words) != std::string::npos;
  EXPECT_TRUE(found) << to_string(finding.health) << ": " << finding.sentence;
  EXPECT_EQ(finding.advice.empty(), finding.health == Health::kOk) << "what is wrong comes with advice";
  return found;
}

NodeFact node(std::string name, LabelMap labels = {}) {
  return {.node = {.name = std::move(name), .labels = std::move(labels)}, .ready = true};
}

koordinator::NetworkTopology blocks_and_racks() {
  koordinator::NetworkTopology network;
  network.name = "default";
  network.layers = {{.name = "BlockLayer", .keys = {"block"}}, {.name = "RackLayer", .keys = {"rack", "old-rack"}}};
  return network;
}

TEST(Doctor, NeedsNoClusterNetworkTopologyWhereQueuesHaveTheirOwn) {
  says(check_topology(std::nullopt, std::nullopt, {}, true).front(), Health::kOk, "queues have a Topology");
}

TEST(Doctor, TellsWhichNodesOfAFlavorLackALabelOfItsTopology) {
  const std::vector<NodeFact> nodes = {node("a", {{"pool", "gpu"}, {"rack", "r1"}}), node("b", {{"pool", "gpu"}}),
                                       node("other")};
  const std::vector<LevelsFact> topologies = {{.name = "net", .labels = {"pool", "rack", "block"}}};
  const std::vector<FlavorFact> flavors = {{.name = "f", .topology = "net", .labels = {{"pool", "gpu"}}}};
  const Findings findings = check_levels(topologies, flavors, nodes);
  ASSERT_EQ(findings.size(), 3U);
  says(findings[0], Health::kOk, "all 2 nodes of its flavors have label pool");
  says(findings[1], Health::kWarning, "1 of 2 nodes of its flavors lack label rack: b");
  says(findings[2], Health::kError, "no node of its flavors has label block");
  says(check_levels(topologies, {}, nodes).front(), Health::kOk, "there is no ResourceFlavor yet");
  const std::vector<FlavorFact> other = {{.name = "f", .topology = "", .labels = {}}};
  says(check_levels(topologies, other, nodes).front(), Health::kWarning, "no ResourceFlavor names it");
}

TEST(Doctor, TellsWhichQueuesAdmitNothingAndWhy) {
  const std::vector<QueueFact> queues = {
      {.name = "a", .active = true, .reason = "Ready", .message = {}},
      {.name = "b", .active = false, .reason = "FlavorNotFound", .message = "there is no ResourceFlavor \"x\""}};
  says(check_queues(queues).front(), Health::kWarning, "ClusterQueue \"b\" admits nothing: FlavorNotFound");
  says(check_queues(std::span(queues).first(1)).front(), Health::kOk, "1 ClusterQueue is active");
  EXPECT_TRUE(check_queues({}).empty());
}

TEST(Doctor, TellsOfJobsInQueuesThatNobodyStarts) {
  EXPECT_FALSE(check_unsupported("TrainJob", {}));
  const auto finding = check_unsupported("trainer.kubeflow.org/v1alpha1 TrainJob", {"a/one", "b/two"});
  ASSERT_TRUE(finding);
  says(*finding, Health::kWarning,
       "2 of kind trainer.kubeflow.org/v1alpha1 TrainJob name a queue, which has no effect: a/one, b/two");
}

TEST(Doctor, TellsOfObjectsThatAreIgnored) {
  EXPECT_FALSE(check_ignored("Reservation", {}));
  const auto finding = check_ignored("scheduling.koordinator.sh/v1alpha1 Reservation", {"spare"});
  ASSERT_TRUE(finding);
  says(*finding, Health::kWarning, "1 of kind scheduling.koordinator.sh/v1alpha1 Reservation is ignored: spare");
}

TEST(Doctor, TellsOldServers) {
  says(check_version("https://x", "v1.36.3"), Health::kOk, "Kubernetes v1.36.3");
  says(check_version("https://x", "v1.20.1+vendor"), Health::kWarning, "older");
}

TEST(Doctor, NamesTheRightsThatAreMissing) {
  std::vector<std::pair<Permission, bool>> rights;
  for (const Permission& permission : run_permissions({})) {
    rights.emplace_back(permission, true);
  }
  EXPECT_TRUE(says(check_permissions("me", rights).front(), Health::kOk, "me may do all"));
  const auto binding = std::find_if(rights.begin(), rights.end(),
                                    [](const auto& right) { return right.first.subresource == "binding"; });
  binding->second = false;
  ASSERT_EQ(check_permissions("me", rights).size(), 1U);
  says(check_permissions("me", rights).front(), Health::kError, "me may not create pods/binding: no pod would start");
  for (auto& right : rights) {
    right.second = false;
  }
  ASSERT_EQ(check_permissions("me", rights).size(), 1U);
  says(check_permissions("me", rights).front(), Health::kError, "others");
}

TEST(Doctor, MissesDefinitions) {
  const Validator& validator = all_validators().front();
  says(check_definition(validator, std::nullopt), Health::kError, "there is no PodGroup");
  says(check_definition(validator, ServedKind{"podgroups", false}), Health::kWarning, "status");
  says(check_definition(validator, ServedKind{"podgroups", true}), Health::kOk, "served");
}

TEST(Doctor, CountsNodesThatAreOutOfUse) {
  std::vector<NodeFact> nodes{node("a"), node("b"), node("c")};
  says(check_nodes(nodes).front(), Health::kOk, "3 nodes");
  nodes[1].ready = false;
  nodes[2].schedulable = false;
  const Findings findings = check_nodes(nodes);
  ASSERT_EQ(findings.size(), 2U);
  says(findings[0], Health::kWarning, "1 of 3 nodes are not ready: b");
  says(findings[1], Health::kWarning, "1 of 3 nodes are cordoned: c");
  says(check_nodes({}).front(), Health::kError, "no node");
}

TEST(Doctor, CountsLabelsLayerByLayerAndNamesNodesOutside) {
  const std::vector<NodeFact> nodes{node("a", {{"block", "b1"}, {"rack", "r1"}}),
                                    node("b", {{"block", "b1"}, {"old-rack", "r2"}}), node("c", {{"block", "b1"}}),
                                    node("d", {{"rack", "r1"}, {"block", ""}})};
  const Findings findings = check_topology(blocks_and_racks(), std::nullopt, nodes);
  ASSERT_EQ(findings.size(), 3U);
  says(findings[0], Health::kWarning, "BlockLayer: 1 of 4 nodes lack label block: d");
  says(findings[1], Health::kWarning, "RackLayer: 1 of 4 nodes lack label rack or old-rack: c");
  says(findings[2], Health::kWarning, "1 of 4 nodes are outside the topology: d");
  const Findings good = check_topology(blocks_and_racks(), std::nullopt, std::span(nodes).first(2));
  ASSERT_EQ(good.size(), 2U);
  says(good[0], Health::kOk, "in 1 domain");
  says(good[1], Health::kOk, "in 2 domains");
  // A rack is one of its block: two blocks with the same names of racks have twice as many.
  const std::vector<NodeFact> two{node("a", {{"block", "b1"}, {"rack", "r1"}}),
                                  node("b", {{"block", "b2"}, {"rack", "r1"}})};
  says(check_topology(blocks_and_racks(), std::nullopt, two)[1], Health::kOk, "in 2 domains");
}

TEST(Doctor, TellsALabelThatNobodyHas) {
  const Findings findings = check_topology(blocks_and_racks(), std::nullopt, std::vector{node("a", {{"block", "b"}})});
  ASSERT_EQ(findings.size(), 2U);
  says(findings[1], Health::kError, "no node has label rack");
}

TEST(Doctor, TellsATopologyThatIsMissingOrWrong) {
  says(check_topology(std::nullopt, std::nullopt, {}).front(), Health::kWarning, "there is no ClusterNetworkTopology");
  says(check_topology(std::nullopt, "goes round in a circle", {}).front(), Health::kError, "circle");
}

TEST(Doctor, WarnsOfRivals) {
  const Installation here;
  std::vector<DeploymentFact> deployments{{"gantree-system", "gantree", 2, 2},
                                          {"koordinator-system", "koord-scheduler", 1, 1}};
  const Findings findings = check_schedulers(here, kNames, deployments);
  ASSERT_EQ(findings.size(), 1U);
  says(findings.front(), Health::kError, "koordinator-system/koord-scheduler");
  deployments.back().available = 0;
  says(check_schedulers(here, kNames, deployments).front(), Health::kOk, "no other scheduler");
}

TEST(Doctor, KnowsRivalsByTheirArgumentsToo) {
  const Installation here;
  for (const DeploymentFact& rival :
       {DeploymentFact{"x", "scheduler", 1, 1, {"--scheduler-name=koord-scheduler"}},
        DeploymentFact{"x", "scheduler", 1, 1, {"run", "--scheduler-name", "koord-scheduler"}},
        DeploymentFact{"x", "koord-scheduler-default", 1, 1}, DeploymentFact{"elsewhere", "gantree", 1, 1}}) {
    says(check_schedulers(here, kNames, std::vector{rival}).front(), Health::kError, rival.ns);
  }
  says(check_schedulers(here, kNames, std::vector<DeploymentFact>{{"x", "scheduler", 1, 1, {"--scheduler-name=other"}}})
           .front(),
       Health::kOk, "no other");
}

TEST(Doctor, KnowsTheWebhookByTheArgumentsOfGantree) {
  const Installation here;
  const auto mode = [&](std::vector<std::string> arguments) {
    return webhook_mode(here, std::vector<DeploymentFact>{{here.ns, here.name, 1, 1, std::move(arguments)}});
  };
  EXPECT_EQ(webhook_mode(here, {}), WebhookMode::kOwnCertificate);
  EXPECT_EQ(mode({"run"}), WebhookMode::kOff);
  EXPECT_EQ(mode({"run", "--webhook-listen=:9443"}), WebhookMode::kOwnCertificate);
  EXPECT_EQ(mode({"run", "--webhook-listen=:9443", "--webhook-cert-dir=/c"}), WebhookMode::kGivenCertificate);
  for (const Permission& permission : run_permissions(here)) {
    const bool authority = permission.name == here.webhook() || permission.resource == "customresourcedefinitions";
    EXPECT_EQ(permission.certificate, authority) << permission.title();
  }
}

TEST(Doctor, SaysWhetherKueueItselfRuns) {
  kueue::Neighbour neighbour;
  ASSERT_TRUE(read_neighbour(R"({"items":[{"metadata":{"name":"a"},"webhooks":[{"name":"x"}]}]})", neighbour));
  says(check_neighbour(neighbour), Health::kOk, "Kueue itself is not installed");
  ASSERT_TRUE(read_neighbour(R"({"items":[{"metadata":{"name":"k"},"webhooks":[{"clientConfig":{"service":
    {"path":"/validate-kueue-x-k8s-io-v1beta2-workload"}}}]}]})",
                             neighbour));
  says(check_neighbour(neighbour), Health::kWarning, "ValidatingWebhookConfiguration \"k\"");
}

TEST(Doctor, SaysWhetherKaiItselfRuns) {
  kai::Neighbour neighbour;
  ASSERT_TRUE(read_neighbour(R"({"items":[{"metadata":{"name":"a"},"webhooks":[{"name":"x"}]}]})", neighbour));
  says(check_neighbour(neighbour), Health::kOk, "KAI-Scheduler itself is not installed");
  // Ours are for the same kinds, at paths of our own.
  ASSERT_TRUE(read_neighbour(
      R"({"items":[{"metadata":{"name":"g"},"webhooks":[{"clientConfig":{"service":{"path":"/validate/kai-queues"}}}]}]})",
      neighbour));
  says(check_neighbour(neighbour), Health::kOk, "KAI-Scheduler itself is not installed");
  for (const char* path :
       {"/validate-scheduling-run-ai-v2alpha2-podgroup", "/validate-kai-scheduler-v1alpha1-topology"}) {
    kai::Neighbour there;
    ASSERT_TRUE(read_neighbour(
        fmt::format(
            R"({{"items":[{{"metadata":{{"name":"k"}},"webhooks":[{{"clientConfig":{{"service":{{"path":"{}"}}}}}}]}}]}})",
            path),
        there));
    says(check_neighbour(there), Health::kWarning, "ValidatingWebhookConfiguration \"k\"");
  }
}

TEST(Doctor, LooksWhoConvertsObjects) {
  const Installation here;
  const auto check = [&](std::string_view conversion) {
    const auto fact = read_conversion(fmt::format(R"({{"spec":{{"conversion":{}}}}})", conversion));
    EXPECT_TRUE(fact);
    return check_conversion(here, "queues.example", *fact, kNow).value_or(Finding{});
  };
  says(check(R"({"strategy":"None"})"), Health::kWarning, "objects of queues.example are not converted");
  says(
      check(R"({"strategy":"Webhook","webhook":{"clientConfig":{"service":{"namespace":"kueue-system","name":"w"}}}})"),
      Health::kWarning, "are converted by Service \"kueue-system/w\", not by Gantree");
  says(check(R"({"strategy":"Webhook","webhook":{"clientConfig":{"service":
    {"namespace":"gantree-system","name":"gantree-webhook"}}}})"),
       Health::kError, "webhook conversion of queues.example has no authority");
}

TEST(Doctor, LooksWhetherGantreeIsThere) {
  const Installation here;
  says(check_installed(here, {}), Health::kWarning, "there is no Deployment");
  says(check_installed(here, std::vector<DeploymentFact>{{"gantree-system", "gantree", 2, 0}}), Health::kError,
       "0 of 2");
  says(check_installed(here, std::vector<DeploymentFact>{{"gantree-system", "gantree", 2, 1}}), Health::kWarning,
       "1 of 2");
  says(check_installed(here, std::vector<DeploymentFact>{{"gantree-system", "gantree", 2, 2}}), Health::kOk, "2 of 2");
}

TEST(Doctor, KnowsAClusterThatHasTheSchedulerInside) {
  EXPECT_TRUE(is_embedded("v1.36.3+gantree"));
  EXPECT_FALSE(is_embedded("v1.36.3+k3s1"));
  says(check_embedded(true), Health::kOk, "Gantree runs in its process");
  says(check_embedded(false), Health::kWarning, "--no-scheduler");
}

TEST(Doctor, LooksWhetherSomebodyLeads) {
  const Installation here;
  says(check_lease(here, std::nullopt, kNow), Health::kError, "not there");
  says(check_lease(here, LeaseFact{"", kNowSeconds, 10}, kNow), Health::kError, "nobody");
  says(check_lease(here, LeaseFact{"pod-1", kNowSeconds - 3600, 10}, kNow), Health::kError, "60m ago by pod-1");
  says(check_lease(here, LeaseFact{"pod-1", kNowSeconds - 3, 10}, kNow), Health::kOk, "pod-1 leads");
}

TEST(Doctor, LooksAtTheWebhooks) {
  const auto good = webhook::make_authority("a", {kNow - 1h, kNow + 24h * 365});
  const auto old = webhook::make_authority("a", {kNow - 24h, kNow + 24h});
  const webhook::ConfigurationName validating{webhook::ConfigurationKind::kValidating, "n"};
  const webhook::ConfigurationName mutating{webhook::ConfigurationKind::kMutating, "n"};
  using Facts = std::vector<WebhookFact>;
  says(check_webhook(validating, std::nullopt, kNow).front(), Health::kWarning,
       "there is no ValidatingWebhookConfiguration \"n\"");
  says(check_webhook(mutating, std::nullopt, kNow).front(), Health::kWarning, "start past it");
  const Findings some = check_webhook(mutating, Facts{{"v", good->certificate}, {"w", ""}}, kNow);
  ASSERT_EQ(some.size(), 1U);
  says(some.front(), Health::kError, "webhook w has no authority");
  says(check_webhook(validating, Facts{{"w", old->certificate}}, kNow).front(), Health::kWarning, "two weeks");
  says(check_webhook(validating, Facts{{"w", old->certificate}}, kNow + 48h).front(), Health::kError, "expired");
  says(check_webhook(mutating, Facts{{"v", good->certificate}, {"w", good->certificate}}, kNow).front(), Health::kOk,
       "all 2 mutating webhooks have a good authority");
  EXPECT_TRUE(check_answering(Installation{}, 1).empty());
  says(check_answering(Installation{}, 0).front(), Health::kError, "no ready pod");
}

TEST(Doctor, TellsOfThePodThatWaitsLongest) {
  says(check_waiting(kNames, {}, kNow), Health::kOk, "no pod waits");
  const std::vector<WaitingPod> pods{{"ns", "young", "gantree", kNowSeconds - 5, "no room"},
                                     {"ns", "old", "gantree", kNowSeconds - 7200, "no rack holds all"}};
  says(check_waiting(kNames, pods, kNow), Health::kWarning, "2 pods wait; ns/old for 2h: no rack holds all");
  says(check_waiting(kNames, std::vector<WaitingPod>{{"ns", "new", "gantree", kNowSeconds, ""}}, kNow),
       Health::kWarning, "nobody has looked");
}

TEST(Findings, AreShownAsTextAndAsJson) {
  const Findings findings{{.check = "nodes", .sentence = "fine"},
                          {.health = Health::kError, .check = "nodes", .sentence = "bad", .advice = "mend it"}};
  EXPECT_EQ(worst(findings), Health::kError);
  EXPECT_EQ(findings_to_text(findings, {.color = false, .unicode = false}),
            "+ nodes         fine\n"
            "x               bad\n"
            "                -> mend it\n");
  const std::string json = findings_to_json(findings).to_json(false);
  EXPECT_EQ(
      json,
      R"({"health":"error","findings":[{"check":"nodes","health":"ok","message":"fine"},{"check":"nodes","health":"error","message":"bad","advice":"mend it"}]})");
}

TEST(Findings, NameAFewOfMany) {
  EXPECT_EQ(some_of({"a", "b"}), "a, b");
  EXPECT_EQ(some_of({"a", "b", "c", "d", "e", "f", "g"}), "a, b, c, d, e and 2 others");
}

}  // namespace
}  // namespace gantree
