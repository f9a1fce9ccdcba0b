// Who is trusted, and who we say we are.
#include <gtest/gtest.h>

#include <future>

#include "client/fake_server.h"
#include "kube/client.h"
#include "kube/config.h"

namespace gantree::kube {
namespace {

using http::Outcome;
using test::Certificates;
using test::FakeServer;
using test::TemporaryFolder;

Environment no_environment() {
  return [](std::string_view) { return std::nullopt; };
}

class TlsTest : public ::testing::Test {
 protected:
  [[nodiscard]] http::Endpoint endpoint() const {
    http::Endpoint endpoint;
    endpoint.base_url = server_.url("https");
    endpoint.ca_pem = test::read_file(certificates_.ca_file);
    return endpoint;
  }
  static Outcome ask(const http::Endpoint& endpoint) {
    http::Client client(endpoint);
    http::Request request;
    request.target = "/api/v1/pods";
    return test::send(client, std::move(request));
  }
  // A kubeconfig for the server with these lines under its user.
  [[nodiscard]] std::string kubeconfig(const std::string& user_lines) const {
    return folder_.write("kubeconfig",
                         "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts:\n- name: c\n"
                         "  context: {cluster: k, user: u}\nclusters:\n- name: k\n  cluster:\n    server: " +
                             server_.url("https") + "\n    certificate-authority: ca.crt\n" +
                             "users:\n- name: u\n  user:\n" + user_lines);
  }
  static Reply get(Client& client) {
    std::promise<Reply> answer;
    client.get_path("/api/v1/pods", "application/json", [&](Reply reply) { answer.set_value(std::move(reply)); });
    return answer.get_future().get();
  }

