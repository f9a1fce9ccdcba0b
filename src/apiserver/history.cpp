#include "apiserver/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "apiserver/private_file.h"

namespace gantree::apiserver {

namespace {

constexpr std::string_view kBegin = "gantree history 2\n";
constexpr std::size_t kFull = std::size_t{8} << 20;

void put_number(std::string& out, std::uint64_t number) {
  char bytes[sizeof(number)];
  std::memcpy(bytes, &number, sizeof(number));
  out.append(bytes, sizeof(number));
}

void put_text(std::string& out, std::string_view text) {
  put_number(out, text.size());
  out += text;
}

// Takes what the others have put, in order. Once something is missing, nothing is there any more.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}

  std::uint64_t number() {
    std::uint64_t number = 0;
    const std::string_view bytes = take(sizeof(number));
    if (!bytes.empty()) {
      std::memcpy(&number, bytes.data(), sizeof(number));
    }
    return number;
  }
  std::string_view text() { return take(number()); }
  std::string_view take(std::uint64_t size) {
    good_ = good_ && size <= left_.size();
    const std::string_view taken = left_.substr(0, good_ ? size : 0);
    left_.remove_prefix(taken.size());
    return taken;
  }
  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] std::size_t left() const { return left_.size(); }

 private:
  std::string_view left_;
  bool good_ = true;
};

// `first`: the file has nothing of the object yet.
void put_change(std::string& out, const Store::Change& change, bool first) {
  const Event& event = change.event;
  put_number(out, event.now.revision);
  put_number(out, static_cast<std::uint64_t>(event.type));
  put_text(out, change.table->name);
  put_text(out, event.key.ns);
  put_text(out, event.key.name);
  put_text(out, first && event.last != nullptr ? std::string_view(*event.last) : std::string_view());
  put_text(out, *event.now.bytes);
}

// One file, as far as it goes.
struct Part {
  std::uint64_t known = 0;
  Store::Floors last;  // when it was begun
  struct Change {
    std::uint64_t revision = 0;
    WatchEvent::Type type = WatchEvent::Type::kAdded;
    std::string_view table;
    Key key;
    std::string_view last;  // "": the file has it already, or it is new
    std::string_view bytes;
    std::size_t end = 0;  // of it, in the file
  };
  std::vector<Change> changes;

  // The last revision when it was begun.
  [[nodiscard]] std::uint64_t begun_at() const {
    std::uint64_t revision = known;
    for (const auto& [table, changed] : last) {
      revision = std::max(revision, changed);
    }
    return revision;
  }
  // The last one that it has.
  [[nodiscard]] std::uint64_t reaches() const { return changes.empty() ? begun_at() : changes.back().revision; }
};

// Nothing where it is no such file. Changes after the revision are left out.
std::optional<Part> read_part(std::string_view bytes, std::uint64_t revision) {
  Reader reader(bytes);
  if (reader.take(kBegin.size()) != kBegin) {
    return std::nullopt;
  }
  Part part;
  part.known = reader.number();
  for (std::uint64_t tables = reader.number(); tables > 0 && reader.good(); --tables) {
    const std::string name(reader.text());
    part.last[name] = reader.number();
  }
  if (!reader.good()) {
    return std::nullopt;
  }
  while (reader.left() > 0) {
    Part::Change change;
    change.revision = reader.number();
    change.type = static_cast<WatchEvent::Type>(reader.number());
    change.table = reader.text();
    change.key.ns = reader.text();
    change.key.name = reader.text();
    change.last = reader.text();
    change.bytes = reader.text();
    change.end = bytes.size() - reader.left();
    if (!reader.good() || change.type > WatchEvent::Type::kDeleted || change.revision > revision) {
      break;
    }
    part.changes.push_back(std::move(change));
  }
  return part;
}

