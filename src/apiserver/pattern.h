// Regular expressions of schemas, in the language of Go's. They come from CRDs, which anybody who may define kinds can
// write, and are matched against anybody's text: matching takes time in proportion to the text, whatever they are.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace gantree::apiserver {

class Pattern {
 public:
  [[nodiscard]] static Result<std::shared_ptr<const Pattern>> compile(std::string_view text);
  ~Pattern();
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  // Whether it matches anywhere in the text, as Go's MatchString does.
  [[nodiscard]] bool matches(std::string_view text) const;
  // What it matches, one after the other, at most so many. They lie in the text.
  [[nodiscard]] std::vector<std::string_view> find_all(std::string_view text, std::size_t most) const;
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  struct Compiled;
  Pattern(std::string text, std::unique_ptr<Compiled> compiled);
  std::string text_;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace gantree::apiserver
