// Addresses, networks and URLs, by their text: nobody is asked anything.
#include <arpa/inet.h>

#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <string>

#include "apiserver/cel_functions.h"
#include "apiserver/cel_special.h"

namespace gantree::apiserver {

namespace {

struct Address {
  int family = AF_INET;
  std::array<unsigned char, 16> bytes = {};

  [[nodiscard]] std::size_t size() const { return family == AF_INET ? 4 : 16; }
};

std::optional<Address> read_address(std::string_view text) {
  Address address;
  const std::string copy(text.substr(0, 64));
  for (const int family : {AF_INET, AF_INET6}) {
    address.family = family;
    if (inet_pton(family, copy.c_str(), address.bytes.data()) == 1) {
      // An IPv4 address in the clothes of an IPv6 one is not let in.
      return copy.find("::ffff:") == 0 && copy.find('.') != std::string::npos ? std::nullopt : std::optional(address);
    }
  }
  return std::nullopt;
}

std::string write_address(const Address& address) {
  std::array<char, INET6_ADDRSTRLEN> text = {};
  inet_ntop(address.family, address.bytes.data(), text.data(), text.size());
  return text.data();
}

struct Network {
  Address address;
  std::size_t bits = 0;
};

std::optional<Network> read_network(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto address = slash == std::string_view::npos ? std::nullopt : read_address(text.substr(0, slash));
  if (!address) {
    return std::nullopt;
  }
  Network network{*address, 0};
  const auto read = std::from_chars(text.data() + slash + 1, text.data() + text.size(), network.bits);
  const bool whole = read.ec == std::errc{} && read.ptr == text.data() + text.size();
  return whole && network.bits <= address->size() * 8 ? std::optional(network) : std::nullopt;
}

Address masked(const Network& network) {
  Address address = network.address;
  for (std::size_t bit = network.bits; bit < address.size() * 8; ++bit) {
    address.bytes[bit / 8] &= static_cast<unsigned char>(~(0x80U >> (bit % 8)));
  }
  return address;
}

bool holds(const Network& network, const Address& address) {
  return address.family == network.address.family && masked({address, network.bits}).bytes == masked(network).bytes;
}

// An argument may be text or what was read from it.
std::optional<Address> address_of(const Value& value) {
  const Value* content = special_of(value, Special::kAddress);
  return read_address(text_of(content == nullptr ? value : *content));
}
std::optional<Network> network_of(const Value& value) {
  const Value* content = special_of(value, Special::kNetwork);
  return read_network(text_of(content == nullptr ? value : *content));
}

Result<Value> is_ip(CelArguments arguments, CelCost&) {
  return Value(arguments[0]->is_string() && address_of(*arguments[0]).has_value());
}
Result<Value> is_cidr(CelArguments arguments, CelCost&) {
  return Value(arguments[0]->is_string() && network_of(*arguments[0]).has_value());
}
Result<Value> is_canonical(CelArguments arguments, CelCost&) {
  const auto address = address_of(*arguments[0]);
  return address ? Result<Value>(Value(write_address(*address) == text_of(*arguments[0])))
                 : Result<Value>(invalid("IP Address parse error during conversion from string"));
}

Result<Value> ip(CelArguments arguments, CelCost&) {
  if (const auto network = network_of(*arguments[0])) {
    return special(Special::kAddress, Value(write_address(network->address)));
  }
  const auto address = address_of(*arguments[0]);
  return address ? Result<Value>(special(Special::kAddress, Value(write_address(*address))))
                 : Result<Value>(invalid("IP Address parse error during conversion from string"));
}

Result<Value> cidr(CelArguments arguments, CelCost&) {
  return network_of(*arguments[0])
             ? Result<Value>(special(Special::kNetwork, Value(text_of(*arguments[0]))))
             : Result<Value>(invalid("network address parse error during conversion from string"));
}

template <class Test>
Result<Value> address_is(CelArguments arguments, Test test) {
  const auto address =
      special_of(*arguments[0], Special::kAddress) == nullptr ? std::nullopt : address_of(*arguments[0]);
  return address ? Result<Value>(Value(test(*address))) : Result<Value>(no_overload());
}

bool is_any_of(const Address& address, std::initializer_list<std::string_view> networks) {
  for (const std::string_view text : networks) {
    if (holds(*read_network(text), address)) {
      return true;
    }
  }
  return false;
}

Result<Value> family(CelArguments arguments, CelCost&) {
  return address_is(arguments, [](const Address& address) { return std::int64_t{address.family == AF_INET ? 4 : 6}; });
}
Result<Value> is_unspecified(CelArguments arguments, CelCost&) {
  return address_is(arguments, [](const Address& one) { return is_any_of(one, {"0.0.0.0/32", "::/128"}); });
}
Result<Value> is_loopback(CelArguments arguments, CelCost&) {
  return address_is(arguments, [](const Address& one) { return is_any_of(one, {"127.0.0.0/8", "::1/128"}); });
}
Result<Value> is_link_local_unicast(CelArguments arguments, CelCost&) {
  return address_is(arguments, [](const Address& one) { return is_any_of(one, {"169.254.0.0/16", "fe80::/10"}); });
}
Result<Value> is_link_local_multicast(CelArguments arguments, CelCost&) {
  return address_is(arguments, [](const Address& one) { return is_any_of(one, {"224.0.0.0/24", "ff02::/16"}); });
}
Result<Value> is_global_unicast(CelArguments arguments, CelCost&) {
  return address_is(arguments, [](const Address& one) {
    return !is_any_of(one, {"0.0.0.0/32", "::/128", "127.0.0.0/8", "::1/128", "169.254.0.0/16", "fe80::/10",
                            "224.0.0.0/4", "ff00::/8", "255.255.255.255/32"});
  });
}

Result<Value> contains_ip(CelArguments arguments, CelCost&) {
  const auto network = network_of(*arguments[0]);
  const auto address = address_of(*arguments[1]);
  return network && address ? Result<Value>(Value(holds(*network, *address))) : Result<Value>(no_overload());
}
Result<Value> contains_cidr(CelArguments arguments, CelCost&) {
  const auto network = network_of(*arguments[0]);
  const auto other = network_of(*arguments[1]);
  return network && other ? Result<Value>(Value(other->bits >= network->bits && holds(*network, masked(*other))))
                          : Result<Value>(no_overload());
}
Result<Value> masked_network(CelArguments arguments, CelCost&) {
  const auto network = network_of(*arguments[0]);
  return network ? Result<Value>(special(Special::kNetwork,
                                         Value(write_address(masked(*network)) + "/" + std::to_string(network->bits))))
                 : Result<Value>(no_overload());
}
Result<Value> prefix_length(CelArguments arguments, CelCost&) {
  const auto network = network_of(*arguments[0]);
  return network ? Result<Value>(Value(static_cast<std::int64_t>(network->bits))) : Result<Value>(no_overload());
}

// Absolute, or a path from the root: nothing where it is neither.
std::optional<Object> read_url(std::string_view text) {
  Object url{{"scheme", ""}, {"host", ""}, {"path", ""}, {"query", ""}};
  text = text.substr(0, text.find('#'));
  if (const std::size_t mark = text.find('?'); mark != std::string_view::npos) {
    url["query"] = text.substr(mark + 1);
    text = text.substr(0, mark);
  }
  if (!text.starts_with('/')) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos || colon == 0 || std::isalpha(static_cast<unsigned char>(text[0])) == 0) {
      return std::nullopt;
    }
    url["scheme"] = text.substr(0, colon);
    text.remove_prefix(colon + 1);
  }
  if (text.starts_with("//")) {
    text.remove_prefix(2);
    std::string_view host = text.substr(0, text.find('/'));
    text.remove_prefix(host.size());
    if (const std::size_t user = host.rfind('@'); user != std::string_view::npos) {
      host.remove_prefix(user + 1);
    }
    url["host"] = host;
  }
  url["path"] = text;
  return text_of(url["path"]).find(' ') == std::string_view::npos ? std::optional(url) : std::nullopt;
}