std::string content_of(const std::string& name) {
  std::ifstream stream(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Events from what the files say, in order: each object's last state is what it was before the next one.
class Teller {
 public:
  explicit Teller(const Store& store) : store_(store) {}

  [[nodiscard]] Result<Event> next(const Part::Change& change) {
    Entry& state = states_[{std::string(change.table), change.key}];
    if (!change.last.empty()) {
      if (auto read = read_state(change.table, change.last, state); !read) {
        return tl::unexpected(read.error());
      }
    }
    Event event;
    event.type = change.type;
    event.key = change.key;
    if (event.type != WatchEvent::Type::kAdded) {
      event.before = state.facts;
      event.last = state.bytes;
    }
    const Entry* entry = store_.find(change.table, change.key);
    if (entry != nullptr && entry->revision == change.revision) {
      state = *entry;
    } else if (auto read = read_state(change.table, change.bytes, state); !read) {
      return tl::unexpected(read.error());
    }
    state.revision = change.revision;
    event.now = state;
    if (event.type != WatchEvent::Type::kAdded && event.last == nullptr) {
      return invalid("it does not say what was before");
    }
    return event;
  }

 private:
  static Result<> read_state(std::string_view table, std::string_view bytes, Entry& state) {
    auto facts = facts_in(table, bytes);
    if (!facts) {
      return tl::unexpected(facts.error());
    }
    state = Entry{.bytes = std::make_shared<const std::string>(bytes), .revision = 0, .facts = std::move(*facts)};
    return {};
  }

  const Store& store_;
  std::map<std::pair<std::string, Key>, Entry> states_;
};

// By which one knows whether a file has something of an object.
std::string place_of(std::string_view table, const Key& key) {
  return fmt::format("{}/{}/{}", table, key.ns, key.name);
}

}  // namespace

History::History(std::string file) : name_(std::move(file) + "-history") {}

void History::note(std::string_view table, std::uint64_t revision) {
  const auto it = last_.find(table);
  if (it == last_.end()) {
    last_.emplace(table, revision);
  } else {
    it->second = revision;
  }
}

Result<> History::load(Store& store, std::uint64_t revision) {
  const std::string old_bytes = content_of(old_name());
  const std::string bytes = content_of(name_);
  const auto part = read_part(bytes, revision);
  auto old_part = read_part(old_bytes, revision);
  if (part && old_part && old_part->reaches() != part->begun_at()) {
    old_part.reset();
  }
  const Part* first = old_part ? &*old_part : part ? &*part : nullptr;
  bool whole = first != nullptr && (part ? part->reaches() : old_part->reaches()) == revision;
  std::vector<std::pair<std::string_view, Event>> events;
  Teller teller(store);
  for (const std::optional<Part>* one : std::initializer_list<const std::optional<Part>*>{&old_part, &part}) {
    for (std::size_t i = 0; whole && *one && i < (*one)->changes.size(); ++i) {
      auto event = teller.next((*one)->changes[i]);
      whole = event.has_value();
      if (whole) {
        events.emplace_back((*one)->changes[i].table, std::move(*event));
      }
    }
  }
  if (!whole) {
    std::error_code ignored;
    std::filesystem::remove(old_name(), ignored);
    known_ = revision;
    store.loaded(revision);
    return begin();
  }
  known_ = first->known;
  last_ = first->last;
  for (auto& [table, event] : events) {
    note(table, event.now.revision);
    store.load_recent(table, std::move(event));
  }
  store.loaded(revision, Store::Past{first->known, first->last});
  if (!part || part->changes.empty()) {
    return begin();
  }
  for (const Part::Change& change : part->changes) {
    in_file_.insert(place_of(change.table, change.key));
  }
  return go_on(part->changes.back().end);
}

Result<> History::go_on(std::size_t end) {
  std::error_code error;
  std::filesystem::resize_file(name_, end, error);
  if (error) {
    return fail(Errc::kIo, fmt::format("{}: cannot write: {}", name_, error.message()));
  }
  size_ = end;
  return open("ab");
}

Result<> History::open(const char* mode) {
  if (auto made = make_private(name_); !made) {
    return made;
  }
  file_.reset(std::fopen(name_.c_str(), mode));
  if (!file_) {
    return fail(Errc::kIo, fmt::format("{}: cannot write: {}", name_, std::strerror(errno)));
  }
  // What is written is whole batches.
  std::setvbuf(file_.get(), nullptr, _IONBF, 0);
  return {};
}

Result<> History::begin() {
  if (auto opened = open("wb"); !opened) {
    return opened;
  }
  buffer_ = kBegin;
  put_number(buffer_, known_);
  put_number(buffer_, last_.size());
  for (const auto& [table, revision] : last_) {
    put_text(buffer_, table);
    put_number(buffer_, revision);
  }
  size_ = 0;
  in_file_.clear();
  return write(buffer_);
}

Result<> History::write(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) {
    return fail(Errc::kIo, fmt::format("{}: cannot write: {}", name_, std::strerror(errno)));
  }
  size_ += bytes.size();
  return {};
}

Result<> History::append(std::span<const Store::Change> changes) {
  if (size_ > kFull) {
    file_.reset();
    std::error_code error;
    std::filesystem::rename(name_, old_name(), error);
    if (error) {
      return fail(Errc::kIo, fmt::format("{}: cannot rename: {}", name_, error.message()));
    }
    if (auto begun = begin(); !begun) {
      return begun;
    }
  }
  buffer_.clear();
  for (const Store::Change& change : changes) {
    put_change(buffer_, change, in_file_.insert(place_of(change.table->name, change.event.key)).second);
    note(change.table->name, change.event.now.revision);
  }
  return write(buffer_);
}

}  // namespace gantree::apiserver
