// Sends requests to an embedded API server and holds every answer against what no request may break: there is an
// answer, it is no 5xx, refusals are Status objects; and what the watches have told makes up what the lists say.
//
// Requests that would have the server call somebody outside (webhooks) are passed over. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/api.h"

namespace gantree::test {

struct ApiRequest {
  std::string method = "GET";
  std::string path;
  std::string query = {};
  std::string content_type = "application/json";
  std::string accept = "application/json";
  std::string body = {};
  std::shared_ptr<const apiserver::Person> as = {};  // in whose name; null: the administrator's own
};
[[nodiscard]] std::string describe(const ApiRequest& request);
// Requests as the corpus of the fuzzers writes them, with an empty line between two. The first line of each is
// "METHOD TYPE PATH?QUERY", the rest its body; TYPE is j for JSON, p for a JSON patch, m for a merge patch, s for a
// strategic one, a for apply, b for protobuf; T or M in place of j also asks for a table or for metadata alone.
[[nodiscard]] std::vector<ApiRequest> read_requests(std::string_view text);

class ApiJudge {
 public:
  // Watches the collections, as in "/api/v1/pods". `file` as in ApiOptions.
  explicit ApiJudge(const std::vector<std::string>& collections, const std::string& file = {});
  ~ApiJudge();
  ApiJudge(const ApiJudge&) = delete;
  ApiJudge& operator=(const ApiJudge&) = delete;

  // "": all is well; else what is wrong. `answer` may be null.
  [[nodiscard]] std::string send(const ApiRequest& request, apiserver::Answer* answer = nullptr);
  // The same for several, one after the other, of which none waits for the answer to the one before.
  [[nodiscard]] std::string send_all(const std::vector<ApiRequest>& requests);
  // Whether lists and watches agree.
  [[nodiscard]] std::string compare();
  // The objects of all collections that are watched, as the lists give them: path of the collection and "ns/name" to
  // JSON.
  using Objects = std::map<std::pair<std::string, std::string>, std::string>;
  [[nodiscard]] Objects objects();
  // Every object can be put back as it is, and doing so again changes nothing.
  [[nodiscard]] std::string put_all_back();
  [[nodiscard]] std::size_t passed_over() const { return passed_over_; }

 private:
  // What a watch has told, in order.
  struct Change {
    std::uint64_t revision = 0;
    std::string key;
    apiserver::Bytes now;  // null where it went
  };
  struct Log {
    std::mutex mutex;
    std::vector<Change> changes;
  };
  struct Followed {
    std::string path;
    std::shared_ptr<Log> log = std::make_shared<Log>();
    std::size_t applied = 0;
    std::map<std::string, std::string> state;
  };
  [[nodiscard]] static std::string compare_one(Followed& followed, const apiserver::Answer& list);
  [[nodiscard]] apiserver::Answer call(const ApiRequest& request);
  // Between two answers two threads have to be woken, which takes long where others want the processor too.
  [[nodiscard]] std::vector<apiserver::Answer> call_all(const std::vector<ApiRequest>& requests);

  std::unique_ptr<apiserver::Api> api_;
  std::vector<Followed> followed_;
  std::size_t passed_over_ = 0;
};

}  // namespace gantree::test
