// Expected failures. A function that can fail returns Result<T>; the error is
// one sentence that names the object (or file:line) and says what is wrong.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace gantree {

enum class Errc : std::uint8_t {
  kInvalid,   // the input is wrong: tell the user
  kNotFound,  // a reference points nowhere
  kLimit,     // over a size, depth or range limit
  kIo,        // the outside world failed
};

struct Error {
  Errc code = Errc::kInvalid;
  std::string message;
};

template <class T = void>
using Result = tl::expected<T, Error>;

[[nodiscard]] inline tl::unexpected<Error> fail(Errc code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}
[[nodiscard]] inline tl::unexpected<Error> invalid(std::string message) {
  return fail(Errc::kInvalid, std::move(message));
}

}  // namespace gantree
