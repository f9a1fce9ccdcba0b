#include "install/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "dialects/admission.h"
#include "dialects/koordinator/admission.h"
#include "dialects/koordinator/names.h"
#include "dialects/kueue/names.h"
#include "install/checks.h"
#include "install/without_effect.h"
#include "json/read.h"
#include "kube/blocking.h"
#include "kueue/conversion.h"

namespace gantree {

namespace {

// What the embedded API server calls the scheduler in its process, among its checks.
constexpr std::string_view kSchedulerCheck = "gantree-scheduler";

using kube::Reply;
using kube::Resource;

Resource resource(std::string group, std::string version, std::string plural, std::string kind, bool namespaced) {
  return {.group = std::move(group),
          .version = std::move(version),
          .plural = std::move(plural),
          .kind = std::move(kind),
          .namespaced = namespaced};
}

json::Out attributes_of(const Permission& permission, const std::string& ns) {
  json::Out attributes = json::Out::object();
  attributes.add("group", permission.group).add("resource", permission.resource).add("verb", permission.verb);
  if (!permission.subresource.empty()) {
    attributes.add("subresource", permission.subresource);
  }
  if (!permission.name.empty()) {
    attributes.add("name", permission.name);
  }
  if (permission.own) {
    attributes.add("namespace", ns);
  }
  return attributes;
}

class Examination {
 public:
  Examination(kube::Client& client, const DoctorOptions& options, webhook::WallTime now)
      : client_(client), options_(options), now_(now) {}

  Findings run() {
    if (!connection()) {
      return std::move(findings_);
    }
    const bool deployments = list("schedulers", resource("apps", "v1", "deployments", "Deployment", true), "", {},
                                  [&](const std::string& page) { return read_deployments(page, deployments_); });
    const WebhookMode mode = webhook_mode(options_.installation, deployments_);
    permissions(mode);
    definitions();
    const bool listed =
        list("nodes", kube::nodes(), "", {}, [&](const std::string& page) { return read_nodes(page, nodes_); });
    if (listed) {
      add(check_nodes(nodes_));
    }
    read_kueue();
    if (has_topologies_ && listed) {
      topology();
    }
    if (listed) {
      add(check_levels(levels_, flavors_, nodes_));
    }
    add(check_queues(queues_));
    add(find_without_effect(client_));
    if (deployments) {
      add(check_schedulers(options_.installation, options_.schedulers, deployments_));
      installed();
    }
    neighbour();
    if (!inside_) {
      lease();
    }
    if (mode == WebhookMode::kOff) {
      add(Finding{.check = "webhook", .sentence = "the webhook is switched off"});
    } else {
      webhook();
      conversions();
    }
    waiting();
    return std::move(findings_);
  }

 private:
  void add(Finding finding) { findings_.push_back(std::move(finding)); }
  void add(Findings findings) {
    findings_.insert(findings_.end(), std::make_move_iterator(findings.begin()),
                     std::make_move_iterator(findings.end()));
  }
  void unknown(std::string_view check, std::string_view what, const std::string& why) {
    add(Finding{.health = Health::kWarning,
                .check = check,
                .sentence = fmt::format("{} could not be looked at: {}", what, why),
                .advice = "ask again as somebody who may read it"});
  }

  Reply get(const Resource& kind, const std::string& ns, const std::string& name) {
    return kube::wait_for(
        [&](kube::Client::Done done) { client_.get(kind, {.name_space = ns, .name = name}, std::move(done)); });
  }
  Reply get(const std::string& path) {
    return kube::wait_for(
        [&](kube::Client::Done done) { client_.get_path(path, "application/json", std::move(done)); });
  }

  // All pages of a list. False, after a finding, where that is refused.
  bool list(std::string_view check, const Resource& kind, const std::string& ns, kube::ListOptions page,
            const std::function<Result<>(const std::string&)>& take) {
    do {
      const Reply reply =
          kube::wait_for([&](kube::Client::Done done) { client_.list_page(kind, ns, page, std::move(done)); });
      const Result<> taken = reply.ok() ? take(reply.body) : Result<>(fail(Errc::kIo, reply.message));
      if (!taken) {
        unknown(check, kind.plural, taken.error().message);
        return false;
      }
      page.continue_token = continue_token(reply.body);
    } while (!page.continue_token.empty());
    return true;
  }

  bool connection() {
    const Reply reply = get("/version");
    const auto version = reply.ok() ? read_version(reply.body) : Result<std::string>(fail(Errc::kIo, reply.message));
    if (!version) {
      add(Finding{.health = Health::kError,
                  .check = "connection",
                  .sentence = fmt::format("{} does not answer: {}", options_.server, version.error().message),
                  .advice = "check --kubeconfig and --context, and whether kubectl get nodes works"});
      return false;
    }
    add(check_version(options_.server, *version));
    embedded_ = is_embedded(*version);
    inside_ = embedded_ && get(fmt::format("/readyz/{}", kSchedulerCheck)).ok();
    return true;
  }

