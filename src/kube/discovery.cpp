#include "kube/discovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "kube/random.h"
#include "kube/retry.h"
#include "kube/served.h"

namespace gantree::kube {

// One round of questions at a time, on the transport's thread.
class Discovery::Poll : public std::enable_shared_from_this<Discovery::Poll> {
 public:
  Poll(Client& client, std::vector<Wanted> wanted, Changed changed, DiscoveryOptions options)
      : client_(client),
        transport_(client.transport()),
        wanted_(std::move(wanted)),
        changed_(std::move(changed)),
        options_(std::move(options)),
        served_(wanted_.size()),
        absences_(wanted_.size()),
        random_(make_random()) {}

  void start();
  void stop() {
    stopped_ = true;
    transport_.cancel(timer_);
  }

 private:
  // What a path said when it last said something new.
  struct Known {
    std::string etag;
    Served served;
  };

  void ask(const std::string& path);
  void answered(const std::string& path, Reply reply);
  void follow(const Served& served);
  void conclude();
  [[nodiscard]] bool wants(const GroupVersion& version) const;
  [[nodiscard]] std::optional<Resource> find(const Wanted& wanted) const;
  [[nodiscard]] bool is_stale(const Wanted& wanted) const;
  void again_in(Milliseconds delay);

  Client& client_;
  http::Transport& transport_;
  const std::vector<Wanted> wanted_;
  const Changed changed_;
  const DiscoveryOptions options_;
  std::vector<std::optional<Resource>> served_;
  std::vector<int> absences_;  // answers in a row that lacked it
  Random random_;
  std::map<std::string, Known> known_;  // by path
  std::map<std::string, Known> round_;  // of the round under way
  int open_questions_ = 0;
  std::string trouble_;  // of this round
  int failures_ = 0;
  bool told_ = false;
  bool asked_again_ = false;
  bool stopped_ = false;
  http::TaskId timer_ = 0;
};

void Discovery::Poll::start() {
  if (stopped_) {
    return;
  }
  if (open_questions_ > 0) {
    asked_again_ = true;
    return;
  }
  transport_.cancel(timer_);
  round_.clear();
  trouble_.clear();
  const bool core = std::ranges::any_of(wanted_, [](const Wanted& one) { return one.group.empty(); });
  const bool groups = std::ranges::any_of(wanted_, [](const Wanted& one) { return !one.group.empty(); });
  open_questions_ = 1;  // until all are asked
  if (core) {
    ask("/api");
  }
  if (groups) {
    ask("/apis");
  }
  if (--open_questions_ == 0) {
    conclude();
  }
}

void Discovery::Poll::ask(const std::string& path) {
  ++open_questions_;
  const auto known = known_.find(path);
  client_.get_path(
      path, discovery_accept(),
      [weak = weak_from_this(), path](Reply reply) {
        if (const std::shared_ptr<Poll> self = weak.lock(); self != nullptr && !self->stopped_) {
          self->answered(path, std::move(reply));
        }
      },
      known == known_.end() ? std::string() : known->second.etag);
}

void Discovery::Poll::answered(const std::string& path, Reply reply) {
  const bool root = path == "/api" || path == "/apis";
  if (reply.http_status == 304 && known_.contains(path)) {
    round_[path] = known_[path];
    follow(round_[path].served);
  } else if (reply.ok()) {
    Result<Served> served = read_served(reply.body);
    if (served.has_value()) {
      round_[path] = {.etag = std::move(reply.etag), .served = std::move(*served)};
      follow(round_[path].served);
    } else {
      trouble_ = served.error().message;
    }
  } else if (root || reply.result != CallResult::kNotFound) {  // a version may go between two questions
    trouble_ = fmt::format("{}: {}", path, reply.message);
  }
  if (--open_questions_ == 0) {
    conclude();
  }
}

void Discovery::Poll::follow(const Served& served) {
  const std::vector<GroupVersion> versions = served.group_versions;  // answers may come before the loop ends
  for (const GroupVersion& version : versions) {
    if (wants(version)) {
      ask(version.group.empty() ? "/api/" + version.version : "/apis/" + version.group + "/" + version.version);
    }
  }
}

bool Discovery::Poll::wants(const GroupVersion& version) const {
  return std::ranges::any_of(wanted_, [&](const Wanted& one) {
    return one.group == version.group && std::ranges::find(one.versions, version.version) != one.versions.end();
  });
}

std::optional<Resource> Discovery::Poll::find(const Wanted& wanted) const {
  for (const std::string& version : wanted.versions) {
    for (const auto& [path, known] : round_) {
      for (const Resource& resource : known.served.resources) {
        if (resource.group == wanted.group && resource.version == version && resource.plural == wanted.plural) {
          return resource;
        }
      }
    }
  }
  return std::nullopt;
}

bool Discovery::Poll::is_stale(const Wanted& wanted) const {
  return std::ranges::any_of(round_, [&](const auto& entry) {
    return std::ranges::any_of(entry.second.served.stale,
                               [&](const GroupVersion& version) { return version.group == wanted.group; });
  });
}

void Discovery::Poll::conclude() {
  if (!trouble_.empty()) {
    ++failures_;
    if (options_.trouble) {
      options_.trouble(trouble_, failures_);
    }
    again_in(backoff(Milliseconds(500), std::max(options_.interval, Milliseconds(500)), failures_, random_()));
    return;
  }
  failures_ = 0;
  bool differs = !told_;
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    std::optional<Resource> now = find(wanted_[i]);
    const bool doubtful =
        !now.has_value() && served_[i].has_value() && (is_stale(wanted_[i]) || ++absences_[i] < options_.absences);
    if (doubtful) {
      continue;
    }
    absences_[i] = 0;
    differs |= now != served_[i];
    served_[i] = std::move(now);
  }
  known_ = std::move(round_);
  told_ = true;
  again_in(std::exchange(asked_again_, false) ? Milliseconds(0) : options_.interval);
  if (differs) {
    changed_(served_);
  }
}

void Discovery::Poll::again_in(Milliseconds delay) {
  timer_ = transport_.after(delay, [weak = weak_from_this()] {
    if (const std::shared_ptr<Poll> self = weak.lock()) {
      self->start();
    }
  });
}

Discovery::Discovery(Client& client, std::vector<Wanted> wanted, Changed changed, DiscoveryOptions options)
    : transport_(client.transport()),
      poll_(std::make_shared<Poll>(client, std::move(wanted), std::move(changed), std::move(options))) {
  poll_now();
}

Discovery::~Discovery() {
  transport_.run([this] { poll_->stop(); });
}

void Discovery::poll_now() {
  transport_.post([poll = poll_] { poll->start(); });
}

}  // namespace gantree::kube
