#include "support/replica.h"

#include <cstdio>
#include <cstdlib>

#include "service/leadership.h"

namespace gantree::test {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kLease{10'000};
constexpr milliseconds kRenew{7'000};

kube::ClientOptions client_options(std::mt19937& random, milliseconds timeout) {
  kube::ClientOptions options;
  options.timeout = timeout;
  options.random = [&random] { return std::uniform_real_distribution<double>(0, 0.999)(random); };
  return options;
}

kube::ReflectorOptions watch_options(std::mt19937& random, const ReplicaOptions& replica) {
  kube::ReflectorOptions options;
  options.page_size = replica.page_size;
  options.notice_silence_of(replica.watch_silence);
  options.random = [&random] { return std::uniform_real_distribution<double>(0, 0.999)(random); };
  return options;
}

}  // namespace

Replica::Replica(Timeline& timeline, ApiServer& server, std::mt19937& random, const ReplicaOptions& options)
    : timeline_(timeline),
      actor_(timeline.new_actor()),
      weather_(random),
      reading_(timeline, actor_, server, weather_),
      writing_(timeline, actor_, server, weather_),
      reader_(reading_, nullptr, client_options(random, seconds(30))),
      writer_(writing_, nullptr, client_options(random, kLease - kRenew)),
      log_(stdout, std::getenv("GANTREE_TRACE") == nullptr ? LogLevel::kError : LogLevel::kDebug, LogFormat::kText),
      loop_({.mailbox = mailbox_,
             .log = log_,
             .writer = writer_,
             .synced = [this] { return watches_->synced(); },
             .prove_fresh = [this](Timeline::Instant since) { watches_->prove_fresh(since); },
             .stale = [this](Timeline::Instant since) { return watches_->stale(since); },
             .step_aside = [this] { leader_->step_aside(kLease); },
             .longest_hand_over = seconds(20),
             .clock = {.now = [this] { return timeline_.now(); }, .wall = [this] { return timeline_.wall(); }}},
            options.scheduler, options.queues, false),
      inbox_(mailbox_, log_, loop_.scheduler().kinds(), watch_options(random, options)) {
  kube::ElectionOptions election;
  election.name_space = "gantree-system";
  election.identity = options.name;
  election.lease_duration = kLease;
  election.renew_deadline = kRenew;
  writer_.set_fence([this] { return leader_ != nullptr && leader_->leading() ? term_.load() : 0; });
  leader_ = std::make_unique<kube::Leader>(
      writer_, election,
      leader_handlers({.mailbox = mailbox_, .log = log_, .self = options.name, .term = term_, .now = [this] {
                         return timeline_.now();
                       }}));
  watches_ = std::make_unique<kube::Watches>(reader_, inbox_.requests());
  turn();
}

Replica::~Replica() {
  watches_.reset();
  leader_.reset();
  timeline_.kill(actor_);
}

// The loop has a thread of its own: it sees what came a little later.
void Replica::turn() {
  if (mailbox_.size() > 0 || timeline_.now() >= next_) {
    static_cast<void>(loop_.turn(mailbox_.take(Timeline::Instant::min()), milliseconds(0)));
    next_ = loop_.next_wake();
  }
  timeline_.at(timeline_.now() + milliseconds(std::uniform_int_distribution<int>(5, 25)(weather_.random)), actor_,
               [this] { turn(); });
}

}  // namespace gantree::test
