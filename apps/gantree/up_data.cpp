#include "up_data.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <vector>

#include "base/base64.h"
#include "kube/text_file.h"
#include "webhook/certificate.h"

namespace gantree {

namespace {

constexpr std::chrono::hours kCertificateLife{24 * 3650};
constexpr std::chrono::hours kShortestLife{24 * 7};

// Only the user may read it: it holds secrets.
Result<> write_secret(const std::string& path, std::string_view text) {
  const std::string fresh = path + ".new";
  const int file = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0) {
    return fail(Errc::kIo, fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
  }
  bool whole = ::fchmod(file, S_IRUSR | S_IWUSR) == 0;
  while (whole && !text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    whole = written > 0;
    text.remove_prefix(whole ? static_cast<std::size_t>(written) : 0);
  }
  whole = ::fsync(file) == 0 && whole;
  ::close(file);
  if (!whole || std::rename(fresh.c_str(), path.c_str()) != 0) {
    return fail(Errc::kIo, fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
  }
  return {};
}

std::string random_token() {
  std::random_device random;
  std::string token;
  for (int i = 0; i < 8; ++i) {
    token += fmt::format("{:08x}", random());
  }
  return token;
}

// Whether it can still be used for a while, by that name.
bool is_good(const webhook::KeyPair& pair, const std::string& authority, const std::string& host) {
  const auto facts = webhook::read_certificate(pair.certificate);
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  return facts && facts->validity.until > now + kShortestLife && webhook::belong_together(pair) &&
         webhook::is_issued_by(pair.certificate, authority) &&
         std::find(facts->names.begin(), facts->names.end(), host) != facts->names.end();
}

}  // namespace

std::string default_data_folder() {
  const char* home = std::getenv("XDG_DATA_HOME");
  return home != nullptr && *home != '\0' ? std::string(home) + "/gantree" : std::string(".gantree");
}

Result<std::unique_ptr<DataFolder>> DataFolder::open(const std::string& path) {
  std::string folder = path;
  const bool temporary = path.empty();
  std::error_code error;
  const bool fresh = !std::filesystem::exists(path, error) || std::filesystem::is_empty(path, error);
  if (temporary) {
    std::string pattern = (std::filesystem::temp_directory_path(error) / "gantree-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      return fail(Errc::kIo, fmt::format("{}: cannot be made: {}", pattern, std::strerror(errno)));
    }
    folder = pattern;
  } else {
    std::filesystem::create_directories(folder, error);
    if (error) {
      return fail(Errc::kIo, fmt::format("{}: cannot be made: {}", folder, error.message()));
    }
    ::chmod(folder.c_str(), S_IRWXU);
    folder = std::filesystem::absolute(folder, error).lexically_normal().string();
  }
  const std::string name = folder + "/lock";
  const int lock = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (lock < 0) {
    return fail(Errc::kIo, fmt::format("{}: cannot be opened: {}", name, std::strerror(errno)));
  }
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    ::close(lock);
    return fail(Errc::kIo, fmt::format("{} is in use by another gantree up: stop that one, or choose another folder "
                                       "with --data",
                                       folder));
  }
  return std::unique_ptr<DataFolder>(new DataFolder(std::move(folder), lock, temporary, fresh));
}

DataFolder::~DataFolder() {
  if (temporary_ || fresh_) {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ::close(lock_);
}

Result<std::string> DataFolder::token() const {
  if (const auto kept = kube::read_text_file(file("token")); kept && kube::trimmed(*kept).size() >= 32) {
    return std::string(kube::trimmed(*kept));
  }
  std::string token = random_token();
  if (auto written = write_secret(file("token"), token); !written) {
    return tl::unexpected(written.error());
  }
  return token;
}

Result<DataFolder::Certificate> DataFolder::certificate(const std::string& host) const {
  const auto authority = kube::read_text_file(file("ca.crt"));
  const auto certificate = kube::read_text_file(file("tls.crt"));
  const auto key = kube::read_text_file(file("tls.key"));
  if (authority && certificate && key && is_good({*certificate, *key}, *authority, host)) {
    return Certificate{{.certificate_chain = *certificate, .private_key = *key}, *authority};
  }
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const webhook::Validity validity{now - std::chrono::hours(1), now + kCertificateLife};
  const auto issuer = webhook::make_authority("gantree up", validity);
  if (!issuer) {
    return tl::unexpected(issuer.error());
  }
  std::vector<std::string> names{"127.0.0.1", "localhost", "kubernetes", "kubernetes.default",
                                 "kubernetes.default.svc"};
  if (std::find(names.begin(), names.end(), host) == names.end()) {
    names.push_back(host);
  }
  const auto pair = webhook::issue(*issuer, names, validity);
  if (!pair) {
    return tl::unexpected(pair.error());
  }
  for (const auto& [name, text] : {std::pair("ca.crt", issuer->certificate), std::pair("tls.crt", pair->certificate),
                                   std::pair("tls.key", pair->key)}) {
    if (auto written = write_secret(file(name), text); !written) {
      return tl::unexpected(written.error());
    }
  }
  return Certificate{{.certificate_chain = pair->certificate, .private_key = pair->key}, issuer->certificate};
}

Result<std::string> DataFolder::write_kubeconfig(const std::string& server, const std::string& authority,
                                                 const std::string& token) const {
  const std::string text = fmt::format(
      "apiVersion: v1\nkind: Config\nclusters:\n- name: gantree\n  cluster:\n    server: {}\n"
      "    certificate-authority-data: {}\nusers:\n- name: gantree\n  user:\n    token: {}\n"
      "contexts:\n- name: gantree\n  context:\n    cluster: gantree\n    user: gantree\ncurrent-context: gantree\n",
      server, to_base64(authority), token);
  const std::string path = file("kubeconfig");
  if (auto written = write_secret(path, text); !written) {
    return tl::unexpected(written.error());
  }
  return path;
}

}  // namespace gantree
