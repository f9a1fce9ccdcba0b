#include "controllers/job_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "controllers/names.h"
#include "controllers/objects.h"

namespace gantree::controllers {

namespace {

Verdict verdict_of(std::string_view action) {
  if (action == "Ignore") {
    return Verdict::kIgnore;
  }
  if (action == "FailIndex") {
    return Verdict::kFailIndex;
  }
  return action == "FailJob" ? Verdict::kFailJob : Verdict::kCount;
}

// The code by which a rule about exit codes matches one container.
std::optional<std::int64_t> matching_code(const Value& rule, const Value& container) {
  const Object* ended = object_at(container, {"state", "terminated"});
  const std::string_view name = text_at(rule, {"containerName"});
  if (ended == nullptr || (!name.empty() && name != text_at(container, {"name"}))) {
    return std::nullopt;
  }
  const std::int64_t code = whole_at(*ended, {"exitCode"});
  const Array* values = array_at(rule, {"values"});
  const bool among = values != nullptr && std::any_of(values->begin(), values->end(), [&](const Value& one) {
                       return one.is_int64() && one.get_int64() == code;
                     });
  const bool wanted = text_at(rule, {"operator"}) == "In" ? among : !among;
  // Whoever ended well did not fail.
  return code != 0 && wanted ? std::optional(code) : std::nullopt;
}

std::optional<std::string> match_codes(const Value& rule, const Item& pod, const Object& root) {
  for (const std::string_view list : {"containerStatuses", "initContainerStatuses"}) {
    const Array* statuses = array_at(root, {"status", list});
    for (std::size_t i = 0; statuses != nullptr && i < statuses->size(); ++i) {
      if (const auto code = matching_code(rule, (*statuses)[i])) {
        return fmt::format("Container {} for pod {} failed with exit code {}", text_at((*statuses)[i], {"name"}),
                           pod.key(), *code);
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> match_conditions(const Array& patterns, const Item& pod, const Object& root) {
  for (const Value& pattern : patterns) {
    const std::string_view type = text_at(pattern, {"type"});
    const std::string_view status = text_at(pattern, {"status"});
    if (condition_is(root, type, status.empty() ? "True" : status)) {
      return fmt::format("Pod {} has condition {}", pod.key(), type);
    }
  }
  return std::nullopt;
}

std::int64_t noted(const Object& pod, std::string_view annotation) {
  const std::string_view text = text_at(pod, {"metadata", "annotations", annotation});
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::max<std::int64_t>(number, 0) : 0;
}

}  // namespace

Judgement judge(const Object& job, const Item& pod, const Object& root) {
  const Array* rules = array_at(job, {"spec", "podFailurePolicy", "rules"});
  for (std::size_t i = 0; rules != nullptr && i < rules->size(); ++i) {
    const Value& rule = (*rules)[i];
    std::optional<std::string> matched;
    if (const Value* codes = find(rule, {"onExitCodes"}); codes != nullptr && codes->is_object()) {
      matched = match_codes(*codes, pod, root);
    } else if (const Array* patterns = array_at(rule, {"onPodConditions"})) {
      matched = match_conditions(*patterns, pod, root);
    }
    if (matched) {
      const std::string_view action = text_at(rule, {"action"});
      return {verdict_of(action), fmt::format("{} matching {} rule at index {}", *matched, action, i)};
    }
  }
  return {};
}

void add_failure(FailuresByIndex& failures, const Item& pod, const Object& root, Verdict verdict) {
  const bool ignored = verdict == Verdict::kIgnore;
  const IndexFailures now{.last = &pod,
                          .counted = noted(root, kIndexFailures) + (ignored ? 0 : 1),
                          .ignored = noted(root, kIndexIgnoredFailures) + (ignored ? 1 : 0),
                          .fails_index = verdict == Verdict::kFailIndex};
  IndexFailures& known = failures[pod.pod->completion_index];
  if (known.last == nullptr || now.all() > known.all()) {
    known = now;
  }
}

void note_failures(Object& pod, const FailuresByIndex& failures, std::int64_t index) {
  const auto at = failures.find(index);
  set_annotation(pod, kIndexFailures, std::to_string(at == failures.end() ? 0 : at->second.counted));
  if (at != failures.end() && at->second.ignored > 0) {
    set_annotation(pod, kIndexIgnoredFailures, std::to_string(at->second.ignored));
  }
}

std::optional<std::string> met_success_rule(const Object& job, const IndexSet& succeeded, std::int64_t completions) {
  const Array* rules = array_at(job, {"spec", "successPolicy", "rules"});
  for (std::size_t i = 0; rules != nullptr && i < rules->size(); ++i) {
    const Value& rule = (*rules)[i];
    const Value* count = find(rule, {"succeededCount"});
    std::int64_t wanted = count != nullptr && count->is_int64() ? count->get_int64() : completions;
    std::int64_t has = succeeded.size();
    if (const std::string_view indexes = text_at(rule, {"succeededIndexes"}); !indexes.empty()) {
      const IndexSet among(indexes, completions);
      wanted = count != nullptr && count->is_int64() ? wanted : among.size();
      has = succeeded.common(among);
    }
    if (has >= wanted) {
      return fmt::format("Matched rules at index {}", i);
    }
  }
  return std::nullopt;
}

}  // namespace gantree::controllers
