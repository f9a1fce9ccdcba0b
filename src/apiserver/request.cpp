#include "apiserver/request.h"

#include <algorithm>

#include "apiserver/store.h"
#include "base/whole_number.h"

namespace gantree::apiserver {

namespace {

std::optional<int> hex(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  return c >= 'A' && c <= 'F' ? std::optional(c - 'A' + 10) : std::nullopt;
}

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == std::string_view::npos ? std::string_view()
                                         : text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::vector<std::string_view> cut(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      return parts;
    }
    text = text.substr(end + 1);
  }
}

// What follows the version in a path.
void read_place(Request& request, std::span<const std::string> parts, std::string& resource) {
  if (parts.size() > 1 && parts[0] == "namespaces") {
    const bool of_namespace =
        parts.size() == 2 || (parts.size() == 3 && (parts[2] == "status" || parts[2] == "finalize"));
    if (!of_namespace) {
      request.ns = parts[1];
      parts = parts.subspan(2);
    }
  }
  resource = parts.empty() ? std::string() : parts[0];
  request.name = parts.size() > 1 ? parts[1] : std::string();
  for (std::size_t i = 2; i < parts.size(); ++i) {
    request.subresource += (i > 2 ? "/" : "") + parts[i];
  }
}

}  // namespace

std::string percent_decoded(std::string_view text, bool plus_is_blank) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto high = text[i] == '%' && i + 2 < text.size() ? hex(text[i + 1]) : std::nullopt;
    const auto low = high ? hex(text[i + 2]) : std::nullopt;
    if (low) {
      result += static_cast<char>(*high * 16 + *low);
      i += 2;
    } else {
      result += text[i] == '+' && plus_is_blank ? ' ' : text[i];
    }
  }
  return result;
}

Query::Query(std::string_view text) {
  if (text.empty()) {
    return;
  }
  for (const std::string_view part : cut(text, '&')) {
    const std::size_t sign = part.find('=');
    pairs_.emplace_back(percent_decoded(part.substr(0, sign), true),
                        sign == std::string_view::npos ? "" : percent_decoded(part.substr(sign + 1), true));
  }
}

std::string_view Query::get(std::string_view name) const {
  const auto it = std::find_if(pairs_.begin(), pairs_.end(), [&](const auto& pair) { return pair.first == name; });
  return it == pairs_.end() ? std::string_view() : std::string_view(it->second);
}

bool Query::has(std::string_view name) const {
  return std::any_of(pairs_.begin(), pairs_.end(), [&](const auto& pair) { return pair.first == name; });
}

bool Query::flag(std::string_view name) const {
  const std::string_view value = get(name);
  return has(name) && value != "false" && value != "0";
}

std::optional<std::int64_t> Query::number(std::string_view name) const {
  return whole_number<std::int64_t>(get(name));
}

std::vector<std::string> segments_of(std::string_view path) {
  std::vector<std::string> segments;
  for (const std::string_view part : cut(path, '/')) {
    if (!part.empty()) {
      segments.push_back(percent_decoded(part, false));
    }
  }
  return segments;
}

Outcome<Request> read_request(const Registry& registry, Call call) {
  Query query(call.query);
  Request request{std::move(call), std::move(query), nullptr, {}, {}, {}};
  const std::vector<std::string> segments = segments_of(request.call.path);
  const std::size_t head = !segments.empty() && segments[0] == "api" ? 2 : 3;
  if (segments.size() <= head || (segments[0] != "api" && segments[0] != "apis")) {
    return request;
  }
  std::string resource;
  read_place(request, std::span(segments).subspan(head), resource);
  request.kind = registry.find(head == 2 ? "" : segments[1], segments[head - 1], resource);
  const bool fits = request.kind != nullptr && (request.kind->namespaced || request.ns.empty()) &&
                    !(request.kind->namespaced && request.ns.empty() && !request.name.empty()) &&
                    (request.subresource.empty() || request.kind->has(request.subresource));
  if (!fits) {
    return tl::unexpected(no_such_path());
  }
  return request;
}

std::string path_of(const Kind& kind, const Key& key) {
  std::string path = kind.group.empty() ? "/api/v1" : "/apis/" + kind.api_version();
  if (kind.namespaced) {
    path += "/namespaces/" + key.ns;
  }
  return path + "/" + kind.resource + "/" + key.name;
}

std::string_view MediaType::parameter(std::string_view name) const {
  const auto it =
      std::find_if(parameters.begin(), parameters.end(), [&](const auto& pair) { return pair.first == name; });
  return it == parameters.end() ? std::string_view() : std::string_view(it->second);
}

std::vector<MediaType> media_types(std::string_view header) {
  std::vector<MediaType> types;
  for (const std::string_view item : cut(header, ',')) {
    MediaType type;
    for (const std::string_view part : cut(item, ';')) {
      const std::string_view text = trim(part);
      if (type.type.empty()) {
        type.type = text;
        std::transform(type.type.begin(), type.type.end(), type.type.begin(),
                       [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
      } else if (const std::size_t sign = text.find('='); sign != std::string_view::npos) {
        type.parameters.emplace_back(text.substr(0, sign), text.substr(sign + 1));
      }
    }
    if (!type.type.empty()) {
      types.push_back(std::move(type));
    }
  }
  return types;
}

Answer bytes_answer(int status, Bytes body) {
  Answer answer;
  answer.status = status;
  answer.body.push_back(std::move(body));
  return answer;
}

Answer json_answer(int status, const Value& body) {
  return bytes_answer(status, std::make_shared<const std::string>(to_json(body)));
}

Answer json_answer(int status, const Object& body) {
  return bytes_answer(status, std::make_shared<const std::string>(to_json(body)));
}

Answer refuse(const Failure& failure) {
  Answer answer = json_answer(failure.code, failure.status);
  if (const Value* seconds = find(failure.status, {"details", "retryAfterSeconds"})) {
    answer.headers.emplace_back("Retry-After", to_json(*seconds));
  }
  return answer;
}

Answer text_answer(int status, std::string text) {
  Answer answer = bytes_answer(status, std::make_shared<const std::string>(std::move(text)));
  answer.content_type = "text/plain; charset=utf-8";
  return answer;
}

std::string Answer::text() const {
  std::string text;
  for (const Bytes& piece : body) {
    text += *piece;
  }
  return text;
}

}  // namespace gantree::apiserver
