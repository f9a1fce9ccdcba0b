// Certificate and key of a server.
#pragma once

#include <string>

namespace gantree::http {

// All PEM.
struct ServerTls {
  std::string certificate_chain;  // the server's own first
  std::string private_key;
  std::string client_ca = {};  // where given, clients must show a certificate of it
};

}  // namespace gantree::http
