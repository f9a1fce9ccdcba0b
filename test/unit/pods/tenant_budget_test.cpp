// What one namespace may cost: counted in gangs looked at and bytes read, so that the machine does not matter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pods/turns.h"
#include "unit/pods/fake_api.h"

namespace gantree {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

// What one namespace's share of a cycle may come to, with what is read for reports of no weight.
constexpr std::size_t kMostBytesACycle = 2 * Turns::kMostShare * Turns::kBytesPerUnit;

struct Tenants : FakeApi {
  Tenants() {
    racks(2, 4);
    pass(seconds(1));
    run();
  }

  void put_group(const std::string& ns, const std::string& name, const std::string& spec,
                 const std::string& groups = "") {
    std::string annotations;
    if (!groups.empty()) {
      annotations = R"("gang.scheduling.koordinator.sh/groups":")" + groups + "\"";
    }
    send("scheduling.sigs.k8s.io", "v1alpha1", "PodGroup",
         R"({"metadata":{"namespace":")" + ns + R"(","name":")" + name + R"(","uid":"g","annotations":{)" +
             annotations + R"(}},"spec":)" + spec + "}");
  }
  void put_pod(const std::string& ns, const std::string& name, const std::string& gang, int gpus,
               const std::string& more = "", const std::string& metadata = "") {
    std::string text = R"({"metadata":{"namespace":")" + ns + R"(","name":")" + name + R"(","uid":"u-)" + name + "\"";
    if (!gang.empty()) {
      text += R"(,"labels":{"pod-group.scheduling.sigs.k8s.io":")" + gang + "\"}";
    }
    text += metadata + R"(},"spec":{"schedulerName":"gantree",)" + more +
            R"("containers":[{"name":"c","resources":{"requests":{"nvidia.com/gpu":")" + std::to_string(gpus) +
            R"("}}}]},"status":{"phase":"Pending"}})";
    send("", "v1", "Pod", text);
  }
  // What the pod's condition, or the gang's, was last told.
  Step cycle() {
    pass(milliseconds(50));
    Step step = scheduler.step(now);
    most_bytes = std::max(most_bytes, step.figures.bytes_read);
    most_looks = std::max(most_looks, step.figures.gangs_looked_at);
    for (const Order& order : step.orders) {
      if (order.write.verb == WriteVerb::kBind) {
        bound_pods.insert(order.write.object.ns + "/" + order.write.object.name);
        scheduler.answered(order.id, Answer::kDone, "", now);
      } else {
        told[order.write.object.kind + " " + order.write.object.ns + "/" + order.write.object.name] += order.write.body;
      }
    }
    return step;
  }
  // Another tenant's pod is bound in the cycle after it came.
  void expect_victim_is_served() {
    const std::string name = "v" + std::to_string(victims++);
    put_pod("victim", name, "", 0);
    static_cast<void>(cycle());
    EXPECT_TRUE(bound_pods.contains("victim/" + name));
  }

  std::size_t most_bytes = 0;
  int most_looks = 0;
  int victims = 0;
  std::set<std::string> bound_pods;
  std::map<std::string, std::string> told;
};

std::string list(const std::vector<std::string>& names) {
  std::string text = "[";
  for (const std::string& name : names) {
    text += (text.size() > 1 ? "," : "") + std::string(R"(\"evil/)") + name + R"(\")";
  }
  return text + "]";
}

