#include <gmock/gmock.h>

#include "unit/controllers/fake_cluster.h"

namespace gantree::controllers {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using namespace std::chrono_literals;

class StorageTest : public testing::Test {
 protected:
  StorageTest() { cluster.add_node("n1"); }
  void add_class(const std::string& name, const std::string& usual = "true", const std::string& provisioner = "p") {
    cluster.add(Kind::kStorageClass,
                fmt::format("{{'metadata':{{'name':'{}','annotations':{{'{}':'{}'}}}},'provisioner':'{}'}}", name,
                            kDefaultClass, usual, provisioner),
                "");
  }
  void add_claim(const std::string& name, const std::string& more = "") {
    cluster.add(Kind::kPersistentVolumeClaim,
                fmt::format("{{'metadata':{{'name':'{}'}},'spec':{{'accessModes':['ReadWriteOnce'],'resources':"
                            "{{'requests':{{'storage':'10Gi'}}}}{}}}}}",
                            name, more));
  }
  std::string_view phase(const std::string& claim) {
    return text_at(cluster.get(Kind::kPersistentVolumeClaim, claim), {"status", "phase"});
  }
  void add_set(const std::string& retention = "{}") {
    cluster.add(Kind::kStatefulSet,
                fmt::format("{{'metadata':{{'name':'db'}},'spec':{{'replicas':2,'podManagementPolicy':'Parallel',"
                            "'persistentVolumeClaimRetentionPolicy':{},'selector':{{'matchLabels':{{'app':'db'}}}},"
                            "'template':{{'metadata':{{'labels':{{'app':'db'}}}},'spec':{{'containers':[{{'name':"
                            "'main'}}]}}}},'volumeClaimTemplates':[{{'metadata':{{'name':'data'}},'spec':{{"
                            "'accessModes':['ReadWriteOnce'],'resources':{{'requests':{{'storage':'1Gi'}}}}}}}}]}}}}",
                            retention));
  }
  std::string owner_kind(const std::string& claim) {
    const Array* owners = array_at(cluster.get(Kind::kPersistentVolumeClaim, claim), {"metadata", "ownerReferences"});
    return owners == nullptr || owners->empty() ? "" : std::string(text_at((*owners)[0], {"kind"}));
  }
  FakeCluster cluster;
};

TEST_F(StorageTest, AClaimIsBoundAtOnceToAVolumeOfTheDefaultClass) {
  add_class("standard");
  add_claim("data");
  EXPECT_EQ(phase("data"), "Bound");
  const Object& claim = cluster.get(Kind::kPersistentVolumeClaim, "data");
  EXPECT_EQ(text_at(claim, {"spec", "storageClassName"}), "standard");
  EXPECT_EQ(text_at(claim, {"status", "capacity", "storage"}), "10Gi");
  const Object& volume = cluster.get(Kind::kPersistentVolume, std::string(text_at(claim, {"spec", "volumeName"})), "");
  EXPECT_EQ(text_at(volume, {"status", "phase"}), "Bound");
  EXPECT_EQ(text_at(volume, {"spec", "claimRef", "name"}), "data");
  EXPECT_EQ(text_at(volume, {"spec", "persistentVolumeReclaimPolicy"}), "Delete");
}

TEST_F(StorageTest, AVolumeGoesWithItsClaimOrIsKeptAsItsPolicySays) {
  add_class("standard");
  add_claim("one");
  cluster.erase(Kind::kPersistentVolumeClaim, "one");
  EXPECT_THAT(cluster.names(Kind::kPersistentVolume), IsEmpty());
  add_claim("two");
  const std::string volume = cluster.names(Kind::kPersistentVolume)[0];
  cluster.change(Kind::kPersistentVolume, volume, "{'spec':{'persistentVolumeReclaimPolicy':'Retain'}}", "");
  cluster.erase(Kind::kPersistentVolumeClaim, "two");
  EXPECT_EQ(text_at(cluster.get(Kind::kPersistentVolume, volume, ""), {"status", "phase"}), "Released");
}

TEST_F(StorageTest, AClaimWaitsForItsClass) {
  add_claim("data", ",'storageClassName':'fast'");
  EXPECT_EQ(phase("data"), "");
  EXPECT_THAT(cluster.names(Kind::kPersistentVolume), IsEmpty());
  add_class("fast", "false");
  EXPECT_EQ(phase("data"), "Bound");
}

TEST_F(StorageTest, AClaimTakesTheSmallestVolumeMadeByHandThatWillDo) {
  for (const auto& [name, size] :
       {std::pair("large", "100Gi"), std::pair("right", "20Gi"), std::pair("small", "1Gi")}) {
    cluster.add(Kind::kPersistentVolume,
                fmt::format("{{'metadata':{{'name':'{}'}},'spec':{{'capacity':{{'storage':'{}'}},'storageClassName':"
                            "'local','accessModes':['ReadWriteOnce'],'persistentVolumeReclaimPolicy':'Retain'}}}}",
                            name, size),
                "");
  }
  EXPECT_EQ(text_at(cluster.get(Kind::kPersistentVolume, "large", ""), {"status", "phase"}), "Available");
  add_class("local", "false", "kubernetes.io/no-provisioner");
  add_claim("data", ",'storageClassName':'local'");
  EXPECT_EQ(text_at(cluster.get(Kind::kPersistentVolumeClaim, "data"), {"spec", "volumeName"}), "right");
  EXPECT_EQ(phase("data"), "Bound");
  EXPECT_EQ(text_at(cluster.get(Kind::kPersistentVolume, "right", ""), {"status", "phase"}), "Bound");
  add_claim("more", ",'storageClassName':'local'");
  add_claim("none", ",'storageClassName':'local'");
  EXPECT_EQ(phase("more"), "Bound");
  EXPECT_EQ(phase("none"), "");
  EXPECT_THAT(cluster.names(Kind::kPersistentVolume), SizeIs(3));
}

TEST_F(StorageTest, AStatefulSetMakesTheClaimsOfItsPodsAndKeepsThem) {
  add_class("standard");
  add_set();
  cluster.run_pods();
  EXPECT_THAT(cluster.names(Kind::kPersistentVolumeClaim), ElementsAre("data-db-0", "data-db-1"));
  EXPECT_EQ(text_at(cluster.get(Kind::kPersistentVolumeClaim, "data-db-1"), {"metadata", "labels", "app"}), "db");
  EXPECT_EQ(phase("data-db-1"), "Bound");
  EXPECT_EQ(owner_kind("data-db-0"), "");
  cluster.change(Kind::kStatefulSet, "db", "{'spec':{'replicas':1}}");
  cluster.pass(60s);
  EXPECT_THAT(cluster.names(Kind::kPersistentVolumeClaim), SizeIs(2));
  cluster.erase(Kind::kStatefulSet, "db");
  cluster.pass(60s);
  EXPECT_THAT(cluster.names(Kind::kPersistentVolumeClaim), SizeIs(2));
}

TEST_F(StorageTest, AStatefulSetGivesUpItsClaimsWhereItsPolicySaysSo) {
  add_class("standard");
  add_set("{'whenDeleted':'Delete','whenScaled':'Delete'}");
  cluster.run_pods();
  EXPECT_EQ(owner_kind("data-db-0"), "StatefulSet");
  cluster.change(Kind::kStatefulSet, "db", "{'spec':{'replicas':1}}");
  EXPECT_EQ(owner_kind("data-db-1"), "Pod");
  cluster.pass(60s);
  EXPECT_THAT(cluster.names(Kind::kPersistentVolumeClaim), ElementsAre("data-db-0"));
  cluster.change(Kind::kStatefulSet, "db",
                 "{'spec':{'persistentVolumeClaimRetentionPolicy':{'whenDeleted':'Retain','whenScaled':'Retain'}}}");
  EXPECT_EQ(owner_kind("data-db-0"), "");
}

}  // namespace
}  // namespace gantree::controllers
