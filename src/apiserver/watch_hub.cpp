#include "apiserver/watch_hub.h"

#include <algorithm>
#include <utility>

#include "apiserver/convert.h"
#include "apiserver/core.h"

namespace gantree::apiserver {

namespace {

constexpr std::chrono::seconds kBookmarkInterval{60};
// So long before a watch ends it is told how far it has come, as kube-apiserver does it: it goes on from there.
constexpr std::chrono::seconds kLastBookmark{2};

Watcher::Clock::time_point bookmark_after(Watcher::Clock::time_point now, const Watcher& watcher) {
  const Watcher::Clock::time_point next = now + kBookmarkInterval;
  const Watcher::Clock::time_point last = watcher.until - kLastBookmark;
  return last > now ? std::min(next, last) : next;
}

// What a watcher sees of an object that has left its selection: as it was, at the time when it left.
Entry as_it_was(const Event& event) {
  auto object = parse_json(*event.last);
  if (!object || !object->is_object()) {
    return event.now;
  }
  object_in(object->get_object(), "metadata")["resourceVersion"] = std::to_string(event.now.revision);
  return {std::make_shared<const std::string>(to_json(*object)), event.now.revision, event.before};
}

std::string feed_name(const Kind& kind) {
  return kind.table + " " + kind.version;
}

}  // namespace

WatchEvent bookmark(const Form& form, std::uint64_t revision, bool initial_end) {
  Object object;
  object["kind"] = form.kind->kind;
  object["apiVersion"] = form.kind->api_version();
  Object& metadata = object_in(object, "metadata");
  metadata["resourceVersion"] = std::to_string(revision);
  if (initial_end) {
    object_in(metadata, "annotations")["k8s.io/initial-events-end"] = "true";
  }
  return {WatchEvent::Type::kBookmark, std::make_shared<const std::string>(to_json(object)), revision};
}

WatchEvent error_event(const Failure& failure) {
  return {WatchEvent::Type::kError, std::make_shared<const std::string>(to_json(failure.status)), 0};
}

void WatchHub::add(std::unique_ptr<Watcher> watcher) {
  if (watcher->bookmarks) {
    watcher->next_bookmark = bookmark_after(Watcher::Clock::now(), *watcher);
  }
  watcher->batch = sealed_ + 1;
  watchers_.push_back(std::move(watcher));
}

void WatchHub::durable(std::uint64_t batch, std::uint64_t revision) {
  durable_ = batch;
  durable_revision_ = revision;
}

void WatchHub::note(Watcher& watcher, const Event& event) const {
  if (event.now.revision <= watcher.from) {
    return;
  }
  const bool was = event.before != nullptr && watcher.selection.matches(event.key, *event.before);
  const bool is = event.type != WatchEvent::Type::kDeleted && watcher.selection.matches(event.key, *event.now.facts);
  if (!was && !is) {
    return;
  }
  // What leaves the selection is gone for this watcher, what enters it is new.
  const auto type = !is ? WatchEvent::Type::kDeleted : was ? WatchEvent::Type::kModified : WatchEvent::Type::kAdded;
  // Where somebody else converts them, only its new state has been.
  const bool left =
      !is && event.type == WatchEvent::Type::kModified && event.last != nullptr && !by_webhook(*watcher.form.kind);
  watcher.waiting.push_back(
      {type, present(core_, watcher.form, left ? as_it_was(event) : event.now), event.now.revision});
}

void WatchHub::gather(std::span<const Store::Change> changes) {
  if (changes.empty()) {
    return;
  }
  std::map<std::string, KindPtr> fed;
  for (const auto& watcher : watchers_) {
    if (by_webhook(*watcher->form.kind)) {
      fed.emplace(feed_name(*watcher->form.kind), watcher->form.kind);
      continue;
    }
    for (const Store::Change& change : changes) {
      if (change.table->name == watcher->table && !watcher->ends) {
        note(*watcher, change.event);
      }
    }
  }
  for (const auto& [name, kind] : fed) {
    for (const Store::Change& change : changes) {
      if (change.table->name == kind->table) {
        feed(kind, change.event);
      }
    }
  }
}

void WatchHub::feed(const KindPtr& kind, const Event& event) {
  const std::string name = feed_name(*kind);
  Feed& feed = feeds_[name];
  feed.kind = kind;
  feed.waiting.push_back(event);
  if (!feed.busy) {
    feed.busy = true;
    core_.soon([this, name] { core_.run(pump(name)); });
  }
}

Task<Answer> WatchHub::pump(std::string name) {
  Feed& feed = feeds_[name];
  while (!feed.waiting.empty()) {
    const KindPtr kind = feed.kind;
    const std::vector<Event> events(feed.waiting.begin(), feed.waiting.end());
    feed.waiting.clear();
    std::vector<Entry> missing;
    for (const Event& event : events) {
      if (lacks_variant(*kind, event.now)) {
        missing.push_back(event.now);
      }
    }
    if (!missing.empty()) {
      const auto converted = co_await convert_entries(core_, kind, std::move(missing));
      if (!converted) {
        give_up(kind, converted.error());
        continue;
      }
    }
    deliver(kind, events);
  }
  feed.busy = false;
  co_return Answer();
}

void WatchHub::deliver(const KindPtr& kind, std::span<const Event> events) {
  for (const auto& watcher : watchers_) {
    if (watcher->form.kind->table == kind->table && watcher->form.kind->version == kind->version && !watcher->ends) {
      for (const Event& event : events) {
        note(*watcher, event);
      }
    }
  }
}

// They list again, and find out by that whether it works.
void WatchHub::give_up(const KindPtr& kind, const Failure& why) {
  for (const auto& watcher : watchers_) {
    if (watcher->form.kind->table == kind->table && watcher->form.kind->version == kind->version) {
      watcher->waiting.push_back(error_event(why));
      watcher->ends = true;
    }
  }
}

// Whether nothing is on its way to it, so that a bookmark does not lead past it.
bool WatchHub::has_all(const Watcher& watcher) const {
  const auto feed = feeds_.find(feed_name(*watcher.form.kind));
  return feed == feeds_.end() || !feed->second.busy;
}

bool WatchHub::send(Watcher& watcher, Watcher::Clock::time_point now) {
  if (watcher.batch > durable_) {
    return true;
  }
  if (!std::exchange(watcher.began, true)) {
    const std::vector<WatchEvent> initial = std::exchange(watcher.initial, {});
    if (!watcher.sink->events(initial, true)) {
      return false;
    }
  }
  if (now >= watcher.next_bookmark && has_all(watcher)) {
    watcher.waiting.push_back(bookmark(watcher.form, durable_revision_, false));
  }
  if (!watcher.waiting.empty()) {
    if (watcher.bookmarks) {
      watcher.next_bookmark = bookmark_after(now, watcher);
    }
    const std::vector<WatchEvent> events = std::exchange(watcher.waiting, {});
    if (!watcher.sink->events(events, false)) {
      return false;
    }
  }
  if (watcher.ends || now >= watcher.until) {
    watcher.sink->ended();
    return false;
  }
  return true;
}

void WatchHub::flush(Watcher::Clock::time_point now) {
  // Sinks may add watchers by what they do: those come at the end, and in the next turn.
  std::vector<std::unique_ptr<Watcher>> watchers = std::exchange(watchers_, {});
  std::erase_if(watchers, [&](const auto& watcher) { return !send(*watcher, now); });
  std::move(watchers_.begin(), watchers_.end(), std::back_inserter(watchers));
  watchers_ = std::move(watchers);
}

void WatchHub::forget(const WatchSink* sink) {
  std::erase_if(watchers_, [&](const auto& watcher) { return watcher->sink.get() == sink; });
}

}  // namespace gantree::apiserver
