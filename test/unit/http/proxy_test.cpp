#include "http/proxy.h"

#include <gtest/gtest.h>

#include <map>

namespace gantree::http {
namespace {

std::string proxy(std::string_view url, const std::map<std::string, std::string, std::less<>>& variables) {
  return proxy_for(url, [&](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(Proxy, IsChosenByTheSchemeOfTheUrl) {
  EXPECT_EQ(proxy("https://api.example.com", {{"HTTPS_PROXY", "http://p:1"}, {"HTTP_PROXY", "http://q:2"}}),
            "http://p:1");
  EXPECT_EQ(proxy("http://api.example.com", {{"HTTPS_PROXY", "http://p:1"}, {"HTTP_PROXY", "http://q:2"}}),
            "http://q:2");
  EXPECT_EQ(proxy("https://api.example.com", {{"https_proxy", "p:1"}}), "http://p:1");
  EXPECT_EQ(proxy("https://api.example.com", {}), "");
}

TEST(Proxy, IsNeverUsedForThisMachine) {
  for (const char* url :
       {"https://localhost:6443", "https://127.0.0.1:6443", "https://127.8.9.1", "https://[::1]:6443"}) {
    EXPECT_EQ(proxy(url, {{"HTTPS_PROXY", "http://p:1"}}), "") << url;
  }
}

TEST(Proxy, IsNotUsedForWhatNoProxyNames) {
  struct Case {
    const char* url;
    const char* list;
    bool exempt;
  };
  for (const Case& one : {
           Case{"https://api.example.com", "api.example.com", true},
           Case{"https://api.example.com", "example.com", true},
           Case{"https://api.example.com", ".example.com", true},
           Case{"https://api.example.com", "*.example.com", true},
           Case{"https://API.Example.com", "example.COM", true},
           Case{"https://example.com", ".example.com", false},
           Case{"https://badexample.com", "example.com", false},
           Case{"https://api.example.com", "*", true},
           Case{"https://api.example.com:6443", "api.example.com:6443", true},
           Case{"https://api.example.com:6443", "api.example.com:443", false},
           Case{"https://10.1.2.3:6443", "10.0.0.0/8", true},
           Case{"https://11.1.2.3:6443", "10.0.0.0/8", false},
           Case{"https://10.1.2.3", " foo , 10.1.2.3 ", true},
           Case{"https://10.1.2.3", "10.1.2.30", false},
           Case{"https://[fd00::1]:6443", "fd00::/8", true},
           Case{"https://[fd00::1]:6443", "fd00::1", true},
           Case{"https://api.example.com", "10.0.0.0/8,,nonsense/99", false},
           Case{"https://10.1.2.3", "10.0.0.0/900", false},
           Case{"https://api.example.com", "", false},
       }) {
    EXPECT_EQ(proxy(one.url, {{"HTTPS_PROXY", "http://p:1"}, {"NO_PROXY", one.list}}).empty(), one.exempt)
        << one.url << " with " << one.list;
  }
}

}  // namespace
}  // namespace gantree::http
