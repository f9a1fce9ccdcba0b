#include "webhook/certificate_keeper.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gantree::webhook {
namespace {

using namespace std::chrono_literals;

const WallTime kStart = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
constexpr auto kDay = 24h;

// A Secret and two configurations, as an API server keeps them.
class FakeStore final : public CertificateStore {
 public:
  Result<StoredCertificate> read() override {
    if (!trouble.empty()) {
      return fail(Errc::kIo, trouble);
    }
    StoredCertificate copy = secret;
    copy.resource_version = version == 0 ? "" : std::to_string(version);
    if (before_write) {
      std::exchange(before_write, nullptr)();
    }
    return copy;
  }
  Result<Written> write(const StoredCertificate& certificate) override {
    ++writes;
    if (certificate.resource_version != (version == 0 ? "" : std::to_string(version))) {
      return Written::kOvertaken;
    }
    secret = certificate;
    ++version;
    return Written::kDone;
  }
  Result<std::optional<Configuration>> read(const ConfigurationName& name) override {
    const auto it = configurations.find(name.name);
    return it == configurations.end() ? std::nullopt : std::optional(it->second);
  }
  Result<Written> write(const ConfigurationName& name, const Configuration& read, std::string_view bundle) override {
    ++patches;
    Configuration& configuration = configurations.at(name.name);
    if (configuration.resource_version != read.resource_version) {
      return Written::kOvertaken;
    }
    for (auto& webhook : configuration.webhooks) {
      webhook.bundle = bundle;
    }
    configuration.resource_version += "+";
    return Written::kDone;
  }

