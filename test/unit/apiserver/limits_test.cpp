// What one client may ask for without harm to the others.
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>

#include "apiserver/metadata.h"
#include "apiserver/rules.h"
#include "apiserver/warnings.h"
#include "unit/apiserver/world.h"

namespace gantree::apiserver {
namespace {

constexpr const char* kThings = "/apis/example.com/v1/namespaces/default/things";
constexpr const char* kDefinition = R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
  "metadata":{"name":"things.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
    "names":{"plural":"things","kind":"Thing"},"versions":[{"name":"v1","served":true,"storage":true,
      "subresources":{"status":{}},
      "schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})";

std::string nested(std::size_t depth) {
  std::string text;
  for (std::size_t i = 0; i < depth; ++i) {
    text += "{\"a\":";
  }
  return text + "1" + std::string(depth, '}');
}
std::string thing(std::string_view name, const std::string& spec) {
  return R"({"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":")" + std::string(name) + R"("},"spec":)" +
         spec + "}";
}

void define_things(World& world) {
  (void)world.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", kDefinition);
  EXPECT_TRUE(World::eventually([&] { return world.get(kThings).status == 200; }));
}

// Otherwise one object would keep the whole cluster from starting again.
TEST(Limits, WhateverIsStoredCanBeReadAgain) {
  const auto folder = std::filesystem::temp_directory_path() / ("gantree-deep-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const std::string file = (folder / "cluster.db").string();
  const std::string a = std::string(kThings) + "/a";
  {
    World world({.file = file});
    define_things(world);
    EXPECT_EQ(world.post(kThings, thing("a", nested(kMaxObjectDepth - 1))).status, 201);
    EXPECT_EQ(world.merge(a, R"({"spec":{"b":1}})").status, 200);
    EXPECT_EQ(world.post(kThings, thing("b", nested(kMaxObjectDepth))).status, 400);
    EXPECT_EQ(world.post(kThings, thing("b", nested(100'000))).status, 400);
    EXPECT_EQ(world.merge(a, "{\"spec\":" + nested(kMaxObjectDepth) + "}").status, 400);
    EXPECT_EQ(world.merge(a + "/status", "{\"status\":" + nested(kMaxObjectDepth) + "}").status, 400);
    std::string path = "/spec";
    for (std::size_t i = 0; i + 2 < kMaxObjectDepth; ++i) {
      path += "/a";
    }
    const auto add = [&](const std::string& to) {
      return world.send("PATCH", a, R"([{"op":"add","path":")" + to + R"(","value":)" + nested(100) + "}]",
                        "application/json-patch+json");
    };
    EXPECT_EQ(add(path).status, 400);
    std::string account = "/metadata/managedFields/0/fieldsV1";
    for (int i = 0; i < 3; ++i) {
      EXPECT_NE(add(account + "/f:x").status / 100, 5);
      account += "/f:x";
      for (int level = 0; level < 100; ++level) {
        account += "/a";
      }
    }
    const std::string wish = thing("a", nested(kMaxObjectDepth));
    EXPECT_EQ(world.send("PATCH", a + "?fieldManager=x&force=true", wish, "application/apply-patch+yaml").status, 400);
  }
  {
    World world({.file = file});
    EXPECT_EQ(world.get(a).status, 200);
    EXPECT_EQ(world.merge(a, R"({"spec":{"b":1}})").status, 200);
    EXPECT_EQ(world.remove(a).status, 200);
  }
  std::filesystem::remove_all(folder);
}

TEST(Limits, OfManyWarningsSomeAreTold) {
  World world;
  std::string fields;
  for (int i = 0; i < 20'000; ++i) {
    fields += ",\"unknown" + std::to_string(i) + "\\r\\nX: y\":1";
  }
  const Answer created = world.post(kPods, pod("a", "", fields));
  EXPECT_EQ(created.status, 201);
  std::size_t bytes = 0;
  for (const auto& [name, value] : created.headers) {
    bytes += name.size() + value.size();
    EXPECT_EQ(value.find_first_of("\r\n"), std::string::npos);
  }
  EXPECT_GT(bytes, 100U);
  EXPECT_LT(bytes, 8'192U);
  const Answer refused = world.post(std::string(kPods) + "?fieldValidation=Strict", pod("b", "", fields));
  EXPECT_EQ(refused.status, 400);
  EXPECT_LT(refused.text().size(), 100'000U);
}

TEST(Limits, WarningsAreAsManyAsClientsTake) {
  const auto headers_of = [](const std::vector<std::string>& warnings) {
    http::HeaderList headers;
    add_warnings(warnings, headers);
    return headers;
  };
  EXPECT_EQ(headers_of({"a", "b", "a"}).size(), 2U) << "each once";
  const std::string long_one(1'000, 'x');
  EXPECT_EQ(headers_of({long_one}).front().second, "299 - \"" + long_one + "\"") << "there is room for it";
  std::vector<std::string> many;
  for (int i = 0; i < 200; ++i) {
    many.push_back("warning " + std::to_string(i));
  }
  const auto some = headers_of(many);
  ASSERT_EQ(some.size(), 50U);
  EXPECT_EQ(some.back().second, "299 - \"151 more warnings are not shown\"");
  std::vector<std::string> large;
  for (int i = 0; i < 30; ++i) {
    std::string text = std::to_string(i);
    while (text.size() < 2'000) {
      text += "\u20ac";
    }
    large.push_back(text);
  }
  std::size_t bytes = 0;
  for (const auto& [name, value] : headers_of(large)) {
    EXPECT_TRUE(is_utf8(value));
    bytes += value.size();
  }
  EXPECT_LT(bytes, 3U * 4'096U + 1'000U);
}

TEST(Limits, TheFilesOfAClusterAreItsUsersAlone) {
  const auto folder = std::filesystem::temp_directory_path() / ("gantree-mode-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::filesystem::permissions(folder, std::filesystem::perms::all);
  const std::string file = folder / "cluster.db";
  // As an earlier version left them.
  for (const std::string_view end : {"-history", "-history-old"}) {
    std::ofstream(file + std::string(end)) << "x";
    std::filesystem::permissions(file + std::string(end), static_cast<std::filesystem::perms>(0644));
  }
  const mode_t mask = ::umask(0);
  {
    World world({.file = file});
    EXPECT_EQ(world.post(kPods, pod("a")).status, 201);
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      ++files;
      EXPECT_EQ(entry.status().permissions(), static_cast<std::filesystem::perms>(0600)) << entry.path();
    }
    EXPECT_GE(files, 3U) << "SQLite's own files beside the database are there while it is open";
  }
  ::umask(mask);
  std::filesystem::remove_all(folder);
}

double cpu_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// How many times more work ten times as much is: about ten, and a hundred where each is compared with each.
template <class Work>
double growth(Work work, std::size_t size) {
  const auto cost = [&](std::size_t much) {
    double least = 1e9;
    for (int i = 0; i < 2; ++i) {
      const double begin = cpu_seconds();
      work(much);
      least = std::min(least, cpu_seconds() - begin);
    }
    return least;
  };
  const double little = std::max(cost(size), 1e-4);
  return cost(10 * size) / little;
}

Object pod_with(std::string_view list, std::size_t count, bool reversed,
                const std::function<Value(std::size_t)>& item) {
  Array items;
  for (std::size_t i = 0; i < count; ++i) {
    items.push_back(item(reversed ? count - 1 - i : i));
  }
  const auto pod = parse_json(R"({"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}})");
  Object object = pod->get_object();
  object["spec"].get_object()[list] = std::move(items);
  return object;
}

TEST(Limits, LongListsOfAPodAreComparedInTimeThatGrowsAsTheyDo) {
  const auto toleration = [](std::size_t i) {
    return Value(Object{{"key", "k" + std::to_string(i)}, {"operator", "Exists"}, {"effect", "NoSchedule"}});
  };
  const auto gate = [](std::size_t i) { return Value(Object{{"name", "example.com/g" + std::to_string(i)}}); };
  for (const auto& [list, item] :
       {std::pair<std::string_view, std::function<Value(std::size_t)>>("tolerations", toleration),
        std::pair<std::string_view, std::function<Value(std::size_t)>>("schedulingGates", gate)}) {
    const auto update = [&list = list, &item = item](std::size_t count) {
      FieldErrors errors =
          check_update("", "Pod", pod_with(list, count, false, item), pod_with(list, count, true, item));
      EXPECT_TRUE(errors.empty()) << errors.front().field;
    };
    EXPECT_LT(growth(update, 1'500), 40) << list;
  }
}

TEST(Limits, ManyFinalizersOfAnObjectThatIsBeingDeletedAreComparedInLinearTime) {
  const auto change = [](std::size_t count) {
    Array finalizers;
    for (std::size_t i = 0; i < count; ++i) {
      finalizers.push_back(Value("example.com/" + std::to_string(i)));
    }
    Object metadata{{"name", "a"}, {"deletionTimestamp", "2026-01-01T00:00:00Z"}};
    metadata["finalizers"] = std::move(finalizers);
    const Object object{{"metadata", std::move(metadata)}};
    EXPECT_TRUE(check_metadata_change(object, object).empty());
  };
  EXPECT_LT(growth(change, 5'000), 40);
}

std::string large_map(std::size_t keys, std::string_view value = "") {
  std::string data;
  for (std::size_t i = 0; i < keys; ++i) {
    data += (data.empty() ? "\"k" : ",\"k") + std::to_string(i) + "\":\"" + std::string(value) + "\"";
  }
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"large"},"data":{)" + data + "}}";
}

TEST(Limits, AMapOfManyKeysIsWrittenInTimeThatGrowsAsItDoes) {
  World world;
  const std::string path = std::string(kMaps) + "/large";
  const auto write = [&](std::size_t keys) {
    (void)world.remove(path);
    EXPECT_NE(world.post(kMaps, large_map(keys)).status, 400);
    EXPECT_NE(world.put(path, large_map(keys, "v")).status, 400);
    EXPECT_NE(world.merge(path, large_map(keys, "w")).status, 400);
    EXPECT_NE(
        world.send("PATCH", path + "?fieldManager=x&force=true", large_map(keys, "x"), "application/apply-patch+yaml")
            .status,
        400);
  };
  EXPECT_LT(growth(write, 4'000), 30);
}

TEST(Limits, ManyMembersAreRemovedByAPatchInLinearTime) {
  World world;
  const auto patch = [&](std::size_t keys) {
    (void)world.remove(std::string(kMaps) + "/large");
    ASSERT_EQ(world.post(kMaps, large_map(keys * 4)).status, 201);
    std::string steps;
    for (std::size_t i = 0; i < keys; ++i) {
      steps +=
          (steps.empty() ? "[" : ",") + std::string(R"({"op":"remove","path":"/data/k)") + std::to_string(i) + "\"}";
    }
    const Answer changed =
        world.send("PATCH", std::string(kMaps) + "/large", steps + "]", "application/json-patch+json");
    EXPECT_EQ(changed.status, 200) << changed.text().substr(0, 300);
  };
  EXPECT_LT(growth(patch, 900), 35);
}

// Bindings of one namespace, and the roles that they share, are read for it alone and once.
TEST(Limits, RightsInOneNamespaceCostOthersNothing) {
  World world;
  const std::string rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/";
  ASSERT_EQ(world.post("/api/v1/namespaces", R"({"metadata":{"name":"busy"}})").status, 201);
  std::string rules;
  for (int i = 0; i < 3'000; ++i) {
    rules += std::string(rules.empty() ? "" : ",") +
             R"({"apiGroups":[""],"resources":["pods"],"verbs":["get"],"resourceNames":["n)" + std::to_string(i) +
             "\"]}";
  }
  ASSERT_EQ(world.post(rbac + "busy/roles", R"({"metadata":{"name":"large"},"rules":[)" + rules + "]}").status, 201);
  int made = 0;
  const auto bind = [&] {
    const Answer bound = world.post(
        rbac + "busy/rolebindings",
        R"({"metadata":{"name":"b)" + std::to_string(made++) +
            R"("},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"large"},"subjects":[{"kind":"ServiceAccount","name":"robot","namespace":"busy"}]})");
    ASSERT_EQ(bound.status, 201) << bound.text();
  };
  const auto ask = [&](const std::string& path) {
    Call call;
    call.path = path;
    call.user = "system:serviceaccount:busy:robot";
    call.trusted = false;
    return world.api().call_and_wait(std::move(call)).status;
  };
  bind();
  double begin = cpu_seconds();
  EXPECT_EQ(ask("/api/v1/namespaces/busy/pods/n7"), 404) << "allowed, and not there";
  const double first = std::max(cpu_seconds() - begin, 1e-3);
  for (int i = 0; i < 200; ++i) {
    bind();
  }
  begin = cpu_seconds();
  EXPECT_EQ(ask("/api/v1/namespaces/busy/pods/n2999"), 404);
  EXPECT_EQ(ask("/api/v1/namespaces/default/pods/n1"), 403);
  EXPECT_LT(cpu_seconds() - begin, 20 * first);
}

TEST(Limits, WhatEtcdWouldNotTakeIsRefusedAsThere) {
  World world;
  const Answer created = world.post(kMaps, large_map(200'000));
  EXPECT_EQ(created.status, 500);
  EXPECT_EQ(text_in(created, {"message"}), "etcdserver: request is too large");
  EXPECT_EQ(world.get(std::string(kMaps) + "/large").status, 404);
  ASSERT_EQ(world.post(kMaps, large_map(40'000)).status, 201);
  const std::string before = version_in(world.get(std::string(kMaps) + "/large"));
  EXPECT_EQ(world.merge(std::string(kMaps) + "/large", large_map(200'000, "v")).status, 500);
  EXPECT_EQ(version_in(world.get(std::string(kMaps) + "/large")), before);
  EXPECT_EQ(world.post(kMaps, config_map("small")).status, 201) << "others are served";
}

TEST(Limits, ADefinitionThatContainsItselfIsNotServed) {
  World world;
  std::string definition = kDefinition;
  const std::string free = R"("x-kubernetes-preserve-unknown-fields":true)";
  definition.replace(definition.find(free), free.size(), R"("anyOf":[{"$ref":"#/definitions/v1"}])");
  const Answer created = world.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
  EXPECT_NE(created.status / 100, 5) << created.text();
  EXPECT_EQ(world.get(kThings).status, 404);
  EXPECT_EQ(world.post(kThings, thing("a", "{}")).status, 404);
}

}  // namespace
}  // namespace gantree::apiserver
