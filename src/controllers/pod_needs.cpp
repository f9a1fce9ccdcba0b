#include "controllers/pod_needs.h"

#include <fmt/format.h>

#include "controllers/objects.h"

namespace gantree::controllers {

namespace {

// A reference to an object, and where in the spec its name is.
struct Reference {
  std::string_view member;
  std::string_view name;
  Kind kind;
  std::string_view word;
};

constexpr Reference kVolumes[] = {{"configMap", "name", Kind::kConfigMap, "configmap"},
                                  {"secret", "secretName", Kind::kSecret, "secret"}};
constexpr Reference kSources[] = {{"configMap", "name", Kind::kConfigMap, "configmap"},
                                  {"secret", "name", Kind::kSecret, "secret"}};
constexpr Reference kVariables[] = {{"configMapKeyRef", "name", Kind::kConfigMap, "configmap"},
                                    {"secretKeyRef", "name", Kind::kSecret, "secret"}};
constexpr Reference kAllVariables[] = {{"configMapRef", "name", Kind::kConfigMap, "configmap"},
                                       {"secretRef", "name", Kind::kSecret, "secret"}};

class Needs {
 public:
  Needs(const std::string& ns, const View& view) : ns_(ns), view_(view) {}

  template <std::size_t N>
  [[nodiscard]] std::optional<std::string> missing(const Value& where, const Reference (&references)[N]) const {
    for (const Reference& reference : references) {
      const Value* part = find(where, {reference.member});
      const std::string_view name = part == nullptr ? std::string_view() : text_at(*part, {reference.name});
      if (name.empty() || flag_at(*part, {"optional"})) {
        continue;
      }
      const Item* found = view_.find(reference.kind, ns_, name);
      const std::string_view key = text_at(*part, {"key"});
      if (found == nullptr) {
        return fmt::format("{} \"{}\" not found", reference.word, name);
      }
      if (!key.empty() && !has_key(*found, key)) {
        return fmt::format("couldn't find key {} in {} {}/{}", key, facts(reference.kind).name, ns_, name);
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<Lack> of_volume(const Value& volume) const {
    std::optional<std::string> message = missing(volume, kVolumes);
    const Array* sources = array_at(volume, {"projected", "sources"});
    for (std::size_t i = 0; !message && sources != nullptr && i < sources->size(); ++i) {
      message = missing((*sources)[i], kSources);
    }
    message = message ? message : of_claim(volume);
    return message ? std::optional(Lack{std::string(text_at(volume, {"name"})), *message}) : std::nullopt;
  }

  [[nodiscard]] std::optional<std::string> of_claim(const Value& volume) const {
    const std::string_view claim = text_at(volume, {"persistentVolumeClaim", "claimName"});
    return claim.empty() || view_.find(Kind::kPersistentVolumeClaim, ns_, claim) != nullptr
               ? std::nullopt
               : std::optional(fmt::format("persistentvolumeclaim \"{}\" not found", claim));
  }

  [[nodiscard]] std::optional<Lack> of_container(const Value& container) const {
    const Array* all = array_at(container, {"envFrom"});
    for (std::size_t i = 0; all != nullptr && i < all->size(); ++i) {
      if (auto message = missing((*all)[i], kAllVariables)) {
        return Lack{"", *message};
      }
    }
    const Array* some = array_at(container, {"env"});
    for (std::size_t i = 0; some != nullptr && i < some->size(); ++i) {
      const Value* source = find((*some)[i], {"valueFrom"});
      if (auto message = source == nullptr ? std::nullopt : missing(*source, kVariables)) {
        return Lack{"", *message};
      }
    }
    return std::nullopt;
  }

 private:
  static bool has_key(const Item& item, std::string_view key) {
    const Object root = item.value();
    return find(root, {"data", key}) != nullptr || find(root, {"binaryData", key}) != nullptr;
  }

  const std::string& ns_;
  const View& view_;
};

}  // namespace

std::optional<Lack> find_lack(const Object& pod, const std::string& ns, const View& view) {
  const Needs needs(ns, view);
  const Array* volumes = array_at(pod, {"spec", "volumes"});
  for (std::size_t i = 0; volumes != nullptr && i < volumes->size(); ++i) {
    if (auto lack = needs.of_volume((*volumes)[i])) {
      return lack;
    }
  }
  for (const std::string_view list : {"initContainers", "containers"}) {
    const Array* containers = array_at(pod, {"spec", list});
    for (std::size_t i = 0; containers != nullptr && i < containers->size(); ++i) {
      if (auto lack = needs.of_container((*containers)[i])) {
        return lack;
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> find_missing_claim(const Object& pod, const std::string& ns, const View& view) {
  const Needs needs(ns, view);
  const Array* volumes = array_at(pod, {"spec", "volumes"});
  for (std::size_t i = 0; volumes != nullptr && i < volumes->size(); ++i) {
    if (auto missing = needs.of_claim((*volumes)[i])) {
      return missing;
    }
  }
  return std::nullopt;
}

}  // namespace gantree::controllers