TEST(TenantBudget, GroupsThatListThousandsAreRefusedAndCostNobodyAnything) {
  Tenants api;
  std::vector<std::string> names;
  for (int i = 0; i < 14'000; ++i) {
    names.push_back("a" + std::to_string(i));
  }
  for (int i = 0; i < 300; ++i) {
    names.push_back("z" + std::to_string(i));
  }
  const std::string groups = list(names);
  for (int i = 0; i < 300; ++i) {
    api.put_group("evil", "z" + std::to_string(i), R"({"minMember":1})", groups);
    api.put_pod("evil", "p" + std::to_string(i), "z" + std::to_string(i), 1);
  }
  for (int i = 0; i < 20; ++i) {
    api.expect_victim_is_served();
  }
  api.pass(seconds(2));
  static_cast<void>(api.cycle());
  EXPECT_LE(api.most_bytes, kMostBytesACycle);
  EXPECT_THAT(api.told["Pod evil/p0"], AllOf(HasSubstr("InvalidRequest"), HasSubstr("at most 100 gangs")));
  EXPECT_THAT(api.told["PodGroup evil/z299"], HasSubstr("at most 100 gangs"));
}

TEST(TenantBudget, AHundredGangsStartTogetherButNotMore) {
  for (const int gangs : {100, 101}) {
    Tenants api;
    api.node("large", R"("rack":"r9")", 200);
    std::vector<std::string> names;
    for (int i = 0; i < gangs; ++i) {
      names.push_back("g" + std::to_string(i));
    }
    for (const std::string& name : names) {
      api.put_group("evil", name, R"({"minMember":1})", list(names));
      api.put_pod("evil", name, name, 1);
    }
    for (int i = 0; i < 10; ++i) {
      static_cast<void>(api.cycle());
    }
    EXPECT_EQ(api.bound_pods.size(), gangs == 100 ? 100U : 0U);
  }
}

// Each lists its neighbours, so that all are connected though nobody lists many.
TEST(TenantBudget, AChainOfListsConnectsNobody) {
  Tenants api;
  constexpr int kGangs = 2000;
  for (int i = 0; i < kGangs; ++i) {
    std::vector<std::string> names;
    for (int other = std::max(0, i - 40); other < std::min(kGangs, i + 41); ++other) {
      names.push_back("g" + std::to_string(other));
    }
    api.put_group("evil", "g" + std::to_string(i), R"({"minMember":1})", list(names));
    api.put_pod("evil", "g" + std::to_string(i), "g" + std::to_string(i), 1);
  }
  for (int i = 0; i < 20; ++i) {
    api.expect_victim_is_served();
  }
  EXPECT_LE(api.most_bytes, kMostBytesACycle);
  EXPECT_THAT(api.told["Pod evil/g7"], HasSubstr("more than 100 gangs are connected"));
}

TEST(TenantBudget, TenThousandPodsOfOneNamespaceHoldNobodyElseUp) {
  Tenants api;
  const std::string affinity =
      R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"rack","operator":"In","values":[")" +
      std::string(8000, 'x') + R"("]}]}]}}},)";
  for (int i = 0; i < 10'000; ++i) {
    api.put_pod("evil", "p" + std::to_string(i), "", 1, affinity);
  }
  for (int i = 0; i < 70; ++i) {
    api.expect_victim_is_served();
  }
  EXPECT_LE(api.most_bytes, kMostBytesACycle);
  EXPECT_LE(api.most_looks, static_cast<int>(Turns::kMostShare) + 50);
  // All of them have had their turn.
  EXPECT_THAT(api.told["Pod evil/p9999"], HasSubstr("Unschedulable"));
  EXPECT_THAT(api.told["Pod evil/p0"], HasSubstr("Unschedulable"));
}

TEST(TenantBudget, TheFirstOfALongLineGetsWhatComesFree) {
  Tenants api;
  for (int r = 0; r < 2; ++r) {
    for (int h = 0; h < 4; ++h) {
      api.put_pod("old", "full" + std::to_string(r) + std::to_string(h), "", 8);
    }
  }
  static_cast<void>(api.cycle());
  ASSERT_EQ(api.bound_pods.size(), 8U);
  for (int i = 0; i < 3000; ++i) {
    api.put_pod("evil", "p" + std::to_string(i), "", 8);
  }
  api.put_pod("evil", "urgent", "", 8, R"("priority":100,)");
  for (int i = 0; i < 30; ++i) {
    static_cast<void>(api.cycle());
  }
  // Room comes while the line is being gone through, far behind the first.
  for (int i = 0; i < 4; ++i) {
    api.pass(seconds(31));
    static_cast<void>(api.cycle());
    api.node("new" + std::to_string(i), R"("rack":"r7")", i == 3 ? 8 : 4);
    static_cast<void>(api.cycle());
  }
  EXPECT_TRUE(api.bound_pods.contains("evil/urgent"));
}

