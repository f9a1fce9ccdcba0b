#include "kube/reflector.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/whole_number.h"
#include "kube/call.h"
#include "kube/reflector_run.h"

namespace gantree::kube {
namespace {

constexpr std::size_t kRefusalKept = std::size_t{64} << 10;
// After so many watches in a row that failed, the version to go on from is suspect.
constexpr int kFailuresUntilList = 4;
// A watch by which it is to be shown that all is known. Servers send a bookmark two seconds before the end.
constexpr std::int64_t kProofSeconds = 3;
constexpr http::Milliseconds kProbeTimeout{5'000};
// A watch that ended sooner and told nothing is a failure, however orderly it ended.
constexpr http::Milliseconds kShortWatch{1'000};
// By which pages that are too long become smaller.
constexpr std::int64_t kPageDivisor = 4;

Code code_of_stream(const http::Outcome& outcome, int status) {
  if (status != 0) {
    return code_of(status);
  }
  return outcome.kind == http::Outcome::Kind::kNotSent ? Code::kNotSent : Code::kUnknown;
}

// Whether a version is at least as new as another. Those of one server are numbers that grow; of others it is not
// known.
bool is_reached(std::string_view seen, std::string_view goal) {
  const auto number = whole_number<std::uint64_t>(seen);
  const auto wanted = whole_number<std::uint64_t>(goal);
  return number && wanted ? *number >= *wanted : seen == goal;
}

std::string message_of(int status, std::string body) {
  Reply reply;
  reply.http_status = status;
  reply.body = std::move(body);
  classify(reply);
  return fmt::format("{} ({})", reply.message, status);
}

}  // namespace

void ReflectorOptions::notice_silence_of(http::Milliseconds silence) {
  constexpr http::Milliseconds kMargin{3'000};  // the server may be slow to end it
  idle_timeout = silence;
  max_watch = std::max(silence - kMargin, silence / 2);
  min_watch = max_watch * 2 / 3;
}

Reflector::Run::Run(Client& client, Resource resource, Sink& sink, ReflectorOptions options)
    : client_(client),
      transport_(client.transport()),
      counters_(client.counters()),
      resource_(std::move(resource)),
      sink_(sink),
      options_(std::move(options)),
      random_(options_.random ? options_.random : make_random()),
      lines_(options_.max_event) {}

void Reflector::Run::start() {
  page_size_ = options_.page_size;
  list();
}

void Reflector::Run::stop() {
  stopped_ = true;
  transport_.cancel(task_);
  transport_.cancel(goal_timer_);
  transport_.cancel(proof_timer_);
}

void Reflector::Run::remove_all() {
  stop();
  known_.clear([this](const ObjectRef& object) { sink_.removed(object, {}); });
  size_ = 0;
}

std::string Reflector::Run::query() const {
  std::string query;
  if (!options_.label_selector.empty()) {
    query += "&labelSelector=" + escape(options_.label_selector);
  }
  if (!options_.field_selector.empty()) {
    query += "&fieldSelector=" + escape(options_.field_selector);
  }
  return query;
}

void Reflector::Run::list() {
  if (lists_++ > 0) {
    ++counters_.relists;
  }
  continue_token_.clear();
  known_.begin_list();
  listing_ = true;
  list_again_ = false;
  list_began_ = transport_.now();
  goal_.reset();
  transport_.cancel(goal_timer_);
  request_page();
}

void Reflector::Run::request_page() {
  http::Request request;
  request.target = fmt::format("{}?limit={}{}", resource_.path(options_.name_space), page_size_, query());
  request.max_body = options_.max_page;
  if (!continue_token_.empty()) {
    request.target += "&continue=" + escape(continue_token_);
  }
  request.headers = {{"Accept", "application/json"}};
  request.timeout = options_.page_timeout;
  request.fresh_connection = std::exchange(fresh_connection_, false);
  task_ = transport_.send(std::move(request), [self = shared_from_this()](http::Outcome outcome) {
    if (!self->stopped_) {
      self->page_came(std::move(outcome));
    }
  });
}

bool Reflector::Run::take_smaller_pages(const http::Outcome& outcome) {
  const bool cut = outcome.kind == http::Outcome::Kind::kUnknown && outcome.status == 200;
  if (!cut || page_size_ <= 1) {
    return false;
  }
  page_size_ = std::max<std::int64_t>(1, page_size_ / kPageDivisor);
  request_page();
  return true;
}

void Reflector::Run::page_came(http::Outcome outcome) {
  ++pages_;
  const bool answered = outcome.kind == http::Outcome::Kind::kReply;
  counters_.count(Verb::kList, code_of_stream(outcome, answered ? outcome.status : 0));
  if (take_smaller_pages(outcome)) {
    return;
  }
  if (!answered) {
    fresh_connection_ = outcome.kind == http::Outcome::Kind::kUnknown;
    // A page that was lost can be asked for again.
    retry_later(outcome.error, 0, &Run::request_page);
    return;
  }
  if (outcome.status != 200) {
    // The version that the pages belong to is gone; or whatever else is wrong with the token.
    const bool same_page = outcome.status == 429 || outcome.status >= 500 || outcome.status == 401;
    const std::optional<Milliseconds> asked = retry_after_of(outcome.headers);
    retry_later(message_of(outcome.status, std::move(outcome.body)), outcome.status,
                same_page ? &Run::request_page : &Run::list, asked.value_or(Milliseconds(0)));
    return;
  }
  outcome.body.reserve(outcome.body.size() + kJsonPadding);
  Result<ListEnd> end = reader_.read_list(outcome.body, [this](const ObjectRef& object, std::string_view json) {
    tell(object, json, known_.listed(object));
  });
  size_ = known_.size();
  if (!end.has_value()) {
    retry_later(end.error().message, 0, &Run::list);
    return;
  }
  failures_ = 0;
  if (outcome.body.size() < options_.max_page / kPageDivisor) {
    page_size_ = std::min(options_.page_size, 2 * page_size_);
  }
  continue_token_ = std::move(end->continue_token);
  if (continue_token_.empty()) {
    list_complete(std::move(end->resource_version));
  } else {
    request_page();
  }
}

void Reflector::Run::list_complete(std::string resource_version) {
  resource_version_ = std::move(resource_version);
  known_.sweep([this](const ObjectRef& object) { sink_.removed(object, {}); });
  size_ = known_.size();
  synced_ = true;
  listing_ = false;
  listed_at_ = transport_.now();
  sink_.synced();
  shown_fresh(list_began_);
  if (list_again_) {
    list();
    return;
  }
  watch();
}

void Reflector::Run::tell(const ObjectRef& object, std::string_view json, KnownObjects::Change change) {
  if (change == KnownObjects::Change::kSame) {
    return;
  }
  if (change == KnownObjects::Change::kReplaced) {
    ObjectRef former = object;
    former.uid = known_.replaced_uid();
    former.resource_version = {};
    sink_.removed(former, {});
  }
  sink_.changed(object, json);
}

void Reflector::Run::watch() {
  ++counters_.watch_starts;
  lines_.clear();
  refusal_.clear();
  watch_status_ = 0;
  progress_ = false;
  watch_started_ = transport_.now();
  const auto spread = static_cast<double>((options_.max_watch - options_.min_watch).count());
  const auto length = options_.min_watch + Milliseconds(static_cast<Milliseconds::rep>(spread * random_()));
  const std::int64_t seconds = goal_ ? kProofSeconds : std::max<std::int64_t>(length.count() / 1000, 1);
  http::Request request;
  request.target = fmt::format("{}?watch=true&allowWatchBookmarks=true&resourceVersion={}&timeoutSeconds={}{}",
                               resource_.path(options_.name_space), escape(resource_version_), seconds, query());
  request.headers = {{"Accept", "application/json"}};
  request.idle_timeout = options_.idle_timeout;
  request.fresh_connection = std::exchange(fresh_connection_, false);
  const std::shared_ptr<Run> self = shared_from_this();
  task_ = transport_.stream(std::move(request),
                            {.on_headers = [self](int status, const http::Headers&) { self->watch_status_ = status; },
                             .on_bytes = [self](std::string_view bytes) { self->watch_bytes(bytes); },
                             .on_end = [self](const http::Outcome& outcome) { self->watch_ended(outcome); }});
}

void Reflector::Run::watch_bytes(std::string_view bytes) {
  if (stopped_) {
    return;
  }
  if (watch_status_ != 200) {
    refusal_.append(bytes.substr(0, kRefusalKept - std::min(kRefusalKept, refusal_.size())));
    return;
  }
  bool abandoned = false;
  const bool taken = lines_.feed(bytes, [this, &abandoned](std::string_view line) {
    abandoned = !watch_line(line);
    return !abandoned;
  });
  if (!taken && !abandoned) {
    abandon_watch(true, fmt::format("an event is longer than {} bytes", options_.max_event));
  }
  size_ = known_.size();
}

bool Reflector::Run::watch_line(std::string_view line) {
  const Result<WatchEvent> event = reader_.read_event(line);
  if (!event.has_value()) {
    abandon_watch(false, event.error().message);
    return false;
  }
  if (event->type == EventType::kError) {
    counters_.count(Verb::kWatch, code_of(event->error_code));
    const bool expired = event->error_code == 410;
    abandon_watch(expired, fmt::format("{} ({})", event->error_message, event->error_code));
    return false;
  }
  return apply(*event);
}

bool Reflector::Run::apply(const WatchEvent& event) {
  progress_ = true;
  failures_ = 0;
  const auto change = [&] {
    if (event.type == EventType::kDeleted) {
      if (!known_.removed(event.object)) {
        ++counters_.dropped_events;
        return;
      }
      sink_.removed(event.object, event.json);
      return;
    }
    const KnownObjects::Change what = known_.changed(event.object);
    counters_.dropped_events += what == KnownObjects::Change::kSame ? 1 : 0;
    tell(event.object, event.json, what);
  };
  if (event.type != EventType::kBookmark && event.type != EventType::kOther) {
    ++counters_.watch_events;
    change();
  }
  if (!event.object.resource_version.empty()) {
    resource_version_.assign(event.object.resource_version);
    look_for_goal();
  }
  return !stopped_;
}

void Reflector::Run::watch_ended(const http::Outcome& outcome) {
  if (stopped_) {
    return;
  }
  counters_.count(Verb::kWatch, code_of_stream(outcome, watch_status_));
  const bool in_order = outcome.kind == http::Outcome::Kind::kReply;
  if (watch_status_ != 0 && watch_status_ != 200) {
    resume(false, watch_status_, message_of(watch_status_, refusal_));
    return;
  }
  fresh_connection_ = outcome.kind == http::Outcome::Kind::kUnknown;
  resume(in_order, 0, in_order ? "the watch ended at once" : outcome.error);
}

void Reflector::Run::abandon_watch(bool list_again, const std::string& why) {
  transport_.cancel(task_);
  resume(false, list_again ? 410 : 0, why);
}

void Reflector::Run::resume(bool in_order, int status, const std::string& why) {
  if (in_order && (progress_ || transport_.now() - watch_started_ >= kShortWatch)) {
    failures_ = 0;
    watch();
    return;
  }
  ++counters_.watch_failures;
  // A server which says it again and again is not asked without pause.
  if (status == 410 && failures_ == 0 && transport_.now() - listed_at_ >= kShortWatch) {
    list();
    return;
  }
  const bool temporary = status == 0 || status == 401 || status == 429 || status >= 500;
  // One cut of a watch that had lived is no trouble worth a pause.
  if (temporary && failures_ == 0 && transport_.now() - watch_started_ >= kShortWatch && status == 0) {
    failures_ = 1;
    watch();
    return;
  }
  retry_later(why, status, temporary && failures_ < kFailuresUntilList ? &Run::watch : &Run::list);
}

void Reflector::Run::retry_later(const std::string& why, int status, void (Run::*next)(), Milliseconds at_least) {
  ++failures_;
  sink_.trouble(fmt::format("{}: {}", to_string(resource_), why), failures_);
  const Milliseconds delay =
      std::max(backoff(options_.first_backoff, options_.max_backoff, failures_, random_()), at_least);
  if (status == 401 && client_.credentials() != nullptr) {
    client_.credentials()->renew([] {});  // it has the time of the backoff for that
  }
  task_ = transport_.after(std::min(delay, options_.max_backoff), [self = shared_from_this(), next] {
    if (!self->stopped_) {
      ((*self).*next)();
    }
  });
}

void Reflector::Run::prove_fresh(http::Clock::time_point since) {
  if (stopped_ || fresh_as_of() >= since || (goal_ && goal_at_ >= since)) {
    return;
  }
  if (listing_) {
    // It is seen through, and followed by another: of what a watch told from before a list that was cut short, all
    // would be passed over that is older than the newest object of the pages that came.
    list_again_ = list_again_ || list_began_ < since;
  } else {
    transport_.cancel(task_);  // it may be dead without a word
    if (!synced_ || known_.size() <= static_cast<std::size_t>(options_.page_size)) {
      list();
    } else {
      probe();
    }
  }
  expect_pages(kProbeTimeout);
}

// A list on which nothing comes for a while, when freshness is to be shown, is begun anew on a new connection. The
// server may be slow: each time it has twice as long.
void Reflector::Run::expect_pages(Milliseconds patience) {
  transport_.cancel(proof_timer_);
  proof_timer_ = transport_.after(patience, [self = shared_from_this(), pages = pages_, patience] {
    if (self->stopped_ || !self->listing_) {
      return;
    }
    if (self->pages_ == pages) {
      self->transport_.cancel(self->task_);
      self->fresh_connection_ = true;
      self->list();
    }
    self->expect_pages(std::min(2 * patience, self->options_.page_timeout));
  });
}

void Reflector::Run::probe() {
  goal_.reset();
  goal_at_ = transport_.now();
  http::Request request;
  request.target = fmt::format("{}?limit=1{}", resource_.path(options_.name_space), query());
  request.headers = {{"Accept", "application/json"}};
  request.timeout = kProbeTimeout;
  request.fresh_connection = std::exchange(fresh_connection_, false);
  task_ = transport_.send(std::move(request), [self = shared_from_this()](http::Outcome outcome) {
    if (!self->stopped_) {
      self->probe_came(std::move(outcome));
    }
  });
}

void Reflector::Run::probe_came(http::Outcome outcome) {
  const bool answered = outcome.kind == http::Outcome::Kind::kReply;
  counters_.count(Verb::kList, code_of_stream(outcome, answered ? outcome.status : 0));
  fresh_connection_ = outcome.kind == http::Outcome::Kind::kUnknown;
  if (!answered || outcome.status != 200) {
    retry_later(answered ? message_of(outcome.status, std::move(outcome.body)) : outcome.error,
                answered ? outcome.status : 0, &Run::probe);
    return;
  }
  outcome.body.reserve(outcome.body.size() + kJsonPadding);
  Result<ListEnd> end = reader_.read_list(outcome.body, [](const ObjectRef&, std::string_view) {});
  if (!end.has_value()) {
    list();
    return;
  }
  goal_ = std::move(end->resource_version);
  goal_timer_ = transport_.after(options_.catch_up, [self = shared_from_this()] {
    if (!self->stopped_ && self->goal_) {
      self->transport_.cancel(self->task_);
      self->list();
      self->expect_pages(kProbeTimeout);
    }
  });
  look_for_goal();
  watch();
}

void Reflector::Run::look_for_goal() {
  if (goal_ && is_reached(resource_version_, *goal_)) {
    goal_.reset();
    transport_.cancel(goal_timer_);
    shown_fresh(goal_at_);
  }
}

void Reflector::Run::shown_fresh(http::Clock::time_point as_of) {
  fresh_as_of_ = std::max(as_of, fresh_as_of()).time_since_epoch().count();
}

Reflector::Reflector(Client& client, Resource resource, Sink& sink, ReflectorOptions options)
    : transport_(client.transport()),
      run_(std::make_shared<Run>(client, std::move(resource), sink, std::move(options))) {
  transport_.post([run = run_] {
    if (!run->stopped()) {
      run->start();
    }
  });
}

Reflector::~Reflector() {
  transport_.run([this] { run_->stop(); });
}

void Reflector::remove_all() {
  transport_.run([this] { run_->remove_all(); });
}

void Reflector::prove_fresh(http::Clock::time_point since) {
  transport_.post([run = run_, since] { run->prove_fresh(since); });
}

http::Clock::time_point Reflector::fresh_as_of() const {
  return run_->fresh_as_of();
}

bool Reflector::synced() const {
  return run_->synced();
}

std::size_t Reflector::size() const {
  return run_->size();
}

}  // namespace gantree::kube
