// Kubeconfigs as kubectl reads them.
#include "kube/config.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "kube/exec_credential.h"

namespace gantree::kube {
namespace {

class ConfigTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "gantree-config-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::string write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = std::filesystem::path(folder_) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }
  // One context, whose cluster and user hold these lines.
  std::string one(const std::string& cluster, const std::string& user) const {
    return write("config",
                 "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u, namespace: team}}]\n"
                 "clusters:\n- name: k\n  cluster: {" +
                     cluster + "}\nusers:\n- name: u\n  user: {" + user + "}\n");
  }
  [[nodiscard]] Result<Config> load(const std::string& file, const std::string& context = {}) const {
    return load_config({.kubeconfig = file, .context = context}, environment());
  }
  [[nodiscard]] std::string error(const std::string& cluster, const std::string& user = "token: t") const {
    const Result<Config> config = load(one(cluster, user));
    return config.has_value() ? "no error" : config.error().message.substr(folder_.size() + 1);
  }
  [[nodiscard]] Environment environment() const {
    return [this](std::string_view name) -> std::optional<std::string> {
      const auto found = variables_.find(name);
      return found == variables_.end() ? std::nullopt : std::optional(found->second);
    };
  }

  std::string folder_;
  std::map<std::string, std::string, std::less<>> variables_;
};

TEST_F(ConfigTest, ReadsServerNamespaceTokenAndData) {
  const Result<Config> config = load(
      one("server: 'https://10.0.0.1:6443/', certificate-authority-data: Y2E=, tls-server-name: api.test, "
          "proxy-url: 'http://proxy:3128', disable-compression: true",
          "token: secret, client-certificate-data: Y2VydA==, client-key-data: a2V5, as: admin, as-groups: [a, b]"));
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->server, "https://10.0.0.1:6443");
  EXPECT_EQ(config->default_namespace, "team");
  EXPECT_EQ(config->ca_pem, "ca");
  EXPECT_EQ(config->server_name, "api.test");
  EXPECT_EQ(config->proxy, "http://proxy:3128");
  EXPECT_FALSE(config->compressed);
  EXPECT_FALSE(config->insecure);
  EXPECT_EQ(config->token, "secret");
  EXPECT_EQ(config->certificate_pem, "cert");
  EXPECT_EQ(config->key_pem, "key");
  const std::vector<std::pair<std::string, std::string>> impersonation = {
      {"Impersonate-User", "admin"}, {"Impersonate-Group", "a"}, {"Impersonate-Group", "b"}};
  EXPECT_EQ(config->impersonation, impersonation);
}

TEST_F(ConfigTest, FilesAreFoundFromTheFolderOfTheKubeconfig) {
  write("pki/ca.crt", "from a file");
  const Result<Config> config = load(one("server: 'https://a', certificate-authority: pki/ca.crt",
                                         "tokenFile: pki/token, client-certificate: /abs/c.crt, client-key: c.key"));
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->ca_pem, "from a file");
  EXPECT_EQ(config->token_file, folder_ + "/pki/token");
  EXPECT_EQ(config->certificate_file, "/abs/c.crt");
  EXPECT_EQ(config->key_file, folder_ + "/c.key");
}

TEST_F(ConfigTest, TheFirstOfSeveralFilesWins) {
  const std::string first = write("first",
                                  "current-context: one\n"
                                  "clusters: [{name: k, cluster: {server: 'https://first'}}]\n");
  const std::string second =
      write("second",
            "current-context: two\n"
            "contexts: [{name: one, context: {cluster: k}}, {name: two, context: {cluster: m}}]\n"
            "clusters: [{name: k, cluster: {server: 'https://second', proxy-url: 'http://p'}},"
            " {name: m, cluster: {server: 'https://m'}}]\n");
  variables_["KUBECONFIG"] = folder_ + "/missing:" + first + "::" + second;
  const Result<Config> config = load("");
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->server, "https://first");
  EXPECT_EQ(config->proxy, "") << "entries of one name are not mixed";
  EXPECT_EQ(load("", "two")->server, "https://m");
  EXPECT_EQ(load(second)->server, "https://m") << "--kubeconfig is the only file";
}

TEST_F(ConfigTest, TheHomeFolderComesWhereNothingIsSaid) {
  variables_["HOME"] = folder_;
  write(".kube/config",
        "current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\n"
        "clusters: [{name: k, cluster: {server: 'localhost:8080'}}]\n");
  const Result<Config> config = load("");
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->server, "http://localhost:8080");
  EXPECT_EQ(config->default_namespace, "default");
}

TEST_F(ConfigTest, TheProxyOfTheEnvironmentIsUsedWhereTheClusterNamesNone) {
  variables_["HTTPS_PROXY"] = "http://proxy:1";
  EXPECT_EQ(load(one("server: 'https://api.example.com'", "token: t"))->proxy, "http://proxy:1");
  variables_["NO_PROXY"] = "example.com";
  EXPECT_EQ(load(one("server: 'https://api.example.com'", "token: t"))->proxy, "");
}

