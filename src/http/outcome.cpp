#include "http/outcome.h"

#include <curl/curl.h>

namespace gantree::http {

Outcome::Kind outcome_of(int code, bool request_began) {
  switch (static_cast<CURLcode>(code)) {
    // These come before the first byte of a request.
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_PROXY:
    case CURLE_NO_CONNECTION_AVAILABLE:
      return Outcome::Kind::kNotSent;
    default:
      return request_began ? Outcome::Kind::kUnknown : Outcome::Kind::kNotSent;
  }
}

}  // namespace gantree::http
