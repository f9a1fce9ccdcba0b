// A plain client for tests of the server: bytes out, bytes in, with TLS or without.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace gantree::http {

// A certificate for "localhost", signed by itself, and its key.
struct SelfSigned {
  std::string certificate;
  std::string key;
};

inline std::string pem_of(const auto& write) {
  const std::unique_ptr<BIO, int (*)(BIO*)> bio(BIO_new(BIO_s_mem()), BIO_free);
  write(bio.get());
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

inline SelfSigned self_signed(long serial = 1) {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_set_pubkey(certificate, key);
  X509_NAME* name = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
  X509_set_issuer_name(certificate, name);
  X509_sign(certificate, key, EVP_sha256());
  SelfSigned made{pem_of([&](BIO* bio) { PEM_write_bio_X509(bio, certificate); }),
                  pem_of([&](BIO* bio) { PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr); })};
  X509_free(certificate);
  EVP_PKEY_free(key);
  return made;
}

struct TlsClient {
  std::string protocols = "\x08http/1.1";  // of ALPN; "" sends none
  SelfSigned own = {};                     // shown to the server where given
};

// Reads give up after five seconds.
class Wire {
 public:
  explicit Wire(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    timeval limit{5, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  Wire(std::uint16_t port, const TlsClient& tls) : Wire(port) {
    context_ = SSL_CTX_new(TLS_client_method());
    if (!tls.own.certificate.empty()) {
      use(tls.own);
    }
    ssl_ = SSL_new(context_);
    if (!tls.protocols.empty()) {
      SSL_set_alpn_protos(ssl_, reinterpret_cast<const unsigned char*>(tls.protocols.data()),
                          static_cast<unsigned>(tls.protocols.size()));
    }
    SSL_set_fd(ssl_, socket_);
    connected_ = connected_ && SSL_connect(ssl_) == 1;
  }
  ~Wire() {
    SSL_free(ssl_);
    SSL_CTX_free(context_);
    ::close(socket_);
  }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  [[nodiscard]] bool connected() const { return connected_; }
  [[nodiscard]] int descriptor() const { return socket_; }

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto sent = ssl_ != nullptr ? SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()))
                                        : ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) {
        return false;
      }
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  // One response with its Content-Length; "" where the server closed first.
  std::string receive(bool with_body = true) {
    while (true) {
      const std::size_t end = buffer_.find("\r\n\r\n");
      const std::size_t length = end == std::string::npos ? 0 : length_in(buffer_.substr(0, end));
      if (end != std::string::npos && (!with_body || buffer_.size() >= end + 4 + length)) {
        const std::size_t size = end + 4 + (with_body ? length : 0);
        std::string response = buffer_.substr(0, size);
        buffer_.erase(0, size);
        return response;
      }
      if (!read_more()) {
        return {};
      }
    }
  }

  // Everything until the server closes.
  std::string receive_all() {
    while (read_more()) {
    }
    return std::exchange(buffer_, {});
  }

  // Whether the server closes (rather than says more) within five seconds.
  bool closed() { return buffer_.empty() && read_some() == 0; }

  // The certificate that the server showed.
  std::string peer() {
    const std::unique_ptr<X509, void (*)(X509*)> shown(SSL_get1_peer_certificate(ssl_), X509_free);
    return pem_of([&](BIO* bio) { PEM_write_bio_X509(bio, shown.get()); });
  }

 private:
  void use(const SelfSigned& own) {
    BIO* bio = BIO_new_mem_buf(own.certificate.data(), static_cast<int>(own.certificate.size()));
    X509* certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
    BIO_free(bio);
    bio = BIO_new_mem_buf(own.key.data(), static_cast<int>(own.key.size()));
    EVP_PKEY* key = PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr);
    BIO_free(bio);
    SSL_CTX_use_certificate(context_, certificate);
    SSL_CTX_use_PrivateKey(context_, key);
    X509_free(certificate);
    EVP_PKEY_free(key);
  }

  static std::size_t length_in(const std::string& head) {
    const std::size_t at = head.find("Content-Length: ");
    return at == std::string::npos ? 0 : std::stoul(head.substr(at + 16));
  }

  // 0 at the end, below 0 on an error.
  long read_some() {
    char bytes[16384];
    const long size = ssl_ != nullptr ? SSL_read(ssl_, bytes, sizeof bytes) : ::recv(socket_, bytes, sizeof bytes, 0);
    if (size > 0) {
      buffer_.append(bytes, static_cast<std::size_t>(size));
    }
    return size;
  }
  bool read_more() { return read_some() > 0; }

  int socket_;
  bool connected_ = false;
  SSL_CTX* context_ = nullptr;
  SSL* ssl_ = nullptr;
  std::string buffer_;
};

}  // namespace gantree::http
