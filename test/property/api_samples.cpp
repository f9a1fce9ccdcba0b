#include "property/api_requests.h"

namespace gantree::test {

#define GANTREE_NS "/namespaces/default/"
#define GANTREE_TEMPLATE                                                                         \
  R"("selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{)" \
  R"("containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"100m","memory":"1Gi"}}}]}})"

const std::vector<Sample>& samples() {
  static const std::vector<Sample> kSamples{
      {"/api/v1" GANTREE_NS "configmaps",
       R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"labels":{"a":"b"}},"data":{"k":"v"},"binaryData":{"b":"AAEC"}})",
       ""},
      {"/api/v1" GANTREE_NS "pods",
       R"({"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"a":"b"}},"spec":{"nodeSelector":{"x":"y"},"priorityClassName":"low",
         "schedulingGates":[{"name":"example.com/gate"}],"tolerations":[{"key":"k","operator":"Exists","effect":"NoExecute","tolerationSeconds":3}],
         "containers":[{"name":"c","image":"i","ports":[{"containerPort":80}],"env":[{"name":"E","value":"1"}],
         "resources":{"requests":{"cpu":"1500m","memory":"1.5Gi"},"limits":{"nvidia.com/gpu":"1"}}}],
         "affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":
         [{"key":"k","operator":"In","values":["v"]}]}]}}}}})",
       "status,binding,eviction,log,resize,ephemeralcontainers"},
      {"/api/v1/nodes",
       R"({"apiVersion":"v1","kind":"Node","metadata":{"labels":{"rack":"r1"}},"spec":{"taints":[{"key":"k","effect":"NoSchedule"}]},
         "status":{"allocatable":{"cpu":"64","memory":"512Gi","pods":"110"},"conditions":[{"type":"Ready","status":"True"}]}})",
       "status"},
      {"/api/v1/namespaces", R"({"apiVersion":"v1","kind":"Namespace","metadata":{}})", "status,finalize"},
      {"/api/v1" GANTREE_NS "services",
       R"({"apiVersion":"v1","kind":"Service","metadata":{},"spec":{"selector":{"a":"b"},"ports":[{"port":80,"targetPort":"http"}]}})",
       "status"},
      {"/api/v1" GANTREE_NS "secrets",
       R"({"apiVersion":"v1","kind":"Secret","metadata":{},"stringData":{"k":"v"},"type":"Opaque"})", ""},
      {"/api/v1" GANTREE_NS "events",
       R"({"apiVersion":"v1","kind":"Event","metadata":{},"involvedObject":{"kind":"Pod","namespace":"default","name":"a"},"reason":"R","type":"Normal"})",
       ""},
      {"/api/v1" GANTREE_NS "serviceaccounts", R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":{}})", "token"},
      {"/apis/apps/v1" GANTREE_NS "deployments",
       R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{},"spec":{"replicas":2,)" GANTREE_TEMPLATE R"(}})",
       "status,scale"},
      {"/apis/apps/v1" GANTREE_NS "statefulsets",
       R"({"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{},"spec":{"serviceName":"s",)" GANTREE_TEMPLATE
       R"(}})",
       "status,scale"},
      {"/apis/batch/v1" GANTREE_NS "jobs",
       R"({"apiVersion":"batch/v1","kind":"Job","metadata":{},"spec":{"parallelism":2,"completions":2,"completionMode":"Indexed","suspend":true,
         "template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}})",
       "status"},
      {"/apis/batch/v1" GANTREE_NS "cronjobs",
       R"({"apiVersion":"batch/v1","kind":"CronJob","metadata":{},"spec":{"schedule":"*/5 * * * *","jobTemplate":{"spec":{
         "template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}}})",
       "status"},
      {"/apis/policy/v1" GANTREE_NS "poddisruptionbudgets",
       R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{},"spec":{"minAvailable":"50%","selector":{"matchLabels":{"a":"b"}}}})",
       "status"},
      {"/apis/scheduling.k8s.io/v1/priorityclasses",
       R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{},"value":1000})", ""},
      {"/apis/coordination.k8s.io/v1" GANTREE_NS "leases",
       R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{},"spec":{"holderIdentity":"h","leaseDurationSeconds":15,
         "renewTime":"2026-01-01T00:00:00.5Z"}})",
       ""},
      {"/apis/rbac.authorization.k8s.io/v1/clusterroles",
       R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{},"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]})",
       ""},
      {"/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
       R"json({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{},"spec":{"group":"example.com","scope":"Namespaced",
         "names":{"plural":"things","kind":"Thing","shortNames":["th"]},"versions":[{"name":"v1","served":true,"storage":true,
         "subresources":{"status":{},"scale":{"specReplicasPath":".spec.size","statusReplicasPath":".status.size"}},
         "additionalPrinterColumns":[{"name":"Size","type":"integer","jsonPath":".spec.size"}],
         "schema":{"openAPIV3Schema":{"type":"object","required":["spec"],"properties":{"spec":{"type":"object","properties":{
         "size":{"type":"integer","minimum":0,"maximum":9,"default":1},"mode":{"type":"string","enum":["a","b"],"pattern":"^[ab]+$"},
         "list":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","required":["k"],
         "properties":{"k":{"type":"string"},"v":{"type":"number"}}}}},
         "x-kubernetes-validations":[{"rule":"!has(self.list) || self.list.all(x, x.k.size() < 9)","message":"long"},
         {"rule":"self.size >= oldSelf.size || self.size == 0"}]},
         "status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}]}})json",
       "status"},
      {"/apis/example.com/v1" GANTREE_NS "things",
       R"({"apiVersion":"example.com/v1","kind":"Thing","metadata":{},"spec":{"size":3,"mode":"a","list":[{"k":"x","v":1.5},{"k":"y"}]}})",
       "status,scale"},
  };
  return kSamples;
}

std::vector<std::string> all_collections() {
  static constexpr std::string_view kNamespace = GANTREE_NS;
  std::vector<std::string> paths;
  for (const Sample& sample : samples()) {
    std::string path(sample.collection);
    if (const std::size_t at = path.find(kNamespace); at != std::string::npos) {
      path.replace(at, kNamespace.size(), "/");
    }
    paths.push_back(std::move(path));
  }
  return paths;
}

}  // namespace gantree::test
