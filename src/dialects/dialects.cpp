#include "dialects/dialects.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <tuple>
#include <unordered_map>

#include "dialects/claims.h"
#include "dialects/core/core.h"
#include "dialects/kai/kai.h"
#include "dialects/koordinator/koordinator.h"
#include "dialects/kueue/kueue.h"
#include "dialects/lws/lws.h"
#include "dialects/running.h"
#include "dialects/signs.h"
#include "dialects/workloads/workloads_dialect.h"
#include "model/topology.h"

namespace gantree {

namespace {

// By these a workload of any kind is handed to a family.
constexpr std::string_view kQueueMarks[] = {"kueue.x-k8s.io/queue-name", "kai.scheduler/queue", "runai/queue",
                                            "pod-group.scheduling.sigs.k8s.io"};

// Kinds that change what a family would do, but that nobody reads yet.
struct Unread {
  std::string_view group;
  std::string_view kind;
  std::string_view what;
};
constexpr Unread kUnread[] = {{"scheduling.koordinator.sh", "Reservation", "room of its own"},
                              {"scheduling.sigs.k8s.io", "ElasticQuota", "limits"}};

// A kind with the dialects that read it.
struct Readers {
  const ApiKind* api = nullptr;
  std::vector<Dialect*> dialects;
};

struct Identity {
  const Readers* readers = nullptr;
  std::string_view ns;
  std::string_view name;
  bool operator==(const Identity&) const = default;
};

struct IdentityHash {
  std::size_t operator()(const Identity& identity) const {
    const std::hash<std::string_view> hash;
    return hash(identity.name) ^ (hash(identity.ns) * 31) ^ std::hash<const void*>{}(identity.readers);
  }
};

// Names objects, offers them to their dialects, and notices what comes twice.
class Sorter {
 public:
  Sorter(std::span<const std::unique_ptr<Dialect>> dialects, Intake& intake) : intake_(intake) {
    for (const auto& dialect : dialects) {
      for (const ApiKind& api : dialect->kinds()) {
        enlist(api, dialect.get());
      }
    }
  }

  Result<> take(const Object& object) {
    const Readers* readers = find(object.group, object.kind);
    if (readers == nullptr) {
      pass_over(object);
      return {};
    }
    if (auto known = check_version(object, *readers->api); !known) {
      return known;
    }
    auto identity = identify(object, *readers);
    if (!identity) {
      return tl::unexpected(identity.error());
    }
    const auto [first, inserted] = places_.try_emplace(*identity, object.place());
    if (!inserted) {
      return invalid(fmt::format("{}: {} \"{}{}{}\" is given twice (first at {})", json::to_string(object.place()),
                                 object.kind, identity->ns, identity->ns.empty() ? "" : "/", identity->name,
                                 json::to_string(first->second)));
    }
    for (Dialect* dialect : readers->dialects) {
      if (auto read = dialect->read({object, identity->ns, identity->name}, intake_); !read) {
        return read;
      }
    }
    return {};
  }

  // What speaks the language of a family, but is of a kind that nobody reads, is not passed over in silence.
  void finish() {
    for (const auto& [kind, passed] : marked_) {
      intake_.reading.notes.push_back(fmt::format("{} {} {} {}, but objects of this kind are not read", passed.count,
                                                  kind, passed.count == 1 ? "carries" : "carry", passed.mark));
    }
  }

 private:
  struct Passed {
    int count = 0;
    std::string_view mark;
  };

  void pass_over(const Object& object) {
    ++intake_.reading.ignored[std::string(object.kind)];
    for (const Unread& unread : kUnread) {
      if (object.group == unread.group && object.kind == unread.kind) {
        Passed& passed = marked_[object.kind];
        ++passed.count;
        passed.mark = unread.what;
        return;
      }
    }
    for (const char* map : {"labels", "annotations"}) {
      const json::Value marks = object.metadata()[map];
      if (!marks || marks.kind() != json::Kind::kObject) {
        continue;
      }
      for (const json::MemberData& member : marks.members()) {
        if (std::find(std::begin(kQueueMarks), std::end(kQueueMarks), member.key) != std::end(kQueueMarks)) {
          Passed& passed = marked_[object.kind];
          ++passed.count;
          passed.mark = member.key;
          return;
        }
      }
    }
  }

  void enlist(const ApiKind& api, Dialect* dialect) {
    auto it = std::find_if(kinds_.begin(), kinds_.end(), [&](const Readers& readers) {
      return readers.api->group == api.group && readers.api->kind == api.kind;
    });
    if (it == kinds_.end()) {
      it = kinds_.insert(kinds_.end(), {.api = &api, .dialects = {}});
    }
    it->dialects.push_back(dialect);
  }

  [[nodiscard]] const Readers* find(std::string_view group, std::string_view kind) const {
    for (const Readers& readers : kinds_) {
      if (readers.api->kind == kind && readers.api->group == group) {
        return &readers;
      }
    }
    return nullptr;
  }