  StoredCertificate secret;
  int version = 0;
  std::map<std::string, Configuration> configurations{{"validating", {"1", {{"a", ""}, {"b", ""}}}}};
  int writes = 0;
  int patches = 0;
  std::string trouble;
  std::function<void()> before_write;
};

const KeeperOptions kOptions{.names = service_names("gantree-webhook", "gantree-system"),
                             .configurations = {{ConfigurationKind::kValidating, "validating"}}};

Kept keep(FakeStore& store, WallTime now) {
  auto kept = keep_certificate(store, kOptions, now);
  EXPECT_TRUE(kept) << kept.error().message;
  EXPECT_TRUE(belong_together(kept->serving));
  const std::vector<std::string> authorities = split_bundle(kept->bundle);
  EXPECT_TRUE(std::any_of(authorities.begin(), authorities.end(), [&](const std::string& authority) {
    return is_issued_by(kept->serving.certificate, authority);
  }));
  const auto facts = read_certificate(kept->serving.certificate);
  EXPECT_TRUE(facts->validity.from <= now && now < facts->validity.until);
  return *kept;
}

TEST(CertificateKeeper, MakesACertificateAndTellsTheConfigurations) {
  FakeStore store;
  const Kept kept = keep(store, kStart);
  EXPECT_EQ(store.secret.serving, kept.serving);
  for (const auto& webhook : store.configurations["validating"].webhooks) {
    EXPECT_EQ(webhook.bundle, kept.bundle);
  }
  EXPECT_EQ(read_certificate(kept.serving.certificate)->names.size(), 4U);
}

TEST(CertificateKeeper, TellsTheDefinitionsWhoseObjectsWeConvert) {
  FakeStore store;
  store.configurations["queues.example"] = {"1", {{"queues.example", ""}}};
  store.configurations["of-others.example"] = {"1", {}};
  KeeperOptions options = kOptions;
  for (const char* name : {"queues.example", "of-others.example", "missing.example"}) {
    options.configurations.push_back({ConfigurationKind::kConversion, name});
  }
  const auto kept = keep_certificate(store, options, kStart);
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_EQ(store.configurations["queues.example"].webhooks.front().bundle, kept->bundle);
  EXPECT_EQ(store.patches, 2);
  EXPECT_TRUE(kept->missing.empty());
}

TEST(CertificateKeeper, WritesNothingWhereAllIsWell) {
  FakeStore store;
  const Kept first = keep(store, kStart);
  const Kept second = keep(store, kStart + kDay);
  EXPECT_EQ(first.serving, second.serving);
  EXPECT_EQ(store.writes, 1);
  EXPECT_EQ(store.patches, 1);
}

TEST(CertificateKeeper, FillsASecretThatIsThereButEmpty) {
  FakeStore store;
  store.version = 7;
  keep(store, kStart);
  EXPECT_EQ(store.version, 8);
}

TEST(CertificateKeeper, TakesWhatAnotherReplicaWroteFirst) {
  FakeStore store;
  std::optional<Kept> winner;
  store.before_write = [&] { winner = keep(store, kStart); };
  const Kept loser = keep(store, kStart);
  EXPECT_EQ(loser.serving, winner->serving);
  EXPECT_EQ(store.version, 1);
}

TEST(CertificateKeeper, RenewsTheCertificateWellBeforeItEndsUnderTheSameAuthority) {
  FakeStore store;
  const Kept first = keep(store, kStart);
  EXPECT_EQ(keep(store, kStart + 59 * kDay).serving, first.serving);
  const Kept renewed = keep(store, kStart + 61 * kDay);
  EXPECT_NE(renewed.serving, first.serving);
  EXPECT_EQ(renewed.bundle, first.bundle);
}

TEST(CertificateKeeper, ReplacesTheAuthorityWithoutAMomentOfDistrust) {
  FakeStore store;
  WallTime now = kStart;
  Kept before = keep(store, now);
  int authorities_seen = 1;
  // Eight years, looked at every three weeks: what is served is always trusted by the bundle that was known before.
  for (int i = 0; i < 139; ++i) {
    now += 21 * kDay;
    const Kept after = keep(store, now);
    const std::vector<std::string> known = split_bundle(before.bundle);
    EXPECT_TRUE(std::any_of(known.begin(), known.end(), [&](const std::string& authority) {
      return is_issued_by(after.serving.certificate, authority);
    })) << i;
    authorities_seen += split_bundle(after.bundle).front() != known.front() ? 1 : 0;
    EXPECT_LE(split_bundle(after.bundle).size(), 2U);
    EXPECT_EQ(store.configurations["validating"].webhooks.front().bundle, after.bundle);
    before = after;
  }
  EXPECT_GE(authorities_seen, 5);
}

TEST(CertificateKeeper, StartsAnewAfterALongSleep) {
  FakeStore store;
  keep(store, kStart);
  keep(store, kStart + 4 * 365 * kDay);
  keep(store, kStart + 4 * 365 * kDay + 300 * kDay);
}

TEST(CertificateKeeper, ReplacesWhatSomebodySpoilt) {
  const std::function<void(StoredCertificate&)> kHarms[] = {
      [](StoredCertificate& secret) { secret.authorities = "nonsense"; },
      [](StoredCertificate& secret) { secret.authority_key.clear(); },
      [](StoredCertificate& secret) { secret.serving.certificate.clear(); },
      [](StoredCertificate& secret) { secret.serving.key = secret.authority_key; },
  };
  for (const auto& harm : kHarms) {
    FakeStore store;
    keep(store, kStart);
    harm(store.secret);
    keep(store, kStart + kDay);
    EXPECT_EQ(store.writes, 2);
  }
}

TEST(CertificateKeeper, IssuesAnewForOtherNames) {
  FakeStore store;
  const Kept first = keep(store, kStart);
  KeeperOptions other = kOptions;
  other.names = service_names("gantree-webhook", "elsewhere");
  const auto moved = keep_certificate(store, other, kStart + 1h);
  ASSERT_TRUE(moved);
  EXPECT_NE(moved->serving, first.serving);
  EXPECT_EQ(moved->bundle, first.bundle);
}

TEST(CertificateKeeper, CorrectsAConfigurationThatWasReset) {
  FakeStore store;
  const Kept kept = keep(store, kStart);
  store.configurations["validating"].webhooks[1].bundle = "";
  keep(store, kStart + 1min);
  EXPECT_EQ(store.configurations["validating"].webhooks[1].bundle, kept.bundle);
}

TEST(CertificateKeeper, GoesOnWithoutAConfigurationAndSaysSo) {
  FakeStore store;
  store.configurations.clear();
  EXPECT_EQ(keep(store, kStart).missing, std::vector<std::string>{"ValidatingWebhookConfiguration \"validating\""});
}

TEST(CertificateKeeper, PassesOnTheTroubleOfTheServer) {
  FakeStore store;
  store.trouble = "no connection";
  const auto kept = keep_certificate(store, kOptions, kStart);
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().message, "no connection");
}

}  // namespace
}  // namespace gantree::webhook
