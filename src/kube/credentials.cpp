#include "kube/credentials.h"

#include <chrono>
#include <mutex>
#include <utility>

#include "base/base64.h"
#include "kube/exec_credentials.h"
#include "kube/text_file.h"

namespace gantree::kube {
namespace {

constexpr std::chrono::seconds kReadAgain{30};

// What stands in the kubeconfig, or in files that it names.
class GivenCredentials final : public Credentials {
 public:
  explicit GivenCredentials(const Config& config) : config_(config) {}

  Result<http::Credential> current() override {
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (!current_.has_value() || now >= read_at_ + kReadAgain) {
      read_at_ = now;
      // A file that cannot be read just now is no reason to drop what it held before.
      Result<http::Credential> read = read_all();
      if (read.has_value() || !current_.has_value()) {
        current_ = std::move(read);
      }
    }
    return *current_;
  }

  void renew(std::function<void()> done) override {
    {
      const std::lock_guard lock(mutex_);
      read_at_ = {};
    }
    done();
  }

 private:
  [[nodiscard]] Result<http::Credential> read_all() const {
    http::Credential credential;
    if (!config_.username.empty()) {
      credential.authorization = "Basic " + to_base64(config_.username + ":" + config_.password);
    }
    std::string token = config_.token;
    if (!config_.token_file.empty()) {
      const Result<std::string> text = read_text_file(config_.token_file);
      if (text.has_value() && !trimmed(*text).empty()) {
        token = trimmed(*text);
      } else if (token.empty()) {
        return text.has_value() ? fail(Errc::kIo, config_.token_file + ": holds no token")
                                : tl::unexpected<Error>(text.error());
      }
    }
    if (!token.empty()) {
      credential.authorization = "Bearer " + token;
    }
    return with_certificate(std::move(credential));
  }

  [[nodiscard]] Result<http::Credential> with_certificate(http::Credential credential) const {
    credential.certificate_pem = config_.certificate_pem;
    credential.key_pem = config_.key_pem;
    for (const auto& [file, target] : {std::pair(&config_.certificate_file, &credential.certificate_pem),
                                       std::pair(&config_.key_file, &credential.key_pem)}) {
      if (file->empty()) {
        continue;
      }
      Result<std::string> text = read_text_file(*file);
      if (!text.has_value()) {
        return tl::unexpected<Error>(text.error());
      }
      *target = std::move(*text);
    }
    return credential;
  }

  const Config config_;
  std::mutex mutex_;
  std::optional<Result<http::Credential>> current_;
  std::chrono::steady_clock::time_point read_at_;
};

}  // namespace

Result<std::shared_ptr<Credentials>> make_credentials(const Config& config) {
  if (config.exec.has_value()) {
    return make_exec_credentials(config).map_error(
        [&](const Error& error) { return Error{error.code, config.origin + ": " + error.message}; });
  }
  auto credentials = std::make_shared<GivenCredentials>(config);
  if (const Result<http::Credential> first = credentials->current(); !first.has_value()) {
    return fail(first.error().code, config.origin + ": " + first.error().message);
  }
  return std::shared_ptr<Credentials>(std::move(credentials));
}

http::Endpoint make_endpoint(const Config& config, std::shared_ptr<Credentials> credentials) {
  http::Endpoint endpoint;
  endpoint.base_url = config.server;
  endpoint.ca_pem = config.ca_pem;
  endpoint.server_name = config.server_name;
  endpoint.proxy = config.proxy;
  endpoint.insecure = config.insecure;
  endpoint.compressed = config.compressed;
  for (const auto& [name, value] : config.impersonation) {
    endpoint.headers.push_back({name, value});
  }
  endpoint.credential = [credentials = std::move(credentials)] { return credentials->current(); };
  return endpoint;
}

}  // namespace gantree::kube
