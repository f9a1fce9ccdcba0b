// The rules that schemas have in CEL.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "apiserver/cel.h"
#include "apiserver/cel_special.h"
#include "apiserver/field_set.h"
#include "apiserver/schema.h"

namespace gantree::apiserver {

namespace {

class RuleChecks {
 public:
  void check(const Schema& schema, const Value& value, const Value* old, const std::string& path) {
    if (!schema.ruled || value.is_null() || errors_.size() >= kMaxErrors) {
      return;
    }
    if (schema.limits != nullptr) {
      for (const CelRule& rule : schema.limits->rules) {
        check_rule(schema, rule, value, old, path);
      }
    }
    if (const Object* object = value.if_object(); object != nullptr) {
      for (const auto& member : *object) {
        const Schema* known = schema.member(member.key());
        if (known != nullptr && known->ruled) {
          const Value* before = old == nullptr ? nullptr : find(*old, {member.key()});
          const bool field = schema.find(member.key()) != nullptr;
          check(*known, member.value(), before, field ? child_path(path, member.key()) : key_path(path, member.key()));
        }
      }
    } else if (value.is_array() && schema.items != nullptr && schema.items->ruled) {
      check_items(schema, value.get_array(), old == nullptr ? nullptr : old->if_array(), path);
    }
  }

  [[nodiscard]] FieldErrors take() { return std::move(errors_); }

 private:
  static constexpr std::size_t kMaxErrors = 100;
  // Of all rules on one object.
  static constexpr std::size_t kMaxCost = 20'000'000;

  // Only items with keys can be told to be the same as before.
  void check_items(const Schema& schema, const Array& array, const Array* old, const std::string& path) {
    std::map<std::string, const Value*> before;
    for (std::size_t i = 0; schema.list_type == ListType::kMap && old != nullptr && i < old->size(); ++i) {
      before[item_step(schema, (*old)[i])] = &(*old)[i];
    }
    for (std::size_t i = 0; i < array.size(); ++i) {
      const auto was = before.empty() ? before.end() : before.find(item_step(schema, array[i]));
      check(*schema.items, array[i], was == before.end() ? nullptr : was->second, index_path(path, i));
    }
  }

  void check_rule(const Schema& schema, const CelRule& rule, const Value& value, const Value* old,
                  const std::string& path) {
    Value optional;
    if (rule.optional_old) {
      optional = optional_value(old);
      old = &optional;
    }
    if (rule.condition->uses_old_self() && old == nullptr) {
      return;
    }
    const auto holds = rule.condition->evaluate(value, old, &cost_);
    if (holds && holds->is_bool() && holds->get_bool()) {
      return;
    }
    const std::string where = rule.field_path.empty() ? path : path + rule.field_path;
    if (!holds) {
      errors_.push_back(
          invalid_value(where, Value(type_of(schema)),
                        fmt::format("{} evaluating rule: {}", holds.error().message, text_of_rule(rule))));
      return;
    }
    errors_.push_back(refusal(schema, rule, value, old, where));
  }

  static std::string_view type_of(const Schema& schema) {
    switch (schema.type) {
      case SchemaType::kObject:
        return "object";
      case SchemaType::kArray:
        return "array";
      case SchemaType::kInteger:
        return "integer";
      case SchemaType::kNumber:
        return "number";
      case SchemaType::kBoolean:
        return "boolean";
      default:
        return "string";
    }
  }

  static std::string text_of_rule(const CelRule& rule) { return rule.message.empty() ? rule.text : rule.message; }

  FieldError refusal(const Schema& schema, const CelRule& rule, const Value& value, const Value* old,
                     const std::string& where) {
    std::string detail = rule.message.empty() ? "failed rule: " + rule.text : rule.message;
    if (rule.says != nullptr && (old != nullptr || !rule.says->uses_old_self())) {
      if (const auto said = rule.says->evaluate(value, old, &cost_); said && !text_of(*said).empty()) {
        detail = text_of(*said);
      }
    }
    if (rule.reason == "FieldValueForbidden") {
      return forbidden(where, detail);
    }
    if (rule.reason == "FieldValueRequired") {
      return required(where, detail);
    }
    if (rule.reason == "FieldValueDuplicate") {
      return duplicate(where, value);
    }
    // Of large values only that they are wrong.
    if (schema.type == SchemaType::kObject || schema.type == SchemaType::kArray) {
      return {Cause::kInvalid, where, "Invalid value: " + detail};
    }
    return invalid_value(where, value, detail);
  }

  FieldErrors errors_;
  CelCost cost_{kMaxCost};
};

}  // namespace

FieldErrors validate_object(const Schema& schema, const Value& value, const Value* old) {
  FieldErrors errors = validate(schema, value);
  if (!schema.ruled) {
    return errors;
  }
  // Rules are for objects of the right shape.
  const bool shapeless = std::any_of(errors.begin(), errors.end(), [](const FieldError& error) {
    return error.cause == Cause::kRequired || error.cause == Cause::kNotSupported || error.cause == Cause::kTooLong ||
           error.cause == Cause::kTooMany || error.cause == Cause::kTypeInvalid;
  });
  if (shapeless) {
    errors.push_back(
        {Cause::kInvalid, "", "Invalid value: null: rules were not checked, since the object is not sound"});
    return errors;
  }
  RuleChecks checks;
  checks.check(schema, value, old, {});
  FieldErrors broken = checks.take();
  errors.insert(errors.end(), std::make_move_iterator(broken.begin()), std::make_move_iterator(broken.end()));
  return errors;
}

}  // namespace gantree::apiserver
