// Runs fake_apiserver.py for a test, and what tests need around it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "http/client.h"

namespace gantree::test {

// A folder that goes with the test.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const { return path_ + "/" + name; }
  // Writes a file, and gives its path.
  std::string write(const std::string& name, const std::string& text, bool executable = false) const;

 private:
  std::string path_;
};

[[nodiscard]] std::string read_file(const std::string& path);

// An authority, a certificate of the server (127.0.0.1 and fake.test) and one of a client, made with openssl.
struct Certificates {
  explicit Certificates(const TemporaryFolder& folder);
  std::string ca_file, server_file, server_key_file, client_file, client_key_file;
  std::string other_ca_file;  // signed nothing of these
};

class FakeServer {
 public:
  explicit FakeServer(const std::vector<std::string>& arguments = {});
  ~FakeServer();  // ends the process
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] std::string url(const std::string& scheme = "http") const;
  // Sends one of the operations of fake_apiserver.py, and gives the answer.
  std::string control(const std::string& json) const;
  // How many requests so far have a method and a target that contains `part`.
  [[nodiscard]] int requests(const std::string& method, const std::string& part) const;
  [[nodiscard]] std::string request_log() const;
  [[nodiscard]] pid_t pid() const { return pid_; }
  void end();

 private:
  pid_t pid_ = -1;
  int input_ = -1;
  int port_ = 0;
  http::Endpoint control_endpoint_;
};

// Waits until the condition holds, up to ten seconds; false if it did not.
[[nodiscard]] bool eventually(const std::function<bool()>& condition,
                              std::chrono::milliseconds patience = std::chrono::seconds(10));

// One request, waited for.
[[nodiscard]] http::Outcome send(http::Transport& client, http::Request request);

}  // namespace gantree::test
