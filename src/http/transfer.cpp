#include "http/transfer.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "http/outcome.h"

namespace gantree::http {
namespace {

constexpr long kConnectTimeoutMs = 10'000;
// A peer that is gone is noticed after about half a minute, also where nothing is to be sent.
constexpr long kKeepaliveIdleSeconds = 15;
constexpr long kKeepaliveIntervalSeconds = 5;
constexpr unsigned kUnacknowledgedMs = 30'000;
constexpr std::size_t kMaxHeaders = 200;

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return result;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

// Scheme, host and port of a URL; what follows is left out.
struct Authority {
  std::string scheme;
  std::string host;  // IPv6 in brackets
  std::string port;
};

Authority authority_of(const std::string& url) {
  Authority authority;
  const std::size_t scheme_end = url.find("://");
  std::string_view rest = url;
  if (scheme_end != std::string::npos) {
    authority.scheme = url.substr(0, scheme_end);
    rest.remove_prefix(scheme_end + 3);
  }
  rest = rest.substr(0, rest.find('/'));
  const std::size_t bracket = rest.rfind(']');
  const std::size_t colon = rest.find(':', bracket == std::string_view::npos ? 0 : bracket);
  authority.host = rest.substr(0, colon);
  authority.port = colon == std::string_view::npos ? (authority.scheme == "http" ? "80" : "443")
                                                   : std::string(rest.substr(colon + 1));
  return authority;
}

// A string that lives as long as the transfer, as libcurl wants it.
curl_blob blob_of(const std::string& text) {
  return {.data = const_cast<char*>(text.data()), .len = text.size(), .flags = CURL_BLOB_NOCOPY};  // read only
}

}  // namespace

Transfer::Transfer(TaskId id, const Endpoint& endpoint, Request request, Done done)
    : id_(id), endpoint_(endpoint), request_(std::move(request)), is_stream_(false), done_(std::move(done)) {
  started_ = last_byte_ = Clock::now();
}

Transfer::Transfer(TaskId id, const Endpoint& endpoint, Request request, StreamHandlers handlers)
    : id_(id), endpoint_(endpoint), request_(std::move(request)), is_stream_(true), handlers_(std::move(handlers)) {
  started_ = last_byte_ = Clock::now();
}

Transfer::~Transfer() {
  curl_slist_free_all(header_list_);
  curl_slist_free_all(connect_to_);
}

template <class Option, class Value>
void Transfer::set(Option option, Value value) {
  settings_ok_ = curl_easy_setopt(handle_, option, value) == CURLE_OK && settings_ok_;
}

bool Transfer::prepare(CurlHandle* handle, Credential credential) {
  handle_ = handle;
  credential_ = std::move(credential);
  error_text_.assign(CURL_ERROR_SIZE, '\0');
  set(CURLOPT_ERRORBUFFER, error_text_.data());
  set(CURLOPT_PRIVATE, static_cast<void*>(this));
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_PATH_AS_IS, 1L);
  set(CURLOPT_PROXY, endpoint_.proxy.c_str());  // "" also keeps libcurl from asking the environment
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(CURLOPT_USERAGENT, endpoint_.user_agent.c_str());
  if (endpoint_.compressed) {
    set(CURLOPT_ACCEPT_ENCODING, "gzip");
  }
  // Without TLS nobody offers HTTP/2, and waiting for the offer would make one request wait for another.
  const bool http2 = request_.http2 && endpoint_.base_url.starts_with("https://");
  set(CURLOPT_HTTP_VERSION, static_cast<long>(http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
  set(CURLOPT_PIPEWAIT, http2 ? 1L : 0L);
  set(CURLOPT_FRESH_CONNECT, request_.fresh_connection ? 1L : 0L);
  set(CURLOPT_CONNECTTIMEOUT_MS, kConnectTimeoutMs);
  if (!is_stream_) {
    set(CURLOPT_TIMEOUT_MS, static_cast<long>(std::max<Milliseconds::rep>(request_.timeout.count(), 1)));
  }
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_TCP_KEEPIDLE, kKeepaliveIdleSeconds);
  set(CURLOPT_TCP_KEEPINTVL, kKeepaliveIntervalSeconds);
  set(
      CURLOPT_SOCKOPTFUNCTION, +[](void*, curl_socket_t socket, curlsocktype) -> int {
        // Where the kernel does not know it, the keepalive's own count holds.
        static_cast<void>(
            setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &kUnacknowledgedMs, sizeof kUnacknowledgedMs));
        return CURL_SOCKOPT_OK;
      });
  set(CURLOPT_HEADERFUNCTION, &Transfer::on_header);
  set(CURLOPT_HEADERDATA, static_cast<void*>(this));
  set(CURLOPT_WRITEFUNCTION, &Transfer::on_body);
  set(CURLOPT_WRITEDATA, static_cast<void*>(this));
  set_tls();
  set_method();
  return set_headers() && settings_ok_;
}

