// Any bytes as a kubeconfig, as discovery, as a lease, as a refusal, as what a plugin prints: read, or refused with a
// sentence.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "kube/exec_credential.h"
#include "kube/kubeconfig.h"
#include "kube/lease.h"
#include "kube/reply.h"
#include "kube/served.h"

namespace {

template <class T>
void check(const gantree::Result<T>& result) {
  GANTREE_CHECK(result.has_value() || !result.error().message.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gantree::kube;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  Kubeconfig config;
  check(merge(config, "file", bytes));
  check(read_served(bytes));
  check(read_lease(bytes));
  check(read_exec_credential(
      {.command = "plugin", .arguments = {}, .environment = {}, .api_version = "v1", .install_hint = {}}, bytes));
  Reply reply;
  reply.http_status = 500;
  reply.body = bytes;
  classify(reply);
  GANTREE_CHECK(!reply.message.empty() && !reply.ok());
  return 0;
}
