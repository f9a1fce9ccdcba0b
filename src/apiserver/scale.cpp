#include "apiserver/scale.h"

#include <algorithm>
#include <string>

#include "apiserver/selector.h"

namespace gantree::apiserver {

namespace {

// The first step of ".spec.replicas" is "spec"; `path` becomes ".replicas".
std::string_view next_step(std::string_view& path) {
  if (path.starts_with('.')) {
    path = path.substr(1);
  }
  const std::size_t dot = path.find('.');
  const std::string_view step = path.substr(0, dot);
  path = dot == std::string_view::npos ? std::string_view() : path.substr(dot);
  return step;
}

std::string joined(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& item : list) {
    text += (text.empty() ? "" : ",") + item;
  }
  return text;
}

// A selector as text: of metav1.LabelSelector, of a plain map, or text already.
std::string selector_text(const Value& value) {
  if (value.is_string()) {
    return std::string(text_of(value));
  }
  const bool structured = find(value, {"matchLabels"}) != nullptr || find(value, {"matchExpressions"}) != nullptr;
  std::vector<std::string> parts;
  for (const auto& [key, label] : pairs_of(structured ? object_at(value, {"matchLabels"}) : value.if_object())) {
    parts.push_back(key + "=" + label);
  }
  if (const Array* expressions = structured ? array_at(value, {"matchExpressions"}) : nullptr) {
    for (const Value& expression : *expressions) {
      const std::string key(text_at(expression, {"key"}));
      const std::string_view op = text_at(expression, {"operator"});
      std::vector<std::string> values;
      if (const Array* list = array_at(expression, {"values"})) {
        for (const Value& item : *list) {
          values.emplace_back(text_of(item));
        }
      }
      if (op == "In" || op == "NotIn") {
        parts.push_back(key + (op == "In" ? " in (" : " notin (") + joined(values) + ")");
      } else {
        parts.push_back(op == "Exists" ? key : "!" + key);
      }
    }
  }
  std::sort(parts.begin(), parts.end());
  return joined(parts);
}

std::int64_t number_at(const Object& object, std::string_view path) {
  const Value* value = value_at_path(object, path);
  return value != nullptr && value->is_int64() ? value->get_int64() : 0;
}

}  // namespace

const Value* value_at_path(const Object& object, std::string_view path) {
  const Object* in = &object;
  const Value* value = nullptr;
  while (!path.empty()) {
    value = in == nullptr ? nullptr : in->if_contains(next_step(path));
    if (value == nullptr) {
      return nullptr;
    }
    in = value->if_object();
  }
  return value;
}

Object scale_of(const Kind& kind, const Object& object) {
  Object scale;
  scale["kind"] = "Scale";
  scale["apiVersion"] = "autoscaling/v1";
  Object& metadata = object_in(scale, "metadata");
  for (const std::string_view name : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    if (const Value* value = find(object, {"metadata", name})) {
      metadata[name] = *value;
    }
  }
  Object& spec = object_in(scale, "spec");
  if (const std::int64_t replicas = number_at(object, kind.scale->spec_replicas); replicas != 0) {
    spec["replicas"] = replicas;
  }
  Object& status = object_in(scale, "status");
  status["replicas"] = number_at(object, kind.scale->status_replicas);
  if (const Value* selector = kind.scale->selector.empty() ? nullptr : value_at_path(object, kind.scale->selector)) {
    status["selector"] = selector_text(*selector);
  }
  return scale;
}

void set_scale(const Kind& kind, const Object& scale, Object& object) {
  std::string_view path = kind.scale->spec_replicas;
  Object* in = &object;
  while (!path.empty()) {
    const std::string_view step = next_step(path);
    if (path.empty()) {
      const Value* replicas = find(scale, {"spec", "replicas"});
      (*in)[step] = replicas == nullptr ? Value(0) : *replicas;
    } else {
      in = &object_in(*in, step);
    }
  }
  const std::string_view version = text_at(scale, {"metadata", "resourceVersion"});
  object_in(object, "metadata")["resourceVersion"] = version;
}

}  // namespace gantree::apiserver
