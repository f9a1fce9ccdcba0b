#include "http/message.h"

#include <fmt/format.h>

#include <algorithm>

namespace gantree::http {

namespace {

bool same_name(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

std::string_view IncomingRequest::header(std::string_view name) const {
  const auto it =
      std::find_if(headers.begin(), headers.end(), [&](const auto& header) { return same_name(header.first, name); });
  return it == headers.end() ? std::string_view{} : std::string_view(it->second);
}

std::size_t Response::size() const {
  std::size_t size = body.size();
  for (const Bytes& piece : rest) {
    size += piece->size();
  }
  return size;
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 100:
      return "Continue";
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 413:
      return "Request Entity Too Large";
    case 415:
      return "Unsupported Media Type";
    case 422:
      return "Unprocessable Entity";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return status < 400 ? "OK" : "Error";
  }
}

Response plain(int status, std::string_view line) {
  return {.status = status, .body = fmt::format("{}\n", line)};
}

Response method_not_allowed(std::string_view allowed) {
  Response response = plain(405, fmt::format("only {} is allowed here", allowed));
  response.headers.emplace_back("Allow", allowed);
  return response;
}

}  // namespace gantree::http
