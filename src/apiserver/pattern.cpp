#include "apiserver/pattern.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <utility>

namespace gantree::apiserver {

struct Pattern::Compiled {
  re2::RE2 expression;
};

namespace {

// What an expression and the states it goes through may take.
constexpr std::int64_t kMaxMemory = std::int64_t{4} << 20;

re2::StringPiece piece(std::string_view text) {
  return {text.data(), text.size()};
}

re2::RE2::Options options() {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMaxMemory);
  return options;
}

}  // namespace

Pattern::Pattern(std::string text, std::unique_ptr<Compiled> compiled)
    : text_(std::move(text)), compiled_(std::move(compiled)) {}

Pattern::~Pattern() = default;

Result<std::shared_ptr<const Pattern>> Pattern::compile(std::string_view text) {
  auto compiled = std::unique_ptr<Compiled>(new Compiled{re2::RE2(piece(text), options())});
  if (!compiled->expression.ok()) {
    return invalid(fmt::format("\"{}\" is no regular expression: {}", text, compiled->expression.error()));
  }
  return std::shared_ptr<const Pattern>(new Pattern(std::string(text), std::move(compiled)));
}

bool Pattern::matches(std::string_view text) const {
  return re2::RE2::PartialMatch(piece(text), compiled_->expression);
}

std::vector<std::string_view> Pattern::find_all(std::string_view text, std::size_t most) const {
  std::vector<std::string_view> found;
  std::size_t at = 0;
  while (found.size() < most && at <= text.size()) {
    re2::StringPiece match;
    if (!compiled_->expression.Match(piece(text), at, text.size(), re2::RE2::UNANCHORED, &match, 1)) {
      break;
    }
    found.emplace_back(match.data(), match.size());
    const auto end = static_cast<std::size_t>(match.data() + match.size() - text.data());
    at = match.empty() ? end + 1 : end;
  }
  return found;
}

}  // namespace gantree::apiserver
