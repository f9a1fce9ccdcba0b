#include "kube/served.h"

#include <gtest/gtest.h>

namespace gantree::kube {
namespace {

const Resource kJobs{.group = "batch", .version = "v1", .plural = "jobs", .kind = "Job", .namespaced = true};

TEST(Served, ReadsTheAggregatedForm) {
  const auto served = read_served(
      R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"batch"},"versions":[{"version":"v1","resources":[
      {"resource":"jobs","responseKind":{"kind":"Job"},"scope":"Namespaced","verbs":["get","list","watch"]},
      {"resource":"reviews","responseKind":{"kind":"Review"},"scope":"Cluster","verbs":["create"]}]},
      {"version":"v2","freshness":"Stale"}]}]})");
  ASSERT_TRUE(served.has_value()) << served.error().message;
  EXPECT_EQ(served->resources, std::vector<Resource>{kJobs});
  EXPECT_EQ(served->stale, (std::vector<GroupVersion>{{"batch", "v2"}}));
}

TEST(Served, ReadsTheOldForms) {
  EXPECT_EQ(read_served(R"({"kind":"APIGroupList","groups":[{"name":"batch","versions":[{"version":"v1"}]}]})")
                ->group_versions,
            (std::vector<GroupVersion>{{"batch", "v1"}}));
  EXPECT_EQ(read_served(R"({"kind":"APIVersions","versions":["v1"]})")->group_versions,
            (std::vector<GroupVersion>{{"", "v1"}}));
  EXPECT_EQ(read_served(R"({"kind":"APIResourceList","groupVersion":"batch/v1","resources":[
      {"name":"jobs","kind":"Job","namespaced":true,"verbs":["list","watch"]},
      {"name":"jobs/status","kind":"Job","namespaced":true,"verbs":["list","watch"]}]})")
                ->resources,
            std::vector<Resource>{kJobs});
}

TEST(Served, RefusesAllElse) {
  for (const char* text :
       {"", "[]", "{}", R"({"kind":"PodList"})", R"({"kind":"APIGroupList","groups":[{}]})", "<html>"}) {
    EXPECT_FALSE(read_served(text).has_value()) << text;
  }
}

TEST(Resource, MakesPaths) {
  EXPECT_EQ(pods().path(), "/api/v1/pods");
  EXPECT_EQ(pods().path("ns", "a/b", "binding"), "/api/v1/namespaces/ns/pods/a%2Fb/binding");
  EXPECT_EQ(nodes().path("ignored", "n"), "/api/v1/nodes/n");
  EXPECT_EQ(kJobs.path("ns"), "/apis/batch/v1/namespaces/ns/jobs");
  EXPECT_EQ(escape("a=b,c in (d)"), "a%3Db%2Cc%20in%20%28d%29");
}

}  // namespace
}  // namespace gantree::kube
