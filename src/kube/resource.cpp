#include "kube/resource.h"

namespace gantree::kube {

std::string escape(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '.' || c == '_' || c == '~';
    if (plain) {
      result += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      result += '%';
      result += kHex[byte >> 4U];
      result += kHex[byte & 15U];
    }
  }
  return result;
}

std::string Resource::path(std::string_view name_space, std::string_view name, std::string_view subresource) const {
  std::string path = group.empty() ? "/api/" + version : "/apis/" + group + "/" + version;
  if (namespaced && !name_space.empty()) {
    path += "/namespaces/" + escape(name_space);
  }
  path += "/" + plural;
  if (!name.empty()) {
    path += "/" + escape(name);
  }
  if (!subresource.empty()) {
    path += "/" + escape(subresource);
  }
  return path;
}

std::string to_string(const Resource& resource) {
  return resource.group.empty() ? resource.plural + "/" + resource.version
                                : resource.plural + "." + resource.group + "/" + resource.version;
}

const Resource& pods() {
  static const Resource kPods{.group = "", .version = "v1", .plural = "pods", .kind = "Pod", .namespaced = true};
  return kPods;
}

const Resource& nodes() {
  static const Resource kNodes{.group = "", .version = "v1", .plural = "nodes", .kind = "Node", .namespaced = false};
  return kNodes;
}

const Resource& leases() {
  static const Resource kLeases{
      .group = "coordination.k8s.io", .version = "v1", .plural = "leases", .kind = "Lease", .namespaced = true};
  return kLeases;
}

const Resource& events() {
  static const Resource kEvents{
      .group = "events.k8s.io", .version = "v1", .plural = "events", .kind = "Event", .namespaced = true};
  return kEvents;
}

}  // namespace gantree::kube