void Transfer::set_tls() {
  set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  set(CURLOPT_SSL_VERIFYPEER, endpoint_.insecure ? 0L : 1L);
  set(CURLOPT_SSL_VERIFYHOST, endpoint_.insecure ? 0L : 2L);
  if (!endpoint_.ca_pem.empty()) {
    const curl_blob blob = blob_of(endpoint_.ca_pem);
    set(CURLOPT_CAINFO_BLOB, &blob);
  }
  if (!credential_.certificate_pem.empty()) {
    const curl_blob certificate = blob_of(credential_.certificate_pem);
    const curl_blob key = blob_of(credential_.key_pem);
    set(CURLOPT_SSLCERTTYPE, "PEM");
    set(CURLOPT_SSLCERT_BLOB, &certificate);
    set(CURLOPT_SSLKEYTYPE, "PEM");
    set(CURLOPT_SSLKEY_BLOB, &key);
  }
}

void Transfer::set_method() {
  std::string url = endpoint_.base_url + request_.target;
  if (!endpoint_.server_name.empty()) {
    // libcurl takes the name for SNI and for verifying from the URL: so put it there, and say where to connect.
    const Authority authority = authority_of(endpoint_.base_url);
    const std::size_t path = endpoint_.base_url.find('/', endpoint_.base_url.find("://") + 3);
    url = fmt::format("{}://{}:{}{}{}", authority.scheme, endpoint_.server_name, authority.port,
                      path == std::string::npos ? "" : endpoint_.base_url.substr(path), request_.target);
    connect_to_ = curl_slist_append(
        nullptr,
        fmt::format("{}:{}:{}:{}", endpoint_.server_name, authority.port, authority.host, authority.port).c_str());
    set(CURLOPT_CONNECT_TO, connect_to_);
  }
  set(CURLOPT_URL, url.c_str());
  if (request_.method == Method::kGet && request_.body.empty()) {
    set(CURLOPT_HTTPGET, 1L);
    return;
  }
  set(CURLOPT_POST, 1L);
  set(CURLOPT_CUSTOMREQUEST, to_string(request_.method).data());  // literals end with a NUL
  set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
  set(CURLOPT_POSTFIELDS, request_.body.c_str());
}

bool Transfer::set_headers() {
  std::vector<std::string> lines = {"Expect:"};  // no question before a body
  for (const Headers* headers : {&endpoint_.headers, &std::as_const(request_.headers)}) {
    for (const Header& header : *headers) {
      lines.push_back(header.name + ": " + header.value);
    }
  }
  if (!credential_.authorization.empty()) {
    lines.push_back("Authorization: " + credential_.authorization);
  }
  if (!endpoint_.server_name.empty()) {
    const Authority authority = authority_of(endpoint_.base_url);
    lines.push_back("Host: " + authority.host + ":" + authority.port);
  }
  for (const std::string& line : lines) {
    // A line break would be a header of somebody else's making.
    if (line.find_first_of("\r\n") != std::string::npos) {
      return false;
    }
    curl_slist* longer = curl_slist_append(header_list_, line.c_str());
    if (longer == nullptr) {
      return false;
    }
    header_list_ = longer;
  }
  set(CURLOPT_HTTPHEADER, header_list_);
  return true;
}

