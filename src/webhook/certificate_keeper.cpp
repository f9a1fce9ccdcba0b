#include "webhook/certificate_keeper.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace gantree::webhook {

namespace {

constexpr std::string_view kAuthorityName = "gantree-webhook-ca";
// Clocks differ: what is made now must be good on a machine whose clock is behind.
constexpr std::chrono::hours kBackdate{1};
// How often a write may lose against others before this gives up for now.
constexpr int kMostTries = 8;

Validity from_now(WallTime now, std::chrono::hours life) {
  return {now - kBackdate, now + life};
}

// Two thirds of its life are over, or it is not valid at all.
bool is_old(const Validity& validity, WallTime now) {
  return now < validity.from || now >= validity.until - (validity.until - validity.from) / 3;
}

std::string joined(const std::vector<std::string>& certificates) {
  return std::accumulate(certificates.begin(), certificates.end(), std::string());
}

// Expired ones, and what is no certificate, left out.
std::vector<std::string> usable_authorities(const std::string& bundle, WallTime now) {
  std::vector<std::string> authorities = split_bundle(bundle);
  std::erase_if(authorities, [&](const std::string& authority) {
    const auto facts = read_certificate(authority);
    return !facts || now >= facts->validity.until;
  });
  return authorities;
}

class Keeper {
 public:
  Keeper(const KeeperOptions& options, WallTime now) : options_(options), now_(now) {
    names_ = options.names;
    std::sort(names_.begin(), names_.end());
  }

  // What the Secret should hold; `changed` tells whether that differs.
  Result<StoredCertificate> renewed(StoredCertificate stored, bool& changed) const {
    changed = false;
    std::vector<std::string> authorities = usable_authorities(stored.authorities, now_);
    if (needs_authority(authorities, stored.authority_key)) {
      auto authority = make_authority(kAuthorityName, from_now(now_, options_.authority_life));
      if (!authority) {
        return tl::unexpected(authority.error());
      }
      authorities.insert(authorities.begin(), authority->certificate);
      stored.authority_key = std::move(authority->key);
      changed = true;
    }
    stored.authorities = joined(authorities);
    if (needs_serving(stored.serving, authorities)) {
      auto serving =
          issue({authorities.front(), stored.authority_key}, options_.names, from_now(now_, options_.serving_life));
      if (!serving) {
        return tl::unexpected(serving.error());
      }
      stored.serving = std::move(*serving);
      changed = true;
    }
    return stored;
  }

 private:
  [[nodiscard]] bool needs_authority(const std::vector<std::string>& authorities, const std::string& key) const {
    if (authorities.empty() || !belong_together({authorities.front(), key})) {
      return true;
    }
    const auto facts = read_certificate(authorities.front());
    return !facts || is_old(facts->validity, now_);
  }

  [[nodiscard]] bool needs_serving(const KeyPair& serving, const std::vector<std::string>& authorities) const {
    const auto facts = read_certificate(serving.certificate);
    const bool trusted = std::any_of(authorities.begin(), authorities.end(), [&](const std::string& authority) {
      return is_issued_by(serving.certificate, authority);
    });
    if (!facts || !trusted || !belong_together(serving) || facts->names != names_ || now_ >= facts->validity.until) {
      return true;
    }
    return settled(authorities.front()) &&
           (is_old(facts->validity, now_) || !is_issued_by(serving.certificate, authorities.front()));
  }

  // Every API server has had time to learn of the newest authority.
  [[nodiscard]] bool settled(const std::string& authority) const {
    const auto facts = read_certificate(authority);
    return facts && now_ >= facts->validity.from + kBackdate + kSettle;
  }

  const KeeperOptions& options_;
  WallTime now_;
  std::vector<std::string> names_;
};

Result<StoredCertificate> keep_secret(CertificateStore& store, const KeeperOptions& options, WallTime now) {
  const Keeper keeper(options, now);
  for (int attempt = 0; attempt < kMostTries; ++attempt) {
    auto stored = store.read();
    if (!stored) {
      return stored;
    }
    bool changed = false;
    auto wanted = keeper.renewed(std::move(*stored), changed);
    if (!wanted || !changed) {
      return wanted;
    }
    const auto written = store.write(*wanted);
    if (!written) {
      return tl::unexpected(written.error());
    }
    if (*written == Written::kDone) {
      return wanted;
    }
  }
  return fail(Errc::kIo, fmt::format("the webhook's certificate was written by others {} times in a row", kMostTries));
}

// False where there is no such configuration.
Result<bool> keep_configuration(CertificateStore& store, const ConfigurationName& name, const std::string& bundle) {
  for (int attempt = 0; attempt < kMostTries; ++attempt) {
    const auto read = store.read(name);
    if (!read) {
      return tl::unexpected(read.error());
    }
    if (!*read) {
      return false;
    }
    const auto& webhooks = (*read)->webhooks;
    if (std::all_of(webhooks.begin(), webhooks.end(), [&](const auto& webhook) { return webhook.bundle == bundle; })) {
      return true;
    }
    const auto written = store.write(name, **read, bundle);
    if (!written) {
      return tl::unexpected(written.error());
    }
    if (*written == Written::kDone) {
      return true;
    }
  }
  return fail(Errc::kIo, fmt::format("{} was written by others {} times in a row", name.title(), kMostTries));
}

}  // namespace

std::string ConfigurationName::title() const {
  switch (kind) {
    case ConfigurationKind::kValidating:
      return fmt::format("ValidatingWebhookConfiguration \"{}\"", name);
    case ConfigurationKind::kMutating:
      return fmt::format("MutatingWebhookConfiguration \"{}\"", name);
    case ConfigurationKind::kConversion:
      break;
  }
  return fmt::format("CustomResourceDefinition \"{}\"", name);
}

Result<Kept> keep_certificate(CertificateStore& store, const KeeperOptions& options, WallTime now) {
  auto stored = keep_secret(store, options, now);
  if (!stored) {
    return tl::unexpected(stored.error());
  }
  Kept kept{.serving = std::move(stored->serving), .bundle = std::move(stored->authorities), .missing = {}};
  for (const ConfigurationName& name : options.configurations) {
    const auto there = keep_configuration(store, name, kept.bundle);
    if (!there) {
      return tl::unexpected(there.error());
    }
    // Whose definitions are not there has none of those objects.
    if (!*there && name.kind != ConfigurationKind::kConversion) {
      kept.missing.push_back(name.title());
    }
  }
  return kept;
}

std::vector<std::string> service_names(std::string_view service, std::string_view ns) {
  return {fmt::format("{}.{}.svc", service, ns), fmt::format("{}.{}", service, ns), std::string(service),
          fmt::format("{}.{}.svc.cluster.local", service, ns)};
}

}  // namespace gantree::webhook