  void installed() {
    const bool deployed = std::any_of(deployments_.begin(), deployments_.end(), [&](const DeploymentFact& one) {
      return one.ns == options_.installation.ns && one.name == options_.installation.name;
    });
    add(inside_ || (embedded_ && !deployed) ? check_embedded(inside_)
                                            : check_installed(options_.installation, deployments_));
  }

  // Asks on behalf of the service account where one may ask that, else for oneself.
  void permissions(WebhookMode mode) {
    const std::string account =
        fmt::format("system:serviceaccount:{}:{}", options_.installation.ns, options_.installation.name);
    bool self = options_.as_self;
    std::vector<std::pair<Permission, bool>> allowed;
    for (const Permission& permission : run_permissions(options_.installation)) {
      if (permission.certificate && mode != WebhookMode::kOwnCertificate) {
        continue;
      }
      Reply reply = review(permission, self ? "" : account);
      if (!self && reply.http_status == 403) {
        self = true;
        reply = review(permission, "");
      }
      const auto may = reply.ok() ? read_allowed(reply.body) : Result<bool>(fail(Errc::kIo, reply.message));
      if (!may) {
        unknown("permissions", "what may be done", may.error().message);
        return;
      }
      allowed.emplace_back(permission, *may);
    }
    add(check_permissions(self ? std::string("this user") : account, allowed));
  }

  Reply review(const Permission& permission, const std::string& user) {
    json::Out spec = json::Out::object();
    spec.add("resourceAttributes", attributes_of(permission, options_.installation.ns));
    if (!user.empty()) {
      spec.add("user", user);
    }
    const bool self = user.empty();
    const Resource kind =
        resource("authorization.k8s.io", "v1", self ? "selfsubjectaccessreviews" : "subjectaccessreviews",
                 self ? "SelfSubjectAccessReview" : "SubjectAccessReview", false);
    json::Out body = json::Out::object();
    body.add("apiVersion", kind.api_version()).add("kind", kind.kind).add("spec", std::move(spec));
    return kube::wait_for(
        [&](kube::Client::Done done) { client_.create(kind, "", body.to_json(false), std::move(done)); });
  }

  // By discovery, which everybody may read.
  void definitions() {
    for (const Validator& validator : all_validators()) {
      const Reply reply = get(fmt::format("/apis/{}/{}", validator.kind.group, validator.kind.versions.front()));
      std::optional<ServedKind> served;
      if (reply.ok()) {
        const auto kinds = read_served(reply.body);
        const auto it = kinds ? std::find_if(kinds->begin(), kinds->end(),
                                             [&](const ServedKind& kind) { return kind.plural == validator.plural; })
                              : std::vector<ServedKind>::const_iterator();
        if (kinds && it != kinds->end()) {
          served = *it;
        }
      } else if (reply.result != kube::CallResult::kNotFound) {
        unknown("definitions", validator.kind.kind, reply.message);
        continue;
      }
      has_topologies_ = has_topologies_ || (served && validator.kind.kind == koordinator::kTopologyKind);
      if (served && validator.kind.group == kueue::kGroup) {
        kueue_kinds_.emplace(validator.plural);
      }
      add(check_definition(validator, served));
    }
  }

  // What is there of Kueue's; nothing where the server does not know these kinds.
  void read_kueue() {
    const auto read = [&](std::string_view check, std::string plural, std::string kind,
                          const std::function<Result<>(const std::string&)>& take) {
      if (kueue_kinds_.contains(plural)) {
        list(check, resource(std::string(kueue::kGroup), "v1beta2", std::move(plural), std::move(kind), false), "", {},
             take);
      }
    };
    read("topology", "topologies", "Topology", [&](const std::string& page) { return read_levels(page, levels_); });
    read("topology", "resourceflavors", "ResourceFlavor",
         [&](const std::string& page) { return read_flavors(page, flavors_); });
    read("queues", "clusterqueues", "ClusterQueue",
         [&](const std::string& page) { return read_queues(page, queues_); });
  }

  void topology() {
    const Resource kind = resource(std::string(koordinator::kSchedulingGroup), "v1alpha1", "clusternetworktopologies",
                                   std::string(koordinator::kTopologyKind), false);
    const Reply reply = get(kind, "", std::string(koordinator::kTopologyName));
    if (reply.result == kube::CallResult::kNotFound) {
      add(check_topology(std::nullopt, std::nullopt, nodes_, !levels_.empty()));
      return;
    }
    const auto documents = reply.ok() ? json::read_documents("api", reply.body)
                                      : Result<std::vector<json::Document>>(fail(Errc::kIo, reply.message));
    if (!documents || documents->size() != 1) {
      unknown("topology", "the topology", documents ? "the answer is no object" : documents.error().message);
      return;
    }
    const Object object{.file = "api",
                        .group = koordinator::kSchedulingGroup,
                        .version = "v1alpha1",
                        .kind = koordinator::kTopologyKind,
                        .value = documents->front().root()};
    const NamedObject named{object, "", koordinator::kTopologyName};
    const Admission admission = koordinator::validate_topology(named);
    const auto network = koordinator::read_network_topology(named);
    add(check_topology(network ? std::optional(*network) : std::nullopt, admission.refusal, nodes_));
  }

