#include "kube/known_objects.h"

#include <gtest/gtest.h>

namespace gantree::kube {
namespace {

using Change = KnownObjects::Change;

constexpr std::string_view kUid = "0a1b2c3d-0000-1111-2222-333344445555";
constexpr std::string_view kOtherUid = "0a1b2c3d-0000-1111-2222-333344445556";

ObjectRef ref(std::string_view name, std::string_view version, std::string_view uid = kUid) {
  return {.name_space = "ns", .name = name, .uid = uid, .resource_version = version};
}

std::vector<std::string> swept(KnownObjects& known) {
  std::vector<std::string> names;
  known.sweep([&](const ObjectRef& object) {
    names.push_back(std::string(object.name_space) + "/" + std::string(object.name) + "=" + std::string(object.uid));
  });
  return names;
}

TEST(KnownObjects, TellsNewFromNewerAndSame) {
  KnownObjects known;
  known.begin_list();
  EXPECT_EQ(known.listed(ref("a", "5")), Change::kNew);
  EXPECT_EQ(known.changed(ref("a", "5")), Change::kSame);
  EXPECT_EQ(known.changed(ref("a", "6")), Change::kNewer);
  EXPECT_EQ(known.size(), 1U);
}

TEST(KnownObjects, AnEventOlderThanWhatIsKnownIsARepetition) {
  KnownObjects known;
  EXPECT_EQ(known.changed(ref("a", "9")), Change::kNew);
  EXPECT_EQ(known.changed(ref("a", "10")), Change::kNewer);
  EXPECT_EQ(known.changed(ref("a", "9")), Change::kSame);
  EXPECT_TRUE(known.removed(ref("a", "11")));
  EXPECT_EQ(known.changed(ref("a", "10")), Change::kSame) << "it would come back to life";
  EXPECT_EQ(known.size(), 0U);
}

TEST(KnownObjects, AListIsRightWhateverVersionItHas) {
  KnownObjects known;
  EXPECT_EQ(known.changed(ref("a", "90")), Change::kNew);
  known.begin_list();
  EXPECT_EQ(known.listed(ref("a", "40")), Change::kNewer) << "a server restored from a backup";
  EXPECT_EQ(known.changed(ref("a", "41")), Change::kNewer);
}

TEST(KnownObjects, ARemovalOfAnotherObjectOfThatNameIsIgnored) {
  KnownObjects known;
  EXPECT_EQ(known.changed(ref("a", "5")), Change::kNew);
  EXPECT_FALSE(known.removed(ref("a", "6", kOtherUid)));
  EXPECT_FALSE(known.removed(ref("b", "6")));
  EXPECT_TRUE(known.removed(ref("a", "6")));
}

TEST(KnownObjects, AnotherUidTakesThePlace) {
  KnownObjects known;
  EXPECT_EQ(known.changed(ref("a", "5")), Change::kNew);
  EXPECT_EQ(known.changed(ref("a", "8", kOtherUid)), Change::kReplaced);
  EXPECT_EQ(known.replaced_uid(), kUid);
  EXPECT_EQ(known.changed(ref("a", "5")), Change::kSame);
  EXPECT_EQ(known.size(), 1U);
}

TEST(KnownObjects, WhatAListLacksHasVanished) {
  KnownObjects listed;
  listed.begin_list();
  for (const char* name : {"c", "a", "b"}) {
    EXPECT_EQ(listed.listed(ref(name, "5")), Change::kNew);
  }
  EXPECT_TRUE(swept(listed).empty());
  listed.begin_list();
  EXPECT_EQ(listed.listed(ref("b", "5")), Change::kSame);
  const std::string uid(kUid);
  EXPECT_EQ(swept(listed), (std::vector<std::string>{"ns/a=" + uid, "ns/c=" + uid}));
  EXPECT_EQ(listed.size(), 1U);
}

TEST(KnownObjects, KeepsUidsAndVersionsOfAnyForm) {
  KnownObjects known;
  known.begin_list();
  EXPECT_EQ(known.listed(ref("a", "v-one", "mirror/4711")), Change::kNew);
  EXPECT_EQ(known.changed(ref("a", "v-one", "mirror/4711")), Change::kSame);
  EXPECT_EQ(known.changed(ref("a", "v-two", "mirror/4711")), Change::kNewer);
  known.begin_list();
  EXPECT_EQ(swept(known), std::vector<std::string>{"ns/a=mirror/4711"});
}

TEST(KnownObjects, ClearsAll) {
  KnownObjects known;
  known.begin_list();
  EXPECT_EQ(known.listed({.name_space = "", .name = "node", .uid = kUid, .resource_version = "1"}), Change::kNew);
  int count = 0;
  known.clear([&](const ObjectRef& object) {
    EXPECT_EQ(object.name, "node");
    EXPECT_EQ(object.name_space, "");
    ++count;
  });
  EXPECT_EQ(count, 1);
  EXPECT_EQ(known.size(), 0U);
}

}  // namespace
}  // namespace gantree::kube