  TemporaryFolder folder_;
  Certificates certificates_{folder_};
  FakeServer server_{{"--cert", certificates_.server_file, "--key", certificates_.server_key_file, "--client-ca",
                      certificates_.ca_file}};
};

TEST_F(TlsTest, AServerThatTheAuthoritySignedIsTrusted) {
  const Outcome outcome = ask(endpoint());
  EXPECT_EQ(outcome.status, 200) << outcome.error;
}

TEST_F(TlsTest, AServerThatAnotherAuthoritySignedIsRefusedBeforeAnythingIsSent) {
  http::Endpoint other = endpoint();
  other.ca_pem = test::read_file(certificates_.other_ca_file);
  const Outcome outcome = ask(other);
  EXPECT_EQ(outcome.kind, Outcome::Kind::kNotSent);
  EXPECT_NE(outcome.error.find("certificate"), std::string::npos) << outcome.error;
}

TEST_F(TlsTest, TheAuthoritiesOfTheSystemDoNotKnowIt) {
  http::Endpoint system = endpoint();
  system.ca_pem.clear();
  EXPECT_EQ(ask(system).kind, Outcome::Kind::kNotSent);
}

TEST_F(TlsTest, WhoeverAsksForItIsNotVerified) {
  http::Endpoint insecure = endpoint();
  insecure.ca_pem.clear();
  insecure.insecure = true;
  EXPECT_EQ(ask(insecure).status, 200);
}

TEST_F(TlsTest, TheNameInTheCertificateMayBeGiven) {
  http::Endpoint named = endpoint();
  named.server_name = "fake.test";
  const Outcome outcome = ask(named);
  EXPECT_EQ(outcome.status, 200) << outcome.error;
  named.server_name = "wrong.test";
  EXPECT_EQ(ask(named).kind, Outcome::Kind::kNotSent);
}

TEST_F(TlsTest, AnAuthorityThatIsNoCertificateIsRefused) {
  http::Endpoint broken = endpoint();
  broken.ca_pem = "nonsense";
  EXPECT_EQ(ask(broken).kind, Outcome::Kind::kNotSent);
}

TEST_F(TlsTest, AClientCertificateFromAKubeconfigIsShown) {
  const Result<Config> config = load_config(
      {.kubeconfig = kubeconfig("    client-certificate: client.crt\n    client-key: client.key\n"), .context = ""},
      no_environment());
  ASSERT_TRUE(config.has_value()) << config.error().message;
  const auto credentials = make_credentials(*config);
  ASSERT_TRUE(credentials.has_value()) << credentials.error().message;
  EXPECT_EQ(ask(make_endpoint(*config, *credentials)).status, 200);
  EXPECT_NE(server_.request_log().find(R"("peer": "client")"), std::string::npos);
}

TEST_F(TlsTest, ATokenFileIsReadAgainWhenTheServerRefusesWhatItHeld) {
  const std::string token = folder_.write("token", "first\n");
  const Result<Config> config =
      load_config({.kubeconfig = kubeconfig("    tokenFile: token\n"), .context = ""}, no_environment());
  ASSERT_TRUE(config.has_value()) << config.error().message;
  const auto credentials = make_credentials(*config);
  ASSERT_TRUE(credentials.has_value());
  http::Client transport(make_endpoint(*config, *credentials));
  Client client(transport, *credentials);
  server_.control(R"({"op":"set","tokens":["first"]})");
  EXPECT_TRUE(get(client).ok());
  server_.control(R"({"op":"set","tokens":["second"]})");
  EXPECT_EQ(get(client).http_status, 401);
  folder_.write("token", "second\n");
  const Reply renewed = get(client);
  EXPECT_TRUE(renewed.ok());
  EXPECT_EQ(renewed.attempts, 2);
}

TEST_F(TlsTest, APluginIsRunAgainWhenTheServerRefusesWhatItGave) {
  folder_.write("token", "first");
  folder_.write("plugin",
                "#!/bin/sh\ncd \"$(dirname \"$0\")\"\necho \"$KUBERNETES_EXEC_INFO\" > info\necho run >> runs\n"
                "printf '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\","
                "\"status\":{\"token\":\"%s%s\"}}' \"$PREFIX\" \"$(cat token)\"\n",
                true);
  const Result<Config> config = load_config(
      {.kubeconfig =
           kubeconfig("    exec:\n      apiVersion: client.authentication.k8s.io/v1\n      command: ./plugin\n"
                      "      interactiveMode: Never\n      provideClusterInfo: true\n"
                      "      env: [{name: PREFIX, value: p-}]\n"),
       .context = ""},
      no_environment());
  ASSERT_TRUE(config.has_value()) << config.error().message;
  const auto credentials = make_credentials(*config);
  ASSERT_TRUE(credentials.has_value()) << credentials.error().message;
  EXPECT_NE(test::read_file(folder_.path("info")).find(server_.url("https")), std::string::npos);
  http::Client transport(make_endpoint(*config, *credentials));
  Client client(transport, *credentials);
  server_.control(R"({"op":"set","tokens":["p-first"]})");
  EXPECT_TRUE(get(client).ok());
  EXPECT_TRUE(get(client).ok());
  EXPECT_EQ(test::read_file(folder_.path("runs")), "run\n") << "what it gave is kept";
  folder_.write("token", "second");
  server_.control(R"({"op":"set","tokens":["p-second"]})");
  EXPECT_TRUE(get(client).ok());
  EXPECT_EQ(test::read_file(folder_.path("runs")), "run\nrun\n");
}

TEST_F(TlsTest, APluginIsRunAgainBeforeWhatItGaveExpires) {
  folder_.write("plugin",
                "#!/bin/sh\ncd \"$(dirname \"$0\")\"\necho run >> runs\n"
                "printf '{\"apiVersion\":\"client.authentication.k8s.io/v1beta1\",\"kind\":\"ExecCredential\","
                "\"status\":{\"token\":\"t\",\"expirationTimestamp\":\"%s\"}}' \"$(date -u -d '+3 sec' +%FT%TZ)\"\n",
                true);
  const Result<Config> config = load_config(
      {.kubeconfig = kubeconfig("    exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: ./plugin}\n"),
       .context = ""},
      no_environment());
  ASSERT_TRUE(config.has_value()) << config.error().message;
  const auto credentials = make_credentials(*config);
  ASSERT_TRUE(credentials.has_value()) << credentials.error().message;
  EXPECT_TRUE(test::eventually([&] { return test::read_file(folder_.path("runs")) == "run\nrun\n"; }));
  EXPECT_TRUE((*credentials)->current().has_value());
}

TEST_F(TlsTest, APluginThatFailsIsNamedAtTheStart) {
  const Result<Config> config = load_config(
      {.kubeconfig = kubeconfig("    exec: {apiVersion: client.authentication.k8s.io/v1, command: no-such-plugin,\n"
                                "      installHint: install it}\n"),
       .context = ""},
      no_environment());
  ASSERT_TRUE(config.has_value()) << config.error().message;
  const auto credentials = make_credentials(*config);
  ASSERT_FALSE(credentials.has_value());
  EXPECT_NE(credentials.error().message.find("no-such-plugin: No such file or directory (install it)"),
            std::string::npos)
      << credentials.error().message;
}

}  // namespace
}  // namespace gantree::kube
