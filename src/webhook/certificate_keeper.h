// The webhook's certificate, made by ourselves, kept in a Secret, and its authority made known to the API server.
//
//   Secret: ca.crt  the authorities to be trusted, newest first      tls.crt, tls.key  what is served
//           ca.key  key of the newest
//
//   authority gets old ──► new one put before it in ca.crt ──► bundle written into configurations and definitions
//                                                                   │ kSettle later, so that every API server knows it
//   certificate gets old, or its authority is not the newest ──► ◄──┘ issued anew by the newest
//
// Any number of replicas may do this at once: every write carries the resourceVersion that was read, and who loses
// reads what the winner wrote.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "webhook/certificate.h"

namespace gantree::webhook {

struct StoredCertificate {
  std::string resource_version;  // "" where there is no Secret
  std::string authorities;       // ca.crt
  std::string authority_key;     // ca.key
  KeyPair serving;
};

enum class ConfigurationKind : std::uint8_t {
  kValidating,
  kMutating,
  kConversion,  // a definition of custom resources, whose objects we convert
};

struct ConfigurationName {
  ConfigurationKind kind = ConfigurationKind::kValidating;
  std::string name;

  [[nodiscard]] std::string title() const;  // MutatingWebhookConfiguration "name"
};

// The webhooks of a configuration. Of a definition that is the one that converts, where that is us.
struct Configuration {
  struct Webhook {
    std::string name;
    std::string bundle;  // PEM; "" where there is none
  };
  std::string resource_version;
  std::vector<Webhook> webhooks;
};

enum class Written : std::uint8_t {
  kDone,
  kOvertaken,  // somebody else wrote first: read again
};

// The API server, as far as this needs it. Calls block. The seam for tests.
class CertificateStore {
 public:
  CertificateStore() = default;
  virtual ~CertificateStore() = default;
  CertificateStore(const CertificateStore&) = delete;
  CertificateStore& operator=(const CertificateStore&) = delete;

  // With nothing in it where there is no Secret, or an empty one.
  [[nodiscard]] virtual Result<StoredCertificate> read() = 0;
  // Creates the Secret where resource_version is "".
  [[nodiscard]] virtual Result<Written> write(const StoredCertificate& certificate) = 0;
  // Nothing where there is none of that name.
  [[nodiscard]] virtual Result<std::optional<Configuration>> read(const ConfigurationName& name) = 0;
  // Sets the bundle of all its webhooks.
  [[nodiscard]] virtual Result<Written> write(const ConfigurationName& name, const Configuration& read,
                                              std::string_view bundle) = 0;
};

struct KeeperOptions {
  std::vector<std::string> names;  // of the server
  std::vector<ConfigurationName> configurations;
  std::chrono::hours authority_life{24 * 730};
  std::chrono::hours serving_life{24 * 90};
};

// How long after an authority was made something is issued by it, unless there is no other.
inline constexpr std::chrono::hours kSettle{1};

struct Kept {
  KeyPair serving;
  std::string bundle;
  std::vector<std::string> missing;  // titles of webhook configurations that are not there
};

// Looks after all of it once: makes what is missing, renews what has a third of its life left, corrects the
// configurations. Fails where the API server does; calling it again later goes on from there.
[[nodiscard]] Result<Kept> keep_certificate(CertificateStore& store, const KeeperOptions& options, WallTime now);

// The names by which the API server calls a Service.
[[nodiscard]] std::vector<std::string> service_names(std::string_view service, std::string_view ns);

}  // namespace gantree::webhook
