#include "apiserver/storage.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "apiserver/history.h"
#include "apiserver/private_file.h"

namespace gantree::apiserver {

namespace {

constexpr const char* kSchema =
    "PRAGMA locking_mode=EXCLUSIVE;"
    "PRAGMA journal_mode=WAL;"
    "PRAGMA synchronous=FULL;"
    "PRAGMA cache_size=-16384;"
    "CREATE TABLE IF NOT EXISTS objects (resource TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,"
    " revision INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (resource, namespace, name));"
    "CREATE TABLE IF NOT EXISTS counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL);";

// Beside the objects: the last revision.
constexpr std::string_view kRevision = "revision";

struct CloseStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, CloseStatement>;

void bind_text(sqlite3_stmt* statement, int at, std::string_view text) {
  sqlite3_bind_text64(statement, at, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

std::string_view column(sqlite3_stmt* statement, int at) {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, at));
  return {bytes == nullptr ? "" : bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement, at))};
}

}  // namespace

struct Storage::Database {
  explicit Database(const std::string& name) : file(name), history(name) {}
  ~Database() {
    // Statements go before what they belong to.
    put.reset();
    remove.reset();
    count.reset();
    sqlite3_close(handle);
  }

  [[nodiscard]] tl::unexpected<Error> trouble(std::string_view what) const {
    return fail(Errc::kIo, fmt::format("{}: cannot {}: {}", file, what, sqlite3_errmsg(handle)));
  }
  [[nodiscard]] Result<> run(const char* sql, std::string_view what) const {
    if (sqlite3_exec(handle, sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
      return trouble(what);
    }
    return {};
  }
  [[nodiscard]] Statement prepare(const char* sql) const {
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v2(handle, sql, -1, &statement, nullptr);
    return Statement(statement);
  }
  // A statement that answers nothing.
  [[nodiscard]] static bool step(sqlite3_stmt* statement) {
    const bool done = sqlite3_step(statement) == SQLITE_DONE;
    sqlite3_reset(statement);
    return done;
  }

  std::string file;
  sqlite3* handle = nullptr;
  Statement put;
  Statement remove;
  Statement count;
  History history;
};

Storage::Storage(std::unique_ptr<Database> database) : database_(std::move(database)) {}
Storage::~Storage() = default;

Result<std::unique_ptr<Storage>> Storage::open(const std::string& file, bool sync) {
  auto database = std::make_unique<Database>(file);
  // SQLite gives the files that it puts beside this one the same mode; some may be left of a process that was killed.
  auto made_private = make_private(file);
  for (const std::string_view beside : {"-wal", "-shm", "-journal", "-history-old"}) {
    made_private = made_private ? keep_private(file + std::string(beside)) : made_private;
  }
  if (!made_private) {
    return tl::unexpected(made_private.error());
  }
  if (sqlite3_open_v2(file.c_str(), &database->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                      nullptr) != SQLITE_OK) {
    return database->trouble("open the cluster's data");
  }
  if (auto made = database->run(kSchema, "use the cluster's data"); !made) {
    return tl::unexpected(made.error());
  }
  if (auto set = sync ? Result<>() : database->run("PRAGMA synchronous=OFF", "use the cluster's data"); !set) {
    return tl::unexpected(set.error());
  }
  database->put = database->prepare(
      "INSERT INTO objects (resource, namespace, name, revision, bytes) VALUES (?1, ?2, ?3, ?4, ?5)"
      " ON CONFLICT (resource, namespace, name) DO UPDATE SET revision = ?4, bytes = ?5");
  database->remove = database->prepare("DELETE FROM objects WHERE resource = ?1 AND namespace = ?2 AND name = ?3");
  database->count = database->prepare(
      "INSERT INTO counters (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2");
  if (!database->put || !database->remove || !database->count) {
    return database->trouble("use the cluster's data");
  }
  return std::unique_ptr<Storage>(new Storage(std::move(database)));
}

Result<> Storage::load(Store& store) {
  const Statement objects = database_->prepare("SELECT resource, namespace, name, revision, bytes FROM objects");
  const Statement counters = database_->prepare("SELECT name, value FROM counters");
  if (!objects || !counters) {
    return database_->trouble("read the cluster's data");
  }
  std::uint64_t revision = 0;
  while (sqlite3_step(counters.get()) == SQLITE_ROW) {
    if (column(counters.get(), 0) == kRevision) {
      revision = static_cast<std::uint64_t>(sqlite3_column_int64(counters.get(), 1));
    }
  }
  int stepped = SQLITE_ROW;
  while ((stepped = sqlite3_step(objects.get())) == SQLITE_ROW) {
    auto bytes = std::make_shared<const std::string>(column(objects.get(), 4));
    auto facts = facts_in(column(objects.get(), 0), *bytes);
    if (!facts) {
      return invalid(fmt::format("{}: {} \"{}\": {}", database_->file, column(objects.get(), 0),
                                 column(objects.get(), 2), facts.error().message));
    }
    store.load(column(objects.get(), 0), {std::string(column(objects.get(), 1)), std::string(column(objects.get(), 2))},
               std::move(bytes), static_cast<std::uint64_t>(sqlite3_column_int64(objects.get(), 3)), std::move(*facts));
  }
  if (stepped != SQLITE_DONE) {
    return database_->trouble("read the cluster's data");
  }
  return database_->history.load(store, revision);
}

Result<> Storage::commit(std::span<const Store::Change> changes, std::uint64_t revision) {
  // Of several changes to one object only the last is written.
  std::map<std::pair<std::string_view, const Key*>, const Event*,
           bool (*)(const std::pair<std::string_view, const Key*>&, const std::pair<std::string_view, const Key*>&)>
      last([](const auto& a, const auto& b) { return std::tie(a.first, *a.second) < std::tie(b.first, *b.second); });
  for (const Store::Change& change : changes) {
    last[{change.table->name, &change.event.key}] = &change.event;
  }
  if (auto appended = database_->history.append(changes); !appended) {
    return appended;
  }
  if (auto begun = database_->run("BEGIN IMMEDIATE", "write"); !begun) {
    return begun;
  }
  for (const auto& [place, event] : last) {
    const bool gone = event->type == WatchEvent::Type::kDeleted;
    sqlite3_stmt* statement = gone ? database_->remove.get() : database_->put.get();
    bind_text(statement, 1, place.first);
    bind_text(statement, 2, event->key.ns);
    bind_text(statement, 3, event->key.name);
    if (!gone) {
      sqlite3_bind_int64(statement, 4, static_cast<sqlite3_int64>(event->now.revision));
      sqlite3_bind_blob64(statement, 5, event->now.bytes->data(), event->now.bytes->size(), SQLITE_STATIC);
    }
    if (!Database::step(statement)) {
      return database_->trouble("write");
    }
  }
  bind_text(database_->count.get(), 1, kRevision);
  sqlite3_bind_int64(database_->count.get(), 2, static_cast<sqlite3_int64>(revision));
  if (!Database::step(database_->count.get())) {
    return database_->trouble("write");
  }
  return database_->run("COMMIT", "write");
}

}  // namespace gantree::apiserver
