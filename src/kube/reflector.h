// Keeps a consumer's picture of one resource true: lists, then watches, for as long as it lives.
//
//   list in pages ──► watch from the list's resourceVersion ──► ended: watch again from the last one seen
//        ▲                                                  └─► 410, as status or as an event: list again
//        └── 410 on a page
//
// Failures are followed by backoff with jitter, without end. The server is asked to end every watch after a while, so
// that one on which nothing comes for longer, neither an event nor its end, is known to be dead: after `idle_timeout`
// it is given up and resumed on a new connection.
//
// prove_fresh() has it shown that the sink knows all that had happened at an instant, say when a lease was had:
//
//   few objects  ──► list anew
//   many objects ──► what version is the server at? ──► watch anew from the last one seen ──► that one is reached
//                                                                   └─► not within `catch_up`: list anew
//
// The sink is told each change once and in order: it never sees the same version of an object twice, also not after a
// new list; what vanished unseen is removed after that list; an object recreated under its name is removed, then
// changed. Only key, uid and version of each object are remembered here.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "kube/client.h"
#include "kube/object_ref.h"
#include "kube/object_stream.h"
#include "kube/resource.h"

namespace gantree::kube {

// Called on the transport's thread; must be short. Views are valid during the call only.
class Sink {
 public:
  virtual ~Sink() = default;
  // The object's JSON, as the server sent it, with at least kJsonPadding readable bytes behind it. From a list it may
  // lack apiVersion and kind.
  virtual void changed(const ObjectRef& object, std::string_view json) = 0;
  // `last_json` is empty where the object vanished unseen. Padded likewise.
  virtual void removed(const ObjectRef& object, std::string_view last_json) = 0;
  // A list is complete: all that was there has been told. After each list, the first one and later ones.
  virtual void synced() = 0;
  // A list or watch failed, for the log; it is tried again. `failures` in a row, from 1.
  virtual void trouble(const std::string& sentence, int failures) = 0;
};

struct ReflectorOptions {
  std::string name_space;  // empty: all
  std::string label_selector;
  std::string field_selector;
  std::int64_t page_size = 500;  // objects of one page of a list, at most
  // Bytes of one page. Objects are up to 3 MiB each, whoever writes them, and a page is kept whole while it is read:
  // where one is longer the same is asked for with fewer objects.
  std::size_t max_page = std::size_t{32} << 20;
  http::Milliseconds min_watch{5 * 60'000};  // timeoutSeconds is drawn between these
  http::Milliseconds max_watch{10 * 60'000};
  http::Milliseconds idle_timeout{90'000};  // bookmarks come about every minute
  http::Milliseconds catch_up{3'000};       // so long a watch may take to be shown to be fresh
  http::Milliseconds page_timeout{60'000};
  http::Milliseconds first_backoff{500};
  http::Milliseconds max_backoff{30'000};
  std::size_t max_event = std::size_t{64} << 20;  // bytes of one watch event; a longer one makes it list again
  std::function<double()> random;

  // A watch that is dead is noticed after that time, at least two seconds.
  void notice_silence_of(http::Milliseconds silence);
};

class Reflector {
 public:
  // Starts at once. Client and sink must outlive it.
  Reflector(Client& client, Resource resource, Sink& sink, ReflectorOptions options = {});
  // No call of the sink runs or comes after it.
  ~Reflector();
  Reflector(const Reflector&) = delete;
  Reflector& operator=(const Reflector&) = delete;

  // Stops, and tells the sink that every object known is removed: the resource is served no longer.
  void remove_all();

  // Sees to it that fresh_as_of() comes to be at least that instant. Any thread.
  void prove_fresh(http::Clock::time_point since);
  // The sink has been told of all that had happened by then. Any thread.
  [[nodiscard]] http::Clock::time_point fresh_as_of() const;

  [[nodiscard]] bool synced() const;       // the first list is complete
  [[nodiscard]] std::size_t size() const;  // objects known

 private:
  class Run;
  http::Transport& transport_;
  std::shared_ptr<Run> run_;
};

}  // namespace gantree::kube