TEST_F(ConfigTest, ComplaintsNameFileAndEntry) {
  EXPECT_EQ(error("proxy-url: x"), "config: cluster \"k\": server is missing");
  EXPECT_EQ(error("server: 'https://a', certificate-authority-data: '%%'"),
            "config: cluster \"k\": certificate-authority-data is not base64");
  EXPECT_EQ(error("server: 'https://a', certificate-authority-data: Y2E=, insecure-skip-tls-verify: true"),
            "config: cluster \"k\": insecure-skip-tls-verify and certificate-authority exclude each other");
  EXPECT_EQ(error("server: 'https://a', certificate-authority: gone"),
            "config: cluster \"k\": certificate-authority: " + folder_ + "/gone: No such file or directory");
  EXPECT_EQ(error("server: 'https://a'", "token: t, username: x"),
            "config: user \"u\": a token and a username exclude each other");
  EXPECT_EQ(error("server: 'https://a'", "client-key: k"),
            "config: user \"u\": client-key is given without client-certificate");
  EXPECT_EQ(error("server: 'https://a'", "auth-provider: {name: gcp}"),
            "config: user \"u\": auth-provider is no longer part of Kubernetes; use exec");
  EXPECT_NE(error("server: 3").find("server must be a string"), std::string::npos) << error("server: 3");
}

TEST_F(ConfigTest, WhatIsMissingIsNamed) {
  const std::string file = one("server: 'https://a'", "token: t");
  EXPECT_EQ(load(file, "nope").error().message, file + ": there is no context \"nope\"");
  EXPECT_EQ(load(folder_ + "/gone").error().message, folder_ + "/gone: No such file or directory");
  EXPECT_NE(load("").error().message.find("no kubeconfig was found"), std::string::npos);
  const std::string dangling = write("dangling",
                                     "contexts: [{name: c, context: {cluster: k, user: u}}]\n"
                                     "clusters: [{name: k, cluster: {server: 'https://a'}}]\n");
  EXPECT_EQ(load(dangling).error().message, dangling + ": current-context is not set; say which one with --context");
  EXPECT_EQ(load(dangling, "c").error().message, dangling + ": context \"c\": there is no user \"u\"");
}

TEST_F(ConfigTest, BrokenFilesAreRefused) {
  for (const char* text : {"[", "- a", "clusters: {}", "clusters: [3]", "clusters: [{cluster: {}}]",
                           "a: b\n---\nc: d\n", "current-context: [x]"}) {
    EXPECT_FALSE(load(write("broken", text)).has_value()) << text;
  }
}

TEST_F(ConfigTest, ReadsPlugins) {
  const Result<Config> config =
      load(one("server: 'https://a'",
               "exec: {apiVersion: client.authentication.k8s.io/v1, command: bin/login, args: [a, b],"
               " env: [{name: X, value: z}], installHint: get it, provideClusterInfo: true}"));
  ASSERT_TRUE(config.has_value()) << config.error().message;
  ASSERT_TRUE(config->exec.has_value());
  EXPECT_EQ(config->exec->command, folder_ + "/bin/login");
  EXPECT_EQ(config->exec->arguments, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(exec_info(*config), R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",)"
                                R"("spec":{"cluster":{"server":"https://a"},"interactive":false}})");
  EXPECT_NE(error("server: 'https://a'", "exec: {apiVersion: v3, command: x}").find("exec.apiVersion must be"),
            std::string::npos);
  EXPECT_NE(error("server: 'https://a'", "exec: {apiVersion: client.authentication.k8s.io/v1}").find("command"),
            std::string::npos);
}

TEST_F(ConfigTest, PluginsThatAnswerNonsenseAreRefused) {
  const ExecPlugin plugin{.command = "login",
                          .arguments = {},
                          .environment = {},
                          .api_version = "client.authentication.k8s.io/v1",
                          .install_hint = {}};
  const std::string head = R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":)";
  for (const std::string& answer :
       {std::string("hello"), std::string("[]"), std::string("{}"), head + "{}}", head + R"({"token":3}})",
        head + R"({"clientCertificateData":"x"}})", head + R"({"token":"t","expirationTimestamp":"soon"}})",
        std::string(R"({"apiVersion":"other","kind":"ExecCredential","status":{"token":"t"}})")}) {
    const auto result = read_exec_credential(plugin, answer);
    ASSERT_FALSE(result.has_value()) << answer;
    EXPECT_TRUE(result.error().message.starts_with("login:")) << result.error().message;
  }
  const auto good =
      read_exec_credential(plugin, head + R"({"token":"t","expirationTimestamp":"2026-01-31T12:00:00Z"}})");
  ASSERT_TRUE(good.has_value()) << good.error().message;
  EXPECT_EQ(good->credential.authorization, "Bearer t");
  EXPECT_TRUE(good->expires.has_value());
}

TEST_F(ConfigTest, APodUsesItsServiceAccount) {
  write("sa/ca.crt", "ca");
  write("sa/namespace", "team\n");
  variables_["KUBERNETES_SERVICE_HOST"] = "fd00::1";
  variables_["KUBERNETES_SERVICE_PORT"] = "443";
  const Result<Config> config = in_cluster_config(environment(), folder_ + "/sa");
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->server, "https://[fd00::1]:443");
  EXPECT_EQ(config->token_file, folder_ + "/sa/token");
  EXPECT_EQ(config->default_namespace, "team");
  EXPECT_FALSE(in_cluster_config(environment(), folder_ + "/none").has_value());
  variables_.clear();
  EXPECT_FALSE(in_cluster_config(environment(), folder_ + "/sa").has_value());
}

}  // namespace
}  // namespace gantree::kube
