// `gantree run` as a whole, against as much of an API server as it needs to start.
#include "service/run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <thread>

#include "http/server.h"
#include "unit/http/loopback.h"

namespace gantree {
namespace {

using namespace std::chrono_literals;

bool eventually(const std::function<bool()>& holds) {
  for (int i = 0; i < 3000; ++i) {
    if (holds()) {
      return true;
    }
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

// It serves no resource, so that all of them are listed at once. Who asks is told who he is only when it may.
class SmallApi {
 public:
  SmallApi() {
    auto started = http::Server::start({}, [this](const http::IncomingRequest& request) { return answer(request); });
    server_ = std::move(*started);
  }
  [[nodiscard]] std::string url() const { return fmt::format("http://127.0.0.1:{}", server_->port()); }

  std::atomic<bool> tells_who = false;

 private:
  http::Response answer(const http::IncomingRequest& request) {
    http::Response response{.content_type = "application/json", .body = R"({"kind":"Status"})"};
    if (request.path == "/api") {
      response.body = R"({"kind":"APIVersions","versions":[]})";
    } else if (request.path == "/apis") {
      response.body = R"({"kind":"APIGroupList","groups":[]})";
    } else if (request.path == "/apis/authentication.k8s.io/v1/selfsubjectreviews" && tells_who) {
      response.status = 201;
      response.body = R"({"status":{"userInfo":{"username":"gantree"}}})";
    } else {
      response.status = 401;
    }
    return response;
  }

  std::unique_ptr<http::Server> server_;
};

// A replica in a thread of this process, told to end as the kubelet does it.
class Replica : public ::testing::Test {
 protected:
  Replica() {
    // All threads from here on leave the signal to the one that waits for it.
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
    std::filesystem::create_directories(folder_);
    api_ = std::make_unique<SmallApi>();
    std::ofstream(folder_ / "config") << fmt::format(
        R"({{"kind":"Config","clusters":[{{"name":"c","cluster":{{"server":"{}"}}}}],)"
        R"("contexts":[{{"name":"c","context":{{"cluster":"c"}}}}],"current-context":"c"}})",
        api_->url());
  }
  ~Replica() override {
    if (thread_.joinable()) {
      ::kill(::getpid(), SIGTERM);
      thread_.join();
      std::fclose(log_file_);
    }
    api_.reset();
    std::filesystem::remove_all(folder_);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

  void start() {
    log_file_ = std::fopen((folder_ / "log").c_str(), "w");
    log_ = std::make_unique<Log>(log_file_, LogLevel::kInfo, LogFormat::kText);
    options_.config.kubeconfig = folder_ / "config";
    options_.leader_elect = false;
    options_.listen = "127.0.0.1:0";
    options_.probe_listen = "127.0.0.1:0";
    options_.webhook_listen = "127.0.0.1:0";
    options_.webhook_folder = folder_ / "certificate";
    thread_ = std::thread([this] {
      const auto ran = run_service(options_, *log_);
      EXPECT_TRUE(ran) << ran.error().message;
    });
    ASSERT_TRUE(eventually([this] { return port_of("health and metrics") != 0 && port_of("health for probes") != 0; }));
  }
  // The port on which it says to serve that; 0 where it does not say so yet.
  [[nodiscard]] std::uint16_t port_of(std::string_view what) const {
    std::ifstream file(folder_ / "log");
    const std::string said(std::istreambuf_iterator<char>(file), {});
    const std::string line = fmt::format("serving {} port=", what);
    const std::size_t at = said.find(line);
    return at == std::string::npos ? std::uint16_t{0}
                                   : static_cast<std::uint16_t>(std::stoi(said.substr(at + line.size())));
  }
  // What both ports answer, which is the same.
  [[nodiscard]] std::string ask(std::string_view path) const {
    std::string answer;
    for (const char* port : {"health and metrics", "health for probes"}) {
      http::Wire wire(port_of(port));
      EXPECT_TRUE(wire.send(fmt::format("GET {} HTTP/1.1\r\nHost: x\r\n\r\n", path)));
      answer = wire.receive();
      answer = answer.substr(answer.find(' ') + 1, 3) + " " + answer.substr(answer.find("\r\n\r\n") + 4);
      std::erase(answer, '\n');
    }
    return answer;
  }
  void give_certificate() const {
    const http::SelfSigned pair = http::self_signed();
    std::filesystem::create_directories(folder_ / "certificate");
    std::ofstream(folder_ / "certificate" / "tls.crt") << pair.certificate;
    std::ofstream(folder_ / "certificate" / "tls.key") << pair.key;
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("gantree-run-" + std::to_string(::getpid()));
  sigset_t signals_ = {};
  sigset_t before_ = {};
  std::unique_ptr<SmallApi> api_;
  RunOptions options_;
  std::FILE* log_file_ = nullptr;
  std::unique_ptr<Log> log_;
  std::thread thread_;
};

constexpr const char* kListing = "503 the cluster's objects are still being listed";
constexpr const char* kNoWebhooks = "503 the webhooks are not served yet";
constexpr const char* kUnknown = "503 the API server has not told yet who we are";

TEST_F(Replica, IsNotReadyBeforeItsWebhooksAreServedAndItKnowsWhoItIs) {
  start();
  ASSERT_TRUE(eventually([this] {
    const std::string answer = ask("/readyz");
    EXPECT_TRUE(answer == kListing || answer == kNoWebhooks) << answer;
    return answer == kNoWebhooks;
  }));
  EXPECT_EQ(ask("/healthz"), "200 ok");
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(ask("/readyz"), kNoWebhooks);

  give_certificate();
  ASSERT_TRUE(eventually([this] {
    const std::string answer = ask("/readyz");
    EXPECT_TRUE(answer == kNoWebhooks || answer == kUnknown) << answer;
    return answer == kUnknown;
  }));

  api_->tells_who = true;
  EXPECT_TRUE(eventually([this] {
    const std::string answer = ask("/readyz");
    EXPECT_TRUE(answer == kUnknown || answer == "200 ok") << answer;
    return answer == "200 ok";
  }));
}

}  // namespace
}  // namespace gantree
