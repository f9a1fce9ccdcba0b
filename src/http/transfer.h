// One request under way: an easy handle of libcurl, its callbacks, and what its end means.
//
// Thread rule: the client's thread only.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "http/client.h"
#include "http/transport.h"

struct curl_slist;

namespace gantree::http {

using CurlHandle = void;  // curl.h has it so; that header stays out of ours

class Transfer {
 public:
  // Takes over the handle's settings, not the handle. The endpoint must outlive the transfer.
  Transfer(TaskId id, const Endpoint& endpoint, Request request, Done done);
  Transfer(TaskId id, const Endpoint& endpoint, Request request, StreamHandlers handlers);
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  // Sets the handle up, which is then not moved or reused until the transfer is destroyed. False: libcurl refused a
  // setting; nothing was sent.
  [[nodiscard]] bool prepare(CurlHandle* handle, Credential credential);
  [[nodiscard]] CurlHandle* handle() const { return handle_; }
  [[nodiscard]] TaskId id() const { return id_; }

  // Tells the caller the end. `code` is a CURLcode.
  void finish(int code);
  void fail(Outcome::Kind kind, std::string_view why);
  // From now on no callback is called.
  void silence() { silent_ = true; }

  [[nodiscard]] bool is_stream() const { return is_stream_; }
  // Streams: the instant at which it counts as dead, unless something comes before; the latest possible if never.
  [[nodiscard]] Clock::time_point deadline() const;
  // When to ask for it again: it moves, and comes nearer when the headers are there.
  [[nodiscard]] Clock::time_point next_look() const;
  void expire();

 private:
  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self);
  bool header_line(std::string_view line);
  bool body_bytes(std::string_view bytes);
  void set_tls();
  void set_method();
  bool set_headers();
  template <class Option, class Value>
  void set(Option option, Value value);
  void report(Outcome outcome);
  [[nodiscard]] std::string sentence(std::string_view why) const;

  TaskId id_;
  const Endpoint& endpoint_;
  Request request_;
  bool is_stream_;
  Done done_;
  StreamHandlers handlers_;
  Credential credential_;
  CurlHandle* handle_ = nullptr;
  curl_slist* header_list_ = nullptr;
  curl_slist* connect_to_ = nullptr;
  bool settings_ok_ = true;
  bool silent_ = false;
  bool too_large_ = false;
  bool headers_complete_ = false;
  Clock::time_point started_;
  Clock::time_point last_byte_;
  Outcome reply_;
  std::string error_text_;
};

}  // namespace gantree::http
