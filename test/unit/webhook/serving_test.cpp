#include "webhook/serving.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/base64.h"
#include "http/client.h"
#include "http/server.h"
#include "json/copy.h"
#include "json/read.h"
#include "unit/http/loopback.h"
#include "webhook/certificate.h"

namespace gantree::webhook {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kSecretPath = "/api/v1/namespaces/gantree-system/secrets";
constexpr std::string_view kValidating =
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/gantree-webhook";
constexpr std::string_view kMutating =
    "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/gantree-webhook";

bool eventually(const std::function<bool()>& holds) {
  for (int i = 0; i < 500; ++i) {
    if (holds()) {
      return true;
    }
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

// As much of an API server as this needs: one Secret, two configurations, and their versions.
class SmallApi {
 public:
  SmallApi() {
    auto started = http::Server::start({}, [this](const http::IncomingRequest& request) { return answer(request); });
    server_ = std::move(*started);
  }

  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(server_->port()); }
  std::map<std::string, std::string> secret() {
    const std::lock_guard lock(mutex_);
    return secret_;
  }
  std::string bundle(std::string_view path) {
    const std::lock_guard lock(mutex_);
    return configurations_.find(path)->second.bundle;
  }
  void set_bundle(std::string_view path, std::string bundle) {
    const std::lock_guard lock(mutex_);
    Configured& configuration = configurations_.find(path)->second;
    configuration.bundle = std::move(bundle);
    ++configuration.version;
  }
  void refuse(bool all) {
    const std::lock_guard lock(mutex_);
    refusing_ = all;
  }

 private:
  struct Configured {
    std::string bundle;
    int version = 1;
  };

  http::Response answer(const http::IncomingRequest& request) {
    const std::lock_guard lock(mutex_);
    if (refusing_) {
      return status(403);
    }
    if (const auto found = configurations_.find(request.path); found != configurations_.end()) {
      return request.method == "PATCH" ? patch(found->second, request.body) : show(found->second);
    }
    if (request.method == "POST" && request.path == kSecretPath) {
      return secret_version_ > 0 ? status(409) : write_secret(request.body);
    }
    if (request.path != std::string(kSecretPath) + "/gantree-webhook" || secret_version_ == 0) {
      return status(404);
    }
    return request.method == "PATCH" ? write_secret(request.body) : secret_object();
  }

  static http::Response status(int code) {
    return {.status = code, .content_type = "application/json", .body = R"({"kind":"Status","message":"no"})"};
  }
  static http::Response ok(const json::Out& object) {
    return {.content_type = "application/json", .body = object.to_json(false)};
  }
  static json::Out metadata(int version) {
    json::Out metadata = json::Out::object();
    return metadata.add("resourceVersion", std::to_string(version));
  }

  http::Response secret_object() {
    json::Out data = json::Out::object();
    for (const auto& [key, value] : secret_) {
      data.add(key, value);
    }
    json::Out object = json::Out::object();
    return ok(object.add("metadata", metadata(secret_version_)).add("data", std::move(data)));
  }
  http::Response write_secret(const std::string& body) {
    const auto documents = json::read_documents("body", body);
    const json::Value version = documents->front().root()["metadata"]["resourceVersion"];
    if (version && version.text() != std::to_string(secret_version_)) {
      return status(409);
    }
    for (const json::MemberData& member : documents->front().root()["data"].members()) {
      secret_[std::string(member.key)] = json::Value(&member.value).text();
    }
    ++secret_version_;
    return secret_object();
  }
  static http::Response show(const Configured& configuration) {
    json::Out client = json::Out::object();
    client.add("caBundle", to_base64(configuration.bundle));
    json::Out webhook = json::Out::object();
    webhook.add("name", "a.gantree.dev").add("clientConfig", std::move(client));
    json::Out webhooks = json::Out::array();
    webhooks.push(std::move(webhook));
    json::Out object = json::Out::object();
    return ok(object.add("metadata", metadata(configuration.version)).add("webhooks", std::move(webhooks)));
  }
  static http::Response patch(Configured& configuration, const std::string& body) {
    const auto documents = json::read_documents("body", body);
    const json::Value root = documents->front().root();
    if (root["metadata"]["resourceVersion"].text() != std::to_string(configuration.version)) {
      return status(409);
    }
    const json::Value webhook(&root["webhooks"].items()[0]);
    configuration.bundle = *from_base64(webhook["clientConfig"]["caBundle"].text());
    ++configuration.version;
    return show(configuration);
  }

  std::mutex mutex_;
  std::map<std::string, std::string> secret_;
  int secret_version_ = 0;
  std::map<std::string, Configured, std::less<>> configurations_{{std::string(kValidating), {}},
                                                                 {std::string(kMutating), {}}};
  bool refusing_ = false;
  std::unique_ptr<http::Server> server_;
};

struct Connection {
  explicit Connection(const SmallApi& api) : transport(endpoint(api)), client(transport, nullptr) {}
  static http::Endpoint endpoint(const SmallApi& api) {
    http::Endpoint endpoint;
    endpoint.base_url = api.url();
    return endpoint;
  }
  http::Client transport;
  kube::Client client;
};

// What a process said.
struct Said {
  [[nodiscard]] ServingReports reports() {
    return {.news = [this](const std::string& line) { add(news, line); },
            .trouble = [this](const std::string& line) { add(trouble, line); }};
  }
  void add(std::vector<std::string>& lines, const std::string& line) {
    const std::lock_guard lock(mutex);
    lines.push_back(line);
  }
  [[nodiscard]] std::size_t count(const std::vector<std::string>& lines) {
    const std::lock_guard lock(mutex);
    return lines.size();
  }
  std::mutex mutex;
  std::vector<std::string> news;
  std::vector<std::string> trouble;
};

const ServingOptions kOptions{.listen = "127.0.0.1:0", .interval = 20ms, .first_pause = 5ms};

TEST(Serving, MakesItsCertificateAndSharesItWithTheOtherReplica) {
  SmallApi api;
  Connection one(api);
  Connection two(api);
  Said said;
  Serving first(kOptions, &one.client, dialect_routes(), said.reports());
  Serving second(kOptions, &two.client, dialect_routes(), said.reports());
  ASSERT_TRUE(eventually([&] { return first.ready() && second.ready(); }));
  const std::string served = http::Wire(first.port(), http::TlsClient{}).peer();
  EXPECT_EQ(served, http::Wire(second.port(), http::TlsClient{}).peer());
  EXPECT_EQ(to_base64(served), api.secret()["tls.crt"]);
  EXPECT_TRUE(is_issued_by(served, api.bundle(kValidating)));
  EXPECT_TRUE(eventually([&] { return is_issued_by(served, api.bundle(kMutating)); }));
  EXPECT_EQ(said.count(said.trouble), 0U);
}

TEST(Serving, CorrectsTheBundleAgainAndAgain) {
  SmallApi api;
  Connection connection(api);
  Said said;
  const Serving serving(kOptions, &connection.client, dialect_routes(), said.reports());
  for (const std::string_view path : {kValidating, kMutating}) {
    ASSERT_TRUE(eventually([&] { return serving.ready() && !api.bundle(path).empty(); }));
    api.set_bundle(path, "");
    EXPECT_TRUE(eventually([&] { return !api.bundle(path).empty(); }));
  }
}

TEST(Serving, TriesAgainAfterTrouble) {
  SmallApi api;
  api.refuse(true);
  Connection connection(api);
  Said said;
  const Serving serving(kOptions, &connection.client, dialect_routes(), said.reports());
  ASSERT_TRUE(eventually([&] { return said.count(said.trouble) > 1; }));
  EXPECT_FALSE(serving.ready());
  api.refuse(false);
  EXPECT_TRUE(eventually([&] { return serving.ready(); }));
}

TEST(Serving, StopsWhileTheServerDoesNotAnswer) {
  SmallApi api;
  http::Endpoint silent;
  silent.base_url = "http://127.0.0.1:9";
  http::Client transport(silent);
  kube::Client client(transport, nullptr);
  Said said;
  Serving serving(kOptions, &client, dialect_routes(), said.reports());
  const auto before = std::chrono::steady_clock::now();
  serving.stop(0ms);
  EXPECT_LT(std::chrono::steady_clock::now() - before, 2s);
}

class GivenCertificate : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void put(const http::SelfSigned& pair) const {
    std::ofstream(folder_ / "tls.crt") << pair.certificate;
    std::ofstream(folder_ / "tls.key") << pair.key;
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("gantree-serving-" + std::to_string(::getpid()));
};

TEST_F(GivenCertificate, IsReadAgainWhenItChanges) {
  const http::SelfSigned before = http::self_signed(1);
  const http::SelfSigned after = http::self_signed(2);
  put(before);
  ServingOptions options = kOptions;
  options.folder = folder_;
  Said said;
  const Serving serving(options, nullptr, dialect_routes(), said.reports());
  ASSERT_TRUE(eventually([&] { return serving.ready(); }));
  EXPECT_EQ(http::Wire(serving.port(), http::TlsClient{}).peer(), before.certificate);
  put(after);
  EXPECT_TRUE(eventually([&] { return http::Wire(serving.port(), http::TlsClient{}).peer() == after.certificate; }));
}

TEST_F(GivenCertificate, IsRefusedWithASentence) {
  EXPECT_NE(read_folder(folder_).error().message.find("tls.crt"), std::string::npos);
  put({http::self_signed().certificate, http::self_signed().key});
  EXPECT_NE(read_folder(folder_).error().message.find("belong"), std::string::npos);
}

}  // namespace
}  // namespace gantree::webhook
