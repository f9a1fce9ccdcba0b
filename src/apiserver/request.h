// A call, read: what it is about and what it asks for. Pure values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/api.h"
#include "apiserver/kind.h"
#include "apiserver/status.h"

namespace gantree::apiserver {

// "a=b&c=d", decoded.
class Query {
 public:
  explicit Query(std::string_view text);
  // The first value of that name; "" where there is none.
  [[nodiscard]] std::string_view get(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const;
  [[nodiscard]] bool flag(std::string_view name) const;  // "true" or "1", or the name alone
  [[nodiscard]] std::optional<std::int64_t> number(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
};

// %41 and, in queries, + as a blank. What is no such code stays.
[[nodiscard]] std::string percent_decoded(std::string_view text, bool plus_is_blank);

struct Request {
  Call call;
  Query query;
  KindPtr kind;  // null where the path leads to no resource
  std::string ns;
  std::string name;
  std::string subresource;
  std::vector<std::string> warnings = {};  // told with the answer

  [[nodiscard]] GroupResource what() const { return kind->what(); }
  [[nodiscard]] bool dry_run() const { return query.get("dryRun") == "All"; }
  [[nodiscard]] bool is_watch() const { return query.flag("watch"); }
};

// The segments of a path, decoded.
[[nodiscard]] std::vector<std::string> segments_of(std::string_view path);

struct Key;
// Where an object is served.
[[nodiscard]] std::string path_of(const Kind& kind, const Key& key);

// Fails where the path is one of resources, but of none that is served.
[[nodiscard]] Outcome<Request> read_request(const Registry& registry, Call call);

// Whether a comma-separated header (Accept) has a media type with these parameters, in any order.
struct MediaType {
  std::string type;  // lower case
  std::vector<std::pair<std::string, std::string>> parameters;
  [[nodiscard]] std::string_view parameter(std::string_view name) const;
};
[[nodiscard]] std::vector<MediaType> media_types(std::string_view header);

[[nodiscard]] Answer json_answer(int status, const Value& body);
[[nodiscard]] Answer json_answer(int status, const Object& body);
[[nodiscard]] Answer bytes_answer(int status, Bytes body);
[[nodiscard]] Answer refuse(const Failure& failure);
[[nodiscard]] Answer text_answer(int status, std::string text);

}  // namespace gantree::apiserver
