#include "apiserver/service_address.h"

#include <fmt/format.h>

#include <optional>

#include "apiserver/core.h"
#include "base/whole_number.h"

namespace gantree::apiserver {

namespace {

constexpr std::string_view kSlices = "endpointslices.discovery.k8s.io";

// 10.128.0.0/10, of which simulated pods have theirs.
bool is_simulated(std::string_view address) {
  if (!address.starts_with("10.")) {
    return false;
  }
  const std::string_view rest = address.substr(3);
  const auto second = whole_number<std::uint64_t>(rest.substr(0, rest.find('.')));
  return second && *second >= 128 && *second < 192;
}

std::string joined(std::string_view host, std::int64_t port) {
  return fmt::format("{}{}{}:{}", host.find(':') == std::string_view::npos ? "" : "[", host,
                     host.find(':') == std::string_view::npos ? "" : "]", port);
}

// The name of the Service's port: endpoints are distinguished by it.
std::optional<std::string> port_name(const Object& service, std::int64_t port) {
  const Array* ports = array_at(service, {"spec", "ports"});
  for (std::size_t i = 0; ports != nullptr && i < ports->size(); ++i) {
    const Value* number = find((*ports)[i], {"port"});
    if (number != nullptr && number->is_int64() && number->get_int64() == port) {
      return std::string(text_at((*ports)[i], {"name"}));
    }
  }
  return std::nullopt;
}

std::optional<std::int64_t> port_of(const Array* ports, std::string_view name) {
  for (std::size_t i = 0; ports != nullptr && i < ports->size(); ++i) {
    const Value* number = find((*ports)[i], {"port"});
    if (text_at((*ports)[i], {"name"}) == name && number != nullptr && number->is_int64()) {
      return number->get_int64();
    }
  }
  return std::nullopt;
}

bool is_ready(const Value& endpoint) {
  const Value* ready = find(endpoint, {"conditions", "ready"});
  return ready == nullptr || !ready->is_bool() || ready->get_bool();
}

std::optional<std::string> by_slices(const Core& core, const Key& service, std::string_view name) {
  const Table* table = core.store.find_table(kSlices);
  if (table == nullptr) {
    return std::nullopt;
  }
  for (auto it = table->entries.lower_bound({service.ns, ""}); it != table->entries.end() && it->first.ns == service.ns;
       ++it) {
    const std::string* of = find_pair(it->second.facts->labels, "kubernetes.io/service-name");
    const auto slice = of != nullptr && *of == service.name ? core.read(kSlices, it->first) : std::nullopt;
    const auto port = slice ? port_of(array_at(*slice, {"ports"}), name) : std::nullopt;
    const Array* endpoints = port ? array_at(*slice, {"endpoints"}) : nullptr;
    for (std::size_t i = 0; endpoints != nullptr && i < endpoints->size(); ++i) {
      const Array* addresses = array_at((*endpoints)[i], {"addresses"});
      if (addresses != nullptr && !addresses->empty() && is_ready((*endpoints)[i]) &&
          !is_simulated(text_of((*addresses)[0]))) {
        return joined(text_of((*addresses)[0]), *port);
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> by_endpoints(const Core& core, const Key& service, std::string_view name) {
  const auto object = core.read("endpoints", service);
  const Array* subsets = object ? array_at(*object, {"subsets"}) : nullptr;
  for (std::size_t i = 0; subsets != nullptr && i < subsets->size(); ++i) {
    const auto port = port_of(array_at((*subsets)[i], {"ports"}), name);
    const Array* addresses = port ? array_at((*subsets)[i], {"addresses"}) : nullptr;
    for (std::size_t k = 0; addresses != nullptr && k < addresses->size(); ++k) {
      if (const std::string_view address = text_at((*addresses)[k], {"ip"}); !is_simulated(address)) {
        return joined(address, *port);
      }
    }
  }
  return std::nullopt;
}

}  // namespace

Result<std::string> address_of_service(const Core& core, const Key& key, std::int64_t port) {
  if (const auto told = core.options.services.find(key.ns + "/" + key.name); told != core.options.services.end()) {
    return told->second;
  }
  const auto service = core.read("services", key);
  if (!service) {
    return invalid(fmt::format("service \"{}\" not found", key.name));
  }
  if (text_at(*service, {"spec", "type"}) == "ExternalName") {
    return joined(text_at(*service, {"spec", "externalName"}), port);
  }
  const auto name = port_name(*service, port);
  if (!name) {
    return invalid(fmt::format("no service port {} found for service \"{}\"", port, key.name));
  }
  if (auto found = by_slices(core, key, *name)) {
    return *found;
  }
  if (auto found = by_endpoints(core, key, *name)) {
    return *found;
  }
  return invalid(fmt::format("no endpoints available for service \"{}\" in namespace \"{}\"", key.name, key.ns));
}

}  // namespace gantree::apiserver
