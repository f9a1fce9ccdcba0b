// The certificate's Secret and the webhook configurations, as an API server has them.
#pragma once

#include <stop_token>
#include <string>

#include "kube/client.h"
#include "webhook/certificate_keeper.h"

namespace gantree::webhook {

// Blocks on the calling thread, which must not be the transport's. Calls fail once `stop` is requested.
class ClusterStore final : public CertificateStore {
 public:
  // The client must outlive it.
  ClusterStore(kube::Client& client, kube::ObjectKey secret, std::stop_token stop)
      : client_(client), secret_(std::move(secret)), stop_(std::move(stop)) {}

  [[nodiscard]] Result<StoredCertificate> read() override;
  [[nodiscard]] Result<Written> write(const StoredCertificate& certificate) override;
  [[nodiscard]] Result<std::optional<Configuration>> read(const ConfigurationName& name) override;
  [[nodiscard]] Result<Written> write(const ConfigurationName& name, const Configuration& read,
                                      std::string_view bundle) override;

 private:
  kube::Client& client_;
  kube::ObjectKey secret_;
  std::stop_token stop_;
};

}  // namespace gantree::webhook
