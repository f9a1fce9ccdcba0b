#include "webhook/certificate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "unit/http/loopback.h"
#include "webhook/server.h"

namespace gantree::webhook {
namespace {

using namespace std::chrono_literals;

const WallTime kNow = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
const Validity kYear{kNow - 1h, kNow + 24h * 365};
const std::vector<std::string> kNames{"gantree-webhook.gantree-system.svc", "127.0.0.1", "::1",
                                      std::string(70, 'x') + ".svc"};

TEST(Certificate, IsIssuedByTheAuthorityForTheGivenNamesAndTime) {
  const auto authority = make_authority("an authority", kYear);
  ASSERT_TRUE(authority);
  const auto issued = issue(*authority, kNames, {kNow - 1h, kNow + 48h});
  ASSERT_TRUE(issued) << issued.error().message;
  EXPECT_TRUE(is_issued_by(issued->certificate, authority->certificate));
  EXPECT_TRUE(belong_together(*issued));
  EXPECT_TRUE(belong_together(*authority));
  const auto facts = read_certificate(issued->certificate);
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->validity.from, kNow - 1h);
  EXPECT_EQ(facts->validity.until, kNow + 48h);
  std::vector<std::string> names = kNames;
  std::sort(names.begin(), names.end());
  EXPECT_EQ(facts->names, names);
}

TEST(Certificate, IsOfNoOtherAuthorityAndNoOtherKey) {
  const auto one = make_authority("an authority", kYear);
  const auto other = make_authority("an authority", kYear);
  const auto issued = issue(*one, kNames, kYear);
  EXPECT_FALSE(is_issued_by(issued->certificate, other->certificate));
  EXPECT_FALSE(belong_together({one->certificate, other->key}));
  EXPECT_FALSE(issue({one->certificate, other->key}, kNames, kYear));
}

TEST(Certificate, OfNonsenseIsNone) {
  for (const char* text : {"", "nonsense", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"}) {
    EXPECT_FALSE(read_certificate(text));
    EXPECT_FALSE(is_issued_by(text, text));
    EXPECT_FALSE(belong_together({text, text}));
    EXPECT_FALSE(issue({text, text}, kNames, kYear));
    EXPECT_TRUE(split_bundle(text).empty());
  }
}

TEST(Certificate, BundlesAreTakenApart) {
  const std::string one = make_authority("one", kYear)->certificate;
  const std::string two = make_authority("two", kYear)->certificate;
  EXPECT_EQ(split_bundle(one + "# a remark\n" + two), (std::vector{one, two}));
}

// As the API server does it: by the bundle, and by the name of the Service.
bool verifies(std::uint16_t port, const std::string& bundle, const char* name) {
  const http::Wire wire(port);
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  BIO* bio = BIO_new_mem_buf(bundle.data(), static_cast<int>(bundle.size()));
  while (X509* authority = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr)) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority);
    X509_free(authority);
  }
  BIO_free(bio);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL* ssl = SSL_new(context);
  SSL_set1_host(ssl, name);
  SSL_set_fd(ssl, wire.descriptor());
  const bool good = SSL_connect(ssl) == 1;
  SSL_free(ssl);
  SSL_CTX_free(context);
  return good;
}

TEST(Certificate, IsGoodForAClientThatChecksAuthorityAndName) {
  const auto old_authority = make_authority("gantree-webhook-ca", kYear);
  const auto authority = make_authority("gantree-webhook-ca", kYear);
  const auto issued = issue(*old_authority, kNames, kYear);
  const auto server = Server::start("127.0.0.1:0", {issued->certificate, issued->key}, dialect_routes());
  ASSERT_TRUE(server) << server.error().message;
  const std::uint16_t port = server.value()->port();
  EXPECT_TRUE(verifies(port, old_authority->certificate, kNames.front().c_str()));
  EXPECT_TRUE(verifies(port, authority->certificate + old_authority->certificate, kNames.front().c_str()));
  EXPECT_FALSE(verifies(port, authority->certificate, kNames.front().c_str()));
  EXPECT_FALSE(verifies(port, old_authority->certificate, "other.gantree-system.svc"));
}

}  // namespace
}  // namespace gantree::webhook