std::size_t Transfer::on_header(char* data, std::size_t size, std::size_t count, void* self) {
  return static_cast<Transfer*>(self)->header_line({data, size * count}) ? size * count : 0;
}

std::size_t Transfer::on_body(char* data, std::size_t size, std::size_t count, void* self) {
  const bool taken = static_cast<Transfer*>(self)->body_bytes({data, size * count});
  return taken ? size * count : CURL_WRITEFUNC_ERROR;
}

bool Transfer::header_line(std::string_view line) {
  last_byte_ = Clock::now();
  if (silent_) {
    return false;
  }
  if (headers_complete_) {
    return true;  // trailers
  }
  if (line.starts_with("HTTP/")) {
    reply_.headers.clear();  // a reply before the reply, such as 100
    return true;
  }
  if (const std::string_view content = trimmed(line); !content.empty()) {
    const std::size_t colon = content.find(':');
    if (colon != std::string_view::npos && reply_.headers.size() < kMaxHeaders) {
      reply_.headers.push_back({lower(content.substr(0, colon)), std::string(trimmed(content.substr(colon + 1)))});
    }
    return true;
  }
  long status = 0;
  curl_easy_getinfo(handle_, CURLINFO_RESPONSE_CODE, &status);
  if (status < 200) {
    return true;
  }
  headers_complete_ = true;
  reply_.status = static_cast<int>(status);
  if (is_stream_ && handlers_.on_headers) {
    handlers_.on_headers(reply_.status, reply_.headers);
  }
  return true;
}

bool Transfer::body_bytes(std::string_view bytes) {
  last_byte_ = Clock::now();
  if (silent_) {
    return false;
  }
  if (is_stream_) {
    if (handlers_.on_bytes) {
      handlers_.on_bytes(bytes);
    }
    return !silent_;
  }
  if (reply_.body.size() + bytes.size() > request_.max_body) {
    too_large_ = true;
    return false;
  }
  reply_.body.append(bytes);
  return true;
}

std::string Transfer::sentence(std::string_view why) const {
  const std::string_view path = std::string_view(request_.target).substr(0, request_.target.find('?'));
  return fmt::format("{} {}{}: {}", to_string(request_.method), endpoint_.base_url, path, why);
}

void Transfer::finish(int code) {
  if (code == CURLE_OK && headers_complete_) {
    reply_.kind = Outcome::Kind::kReply;
    report(std::move(reply_));
    return;
  }
  if (too_large_) {
    fail(Outcome::Kind::kUnknown, fmt::format("the reply is longer than {} bytes", request_.max_body));
    return;
  }
  curl_off_t before_transfer = 0;
  curl_easy_getinfo(handle_, CURLINFO_PRETRANSFER_TIME_T, &before_transfer);
  const char* text = error_text_.data();
  fail(outcome_of(code, before_transfer > 0 || headers_complete_),
       *text != '\0' ? text : curl_easy_strerror(static_cast<CURLcode>(code)));
}

void Transfer::fail(Outcome::Kind kind, std::string_view why) {
  reply_.kind = kind;
  reply_.error = sentence(why);
  report(std::move(reply_));
}

void Transfer::report(Outcome outcome) {
  if (std::exchange(silent_, true)) {
    return;
  }
  if (is_stream_) {
    if (handlers_.on_end) {
      handlers_.on_end(outcome);
    }
  } else if (done_) {
    done_(std::move(outcome));
  }
}

Clock::time_point Transfer::deadline() const {
  if (!headers_complete_) {
    return started_ + request_.timeout;
  }
  return request_.idle_timeout.count() > 0 ? last_byte_ + request_.idle_timeout : Clock::time_point::max();
}

Clock::time_point Transfer::next_look() const {
  const Clock::time_point end = deadline();
  return headers_complete_ || request_.idle_timeout.count() == 0 ? end
                                                                 : std::min(end, Clock::now() + request_.idle_timeout);
}

void Transfer::expire() {
  const Milliseconds waited = headers_complete_ ? request_.idle_timeout : request_.timeout;
  fail(Outcome::Kind::kUnknown,
       fmt::format("{} for {} ms", headers_complete_ ? "no byte came" : "no answer came", waited.count()));
}

}  // namespace gantree::http
