#include "apiserver/health.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "apiserver/core.h"

namespace gantree::apiserver {

namespace {

// Whoever is answered at all is answered by the one thread that does all work: what is asked here is what is there.
std::vector<std::string_view> checks_of(const Core& core) {
  std::vector<std::string_view> checks{"ping", "storage"};
  if (!core.options.services.empty()) {
    checks.push_back(kSchedulerCheck);
  }
  return checks;
}

}  // namespace

std::string_view RequestCounts::verb_of_metrics(const Request& request) {
  const std::string& method = request.call.method;
  if (method == "GET" || method == "HEAD") {
    const bool list = request.kind != nullptr && request.name.empty();
    return request.kind != nullptr && request.is_watch() ? "WATCH" : list ? "LIST" : "GET";
  }
  for (const std::string_view known : {"POST", "PUT", "PATCH", "DELETE"}) {
    if (method == known) {
      return known;
    }
  }
  return "other";
}

Answer health_page(const Core& core, const Request& request, const std::vector<std::string>& segments) {
  const std::vector<std::string_view> checks = checks_of(core);
  if (segments.size() > 1) {
    const bool known = segments.size() == 2 && std::find(checks.begin(), checks.end(), segments[1]) != checks.end();
    return known ? text_answer(200, "ok") : text_answer(404, "404 page not found\n");
  }
  if (!request.query.has("verbose")) {
    return text_answer(200, "ok");
  }
  std::string text;
  for (const std::string_view check : checks) {
    fmt::format_to(std::back_inserter(text), "[+]{} ok\n", check);
  }
  return text_answer(200, text + fmt::format("{} check passed\n", segments[0]));
}

Answer metrics_page(const Core& core) {
  std::string text =
      "# HELP apiserver_request_total Requests that were answered.\n# TYPE apiserver_request_total counter\n";
  for (const auto& [what, count] : core.requests.all()) {
    fmt::format_to(std::back_inserter(text), "apiserver_request_total{{verb=\"{}\",code=\"{}\"}} {}\n", what.first,
                   what.second, count);
  }
  text += "# HELP apiserver_storage_objects Objects that are stored.\n# TYPE apiserver_storage_objects gauge\n";
  for (const auto& [name, table] : core.store.tables()) {
    if (!table->entries.empty()) {
      fmt::format_to(std::back_inserter(text), "apiserver_storage_objects{{resource=\"{}\"}} {}\n", name,
                     table->entries.size());
    }
  }
  fmt::format_to(std::back_inserter(text),
                 "# HELP apiserver_storage_revision The last resourceVersion.\n# TYPE apiserver_storage_revision "
                 "gauge\napiserver_storage_revision {}\n",
                 core.store.revision());
  Answer answer = text_answer(200, std::move(text));
  answer.content_type = "text/plain; version=0.0.4; charset=utf-8";
  return answer;
}

}  // namespace gantree::apiserver
