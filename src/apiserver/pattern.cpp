#include "apiserver/pattern.h"

#include <fmt/format.h>

#include <boost/regex.hpp>
#include <utility>

namespace gantree::apiserver {

struct Pattern::Compiled {
  boost::regex expression;
};

Pattern::Pattern(std::string text, std::unique_ptr<Compiled> compiled)
    : text_(std::move(text)), compiled_(std::move(compiled)) {}

Pattern::~Pattern() = default;

Result<std::shared_ptr<const Pattern>> Pattern::compile(std::string_view text) {
  try {
    auto compiled = std::make_unique<Compiled>();
    // no_mod_m: "$" is the end of the text, not of a line, as in Go.
    compiled->expression.assign(text.begin(), text.end(), boost::regex::perl | boost::regex::no_mod_m);
    return std::shared_ptr<const Pattern>(new Pattern(std::string(text), std::move(compiled)));
  } catch (const std::exception& problem) {
    return invalid(fmt::format("\"{}\" is no regular expression: {}", text, problem.what()));
  }
}

bool Pattern::matches(std::string_view text) const {
  try {
    return boost::regex_search(text.begin(), text.end(), compiled_->expression);
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace gantree::apiserver
