// Calls to the API server, each answered by a callback: with retries (retry.h), a limit on calls in flight, counters.
//
// Writes carry preconditions, so that an unknown outcome may be retried: bind and evict the pod's uid, delete what the
// caller gives; for update and patch the caller puts metadata.resourceVersion or metadata.uid into the body; objects
// to create have a name of their own (not generateName).
//
// Thread rule: any thread may call; `done` runs on the transport's thread and must be short. Calls wait in line when
// too many are in flight, and are sent in the order given; those of leases do not wait, and are tried once. After the
// destructor returns no callback runs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "http/transport.h"
#include "kube/counters.h"
#include "kube/credentials.h"
#include "kube/reply.h"
#include "kube/resource.h"
#include "kube/retry.h"

namespace gantree::kube {

struct ObjectKey {
  std::string name_space;  // empty for what is cluster-wide
  std::string name;
};

enum class PatchType : std::uint8_t { kMerge, kJson, kStrategicMerge, kApply };

struct ApplyOptions {
  std::string field_manager = "gantree";
  bool force = true;
};

struct Preconditions {
  std::string uid;               // empty: any
  std::string resource_version;  // empty: any
};

struct DeleteOptions {
  Preconditions preconditions;
  std::int64_t grace_seconds = -1;  // below 0: as the object says
  std::string propagation;          // "Background", "Foreground", "Orphan"; empty: the default
  bool dry_run = false;             // the answer is that of a real one, but nothing is kept
};

struct ListOptions {
  std::string label_selector;
  std::string field_selector;
  std::int64_t limit = 500;
  std::string continue_token;
};

struct ClientOptions {
  int max_in_flight = 100;    // of which each write is a connection where it goes by HTTP/1.1
  double max_per_second = 0;  // 0: no limit but the server's own priority and fairness
  int burst = 100;
  http::Milliseconds timeout{30'000};  // of one attempt
  http::Milliseconds lease_timeout{2'000};
  bool http2_for_writes = false;
  RetryPolicy retry;
  std::function<double()> random;  // in [0, 1); absent: a generator of its own
};

class CallQueue;

class Client {
 public:
  using Done = std::function<void(Reply)>;

  // `transport` must outlive the client. `credentials` may be null.
  Client(http::Transport& transport, std::shared_ptr<Credentials> credentials, ClientOptions options = {});
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void get(const Resource& resource, const ObjectKey& key, Done done);
  // Discovery, /readyz, /version. With an etag, 304 is the answer where nothing changed since.
  void get_path(std::string target, std::string accept, Done done, std::string etag = {});
  void list_page(const Resource& resource, std::string_view name_space, const ListOptions& options, Done done);
  void create(const Resource& resource, std::string_view name_space, std::string body, Done done);
  void update(const Resource& resource, const ObjectKey& key, std::string body, Done done);
  void update_status(const Resource& resource, const ObjectKey& key, std::string body, Done done);
  // `apply` is used with kApply only.
  void patch(const Resource& resource, const ObjectKey& key, PatchType type, std::string body, Done done,
             const ApplyOptions& apply = {});
  void patch_status(const Resource& resource, const ObjectKey& key, PatchType type, std::string body, Done done,
                    const ApplyOptions& apply = {});
  // Binds the pod to the node, if it still has that uid. kConflict: it is bound already (with `uncertain`, perhaps by
  // an attempt of this call), has another uid, or is being deleted.
  // `annotations`: a JSON object of those that the pod gets with it; "" for none.
  void bind(const ObjectKey& pod, std::string_view uid, std::string_view node, std::string_view annotations, Done done);
  void evict(const ObjectKey& pod, const DeleteOptions& options, Done done);
  void remove(const Resource& resource, const ObjectKey& key, const DeleteOptions& options, Done done);

  // Asked on the transport's thread before each attempt of a write, retries included, which term of leading this is; 0:
  // none. Unless it is that of set_term() when the write was asked for, the write is answered kUnavailable (kUnknown
  // after an uncertain attempt) with the reason "NotLeader": what was decided in an earlier term is not sent in a later
  // one. Writes of leases are free. Set before the first call.
  void set_fence(std::function<std::uint64_t()> term);
  // The term of the decisions whose writes come from now on; 1 until told otherwise. Any thread.
  void set_term(std::uint64_t term);
  [[nodiscard]] const Counters& counters() const;
  [[nodiscard]] Counters& counters();
  [[nodiscard]] http::Transport& transport() const;
  [[nodiscard]] const std::shared_ptr<Credentials>& credentials() const;  // may be null
  // The number of calls that are waiting or in flight.
  [[nodiscard]] std::size_t pending() const;

 private:
  void read(Verb verb, std::string target, http::Headers headers, Done done, bool urgent = false);
  void write(Verb verb, http::Method method, const Resource& resource, std::string target, std::string_view type,
             std::string body, Done done);

  std::shared_ptr<CallQueue> queue_;
};

}  // namespace gantree::kube
