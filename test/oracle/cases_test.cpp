// Instances that were once answered wrongly, cut down to what matters.
#include <gtest/gtest.h>

#include "oracle/judge.h"
#include "support/instance_text.h"

namespace gantree::oracle {
namespace {

void expect_exact(const std::string& text) {
  EXPECT_EQ(judge(test::parse_instance(text), programming()).fault.value_or(""), "");
}

// ---- alone in a domain ----

TEST(ExclusiveCase, ADomainTakenByAnotherGangIsBusyAndNotTooLarge) {
  expect_exact(R"(levels rack
node n1 rack=r1 | has pods=110
gang first lws
  set main 1 | asks pods=1 | required 0 | exclusive 0 | pack
end
gang second lws
  set main 1 | asks pods=1 | required 0 | exclusive 0 | pack
end)");
}

TEST(ExclusiveCase, AGangThatWantsABlockIsKeptOutByOneThatOwnsARackInIt) {
  expect_exact(R"(levels block rack
node n1 block=b1 rack=r1 | has pods=110
node n2 block=b1 rack=r2 | has pods=110
gang rack lws
  set main 1 | asks pods=1 | required 1 | exclusive 1 | pack
end
gang block lws
  set main 1 | asks pods=1 | required 0 | exclusive 0 | pack
end)");
}

TEST(ExclusiveCase, AGangThatWantsARackIsKeptOutOfABlockThatAnotherOwns) {
  expect_exact(R"(levels block rack
node n1 block=b1 rack=r1 | has pods=110
node n2 block=b1 rack=r2 | has pods=110
gang block lws
  set main 1 | asks pods=1 | required 0 | exclusive 0 | pack
end
gang rack lws
  set main 1 | asks pods=1 | required 1 | exclusive 1 | pack
end)");
}

TEST(ExclusiveCase, AGangOfTheKindThatSharesGladlyIsNeitherInTheWayNorKeptOut) {
  expect_exact(R"(levels rack
node n1 rack=r1 | has pods=110
node n2 rack=r2 | has pods=110
gang shares lws
  set main 1 | asks pods=1
end
gang owns lws
  set main 1 | asks pods=1 | required 0 | exclusive 0 | pack
end
gang owns-too lws
  set main 1 | asks pods=1 | required 0 | exclusive 0 | pack
end
gang shares-too lws
  set main 200 | asks pods=1
end)");
}

TEST(ExclusiveCase, TwoGroupsOfAGangThatEachWantARackDoNotShareOneThatTheGangAsksFor) {
  expect_exact(R"(levels rack
node n1 rack=r1 | has cpu=6000 pods=110
node n2 rack=r2 | has cpu=6000 pods=110
gang crowd lws | required 0 | pack
  group a | required 0 | exclusive 0 | pack
    set a 3 | asks cpu=500 pods=1
  end
  group b | required 0 | exclusive 0 | pack
    set b 3 | asks cpu=1000 pods=1
  end
end)");
}

TEST(ExclusiveCase, TwoGroupsInsideOneThatHasTheRackToItselfCannotBothBeAloneThere) {
  expect_exact(R"(levels rack
node n1 rack=r1 | has cpu=6000 pods=110
node n2 rack=r2 | has cpu=6000 pods=110
gang crowd lws
  group outer | required 0 | exclusive 0 | pack
    group a | required 0 | exclusive 0 | pack
      set a 1 | asks cpu=500 pods=1
    end
    group b | required 0 | exclusive 0 | pack
      set b 1 | asks cpu=1000 pods=1
    end
  end
end)");
}

// ---- the fewest domains, one pod set ----

TEST(PackingCase, FewestHostsAmongSetsOfDomainsThatAreEquallyFew) {
  expect_exact(R"(levels spine block rack cell
node n6 block=b2 cell=c0 rack=r2 spine=s1 | has nvidia.com/gpu=2
node n10 block=b1 cell=c2 rack=r1 spine=s0 | has pods=110
node n12 block=b2 cell=c1 rack=r2 spine=s0 | has nvidia.com/gpu=2
node n14 block=b2 cell=c2 rack=r2 spine=s1 | has nvidia.com/gpu=2
node n16 block=b2 cell=c0 rack=r2 spine=s0 | has nvidia.com/gpu=1
node n19 block=b1 cell=c2 rack=r1 spine=s0 | has nvidia.com/gpu=2
node n21 block=b0 cell=c0 rack=r0 spine=s1 | has nvidia.com/gpu=2
node n25 block=b1 cell=c1 rack=r0 spine=s1 | has nvidia.com/gpu=1
node n27 block=b2 cell=c2 rack=r0 spine=s0 | has nvidia.com/gpu=2
node n28 block=b2 cell=c0 rack=r2 spine=s0 | has nvidia.com/gpu=2
gang g0 -
  set main 14 | asks nvidia.com/gpu=1 | preferred 0 | pack
end)");
}

TEST(PackingCase, FewestHostsForSlicesSpreadOverManyRacks) {
  expect_exact(R"(levels spine block rack
node n3 block=b2 rack=r1 spine=s1 | has nvidia.com/gpu=6
node n6 block=b2 rack=r0 spine=s0 | has nvidia.com/gpu=2
node n7 block=b0 rack=r2 spine=s1 | has nvidia.com/gpu=2
node n10 block=b2 rack=r0 spine=s1 | has nvidia.com/gpu=6
node n11 block=b0 rack=r2 spine=s1 | has nvidia.com/gpu=4
node n12 block=b1 rack=r1 spine=s1 | has nvidia.com/gpu=2
node n13 block=b2 rack=r2 spine=s0 | has nvidia.com/gpu=6
node n14 block=b1 rack=r1 spine=s0 | has nvidia.com/gpu=2
node n16 block=b2 rack=r2 spine=s0 | has nvidia.com/gpu=2
node n17 block=b0 rack=r2 spine=s0 | has pods=110
node n18 block=b1 rack=r0 spine=s0 | has nvidia.com/gpu=6
node n19 block=b2 rack=r0 spine=s0 | has nvidia.com/gpu=6
node n20 block=b1 rack=r1 spine=s1 | has nvidia.com/gpu=6
node n22 block=b0 rack=r0 spine=s1 | has nvidia.com/gpu=6
node n23 block=b1 rack=r0 spine=s1 | has nvidia.com/gpu=4
node n24 block=b1 rack=r2 spine=s1 | has nvidia.com/gpu=6
node n25 block=b1 rack=r0 spine=s0 | has nvidia.com/gpu=4
gang g0 -
  set main 33 | asks nvidia.com/gpu=2 | slice 1 3 | pack
end)");
}

// ---- the fewest domains, several pod sets ----

TEST(GroupCase, AGroupTakesTwoHostsWhereTwoHoldIt) {
  expect_exact(R"(levels spine
node n7 spine=s0 | has nvidia.com/gpu=7 pods=110
node n11 spine=s0 | has nvidia.com/gpu=7 pods=110
node n13 spine=s0 | has nvidia.com/gpu=8 pods=110
node n15 spine=s0 | has nvidia.com/gpu=1 pods=110
gang g0 - | required 0 | pack
  set s0 5 | asks pods=1
  set s1 12 | asks nvidia.com/gpu=1
  set s2 5 | asks pods=1
end)");
}

TEST(GroupCase, AGroupWithSlicesStaysUnderOneSpineWhereItCan) {
  expect_exact(R"(levels spine block rack
node n0 block=b2 rack=r1 spine=s0 | has nvidia.com/gpu=3
node n2 block=b0 rack=r0 spine=s0 | has nvidia.com/gpu=6
node n3 block=b1 rack=r0 spine=s0 | has nvidia.com/gpu=2
node n5 block=b1 rack=r2 spine=s0 | has nvidia.com/gpu=7
node n6 block=b2 rack=r1 spine=s0 | has nvidia.com/gpu=7
node n7 block=b1 rack=r1 spine=s1 | has nvidia.com/gpu=3
gang g0 - | preferred 0 | pack
  set s0 21 | asks nvidia.com/gpu=1 | slice 0 12 | slice 1 6 | pack
  set s1 1 | asks nvidia.com/gpu=3
end)");
}

TEST(GroupCase, AGroupWithAnInnerUnitTakesTheFewestHosts) {
  expect_exact(R"(levels spine
node n1 spine=s0 | has nvidia.com/gpu=8 pods=110
node n2 spine=s0 | has nvidia.com/gpu=6 pods=109
node n5 spine=s0 | has nvidia.com/gpu=8 pods=110
node n7 spine=s1 | has nvidia.com/gpu=7
gang g0 - | preferred 0 | pack
  set s0 3 | asks pods=1 | slice 0 2 | pack
  set s1 15 | asks nvidia.com/gpu=1
  set s2 8 | asks nvidia.com/gpu=1
end)");
}

TEST(UnitsCase, IndependentUnitsShareAHostWhereOneHoldsThemAll) {
  expect_exact(R"(levels spine
node n6 spine=s0 | has cpu=500 pods=110
node n12 spine=s0 | has cpu=1000 pods=110
node n15 spine=s0 | has cpu=500 pods=110
gang g0 -
  set s0 3 | asks pods=1 | preferred 0 | pack
  set s1 13 | asks cpu=1 | slice 0 2 | pack
  set s2 9 | asks pods=1 | preferred 0 | pack
end)");
}

TEST(UnitsCase, IndependentUnitsShareABlockWhereOneHoldsThemAll) {
  expect_exact(R"(levels spine block rack
node n2 block=b0 rack=r2 spine=s0 | has cpu=1000 pods=110
node n8 block=b2 rack=r0 spine=s0 | has cpu=500 pods=110
node n9 block=b0 rack=r2 spine=s1 | has cpu=500 pods=110
node n11 block=b2 rack=r1 spine=s1 | has cpu=500 pods=110
gang g0 -
  set s0 1 | asks pods=1 | required 0 | pack
  set s1 9 | asks cpu=1 | slice 2 2 | pack
  set s2 12 | asks cpu=1 | slice 1 9 | pack
end)");
}

// ---- no search limit on a handful of hosts ----

TEST(LimitCase, AGroupThatFillsItsHostsExactlyIsFound) {
  expect_exact(R"(levels spine
node n1 spine=s0 | has nvidia.com/gpu=6 pods=110
node n4 spine=s0 | has nvidia.com/gpu=6 pods=110
node n7 spine=s0 | has nvidia.com/gpu=3 pods=1
node n8 spine=s0 | has nvidia.com/gpu=6 pods=110
gang g1 - | preferred 0 | pack
  set s0 9 | asks pods=1
  set s1 9 | asks pods=1
  set s2 7 | asks nvidia.com/gpu=3 pods=1
end)");
}

TEST(LimitCase, TwoSetsThatTogetherAskForMoreThanThereIsAreRefusedWithProof) {
  expect_exact(R"(levels kubernetes.io/hostname
node n0 | has nvidia.com/gpu=7 pods=110
node n3 | has nvidia.com/gpu=7 pods=110
node n6 | has nvidia.com/gpu=6 pods=110
gang g1 -
  set s0 10 | asks pods=1
  set s1 17 | asks nvidia.com/gpu=1
  set s2 20 | asks nvidia.com/gpu=1
end)");
}

TEST(LimitCase, AGroupThatAsksForOneGpuMoreThanItsDomainHasIsRefusedWithProof) {
  expect_exact(R"(levels rack
node n16 rack=r0 | has nvidia.com/gpu=8
node n22 rack=r0 | has nvidia.com/gpu=6
node n27 rack=r0 | has nvidia.com/gpu=8
gang g0 - | required 0 | pack
  set s0 7 | asks nvidia.com/gpu=1
  set s1 8 | asks nvidia.com/gpu=1
  set s2 8 | asks nvidia.com/gpu=1
end)");
}

TEST(LimitCase, AnInnerGroupThatAsksForMoreThanThereIsIsRefusedWithProof) {
  expect_exact(R"(levels spine
node n0 spine=s1 | has nvidia.com/gpu=6 pods=110
node n1 spine=s1 | has nvidia.com/gpu=7 pods=110
node n3 spine=s1 | has nvidia.com/gpu=8 pods=110
node n9 spine=s1 | has nvidia.com/gpu=7 pods=110
gang g1 - | required 0 | pack
  set s0 8 | asks pods=1 | required 0 | pack
  group inner
    set s2 8 | asks nvidia.com/gpu=3
    set s1 14 | asks nvidia.com/gpu=1
  end
end)");
}

TEST(LimitCase, AMixedGangWithoutConstraintsOnElevenHostsIsDecided) {
  expect_exact(R"(levels kubernetes.io/hostname
node n11 | has nvidia.com/gpu=6
node n12 | has nvidia.com/gpu=6 pods=110
node n13 | has nvidia.com/gpu=6 pods=110
node n15 | has nvidia.com/gpu=6 pods=110
node n17 | has nvidia.com/gpu=6 pods=110
node n19 | has nvidia.com/gpu=6 pods=110
node n20 | has nvidia.com/gpu=6 pods=110
node n22 | has nvidia.com/gpu=3
node n25 | has nvidia.com/gpu=6 pods=110
node n26 | has nvidia.com/gpu=3 pods=110
node n27 | has nvidia.com/gpu=6 pods=110
gang g1 -
  set s0 13 | asks pods=1
  group inner
    set s2 10 | asks nvidia.com/gpu=1
    set s1 20 | asks nvidia.com/gpu=3
  end
end)");
}

}  // namespace
}  // namespace gantree::oracle
