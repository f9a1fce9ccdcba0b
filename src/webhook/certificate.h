// Certificates made and read: an authority of our own, and what it issues to the webhook server. ECDSA on P-256.
//
// All text is PEM. Pure but for the random numbers of keys and serial numbers.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace gantree::webhook {

using WallTime = std::chrono::sys_seconds;

struct KeyPair {
  std::string certificate;
  std::string key;
  friend bool operator==(const KeyPair&, const KeyPair&) = default;
};

struct Validity {
  WallTime from;
  WallTime until;
};

struct CertificateFacts {
  Validity validity;
  std::vector<std::string> names;  // DNS names and IP addresses it is good for, sorted
};

// An authority that signs itself.
[[nodiscard]] Result<KeyPair> make_authority(std::string_view common_name, const Validity& validity);

// A certificate for a server of these names, of which those that are IP addresses are entered as such.
// Fails where the authority is of no use. Requires at least one name.
[[nodiscard]] Result<KeyPair> issue(const KeyPair& authority, const std::vector<std::string>& names,
                                    const Validity& validity);

// Of the first certificate in the text.
[[nodiscard]] Result<CertificateFacts> read_certificate(std::string_view certificate);

// The certificates of a bundle, one by one; what is none is left out.
[[nodiscard]] std::vector<std::string> split_bundle(std::string_view bundle);

[[nodiscard]] bool is_issued_by(std::string_view certificate, std::string_view authority);
[[nodiscard]] bool belong_together(const KeyPair& pair);

}  // namespace gantree::webhook
