#include "up_webhooks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/json.h"
#include "kube/client.h"
#include "up_nodes.h"

namespace gantree {

namespace {

apiserver::Answer ask(apiserver::Api& api, std::string method, std::string path, std::string body = {}) {
  apiserver::Call call;
  call.method = std::move(method);
  call.path = std::move(path);
  call.body = std::move(body);
  return api.call_and_wait(std::move(call));
}

std::string path_of(const ManifestObject& object) {
  return fmt::format("/apis/admissionregistration.k8s.io/v1/{}webhookconfigurations/{}",
                     object.kind == "MutatingWebhookConfiguration" ? "mutating" : "validating", object.name);
}

std::string uid_of(const apiserver::Answer& answer) {
  const auto object = apiserver::parse_json(answer.text());
  return object ? std::string(apiserver::text_at(*object, {"metadata", "uid"})) : std::string();
}

// Whether nobody but Gantree owns a field of it.
bool is_ours_alone(const apiserver::Answer& answer) {
  const auto object = apiserver::parse_json(answer.text());
  const apiserver::Array* entries = object ? apiserver::array_at(*object, {"metadata", "managedFields"}) : nullptr;
  const std::string ours = kube::ApplyOptions().field_manager;
  return entries != nullptr && std::all_of(entries->begin(), entries->end(), [&](const apiserver::Value& entry) {
           return apiserver::text_at(entry, {"manager"}) == ours;
         });
}

bool has_mark(std::string_view marks, std::string_view uid) {
  return !uid.empty() && fmt::format(",{},", marks).find(fmt::format(",{},", uid)) != std::string::npos;
}

// As `gantree install` and the chart have it.
bool is_deployed(apiserver::Api& api, std::span<const ManifestObject> objects) {
  return std::any_of(objects.begin(), objects.end(), [&](const ManifestObject& object) {
    return object.kind == "Deployment" &&
           ask(api, "GET", fmt::format("/apis/apps/v1/namespaces/{}/deployments/{}", object.ns, object.name)).status ==
               200;
  });
}

}  // namespace

bool is_webhook_configuration(const ManifestObject& object) {
  return object.kind == "MutatingWebhookConfiguration" || object.kind == "ValidatingWebhookConfiguration";
}

Result<> own_webhooks(apiserver::Api& api, std::span<const ManifestObject> made) {
  std::vector<std::string> uids;
  for (const ManifestObject& object : made) {
    if (std::string uid = uid_of(ask(api, "GET", path_of(object))); !uid.empty()) {
      uids.push_back(std::move(uid));
    }
  }
  if (uids.empty()) {
    return {};
  }
  // Others that were made earlier and are still there.
  if (std::string before = read_mark(api, kWebhooksMark); !before.empty()) {
    uids.push_back(std::move(before));
  }
  return set_mark(api, kWebhooksMark, fmt::format("{}", fmt::join(uids, ",")));
}

Result<> forget_webhooks(apiserver::Api& api) {
  const std::string marks = read_mark(api, kWebhooksMark);
  const auto objects = manifest(InstallOptions{});
  if (!objects) {
    return tl::unexpected(objects.error());
  }
  if (marks.empty() || is_deployed(api, *objects)) {
    return {};
  }
  bool forgot_all = true;
  for (const ManifestObject& object : *objects) {
    if (!is_webhook_configuration(object)) {
      continue;
    }
    const apiserver::Answer there = ask(api, "GET", path_of(object));
    if (there.status == 404) {
      continue;
    }
    const std::string uid = uid_of(there);
    if (!has_mark(marks, uid) || !is_ours_alone(there)) {
      forgot_all = false;
      continue;
    }
    const int status =
        ask(api, "DELETE", path_of(object), fmt::format(R"({{"preconditions":{{"uid":"{}"}}}})", uid)).status;
    if (status != 200 && status != 404) {
      return fail(Errc::kIo, fmt::format("{} cannot be deleted: the answer was {}", object.title(), status));
    }
  }
  return forgot_all ? set_mark(api, kWebhooksMark, "") : Result<>();
}

}  // namespace gantree
