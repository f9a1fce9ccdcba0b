// The embedded API server that requests are thrown at. Starting one takes long, so that it serves many inputs, which
// find it nearly empty: what the one before made is deleted.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "property/api_requests.h"
#include "support/api_judge.h"

namespace gantree::test {

class ApiUnderFire {
 public:
  ApiUnderFire() { renew(); }

  void send(const ApiRequest& request) { expect_none(judge_->send(request)); }
  // After all requests of one input.
  void settle() {
    expect_none(judge_->compare());
    if (++inputs_ % kInputs == 0) {
      renew();
      return;
    }
    std::vector<ApiRequest> deletions;
    for (const Sample& sample : samples()) {
      deletions.push_back({.method = "DELETE",
                           .path = std::string(sample.collection),
                           .query = "gracePeriodSeconds=0&propagationPolicy=Background"});
    }
    expect_none(judge_->send_all(deletions));
  }

 private:
  static constexpr int kInputs = 2'000;

  static void expect_none(const std::string& trouble) {
    if (!trouble.empty()) {
      std::fprintf(stderr, "%s\n", trouble.c_str());
      std::abort();
    }
  }
  void renew() {
    judge_.reset();
    judge_ = std::make_unique<ApiJudge>(all_collections());
  }

  std::unique_ptr<ApiJudge> judge_;
  int inputs_ = 0;
};

}  // namespace gantree::test