  static Result<> check_version(const Object& object, const ApiKind& api) {
    if (std::find(api.versions.begin(), api.versions.end(), object.version) != api.versions.end()) {
      return {};
    }
    return invalid(fmt::format("{}: version {} of {} is not supported; {} is", json::to_string(object.place()),
                               object.version, object.kind, fmt::join(api.versions, " or ")));
  }

  Result<Identity> identify(const Object& object, const Readers& readers) {
    json::Reader read(object.file, object.value, std::string(object.kind));
    const json::Value metadata = read.require_object(object.value, "metadata");
    Identity identity{.readers = &readers, .ns = {}, .name = read.text(metadata, "name").value_or("")};
    if (readers.api->namespaced) {
      identity.ns = read.text(metadata, "namespace").value_or("");
      if (identity.ns.empty()) {
        identity.ns = "default";
      }
    }
    if (identity.name.empty() && read.ok()) {
      identity.name = generate_name(read.text(metadata, "generateName").value_or(""), identity);
    }
    if (identity.name.empty()) {
      read.complain(object.value, "metadata.name is missing");
    }
    if (!read.ok()) {
      return read.error();
    }
    return identity;
  }

  // The API server would add random letters; a running number does as well.
  std::string_view generate_name(std::string_view prefix, const Identity& identity) {
    if (prefix.empty()) {
      return {};
    }
    const int number = ++generated_[Identity{identity.readers, identity.ns, prefix}];
    return generated_names_.emplace_back(fmt::format("{}{}", prefix, number));
  }

  Intake& intake_;
  std::deque<Readers> kinds_;  // identities point to them
  std::unordered_map<Identity, json::Place, IdentityHash> places_;
  std::unordered_map<Identity, int, IdentityHash> generated_;
  std::deque<std::string> generated_names_;
  std::map<std::string_view, Passed> marked_;
};

Result<std::optional<TopologyId>> add_levels(const std::vector<std::string>& levels, Cluster& cluster) {
  if (levels.empty()) {
    return std::optional<TopologyId>();
  }
  const Topology topology{.name = "levels", .levels = levels};
  if (auto valid = validate(topology); !valid) {
    return tl::unexpected(valid.error());
  }
  return std::optional(cluster.engine().add_topology(topology));
}

}  // namespace

std::vector<std::unique_ptr<Dialect>> all_dialects() {
  std::vector<std::unique_ptr<Dialect>> dialects;
  dialects.push_back(std::make_unique<CoreDialect>());
  dialects.push_back(std::make_unique<WorkloadsDialect>());
  dialects.push_back(std::make_unique<kueue::KueueDialect>());
  dialects.push_back(std::make_unique<koordinator::KoordinatorDialect>());
  dialects.push_back(std::make_unique<lws::LwsDialect>());
  dialects.push_back(std::make_unique<kai::KaiDialect>());
  return dialects;
}

Result<Reading> take_in(const std::vector<json::Document>& documents, const std::vector<std::string>& levels,
                        Cluster& cluster, Quota& quota) {
  auto topology = add_levels(levels, cluster);
  if (!topology) {
    return tl::unexpected(topology.error());
  }
  return take_in(all_dialects(), documents, *topology, cluster, quota, nullptr, Detail::kSigns);
}

Result<Reading> take_in(std::span<const std::unique_ptr<Dialect>> dialects,
                        const std::vector<json::Document>& documents, std::optional<TopologyId> levels,
                        Cluster& cluster, Quota& quota, std::vector<Error>* faults, Detail detail) {
  Intake intake{.cluster = cluster, .quota = quota, .levels = levels};
  Sorter sorter(dialects, intake);
  // Whoever asks for the faults goes on without what is at fault.
  const auto pass = [&](Result<> done) -> Result<> {
    if (!done && faults != nullptr) {
      faults->push_back(std::move(done.error()));
      return {};
    }
    return done;
  };
  const auto take = [&](const Object& object) { return pass(sorter.take(object)); };
  if (auto taken = for_each_object(documents, take); !taken) {
    return tl::unexpected(taken.error());
  }
  sorter.finish();
  for (const auto& dialect : dialects) {
    if (auto connected = pass(dialect->connect(intake)); !connected) {
      return tl::unexpected(connected.error());
    }
  }
  if (auto settled = settle_claims(dialects, intake); !settled) {
    return tl::unexpected(settled.error());
  }
  take_running(dialects, intake);
  if (detail == Detail::kSigns) {
    take_signs(dialects, intake);
  }
  for (const auto& dialect : dialects) {
    if (auto submitted = dialect->submit(intake); !submitted) {
      return tl::unexpected(submitted.error());
    }
  }
  // On a cluster that is there, what is missing may come.
  for (Submission& submission : intake.reading.queue) {
    if (faults != nullptr && submission.rejection) {
      submission.rejection->wait_to_be_mended();
    }
  }
  if (intake.core.nodes == 0 && !intake.reading.queue.empty()) {
    intake.reading.notes.emplace_back("no Node is in the input, so nothing has a place to go");
  }
  return std::move(intake.reading);
}

}  // namespace gantree