TEST(TenantBudget, AllNamespacesHaveTheirTurn) {
  Tenants api;
  for (int ns = 0; ns < 300; ++ns) {
    for (int i = 0; i < 20; ++i) {
      api.put_pod("ns" + std::to_string(ns), "p" + std::to_string(i), "", 9);
    }
  }
  for (int i = 0; i < 20; ++i) {
    static_cast<void>(api.cycle());
  }
  EXPECT_LE(api.most_looks, static_cast<int>(Turns::kMostUnits + Turns::kMostShare));
  for (int ns = 0; ns < 300; ++ns) {
    EXPECT_THAT(api.told["Pod ns" + std::to_string(ns) + "/p19"], HasSubstr("Unschedulable"));
  }
}

// The search for victims is dear, so that few are tried at a time.
TEST(TenantBudget, ThousandsThatNobodyCanBeEvictedForKeepNoOtherNamespaceFromEvicting) {
  Tenants api;
  for (int r = 0; r < 2; ++r) {
    for (int h = 0; h < 4; ++h) {
      const std::string host = "n" + std::to_string(r) + "-" + std::to_string(h);
      api.pod("old-" + host, {.gpus = host == "n0-0" ? 7 : 8, .node = host, .phase = "Running", .priority = 10});
    }
  }
  api.pod("low", {.gpus = 1, .node = "n0-0", .phase = "Running", .priority = 1});
  // No two ask for the same, and the one that may be evicted is too small for any.
  for (int i = 0; i < 2000; ++i) {
    api.put_pod("evil", "p" + std::to_string(i), "", 2,
                R"("priority":5,"overhead":{"cpu":")" + std::to_string(i + 1) + R"(m"},)");
  }
  for (int i = 0; i < 20; ++i) {
    static_cast<void>(api.cycle());
  }
  ASSERT_FALSE(api.told.contains("Pod default/low"));
  api.put_pod("victim", "p", "", 1, R"("priority":3,)");
  for (int i = 0; i < 20; ++i) {
    static_cast<void>(api.cycle());
  }
  EXPECT_TRUE(api.told.contains("Pod default/low")) << "one second later";
}

