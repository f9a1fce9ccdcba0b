#include "dialects/lineage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/read.h"

namespace gantree {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string object(const std::string& kind, const std::string& name, const std::string& owner = "",
                   const std::string& labels = "") {
  const std::size_t slash = owner.find('/');
  const std::string owners = owner.empty() ? ""
                                           : ", ownerReferences: [{kind: " + owner.substr(0, slash) +
                                                 ", name: " + owner.substr(slash + 1) + ", controller: true}]";
  return "---\napiVersion: v1\nkind: " + kind + "\nmetadata: {namespace: ns, name: " + name + ", labels: {" + labels +
         "}" + owners + "}\n";
}

std::vector<std::string> called(const std::string& manifests, const std::string& text) {
  const auto documents = json::read_documents("test", manifests);
  EXPECT_TRUE(documents);
  std::vector<std::string> names;
  for (const GangKey& key : relatives(*documents, text)) {
    names.push_back(key.kind + "/" + key.name);
  }
  return names;
}

TEST(Lineage, APodLeadsToWhatMadeItAndWhatMadeThat) {
  const std::string all =
      object("Pod", "p", "Job/j") + object("Job", "j", "JobSet/s") + object("Pod", "other", "Job/k");
  EXPECT_THAT(called(all, "pod/p"), ElementsAre("Pod/p", "Job/j", "JobSet/s"));
  EXPECT_THAT(called(all, "ns/Pod/p"), ElementsAre("Pod/p", "Job/j", "JobSet/s"));
}

TEST(Lineage, ADeploymentLeadsToItsPods) {
  const std::string all = object("Pod", "a", "ReplicaSet/web-1") + object("Pod", "b", "ReplicaSet/web-1") +
                          object("ReplicaSet", "web-1", "Deployment/web") + object("Deployment", "web");
  EXPECT_THAT(called(all, "deployment/web"), ElementsAre("Pod/a", "Pod/b"));
  EXPECT_THAT(called(all, "rs/web-1"), ElementsAre("ReplicaSet/web-1", "Deployment/web", "Pod/a", "Pod/b"));
}

TEST(Lineage, APodOfAGroupLeadsToTheGroup) {
  const std::string all = object("Pod", "p", "", "kueue.x-k8s.io/pod-group-name: duo");
  EXPECT_THAT(called(all, "p"), ElementsAre("Pod/p", "Pod/duo"));
}

TEST(Lineage, CirclesEnd) {
  const std::string all = object("Pod", "p", "Job/j") + object("Job", "j", "Pod/p");
  EXPECT_FALSE(called(all, "p").empty());
  EXPECT_THAT(called(all, "nothing"), IsEmpty());
}

}  // namespace
}  // namespace gantree
