// Calls out to webhooks: where they are, how they are trusted, and what came back. Api thread only, but for the threads
// of the HTTP clients inside.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/hook.h"
#include "apiserver/json.h"
#include "apiserver/task.h"
#include "base/error.h"

namespace gantree::http {
class Client;
}

namespace gantree::apiserver {

class Core;

using Hooks = std::vector<std::shared_ptr<const Hook>>;

class WebhookCaller {
 public:
  explicit WebhookCaller(Core& core);
  ~WebhookCaller();
  WebhookCaller(const WebhookCaller&) = delete;
  WebhookCaller& operator=(const WebhookCaller&) = delete;

  // Posts the body to where the clientConfig leads; the JSON that is answered with status 200.
  [[nodiscard]] Task<Result<Value>> call(Object client, std::string body, std::chrono::milliseconds timeout);

  // By name of configuration, then as written.
  [[nodiscard]] const Hooks& mutating();
  [[nodiscard]] const Hooks& validating();
  void changed(std::string_view table);
  // Lets go of connections that nobody has used for some minutes.
  void drop_idle(std::chrono::steady_clock::time_point now);
  // Gives up the calls under way: nobody is called back after this.
  void close();

 private:
  struct Target {
    std::string base;
    std::string path;
    std::string server_name;
    std::string authority;
  };
  [[nodiscard]] Result<Target> target_of(const Object& client) const;
  // One whom webhooks are asked of.
  struct Peer {
    std::unique_ptr<http::Client> client;
    std::size_t under_way = 0;
    std::chrono::steady_clock::time_point used;
  };
  [[nodiscard]] Peer& peer_for(const Target& target);

  Core& core_;
  std::optional<Hooks> mutating_;
  std::optional<Hooks> validating_;
  std::map<std::string, Peer> peers_;  // by base, name and authority
};

}  // namespace gantree::apiserver
