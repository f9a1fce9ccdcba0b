// What holds of every tree of quotas, however it is used.
#include <gtest/gtest.h>
// The order matters: rapidcheck's header builds on the one above.
#include <rapidcheck/gtest.h>

#include "queue/quota.h"

namespace gantree {
namespace {

struct Forest {
  Quota quota;
  std::vector<QuotaId> leaves;
  std::vector<QuotaId> roots;
};

std::optional<std::int64_t> maybe_limit() {
  return *rc::gen::arbitrary<bool>() ? std::optional<std::int64_t>(*rc::gen::inRange(0, 20)) : std::nullopt;
}

QuotaCell cell(std::optional<QuotaId> parent) {
  QuotaCell made{.queue = "q", .flavor = "f", .resource = "r", .nominal = *rc::gen::inRange(0, 20), .parent = parent};
  if (parent) {
    made.borrowing_limit = maybe_limit();
    made.lending_limit = maybe_limit();
  }
  return made;
}

// Up to three levels.
Forest draw() {
  Forest forest;
  const QuotaId root = forest.quota.add(cell({}));
  forest.roots.push_back(root);
  const int cohorts = *rc::gen::inRange(0, 3);
  for (int i = 0; i < cohorts; ++i) {
    const QuotaId cohort = forest.quota.add(cell(root));
    const int queues = *rc::gen::inRange(1, 4);
    for (int q = 0; q < queues; ++q) {
      forest.leaves.push_back(forest.quota.add(cell(cohort)));
    }
  }
  forest.leaves.push_back(forest.quota.add(cell(root)));
  return forest;
}

std::vector<std::int64_t> usage(const Quota& quota) {
  std::vector<std::int64_t> used;
  for (std::size_t i = 0; i < quota.size(); ++i) {
    used.push_back(quota.cell(make_id<QuotaTag>(i)).used);
  }
  return used;
}

// Takes what fits of some random demands, and returns what was taken.
std::vector<QuotaDemand> fill(Forest& forest) {
  std::vector<QuotaDemand> taken;
  const int tries = *rc::gen::inRange(0, 30);
  for (int i = 0; i < tries; ++i) {
    const QuotaDemand demand{{*rc::gen::elementOf(forest.leaves), *rc::gen::inRange(1, 15)}};
    if (forest.quota.fits(demand)) {
      forest.quota.take(demand);
      taken.push_back(demand);
    }
  }
  return taken;
}

RC_GTEST_PROP(QuotaTreeProperty, NeverUsesMoreThanAllNominalQuotaTogether, ()) {
  Forest forest = draw();
  fill(forest);
  std::int64_t nominal = 0;
  std::int64_t used = 0;
  for (std::size_t i = 0; i < forest.quota.size(); ++i) {
    nominal += forest.quota.cell(make_id<QuotaTag>(i)).nominal;
  }
  for (const QuotaId leaf : forest.leaves) {
    used += forest.quota.cell(leaf).used;
  }
  RC_ASSERT(used <= nominal);
}

RC_GTEST_PROP(QuotaTreeProperty, KeepsEveryBorrowingLimit, ()) {
  Forest forest = draw();
  fill(forest);
  for (std::size_t i = 0; i < forest.quota.size(); ++i) {
    const QuotaId id = make_id<QuotaTag>(i);
    const QuotaCell& cell = forest.quota.cell(id);
    RC_ASSERT(!cell.borrowing_limit || cell.used <= forest.quota.total(id) + *cell.borrowing_limit);
  }
}

RC_GTEST_PROP(QuotaTreeProperty, HasForEveryQueueWhatItDoesNotLend, ()) {
  Forest forest = draw();
  fill(forest);
  for (const QuotaId leaf : forest.leaves) {
    const QuotaCell& cell = forest.quota.cell(leaf);
    if (cell.lending_limit && cell.nominal - *cell.lending_limit > cell.used) {
      RC_ASSERT(forest.quota.fits({{leaf, cell.nominal - *cell.lending_limit - cell.used}}));
    }
  }
}

RC_GTEST_PROP(QuotaTreeProperty, GivingUndoesTakingInAnyOrder, ()) {
  Forest forest = draw();
  fill(forest);
  const std::vector<std::int64_t> kept = usage(forest.quota);
  const std::vector<QuotaDemand> more = fill(forest);
  // By turns from both ends: neither the order of taking nor its reverse.
  for (std::size_t i = 0; i < more.size(); ++i) {
    forest.quota.give(more[i % 2 == 0 ? i / 2 : more.size() - 1 - i / 2]);
  }
  RC_ASSERT(usage(forest.quota) == kept);
}

RC_GTEST_PROP(QuotaTreeProperty, SaysWhatIsLackingExactlyWhereItDoesNotFit, ()) {
  Forest forest = draw();
  fill(forest);
  const QuotaDemand demand{{*rc::gen::elementOf(forest.leaves), *rc::gen::inRange(0, 40)}};
  const auto shortage = forest.quota.lacking(demand);
  RC_ASSERT(shortage.has_value() == !forest.quota.fits(demand));
  if (shortage && !shortage->ever) {
    for (const QuotaId leaf : forest.leaves) {
      forest.quota.give({{leaf, forest.quota.cell(leaf).used}});
    }
    RC_ASSERT(!forest.quota.fits(demand));
  }
}

}  // namespace
}  // namespace gantree
