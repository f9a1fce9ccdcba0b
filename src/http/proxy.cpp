#include "http/proxy.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/whole_number.h"

namespace gantree::http {
namespace {

// Network order, as 16 bytes; IPv4 in its mapped form.
using Address = std::array<std::uint8_t, 16>;

std::optional<Address> parse_address(const std::string& text) {
  Address address{};
  if (inet_pton(AF_INET6, text.c_str(), address.data()) == 1) {
    return address;
  }
  address = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0};
  return inet_pton(AF_INET, text.c_str(), address.data() + 12) == 1 ? std::optional(address) : std::nullopt;
}

bool same_network(const Address& a, const Address& b, unsigned bits) {
  for (unsigned bit = 0; bit < bits; ++bit) {
    const unsigned mask = 0x80U >> (bit % 8);
    if ((a[bit / 8] & mask) != (b[bit / 8] & mask)) {
      return false;
    }
  }
  return true;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return result;
}

struct Host {
  std::string name;  // in lower case, without brackets
  std::string port;
  bool https = true;
};

// "host", "host:port", "[address]:port", or a bare IPv6 address.
void split_port(std::string_view text, Host& host) {
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    host.name = lower(text.substr(1, end == std::string_view::npos ? end : end - 1));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    host.port = text.starts_with(':') ? text.substr(1) : std::string_view();
    return;
  }
  const bool one_colon = std::ranges::count(text, ':') == 1;
  const std::size_t colon = one_colon ? text.find(':') : text.size();
  host.name = lower(text.substr(0, colon));
  host.port = one_colon ? text.substr(colon + 1) : std::string_view();
}

Host host_of(std::string_view url) {
  Host host;
  host.https = !url.starts_with("http://");
  if (const std::size_t scheme = url.find("://"); scheme != std::string_view::npos) {
    url.remove_prefix(scheme + 3);
  }
  url = url.substr(0, url.find_first_of("/?#"));
  if (const std::size_t user = url.rfind('@'); user != std::string_view::npos) {
    url.remove_prefix(user + 1);
  }
  split_port(url, host);
  if (host.port.empty()) {
    host.port = host.https ? "443" : "80";
  }
  return host;
}

bool is_this_machine(const Host& host) {
  const std::optional<Address> address = parse_address(host.name);
  if (!address.has_value()) {
    return host.name == "localhost";
  }
  return *address == Address{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1} ||
         same_network(*address, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 0}, 104);
}

bool in_network(const Host& host, std::string_view entry, std::size_t slash) {
  const std::string base(entry.substr(0, slash));
  const std::optional<Address> network = parse_address(base);
  const std::optional<Address> address = parse_address(host.name);
  const std::optional<unsigned> length = whole_number<unsigned>(entry.substr(slash + 1));
  if (!network.has_value() || !address.has_value() || !length.has_value()) {
    return false;
  }
  const unsigned bits = base.find(':') == std::string::npos ? *length + 96 : *length;
  return bits <= 128 && same_network(*network, *address, bits);
}

bool entry_names(std::string_view entry, const Host& host) {
  if (entry == "*") {
    return true;
  }
  if (const std::size_t slash = entry.find('/'); slash != std::string_view::npos) {
    return in_network(host, entry, slash);
  }
  Host named;
  split_port(entry, named);
  if (!named.port.empty() && named.port != host.port) {
    return false;
  }
  if (const std::optional<Address> address = parse_address(named.name)) {
    return address == parse_address(host.name);
  }
  std::string_view domain = named.name;
  if (domain.starts_with("*.")) {
    domain.remove_prefix(1);
  }
  if (domain.starts_with('.')) {
    return host.name.ends_with(domain);
  }
  return !domain.empty() && (host.name == domain || host.name.ends_with("." + std::string(domain)));
}

bool exempt(std::string_view list, const Host& host) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    std::string_view entry = list.substr(0, comma);
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
    const std::size_t begin = entry.find_first_not_of(" \t");
    if (begin == std::string_view::npos) {
      continue;
    }
    entry = entry.substr(begin, entry.find_last_not_of(" \t") - begin + 1);
    if (entry_names(entry, host)) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string proxy_for(std::string_view url,
                      const std::function<std::optional<std::string>(std::string_view)>& variable) {
  const auto either = [&variable](std::string_view upper) {
    const std::optional<std::string> value = variable(upper);
    return value.has_value() && !value->empty() ? *value : variable(lower(upper)).value_or("");
  };
  const Host host = host_of(url);
  const std::string proxy = either(host.https ? "HTTPS_PROXY" : "HTTP_PROXY");
  if (proxy.empty() || is_this_machine(host) || exempt(either("NO_PROXY"), host)) {
    return {};
  }
  return proxy.find("://") == std::string::npos ? "http://" + proxy : proxy;
}

}  // namespace gantree::http
