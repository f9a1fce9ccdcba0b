#include "install/manifest.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "dialects/live.h"
#include "dialects/mutation.h"
#include "install/doctor.h"
#include "install/embedded.h"
#include "install/permissions.h"
#include "json/read.h"
#include "pods/pod_family.h"
#include "service/dispatcher.h"

namespace gantree {
namespace {

std::vector<ManifestObject> made(const InstallOptions& options) {
  auto objects = manifest(options);
  EXPECT_TRUE(objects) << objects.error().message;
  return std::move(*objects);
}

std::size_t count(const std::vector<ManifestObject>& objects, std::string_view kind) {
  return static_cast<std::size_t>(
      std::count_if(objects.begin(), objects.end(), [&](const auto& object) { return object.kind == kind; }));
}

TEST(Manifest, IsTheOneInDeploy) {
  EXPECT_EQ(count(made({}), "Deployment"), 1U);
  EXPECT_NE(to_yaml(made({})).find("image: gantree:"), std::string::npos);
  EXPECT_EQ(made({}).size(), json::read_documents("", std::string(kManifestText))->size());
}

TEST(Manifest, IsNotMadeOfNamesThatTheServerWouldRefuse) {
  const auto refusal = [](const InstallOptions& options) {
    const auto objects = manifest(options);
    return objects ? std::string() : objects.error().message;
  };
  EXPECT_EQ(refusal({.ns = "Bad_NS"}),
            "\"Bad_NS\" is no name of a namespace: small letters, digits and dashes, at most 63");
  EXPECT_EQ(refusal({.image = "Bad Image"}), "\"Bad Image\" is no image: it holds blanks or quotes");
  EXPECT_EQ(refusal({.schedulers = {""}}), "one of the scheduler names is empty");
}

TEST(Manifest, ComesInTheOrderInWhichItIsToBeApplied) {
  const auto objects = made({});
  EXPECT_EQ(objects.front().kind, "Namespace");
  EXPECT_EQ(objects[1].kind, "CustomResourceDefinition");
  EXPECT_EQ(objects[objects.size() - 2].kind, "MutatingWebhookConfiguration");
  EXPECT_EQ(objects.back().kind, "ValidatingWebhookConfiguration");
}

TEST(Manifest, GoesIntoAnotherNamespaceWhole) {
  const auto objects = made({.ns = "elsewhere"});
  const std::string text = to_yaml(objects);
  EXPECT_EQ(text.find("gantree-system"), std::string::npos);
  EXPECT_EQ(objects.front().name, "elsewhere");
  EXPECT_NE(text.find("namespace: elsewhere"), std::string::npos);
}

TEST(Manifest, TakesImageReplicasAndSchedulers) {
  const std::string text =
      to_yaml(made({.image = "registry.example.com/gantree:1", .replicas = 3, .schedulers = {"one", "two"}}));
  EXPECT_NE(text.find("image: registry.example.com/gantree:1\n"), std::string::npos);
  EXPECT_NE(text.find("replicas: 3\n"), std::string::npos);
  EXPECT_NE(text.find("--scheduler-names=one,two\n"), std::string::npos);
}

TEST(Manifest, ServesTheSchedulersThatEveryCommandServesByDefault) {
  const std::string names = fmt::format("{}", fmt::join(default_schedulers(), ","));
  EXPECT_EQ(names, "gantree,koord-scheduler") << "pods of a family that is not live are left to others";
  EXPECT_NE(to_yaml(made({})).find("--scheduler-names=" + names + "\n"), std::string::npos);
  EXPECT_EQ(PodOptions().schedulers, default_schedulers());
  EXPECT_EQ(DoctorOptions().schedulers, default_schedulers());
}

TEST(Manifest, LeavesTheDefinitionsOut) {
  EXPECT_EQ(count(made({.definitions = false}), "CustomResourceDefinition"), 0U);
}

TEST(Manifest, HasTheDefaultQueuesOfKaiWhereTheyAreAskedFor) {
  EXPECT_EQ(count(made({}), "Queue"), 0U);
  const auto objects = made({.default_queues = true});
  EXPECT_EQ(count(objects, "Queue"), 2U);
  const auto first = std::find_if(objects.begin(), objects.end(), [](const auto& one) { return one.kind == "Queue"; });
  EXPECT_EQ(first->name, "default-parent-queue") << "the parent comes first";
  EXPECT_EQ((first + 1)->name, "default-queue");
  EXPECT_TRUE(first->lasting && (first + 1)->lasting);
  EXPECT_EQ((first + 1)->body.to_json(false),
            R"({"apiVersion":"scheduling.run.ai/v2","kind":"Queue","metadata":{"name":"default-queue"},)"
            R"("spec":{"parentQueue":"default-parent-queue","resources":{)"
            R"("cpu":{"quota":0,"limit":-1,"overQuotaWeight":1},"gpu":{"quota":0,"limit":-1,"overQuotaWeight":1},)"
            R"("memory":{"quota":0,"limit":-1,"overQuotaWeight":1}}}})");
}

// Those whose deletion can be refused are asked about when they are deleted.
TEST(Manifest, HasTheApiServerAskAboutDeletions) {
  std::set<std::string> asked_about;
  const auto documents = json::read_documents("manifest", std::string(kManifestText));
  for (const json::Document& document : *documents) {
    if (document.root()["kind"].text() != "ValidatingWebhookConfiguration") {
      continue;
    }
    for (const json::NodeData& item : document.root()["webhooks"].items()) {
      const json::Value hook(&item);
      for (const json::NodeData& operation : json::Value(&hook["rules"].items().front())["operations"].items()) {
        if (json::Value(&operation).text() == "DELETE") {
          asked_about.insert(std::string(hook["clientConfig"]["service"]["path"].text()));
        }
      }
    }
  }
  std::set<std::string> judged;
  for (const Validator& validator : all_validators()) {
    if (validator.needed != nullptr) {
      judged.insert(fmt::format("/validate/{}", validator.route()));
    }
  }
  EXPECT_EQ(asked_about, judged);
  EXPECT_EQ(judged, std::set<std::string>{"/validate/kai-queues"});
}

TEST(Manifest, ReadsBackAsItWasWritten) {
  const auto objects = made({});
  EXPECT_EQ(to_yaml(*manifest_of(to_yaml(objects), "gantree-system", {})), to_yaml(objects));
}

// The paths at which the API server is told to ask, with group, version and plural: "/mutate/jobs batch/v1/jobs".
std::set<std::string> asked(std::string_view kind) {
  std::set<std::string> lines;
  const auto documents = json::read_documents("manifest", std::string(kManifestText));
  for (const json::Document& document : *documents) {
    if (document.root()["kind"].text() != kind) {
      continue;
    }
    for (const json::NodeData& item : document.root()["webhooks"].items()) {
      const json::Value hook(&item);
      const json::Value rule(&hook["rules"].items().front());
      lines.insert(fmt::format("{} {}/{}/{}", hook["clientConfig"]["service"]["path"].text(),
                               json::Value(rule["apiGroups"].items().data()).text(),
                               json::Value(rule["apiVersions"].items().data()).text(),
                               json::Value(rule["resources"].items().data()).text()));
    }
  }
  return lines;
}

TEST(Manifest, HasTheApiServerAskWhatIsServed) {
  std::set<std::string> validated;
  std::set<std::string> mutated;
  const auto line = [](std::string_view verb, std::string_view plural, const ApiKind& kind) {
    return fmt::format("/{}/{} {}/{}/{}", verb, plural, kind.group, kind.versions.front(), plural);
  };
  for (const Validator& validator : all_validators()) {
    validated.insert(fmt::format("/validate/{} {}/{}/{}", validator.route(), validator.kind.group,
                                 validator.kind.versions.front(), validator.plural));
    if (validator.made != nullptr) {
      mutated.insert(line("mutate", validator.plural, validator.kind));
    }
  }
  for (const Mutator& mutator : all_mutators()) {
    validated.insert(line("validate", mutator.plural, mutator.kind));
    mutated.insert(line("mutate", mutator.plural, mutator.kind));
    mutated.insert(line("enqueue", mutator.plural, mutator.kind));
  }
  EXPECT_EQ(asked("ValidatingWebhookConfiguration"), validated);
  EXPECT_EQ(asked("MutatingWebhookConfiguration"), mutated);
}

// "group/resource/subresource verb name own"
std::string line(const Permission& permission) {
  return permission.group + "/" + permission.resource + "/" + permission.subresource + " " + permission.verb + " " +
         permission.name + (permission.own ? " own" : "");
}

std::vector<std::string> texts(json::Value list) {
  std::vector<std::string> found;
  for (const json::NodeData& item : list ? list.items() : std::span<const json::NodeData>()) {
    found.emplace_back(json::Value(&item).text());
  }
  return found;
}

void add_rule(json::Value rule, bool own, std::set<std::string>& lines) {
  std::vector<std::string> names = texts(rule["resourceNames"]);
  if (names.empty()) {
    names.emplace_back();
  }
  for (const std::string& group : texts(rule["apiGroups"])) {
    for (const std::string& resource : texts(rule["resources"])) {
      for (const std::string& verb : texts(rule["verbs"])) {
        for (const std::string& name : names) {
          const std::size_t slash = resource.find('/');
          lines.insert(line({.group = group,
                             .resource = resource.substr(0, slash),
                             .subresource = slash == std::string::npos ? "" : resource.substr(slash + 1),
                             .verb = verb,
                             .name = name,
                             .own = own,
                             .reason = {}}));
        }
      }
    }
  }
}

TEST(Roles, AllowWhatRunDoesAndNothingElse) {
  std::set<std::string> allowed;
  const auto documents = json::read_documents("manifest", std::string(kManifestText));
  ASSERT_TRUE(documents);
  for (const json::Document& document : *documents) {
    const std::string_view kind = document.root()["kind"].text();
    // Its own; others are for people.
    const bool own = document.root()["metadata"]["name"].text() == "gantree";
    if (own && (kind == "ClusterRole" || kind == "Role")) {
      for (const json::NodeData& rule : document.root()["rules"].items()) {
        add_rule(json::Value(&rule), kind == "Role", allowed);
      }
    }
  }
  std::set<std::string> needed;
  for (const Permission& permission : run_permissions({})) {
    needed.insert(line(permission));
  }
  EXPECT_EQ(allowed, needed);
}

// A Workload holds quota and evicts others whether it has pods or not.
TEST(Roles, LetUsersSeeQueuesAndWorkloadsAndChangeNone) {
  const auto documents = json::read_documents("manifest", std::string(kManifestText));
  ASSERT_TRUE(documents);
  std::set<std::string> verbs;
  int roles = 0;
  for (const json::Document& document : *documents) {
    const json::Value labels = document.root()["metadata"]["labels"];
    const bool of_users = labels && (labels["rbac.authorization.k8s.io/aggregate-to-edit"] ||
                                     labels["rbac.authorization.k8s.io/aggregate-to-admin"]);
    if (document.root()["kind"].text() != "ClusterRole" || !of_users) {
      continue;
    }
    ++roles;
    for (const json::NodeData& rule : document.root()["rules"].items()) {
      for (const json::NodeData& verb : json::Value(&rule)["verbs"].items()) {
        verbs.insert(std::string(json::Value(&verb).text()));
      }
    }
  }
  EXPECT_GT(roles, 0);
  EXPECT_EQ(verbs, (std::set<std::string>{"get", "list", "watch"}));
}

TEST(Roles, AllowToWatchWhateverTheSchedulerWatches) {
  std::set<std::string> needed;
  for (const Permission& permission : run_permissions({})) {
    needed.insert(line(permission));
  }
  for (const ApiKind& kind : PodFamily({}).kinds()) {
    for (const char* verb : {"list", "watch"}) {
      Permission permission;
      permission.group = kind.group;
      permission.resource = resource_of(kind.group, kind.versions.front(), kind.kind, kind.namespaced).plural;
      permission.verb = verb;
      EXPECT_TRUE(needed.contains(line(permission))) << permission.title();
    }
  }
}

TEST(Permission, SaysWhatItIs) {
  Permission permission;
  permission.resource = "pods";
  permission.subresource = "binding";
  permission.verb = "create";
  EXPECT_EQ(permission.title(), "create pods/binding");
  permission = {};
  permission.group = "coordination.k8s.io";
  permission.resource = "leases";
  permission.verb = "get";
  permission.name = "gantree";
  EXPECT_EQ(permission.title(), "get leases \"gantree\" in coordination.k8s.io");
}

}  // namespace
}  // namespace gantree