  void lease() {
    const Reply reply = get(kube::leases(), options_.installation.ns, options_.installation.name);
    if (reply.result == kube::CallResult::kNotFound) {
      add(check_lease(options_.installation, std::nullopt, now_));
      return;
    }
    const auto fact = reply.ok() ? read_lease_fact(reply.body) : Result<LeaseFact>(fail(Errc::kIo, reply.message));
    if (!fact) {
      unknown("lease", "the lease", fact.error().message);
      return;
    }
    add(check_lease(options_.installation, *fact, now_));
  }

  void webhook() {
    bool asked = false;
    for (const auto kind : {webhook::ConfigurationKind::kValidating, webhook::ConfigurationKind::kMutating}) {
      asked = configuration({kind, options_.installation.webhook()}) || asked;
    }
    // The API server reaches the scheduler that is in its own process without a Service.
    if (!asked || inside_) {
      return;
    }
    std::size_t ready = 0;
    kube::ListOptions page;
    page.label_selector = fmt::format("kubernetes.io/service-name={}", options_.installation.webhook());
    if (list("webhook", resource("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", true),
             options_.installation.ns, page,
             [&](const std::string& text) { return read_ready_endpoints(text, ready); })) {
      add(check_answering(options_.installation, ready));
    }
  }

  void neighbour() {
    const ApiKind& kind = kueue::neighbour_kind();
    kueue::Neighbour kueue;
    kai::Neighbour kai;
    if (list("kueue",
             resource(std::string(kind.group), "v1", "validatingwebhookconfigurations", std::string(kind.kind), false),
             "", {}, [&](const std::string& page) {
               auto read = read_neighbour(page, kueue);
               return read ? read_neighbour(page, kai) : read;
             })) {
      add(check_neighbour(kueue));
      add(check_neighbour(kai));
    }
  }

  void conversions() {
    const Resource kind =
        resource("apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", false);
    for (const std::string_view name : kueue::converted_definitions()) {
      const Reply reply = get(kind, "", std::string(name));
      if (reply.result == kube::CallResult::kNotFound) {
        continue;
      }
      const auto fact =
          reply.ok() ? read_conversion(reply.body) : Result<ConversionFact>(fail(Errc::kIo, reply.message));
      if (!fact) {
        unknown("webhook", fmt::format("CustomResourceDefinition \"{}\"", name), fact.error().message);
      } else if (auto wrong = check_conversion(options_.installation, name, *fact, now_)) {
        add(std::move(*wrong));
      }
    }
  }

  // Whether there is such a configuration.
  bool configuration(const webhook::ConfigurationName& name) {
    const bool mutating = name.kind == webhook::ConfigurationKind::kMutating;
    const Reply reply =
        get(resource("admissionregistration.k8s.io", "v1",
                     mutating ? "mutatingwebhookconfigurations" : "validatingwebhookconfigurations",
                     mutating ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration", false),
            "", name.name);
    if (reply.result == kube::CallResult::kNotFound) {
      add(check_webhook(name, std::nullopt, now_));
      return false;
    }
    const auto webhooks =
        reply.ok() ? read_webhooks(reply.body) : Result<std::vector<WebhookFact>>(fail(Errc::kIo, reply.message));
    if (!webhooks) {
      unknown("webhook", name.title(), webhooks.error().message);
      return false;
    }
    add(check_webhook(name, *webhooks, now_));
    return true;
  }

  void waiting() {
    std::vector<WaitingPod> pods;
    for (const std::string& name : options_.schedulers) {
      kube::ListOptions page;
      page.field_selector = fmt::format("spec.schedulerName={},spec.nodeName=,status.phase=Pending", name);
      if (!list("pods", kube::pods(), "", page,
                [&](const std::string& text) { return read_waiting_pods(text, pods); })) {
        return;
      }
    }
    add(check_waiting(options_.schedulers, pods, now_));
  }

  kube::Client& client_;
  const DoctorOptions& options_;
  webhook::WallTime now_;
  Findings findings_;
  std::vector<NodeFact> nodes_;
  std::vector<DeploymentFact> deployments_;
  std::vector<LevelsFact> levels_;
  std::vector<FlavorFact> flavors_;
  std::vector<QueueFact> queues_;
  std::set<std::string, std::less<>> kueue_kinds_;  // that are served
  bool has_topologies_ = false;
  bool embedded_ = false;  // a cluster of gantree up
  bool inside_ = false;    // and the scheduler runs in its process
};

}  // namespace

Findings examine(kube::Client& client, const DoctorOptions& options, webhook::WallTime now) {
  return Examination(client, options, now).run();
}

}  // namespace gantree