Result<Value> is_url(CelArguments arguments, CelCost&) {
  return Value(arguments[0]->is_string() && read_url(text_of(*arguments[0])).has_value());
}
Result<Value> url(CelArguments arguments, CelCost&) {
  auto read = read_url(text_of(*arguments[0]));
  return read ? Result<Value>(special(Special::kUrl, std::move(*read)))
              : Result<Value>(invalid("URL parse error during conversion from string"));
}

Result<Value> part_of_url(CelArguments arguments, std::string_view part) {
  const Value* content = special_of(*arguments[0], Special::kUrl);
  return content == nullptr ? Result<Value>(no_overload()) : Value(text_at(*content, {part}));
}

// The host, and behind the last colon outside of brackets the port.
std::pair<std::string_view, std::string_view> parts_of_host(std::string_view host) {
  const std::size_t colon = host.rfind(':');
  const bool port = colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos;
  const std::string_view name = port ? host.substr(0, colon) : host;
  const bool bracketed = name.starts_with('[') && name.ends_with(']');
  return {bracketed ? name.substr(1, name.size() - 2) : name, port ? host.substr(colon + 1) : std::string_view()};
}

Result<Value> scheme(CelArguments arguments, CelCost&) {
  return part_of_url(arguments, "scheme");
}
Result<Value> host(CelArguments arguments, CelCost&) {
  return part_of_url(arguments, "host");
}
Result<Value> hostname(CelArguments arguments, CelCost&) {
  const auto whole = part_of_url(arguments, "host");
  return whole ? Result<Value>(Value(parts_of_host(text_of(*whole)).first)) : whole;
}
Result<Value> port(CelArguments arguments, CelCost&) {
  const auto whole = part_of_url(arguments, "host");
  return whole ? Result<Value>(Value(parts_of_host(text_of(*whole)).second)) : whole;
}
Result<Value> escaped_path(CelArguments arguments, CelCost&) {
  return part_of_url(arguments, "path");
}

constexpr auto kNetworkFunctions = std::to_array<CelFunction>({
    {"isIP", 1, is_ip},
    {"isCIDR", 1, is_cidr},
    {"ip.isCanonical", 1, is_canonical},
    {"ip", 1, ip},
    {"cidr", 1, cidr},
    {"family", 1, family},
    {"isUnspecified", 1, is_unspecified},
    {"isLoopback", 1, is_loopback},
    {"isLinkLocalUnicast", 1, is_link_local_unicast},
    {"isLinkLocalMulticast", 1, is_link_local_multicast},
    {"isGlobalUnicast", 1, is_global_unicast},
    {"containsIP", 2, contains_ip},
    {"containsCIDR", 2, contains_cidr},
    {"masked", 1, masked_network},
    {"prefixLength", 1, prefix_length},
    {"isURL", 1, is_url},
    {"url", 1, url},
    {"getScheme", 1, scheme},
    {"getHost", 1, host},
    {"getHostname", 1, hostname},
    {"getPort", 1, port},
    {"getEscapedPath", 1, escaped_path},
});

}  // namespace

std::span<const CelFunction> cel_network_functions() {
  return kNetworkFunctions;
}

}  // namespace gantree::apiserver
