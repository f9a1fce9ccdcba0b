// Objects on their way into the API, asked about through the front door of the mutators.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "dialects/mutation.h"
#include "json/write.h"
#include "manifests.h"

namespace gantree {

// One object as the API server would send it, read from YAML.
class Sent {
 public:
  explicit Sent(std::string yaml) : manifests_(std::make_unique<Manifests>(std::move(yaml))) {
    const json::Value root = manifests_->root();
    const std::string_view version = root["apiVersion"].text();
    const std::size_t slash = version.find('/');
    object_ = {.file = "request",
               .group = slash == std::string_view::npos ? "" : version.substr(0, slash),
               .version = slash == std::string_view::npos ? version : version.substr(slash + 1),
               .kind = root["kind"].text(),
               .value = root};
  }
  [[nodiscard]] const Object& object() const { return object_; }
  [[nodiscard]] NamedObject named() const {
    const json::Value name = object_.metadata()["name"];
    return {object_, "ns", name ? name.text() : std::string_view("generated-")};
  }
  [[nodiscard]] const Mutator& mutator() const {
    const auto all = all_mutators();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Mutator& one) { return one.kind.kind == object_.kind; });
    EXPECT_NE(found, all.end()) << object_.kind;
    return *found;
  }

 private:
  std::unique_ptr<Manifests> manifests_;
  Object object_;
};

inline Mutation mutated(const Sent& sent, const Sent* old = nullptr) {
  return sent.mutator().mutate(sent.named(), old == nullptr ? nullptr : &old->object());
}

// Its operations, one a line: "/path = value".
inline std::string changes(const Mutation& mutation) {
  std::string text;
  for (const json::Out& operation : mutation.patch) {
    const auto& members = std::get<json::Out::Object>(operation.content());
    EXPECT_EQ(members[0].second.to_json(false), "\"add\"");
    text += std::get<std::string>(members[1].second.content()) + " = " + members[2].second.to_json(false) + "\n";
  }
  return text;
}

inline std::string changes(const std::string& yaml) {
  return changes(mutated(Sent(yaml)));
}

inline std::string changes_on_update(const std::string& yaml, const std::string& old) {
  const Sent before(old);
  return changes(mutated(Sent(yaml), &before));
}

// Why it is refused; "" where it is not.
inline std::string refusal(const std::string& yaml) {
  const Sent sent(yaml);
  return admit(sent.mutator(), sent.named(), nullptr).refusal.value_or("");
}

inline std::string refusal_on_update(const std::string& yaml, const std::string& old) {
  const Sent sent(yaml);
  const Sent before(old);
  return admit(sent.mutator(), sent.named(), &before.object()).refusal.value_or("");
}

// Why nobody but Gantree may make this change; and what is added to it where somebody else makes it.
inline std::string reserved_on_update(const std::string& yaml, const std::string& old) {
  const Sent sent(yaml);
  return sent.mutator().reserved(sent.named(), Sent(old).object()).value_or("");
}
inline std::string heeded_on_update(const std::string& yaml, const std::string& old) {
  const Sent sent(yaml);
  return changes(sent.mutator().heed(sent.named(), Sent(old).object()));
}

}  // namespace gantree
