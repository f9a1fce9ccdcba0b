#include "apiserver/table.h"

#include <gtest/gtest.h>

namespace gantree::apiserver {
namespace {

constexpr std::int64_t kNow = 1767225600;  // 2026-01-01T00:00:00Z

Value json(std::string_view text) {
  auto value = parse_json(text);
  EXPECT_TRUE(value.has_value()) << text;
  return value.value_or(Value());
}

std::string row(std::string_view group, std::string_view kind, std::string_view object) {
  const TableFormat table = TableFormat::of_builtin(group, kind);
  const Array cells = table.cells(json(object), kNow);
  EXPECT_EQ(cells.size(), table.columns().size()) << kind;
  return to_json(Value(cells));
}

TEST(Table, AgesAreInTheFormOfKubectl) {
  EXPECT_EQ(human_duration(-5), "<invalid>");
  EXPECT_EQ(human_duration(119), "119s");
  EXPECT_EQ(human_duration(120), "2m");
  EXPECT_EQ(human_duration(125), "2m5s");
  EXPECT_EQ(human_duration(11 * 60 + 5), "11m");
  EXPECT_EQ(human_duration(3 * 3600 + 60), "3h1m");
  EXPECT_EQ(human_duration(9 * 3600 + 60), "9h");
  EXPECT_EQ(human_duration(49 * 3600), "2d1h");
  EXPECT_EQ(human_duration(20 * 86400), "20d");
  EXPECT_EQ(human_duration(800 * 86400), "2y70d");
}

TEST(Table, PodsShowWhatTheirContainersDo) {
  EXPECT_EQ(
      row("", "Pod",
          R"({"metadata":{"name":"a","creationTimestamp":"2025-12-31T23:59:00Z"},"spec":{"containers":[{}],"nodeName":"n1"},
    "status":{"phase":"Running","podIPs":[{"ip":"10.0.0.1"}],"containerStatuses":[{"ready":true,"restartCount":0,"state":{"running":{}}}]}})"),
      R"(["a","1/1","Running","0","60s","10.0.0.1","n1","<none>","<none>"])");
  EXPECT_EQ(
      row("", "Pod", R"({"metadata":{"name":"a","creationTimestamp":"2025-12-31T23:59:00Z"},"spec":{"containers":[{}]},
    "status":{"phase":"Pending","conditions":[{"type":"PodScheduled","reason":"SchedulingGated"}]}})"),
      R"(["a","0/1","SchedulingGated","0","60s","<none>","<none>","<none>","<none>"])");
  EXPECT_EQ(row("", "Pod",
                R"({"metadata":{"name":"a","creationTimestamp":"2025-12-31T23:59:00Z"},"spec":{"containers":[{},{}]},
    "status":{"phase":"Failed","containerStatuses":[{"restartCount":2,"state":{"terminated":{"exitCode":137,"reason":"OOMKilled"}},
      "lastState":{"terminated":{"finishedAt":"2025-12-31T23:59:30Z"}}}]}})"),
            R"~(["a","0/2","OOMKilled","2 (30s ago)","60s","<none>","<none>","<none>","<none>"])~");
  EXPECT_EQ(
      row("", "Pod",
          R"({"metadata":{"name":"a","creationTimestamp":"2025-12-31T23:59:00Z","deletionTimestamp":"2025-12-31T23:59:30Z"},
    "spec":{"containers":[{}],"initContainers":[{"name":"i"}]},"status":{"phase":"Pending","initContainerStatuses":[{"name":"i","state":{"waiting":{"reason":"PodInitializing"}}}]}})"),
      R"(["a","0/1","Terminating","0","60s","<none>","<none>","<none>","<none>"])");
}

TEST(Table, NodesAndJobs) {
  EXPECT_EQ(
      row("", "Node",
          R"({"metadata":{"name":"n","creationTimestamp":"2025-12-31T23:00:00Z","labels":{"node-role.kubernetes.io/worker":""}},
    "spec":{"unschedulable":true},"status":{"conditions":[{"type":"Ready","status":"True"}],"nodeInfo":{"kubeletVersion":"v1.36.3"}}})"),
      R"(["n","Ready,SchedulingDisabled","worker","60m","v1.36.3","<none>","<none>","<unknown>","<unknown>","<unknown>"])");
  EXPECT_EQ(
      row("batch", "Job",
          R"({"metadata":{"name":"j","creationTimestamp":"2025-12-31T23:00:00Z"},"spec":{"completions":3,"parallelism":3,
    "selector":{"matchLabels":{"a":"b"}},"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}},
    "status":{"succeeded":3,"startTime":"2025-12-31T23:00:00Z","completionTime":"2025-12-31T23:01:30Z","conditions":[{"type":"Complete","status":"True"}]}})"),
      R"(["j","Complete","3/3","90s","60m","c","i","a=b"])");
}

TEST(Table, OtherKindsHaveTheirNameAndTheirTime) {
  EXPECT_EQ(row("apiextensions.k8s.io", "CustomResourceDefinition",
                R"({"metadata":{"name":"q","creationTimestamp":"2025-12-31T23:00:00Z"}})"),
            R"(["q","2025-12-31T23:00:00Z"])");
  EXPECT_EQ(
      row("policy", "PodDisruptionBudget",
          R"({"metadata":{"name":"p","creationTimestamp":"2025-12-31T23:00:00Z"},"spec":{"minAvailable":"50%"}})"),
      R"(["p","50%","N/A",0,"60m"])");
}

TEST(Table, CustomKindsShowTheColumnsOfTheirDefinition) {
  const Value columns =
      json(R"([{"name":"Ready","type":"string","jsonPath":".status.conditions[?(@.type==\"Ready\")].status"},
    {"name":"Count","type":"integer","jsonPath":".spec.parts[0].count","priority":1},
    {"name":"Label","type":"string","jsonPath":".metadata.labels.example\\.com/a"},
    {"name":"Since","type":"date","jsonPath":".metadata.creationTimestamp"}])");
  const TableFormat table = TableFormat::of_custom(columns.if_array());
  EXPECT_EQ(
      to_json(Value(table.cells(
          json(R"({"metadata":{"name":"q","creationTimestamp":"2025-12-31T23:00:00Z","labels":{"example.com/a":"x"}},
    "spec":{"parts":[{"count":4}]},"status":{"conditions":[{"type":"Other","status":"Unknown"},{"type":"Ready","status":"True"}]}})"),
          kNow))),
      R"(["q","True",4,"x","60m"])");
  EXPECT_EQ(to_json(Value(table.cells(json(R"({"metadata":{"name":"q"}})"), kNow))), R"(["q",null,null,null,null])");
  EXPECT_EQ(TableFormat::of_custom(nullptr).columns().size(), 2U);
}

}  // namespace
}  // namespace gantree::apiserver
