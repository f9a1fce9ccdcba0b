// The work of a Reflector, on the transport's thread.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "kube/known_objects.h"
#include "kube/object_stream.h"
#include "kube/random.h"
#include "kube/reflector.h"

namespace gantree::kube {

class Reflector::Run : public std::enable_shared_from_this<Reflector::Run> {
 public:
  Run(Client& client, Resource resource, Sink& sink, ReflectorOptions options);

  void start();
  void stop();
  void remove_all();
  void prove_fresh(http::Clock::time_point since);
  [[nodiscard]] bool stopped() const { return stopped_; }
  // Any thread.
  [[nodiscard]] bool synced() const { return synced_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] http::Clock::time_point fresh_as_of() const {
    return http::Clock::time_point(http::Clock::duration(fresh_as_of_.load()));
  }

 private:
  void list();
  void request_page();
  // Whether the same page is asked for again with fewer objects: it was cut, and may be too long.
  [[nodiscard]] bool take_smaller_pages(const http::Outcome& outcome);
  void page_came(http::Outcome outcome);
  void list_complete(std::string resource_version);
  void tell(const ObjectRef& object, std::string_view json, KnownObjects::Change change);

  // Asks which version the server is at.
  void expect_pages(Milliseconds patience);
  void probe();
  void probe_came(http::Outcome outcome);
  void look_for_goal();
  void shown_fresh(http::Clock::time_point as_of);

  void watch();
  void watch_bytes(std::string_view bytes);
  [[nodiscard]] bool watch_line(std::string_view line);
  [[nodiscard]] bool apply(const WatchEvent& event);
  void watch_ended(const http::Outcome& outcome);
  // Ends the stream from inside.
  void abandon_watch(bool list_again, const std::string& why);
  void resume(bool in_order, int status, const std::string& why);

  // Something failed: goes on with `next` after a while.
  void retry_later(const std::string& why, int status, void (Run::*next)(), Milliseconds at_least = Milliseconds(0));
  [[nodiscard]] std::string query() const;

  Client& client_;
  http::Transport& transport_;
  Counters& counters_;
  const Resource resource_;
  Sink& sink_;
  const ReflectorOptions options_;
  Random random_;

  KnownObjects known_;
  ObjectReader reader_;
  LineBuffer lines_;
  std::string resource_version_;  // the last one seen
  std::string continue_token_;
  std::int64_t page_size_ = 0;  // objects that the next page may have
  std::string refusal_;         // the body of a watch's refusal
  int watch_status_ = 0;
  bool progress_ = false;  // this watch told something
  bool fresh_connection_ = false;
  http::Clock::time_point watch_started_;
  http::Clock::time_point listed_at_;  // when the last list was complete
  http::Clock::time_point list_began_;
  bool listing_ = false;
  std::optional<std::string> goal_;  // a version of the server's; when it is reached, all before `goal_at_` is known
  http::Clock::time_point goal_at_;
  http::TaskId goal_timer_ = 0;
  http::TaskId proof_timer_ = 0;  // looks whether a list by which freshness is to be shown makes progress
  std::uint64_t pages_ = 0;       // answers to lists
  bool list_again_ = false;       // the list under way began too early to show freshness
  http::TaskId task_ = 0;         // the one thing under way: a page, a watch, a probe or a timer
  int failures_ = 0;              // in a row
  int lists_ = 0;
  bool stopped_ = false;
  std::atomic<bool> synced_{false};
  std::atomic<std::size_t> size_{0};
  std::atomic<http::Clock::rep> fresh_as_of_{http::Clock::time_point::min().time_since_epoch().count()};
};

}  // namespace gantree::kube
