#include "kube/counters.h"

namespace gantree::kube {

std::string_view to_string(Verb verb) {
  constexpr std::array<std::string_view, kVerbs> kNames = {"get",   "list", "watch", "create", "update",
                                                           "patch", "bind", "evict", "delete"};
  return kNames[static_cast<std::size_t>(verb)];
}

std::string_view to_string(Code code) {
  constexpr std::array<std::string_view, kCodes> kNames = {"2xx", "400", "401",   "403",      "404",    "409",
                                                           "410", "422", "429",   "4xx",      "500",    "503",
                                                           "504", "5xx", "other", "not_sent", "unknown"};
  return kNames[static_cast<std::size_t>(code)];
}

Code code_of(int http_status) {
  switch (http_status) {
    case 400:
      return Code::k400;
    case 401:
      return Code::k401;
    case 403:
      return Code::k403;
    case 404:
      return Code::k404;
    case 409:
      return Code::k409;
    case 410:
      return Code::k410;
    case 422:
      return Code::k422;
    case 429:
      return Code::k429;
    case 500:
      return Code::k500;
    case 503:
      return Code::k503;
    case 504:
      return Code::k504;
    default:
      break;
  }
  if (http_status == 304) {
    return Code::k2xx;  // what was asked for is as it was
  }
  switch (http_status / 100) {
    case 2:
      return Code::k2xx;
    case 4:
      return Code::kOther4xx;
    case 5:
      return Code::kOther5xx;
    default:
      return Code::kOther;
  }
}

}  // namespace gantree::kube
