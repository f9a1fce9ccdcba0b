#include "client/fake_server.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <thread>

namespace gantree::test {
namespace {

void shell(const std::string& command) {
  if (std::system((command + " >/dev/null 2>&1").c_str()) != 0) {
    ADD_FAILURE() << "failed: " << command;
  }
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "gantree-client-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    ADD_FAILURE() << "no temporary folder";
  }
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::write(const std::string& name, const std::string& text, bool executable) const {
  const std::string file = path(name);
  std::ofstream(file, std::ios::binary) << text;
  chmod(file.c_str(), executable ? 0700 : 0600);
  return file;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Certificates::Certificates(const TemporaryFolder& folder) {
  const std::string authority = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj ";
  const auto make_ca = [&](const std::string& name) {
    shell(authority + "/CN=" + name + " -keyout " + folder.path(name + ".key") + " -out " + folder.path(name + ".crt"));
    return folder.path(name + ".crt");
  };
  ca_file = make_ca("ca");
  other_ca_file = make_ca("other");
  const auto sign = [&](const std::string& name, const std::string& extension) {
    const std::string extensions = folder.write(name + ".ext", extension);
    shell("openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=" + name + " -keyout " +
          folder.path(name + ".key") + " -out " + folder.path(name + ".csr") + " && openssl x509 -req -days 2 -in " +
          folder.path(name + ".csr") + " -CA " + ca_file + " -CAkey " + folder.path("ca.key") +
          " -CAcreateserial -extfile " + extensions + " -out " + folder.path(name + ".crt"));
    return std::pair(folder.path(name + ".crt"), folder.path(name + ".key"));
  };
  std::tie(server_file, server_key_file) = sign("server", "subjectAltName=IP:127.0.0.1,DNS:fake.test\n");
  std::tie(client_file, client_key_file) = sign("client", "extendedKeyUsage=clientAuth\n");
}

FakeServer::FakeServer(const std::vector<std::string>& arguments) {
  int input[2];
  int output[2];
  if (pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0) {
    ADD_FAILURE() << "no pipe";
    return;
  }
  std::vector<std::string> words = {"/usr/bin/python3", GANTREE_SOURCE_DIR "/test/client/fake_apiserver.py"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) {
    dup2(input[0], STDIN_FILENO);
    dup2(output[1], STDOUT_FILENO);
    execv(argv[0], argv.data());
    _exit(127);
  }
  close(input[0]);
  close(output[1]);
  input_ = input[1];
  std::string line;
  for (char c = 0; read(output[0], &c, 1) == 1 && c != '\n';) {
    line += c;
  }
  close(output[0]);
  port_ = std::atoi(line.c_str());
  EXPECT_GT(port_, 0) << "the fake server did not start";
  control_endpoint_.base_url = url(arguments.empty() ? "http" : "https");
  control_endpoint_.insecure = true;
}

FakeServer::~FakeServer() {
  end();
}

void FakeServer::end() {
  if (pid_ > 0) {
    close(input_);
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
}

std::string FakeServer::url(const std::string& scheme) const {
  return scheme + "://127.0.0.1:" + std::to_string(port_);
}

std::string FakeServer::control(const std::string& json) const {
  http::Client client(control_endpoint_);
  const http::Outcome outcome =
      send(client, {.method = http::Method::kPost, .target = "/_control", .headers = {}, .body = json});
  EXPECT_EQ(outcome.status, 200) << outcome.error << json;
  return outcome.body;
}

std::string FakeServer::request_log() const {
  http::Client client(control_endpoint_);
  return send(client, {.method = http::Method::kGet, .target = "/_requests", .headers = {}, .body = {}}).body;
}

int FakeServer::requests(const std::string& method, const std::string& part) const {
  const std::string log = request_log();
  int count = 0;
  const std::string start = "{\"method\": \"" + method + "\", \"path\": \"";
  for (std::size_t at = log.find(start); at != std::string::npos; at = log.find(start, at + 1)) {
    const std::size_t begin = at + start.size();
    count += log.substr(begin, log.find('"', begin) - begin).find(part) != std::string::npos ? 1 : 0;
  }
  return count;
}

bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

http::Outcome send(http::Transport& client, http::Request request) {
  std::promise<http::Outcome> answer;
  client.send(std::move(request), [&answer](http::Outcome outcome) { answer.set_value(std::move(outcome)); });
  return answer.get_future().get();
}

}  // namespace gantree::test
