#include "service/leadership.h"

#include <memory>

namespace gantree {

kube::LeaderHandlers leader_handlers(const LeadershipNews& news) {
  auto others = std::make_shared<std::atomic<bool>>(false);
  return {.started =
              [news, others] {
                news.log.info("leading");
                news.mailbox.post(LeadershipChanged{
                    .leading = true, .after_another = *others, .term = ++news.term, .since = news.now()});
              },
          .stopped =
              [news] {
                news.log.warning("no longer leading");
                news.mailbox.post(LeadershipChanged{});
              },
          .changed =
              [news, others](const std::string& holder) {
                if (holder != news.self && !holder.empty()) {
                  *others = true;
                  news.log.info("another leads", {{"holder", holder}});
                }
              },
          .failed =
              [news, failures = std::make_shared<std::atomic<unsigned>>(0)](const std::string& what) {
                // The first one is worth a line, and then ever fewer.
                const unsigned count = ++*failures;
                if ((count & (count - 1)) == 0) {
                  news.log.warning(
                      "the lease cannot be read or written, so this process schedules nothing; gantree doctor tells "
                      "what is missing",
                      {{"what", what}, {"failures", std::to_string(count)}});
                }
              }};
}

}  // namespace gantree
