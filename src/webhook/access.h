// Who asks: by which user Gantree itself is known, and whether somebody may administer queues.
//
// The API server is asked: SelfSubjectReview and SubjectAccessReview.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "kube/client.h"
#include "webhook/review.h"

namespace gantree::webhook {

class Access {
 public:
  // Begins to ask who we are. `client` must outlive this, and its writes must not be fenced: every replica serves.
  explicit Access(kube::Client& client);

  // Nothing while the API server has not answered: it is asked again, every second at most. "" where it has answered
  // that it does not tell, as those before Kubernetes 1.28 do: it is asked again now and then. Any thread; never waits.
  [[nodiscard]] std::optional<std::string> self() const;

  // Whether who asks may update ClusterQueues. Waits for the API server, a few seconds at most; fails where it does
  // not tell. Any thread but that of the client.
  [[nodiscard]] Result<bool> administers(const Review& review) const;

 private:
  struct Known;

  void ask_who_we_are() const;

  kube::Client& client_;
  std::shared_ptr<Known> known_;
};

// The body of the question whether the user of this review (userInfo) may update ClusterQueues.
[[nodiscard]] std::string administers_question(json::Value user_info);

}  // namespace gantree::webhook
