// Reading and making API objects as JSON: conditions, owners, selectors, names.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "controllers/item.h"

namespace gantree::controllers {

// Whole numbers and flags at the end of keys; the default where there is none.
[[nodiscard]] std::int64_t whole_at(const Value& value, std::initializer_list<std::string_view> keys,
                                    std::int64_t otherwise = 0);
[[nodiscard]] std::int64_t whole_at(const Object& object, std::initializer_list<std::string_view> keys,
                                    std::int64_t otherwise = 0);
[[nodiscard]] std::optional<std::int64_t> number_at(const Object& object, std::initializer_list<std::string_view> keys);
[[nodiscard]] bool flag_at(const Value& value, std::initializer_list<std::string_view> keys, bool otherwise = false);
[[nodiscard]] bool flag_at(const Object& object, std::initializer_list<std::string_view> keys, bool otherwise = false);
// A number, or a percentage of `whole` ("25%"), rounded as said.
[[nodiscard]] std::int64_t share_at(const Object& object, std::initializer_list<std::string_view> keys,
                                    std::int64_t whole, bool round_up, std::int64_t otherwise);

// Equal as Go structures, in which the API server's clients hold them: what is zero, empty or null is as if it were not
// there. Tells whether there is anything to write.
[[nodiscard]] bool means_the_same(const Value& one, const Value& other);

// status.conditions[type]; nullptr where there is none.
[[nodiscard]] const Value* find_condition(const Value& root, std::string_view type);
[[nodiscard]] const Value* find_condition(const Object& root, std::string_view type);
[[nodiscard]] bool condition_is(const Object& root, std::string_view type, std::string_view status);

struct Condition {
  std::string_view type = {};
  std::string_view status = {};
  std::string_view reason = {};
  std::string_view message = {};
  // metav1.Condition of custom kinds has it.
  std::optional<std::int64_t> observed_generation = std::nullopt;
  // Which other times it carries: "lastProbeTime" of jobs and pods, "lastUpdateTime" of deployments.
  std::string_view also = {};
};

// Puts the condition into the list; the time of its transition changes only with its status. True where something
// changed.
bool set_condition(Array& conditions, const Condition& condition, Time now);
// status.conditions, or an empty list.
[[nodiscard]] Array conditions_of(const Object& root);

[[nodiscard]] Object owner_reference(const Item& owner, bool blocks = true);

// metadata of a pod of a template: labels, annotations and finalizers of the template; the owner; the namespace.
[[nodiscard]] Object pod_from_template(const Object& pod_template, const Item& owner);

// A Service without an address of its own, by which the pods find each other's names.
[[nodiscard]] Object headless_service(const Item& owner, std::string_view name, Object selector);

void set_label(Object& object, std::string_view key, std::string_view value);
void set_annotation(Object& object, std::string_view key, std::string_view value);
// Adds the variable to every container and init container that has none of that name.
void add_environment(Object& pod_spec, std::string_view name, const Value& source);

// Does a LabelSelector match? An absent or empty selector matches everything.
[[nodiscard]] bool selects(const Object* selector, const Labels& labels);
// As in `kubectl get -l`: "a=b,c in (d,e)".
[[nodiscard]] std::string selector_text(const Object& selector);

// A short name for a template that changes with it: letters and digits that spell no words.
// Another one for each number of collisions with what has that name already.
[[nodiscard]] std::string short_hash(const Value& value, std::int64_t collisions = 0);

}  // namespace gantree::controllers
