#include "base/digest.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

namespace gantree {

namespace {

std::string hex_digest(std::string_view text, const EVP_MD* kind) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), bytes.data(), &size, kind, nullptr);
  std::string out;
  for (unsigned int i = 0; i < size; ++i) {
    out += fmt::format("{:02x}", bytes.at(i));
  }
  return out;
}

}  // namespace

std::string sha1_hex(std::string_view text) {
  return hex_digest(text, EVP_sha1());
}

std::string sha256_hex(std::string_view text) {
  return hex_digest(text, EVP_sha256());
}

}  // namespace gantree