TEST(TenantBudget, APodThatIsTooLargeIsRefused) {
  Tenants api;
  const std::string selector = R"("nodeSelector":{"a":")" + std::string(100'000, 'x') + R"("},)";
  api.put_pod("evil", "selector", "", 1, selector);
  std::string labels = R"(,"finalizers":[")" + std::string(100'000, 'x') + R"("])";
  api.put_pod("evil", "metadata", "", 1, "", labels);
  api.expect_victim_is_served();
  EXPECT_THAT(api.told["Pod evil/selector"], HasSubstr("more than 64 KiB"));
  EXPECT_THAT(api.told["Pod evil/metadata"], HasSubstr("more than 64 KiB"));
  EXPECT_LE(api.most_bytes, 10'000U);
}

TEST(TenantBudget, AnnotationsThatNobodyReadsAreNotKept) {
  Tenants api;
  api.put_pod("evil", "p", "", 1, "", R"(,"annotations":{"notes":")" + std::string(200'000, 'x') + R"("})");
  static_cast<void>(api.cycle());
  EXPECT_TRUE(api.bound_pods.contains("evil/p"));
  EXPECT_LE(api.most_bytes, 10'000U);
}

TEST(TenantBudget, APodGroupThatIsTooLargeIsRefused) {
  Tenants api;
  std::string annotations;
  for (int i = 0; i < 10; ++i) {
    annotations += (i > 0 ? "," : "") + std::string(R"("gang.scheduling.koordinator.sh/x)") + std::to_string(i) +
                   R"(":")" + std::string(20'000, 'x') + "\"";
  }
  api.send("scheduling.sigs.k8s.io", "v1alpha1", "PodGroup",
           R"({"metadata":{"namespace":"evil","name":"g","uid":"g","annotations":{)" + annotations +
               R"(}},"spec":{"minMember":1}})");
  api.put_pod("evil", "p", "g", 1);
  api.expect_victim_is_served();
  EXPECT_THAT(api.told["Pod evil/p"], HasSubstr("more than 64 KiB"));
  EXPECT_FALSE(api.bound_pods.contains("evil/p"));
}

TEST(TenantBudget, MinimaThatMakeNoSenseWaitAndAreTold) {
  Tenants api;
  api.put_group("evil", "most", R"({"minMember":2147483647})");
  api.put_pod("evil", "most", "most", 1);
  api.put_group("evil", "negative", R"({"minMember":-1})");
  api.put_pod("evil", "negative", "negative", 1);
  api.put_group("evil", "beyond", R"({"minMember":99999999999999999999})");
  api.put_pod("evil", "beyond", "beyond", 1);
  api.expect_victim_is_served();
  api.pass(seconds(5));
  static_cast<void>(api.cycle());
  EXPECT_THAT(api.told["Pod evil/most"], HasSubstr("is 2147483647; at most 1000000 are allowed"));
  EXPECT_THAT(api.told["Pod evil/negative"], HasSubstr("must not be negative"));
  EXPECT_THAT(api.told["Pod evil/beyond"], HasSubstr("Unschedulable"));
  EXPECT_EQ(api.bound_pods.size(), 1U);
}

// A gang's pods are read together, so all of them together have a limit.
TEST(TenantBudget, AGangThatWeighsTooMuchIsRefused) {
  Tenants api;
  api.put_group("evil", "g", R"({"minMember":1})");
  const std::string selector = R"("nodeSelector":{"a":")" + std::string(50'000, 'x') + R"("},)";
  for (int i = 0; i < 700; ++i) {
    api.put_pod("evil", "p" + std::to_string(i), "g", 1, selector);
  }
  api.expect_victim_is_served();
  EXPECT_THAT(api.told["Pod evil/p0"], HasSubstr("more than the 32 MiB"));
  EXPECT_LE(api.most_bytes, kMostBytesACycle);
}

TEST(TenantBudget, AGangOfAThousandShapesHoldsNobodyUp) {
  Tenants api;
  api.put_group("evil", "g", R"({"minMember":1000})");
  for (int i = 0; i < 1000; ++i) {
    api.put_pod("evil", "p" + std::to_string(i), "g", 1, R"("nodeSelector":{"a":")" + std::to_string(i) + R"("},)");
  }
  api.expect_victim_is_served();
}

TEST(TenantBudget, DisruptionBudgetsAreReadOnlyWhereSomebodyIsToBeEvicted) {
  Tenants api;
  for (int i = 0; i < 5000; ++i) {
    api.send("policy", "v1", "PodDisruptionBudget",
             R"({"metadata":{"namespace":"evil","name":"b)" + std::to_string(i) +
                 R"("},"spec":{"selector":{"matchLabels":{"a":"b"}}},"status":{"disruptionsAllowed":0}})");
  }
  api.put_pod("evil", "low", "", 8, R"("priority":-5,"nodeName":"n0-0",)");
  api.expect_victim_is_served();
  for (int i = 0; i < 8; ++i) {
    api.put_pod("other", "p" + std::to_string(i), "", 8);
  }
  for (int i = 0; i < 5; ++i) {
    api.pass(seconds(1));
    static_cast<void>(api.cycle());
  }
  EXPECT_LE(api.most_bytes, 100'000U);
}

}  // namespace
}  // namespace gantree
