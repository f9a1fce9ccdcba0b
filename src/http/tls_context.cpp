#include "http/tls_context.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <boost/asio/buffer.hpp>
#include <string_view>

namespace gantree::http {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

namespace {

constexpr std::string_view kProtocol("\x08http/1.1", 9);

int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* chosen_size, const unsigned char* offered,
                    unsigned int offered_size, void*) {
  unsigned char* found = nullptr;
  const int outcome =
      SSL_select_next_proto(&found, chosen_size, reinterpret_cast<const unsigned char*>(kProtocol.data()),
                            static_cast<unsigned int>(kProtocol.size()), offered, offered_size);
  *chosen = found;
  return outcome == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

Result<> check(const error_code& error, std::string_view what) {
  if (error) {
    ERR_clear_error();
    return invalid(fmt::format("{} is of no use: {}", what, error.message()));
  }
  return {};
}

Result<> load(ssl::context& context, const ServerTls& tls) {
  error_code error;
  context.use_certificate_chain(boost::asio::buffer(tls.certificate_chain), error);
  if (auto good = check(error, "the server's certificate"); !good) {
    return good;
  }
  context.use_private_key(boost::asio::buffer(tls.private_key), ssl::context::pem, error);
  if (auto good = check(error, "the server's private key"); !good) {
    return good;
  }
  if (SSL_CTX_check_private_key(context.native_handle()) != 1) {
    ERR_clear_error();
    return invalid("the server's certificate and private key do not belong together");
  }
  if (!tls.client_ca.empty()) {
    context.add_certificate_authority(boost::asio::buffer(tls.client_ca), error);
    if (auto good = check(error, "the CA of the clients"); !good) {
      return good;
    }
    context.set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert);
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<ssl::context>> server_context(const ServerTls& tls) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  SSL_CTX* const native = context->native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  // Resumed sessions would go on with a certificate that has been replaced.
  SSL_CTX_set_options(native, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_alpn_select_cb(native, choose_protocol, nullptr);
  if (auto loaded = load(*context, tls); !loaded) {
    return tl::unexpected(loaded.error());
  }
  return context;
}

}  // namespace gantree::http
