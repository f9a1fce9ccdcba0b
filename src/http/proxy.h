// Which proxy the environment asks for, by the rules that Kubernetes' own clients follow.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace gantree::http {

// HTTPS_PROXY or HTTP_PROXY by the URL's scheme (or their lower-case forms), unless NO_PROXY names the host: by name,
// by domain, by address, by network (10.0.0.0/8), each maybe with a port; "*" names all. Never for this machine itself.
// Empty: no proxy. `variable` gives a variable of the environment.
[[nodiscard]] std::string proxy_for(std::string_view url,
                                    const std::function<std::optional<std::string>(std::string_view)>& variable);

}  // namespace gantree::http
