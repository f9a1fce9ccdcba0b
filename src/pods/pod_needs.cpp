#include "pods/pod_needs.h"

#include <fmt/format.h>

#include "dialects/core/not_looked_at.h"
#include "dialects/workloads/workload.h"
#include "json/copy.h"
#include "json/read.h"
#include "live/parsed.h"

namespace gantree {

namespace {

std::span<const json::NodeData> items_at(json::Value object, std::string_view key) {
  const json::Value list = object ? object[key] : json::Value();
  return list && list.kind() == json::Kind::kArray ? list.items() : std::span<const json::NodeData>();
}

json::Value object_at(json::Value object, std::string_view key) {
  const json::Value value = object ? object[key] : json::Value();
  return value && value.kind() == json::Kind::kObject ? value : json::Value();
}

json::Out terms_of(std::string_view text) {
  const auto read = json::read_documents("", std::string(text));
  return read && read->size() == 1 ? json::copy(read->front().root()) : json::Out::array();
}

// Both must hold: every term of one with every term of the other.
json::Out::Array crossed(const json::Out::Array& left, const json::Out::Array& right) {
  json::Out::Array both;
  for (const json::Out& a : left) {
    for (const json::Out& b : right) {
      json::Out term = json::Out::object();
      for (const std::string_view key : {"matchExpressions", "matchFields"}) {
        json::Out::Array all;
        for (const json::Out* part : {&a, &b}) {
          for (const auto& [name, list] : std::get<json::Out::Object>(part->content())) {
            if (name == key && std::holds_alternative<json::Out::Array>(list.content())) {
              const auto& some = std::get<json::Out::Array>(list.content());
              all.insert(all.end(), some.begin(), some.end());
            }
          }
        }
        if (!all.empty()) {
          term.add(key, std::move(all));
        }
      }
      both.push_back(std::move(term));
    }
  }
  return both;
}

}  // namespace

PodNeeds read_needs(std::string_view ns, std::string_view pod, json::Value spec) {
  PodNeeds needs;
  needs.unsupported = not_looked_at(spec);
  for (const json::NodeData& item : items_at(spec, "volumes")) {
    const json::Value volume(&item);
    if (const json::Value claim = object_at(volume, "persistentVolumeClaim")) {
      needs.claims.push_back(fmt::format("{}/{}", ns, text_in(claim, "claimName")));
    } else if (object_at(volume, "ephemeral")) {
      needs.claims.push_back(fmt::format("{}/{}-{}", ns, pod, text_in(volume, "name")));
    }
  }
  return needs;
}

void Volumes::put_claim(const std::string& key, json::Value claim) {
  const bool bound = text_in(object_at(claim, "status"), "phase") == "Bound";
  claims_.insert_or_assign(key, bound ? text_in(object_at(claim, "spec"), "volumeName") : std::string_view());
}

void Volumes::put_volume(const std::string& name, json::Value volume) {
  const json::Value required = object_at(object_at(object_at(volume, "spec"), "nodeAffinity"), "required");
  const json::Value terms = required ? required["nodeSelectorTerms"] : json::Value();
  volumes_.insert_or_assign(name, terms && terms.kind() == json::Kind::kArray ? json::copy(terms).to_json(false) : "");
}

std::string Volumes::obstacle(const std::vector<std::string>& claims) const {
  for (const std::string& key : claims) {
    const auto claim = claims_.find(key);
    if (claim == claims_.end()) {
      return fmt::format("PersistentVolumeClaim \"{}\" is not there", key);
    }
    if (claim->second.empty()) {
      return fmt::format(
          "PersistentVolumeClaim \"{}\" is not bound to a volume as yet (volumes that are made when a pod "
          "is placed, volumeBindingMode: WaitForFirstConsumer, are not supported)",
          key);
    }
    if (!volumes_.contains(claim->second)) {
      return fmt::format("PersistentVolume \"{}\" of claim \"{}\" is not there", claim->second, key);
    }
  }
  return "";
}

std::string Volumes::confined(const std::string& pod_text, const std::vector<std::string>& claims) const {
  std::vector<std::string_view> asked;
  for (const std::string& key : claims) {
    const std::string& terms = volumes_.find(claims_.find(key)->second)->second;
    if (!terms.empty()) {
      asked.push_back(terms);
    }
  }
  const auto parsed = asked.empty() ? fail(Errc::kNotFound, "") : parse(pod_text);
  if (!parsed) {
    return pod_text;
  }
  const json::Value root = parsed->object.value;
  const json::Value node = object_at(object_at(object_at(root, "spec"), "affinity"), "nodeAffinity");
  const json::Value required = object_at(node, "requiredDuringSchedulingIgnoredDuringExecution");
  json::Out::Array terms;
  if (required && required["nodeSelectorTerms"]) {
    terms = std::get<json::Out::Array>(json::copy(required["nodeSelectorTerms"]).content());
  } else {
    terms.push_back(json::Out::object());
  }
  for (const std::string_view text : asked) {
    const json::Out more = terms_of(text);
    terms = crossed(terms, std::get<json::Out::Array>(more.content()));
  }
  json::Out affinity = json::Out::object();
  affinity.add("requiredDuringSchedulingIgnoredDuringExecution",
               json::Out::object().add("nodeSelectorTerms", std::move(terms)));
  if (const json::Value preferred = node ? node["preferredDuringSchedulingIgnoredDuringExecution"] : json::Value()) {
    affinity.add("preferredDuringSchedulingIgnoredDuringExecution", json::copy(preferred));
  }
  json::Out spec = json::Out::object();
  for (const json::MemberData& member : object_at(root, "spec").members()) {
    if (member.key != "affinity") {
      spec.add(member.key, json::copy(json::Value(&member.value)));
    }
  }
  spec.add("affinity", json::Out::object().add("nodeAffinity", std::move(affinity)));
  return json::copy(root,
                    [&](std::string_view key, json::Value) -> std::optional<json::Out> {
                      return key == "spec" ? std::optional(spec) : std::nullopt;
                    })
      .to_json(false);
}

}  // namespace gantree
