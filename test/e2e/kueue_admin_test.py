"""Kueue's kinds as administrators meet them: what the API server takes in either version, what it refuses and with which sentence, what
kubectl shows, and how objects are converted by a running Gantree."""
import datetime
import json
import subprocess

import pytest
import yaml
from conftest import Replicas
from kubernetes.client import ApiException

from harness.gantree import binary
from harness.processes import Port

GROUP = "kueue.x-k8s.io"
OLD, NEW = f"{GROUP}/v1beta1", f"{GROUP}/v1beta2"
WEBHOOK = "gantree-webhook"
LEASES = "coordination.k8s.io/v1"
CONFIGURATIONS = "admissionregistration.k8s.io/v1"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CONVERTED = ("clusterqueues", "localqueues", "workloads")
CHECKED = (*CONVERTED, "topologies", "resourceflavors", "cohorts", "workloadpriorityclasses")
HOSTNAME = "kubernetes.io/hostname"
CONDITION = {"type": "QuotaReserved", "status": "True", "reason": "Given", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}


@pytest.fixture(scope="module")
def serving(whole_cluster, installed, tmp_path_factory):
    """A replica that checks and converts these kinds for the API server, all through this module. It does not lead, so that nobody but the
    tests writes statuses."""
    port = Port()
    replicas = Replicas(whole_cluster, installed, tmp_path_factory.mktemp("serving"))
    url = f"https://127.0.0.1:{port.number}"
    before = {plural: definition(whole_cluster, plural)["spec"]["conversion"] for plural in CONVERTED}
    whole_cluster.create({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": WEBHOOK}}, installed[0])
    whole_cluster.create({"apiVersion": CONFIGURATIONS, "kind": "ValidatingWebhookConfiguration", "metadata": {"name": WEBHOOK}, "webhooks": [
        {"name": f"{plural}.gantree.dev", "clientConfig": {"url": f"{url}/validate/{plural}"},
         "rules": [{"apiGroups": [GROUP], "apiVersions": ["v1beta2"], "operations": ["CREATE", "UPDATE"], "resources": [plural]}],
         "admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Fail", "matchPolicy": "Equivalent"}
        for plural in CHECKED]})
    for plural in CONVERTED:
        convert_by(whole_cluster, plural, {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {"url": f"{url}/convert"}}})
    if whole_cluster.get(LEASES, "Lease", "gantree", installed[0]):  # of a test that elected a leader
        whole_cluster.delete(LEASES, "Lease", "gantree", installed[0])
    whole_cluster.create({"apiVersion": LEASES, "kind": "Lease", "metadata": {"name": "gantree"}, "spec": {
        "holderIdentity": "somebody-else", "leaseDurationSeconds": 36000, "acquireTime": now(), "renewTime": now(), "leaseTransitions": 0}}, installed[0])
    replica = replicas.start("--webhook-listen", f"127.0.0.1:{port.number}", elect=True)
    try:
        whole_cluster.wait_for(lambda: answered(whole_cluster), 30, "the API server to trust the webhook")
        yield replica
    finally:
        whole_cluster.delete(CONFIGURATIONS, "ValidatingWebhookConfiguration", WEBHOOK)
        whole_cluster.delete("v1", "Secret", WEBHOOK, installed[0])
        whole_cluster.delete(LEASES, "Lease", "gantree", installed[0])
        for plural, conversion in before.items():
            convert_by(whole_cluster, plural, conversion)
        replicas.stop()


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def definition(cluster, plural):
    return cluster.request("GET", f"{DEFINITIONS}/{plural}.{GROUP}")


def convert_by(cluster, plural, conversion):
    cluster.request("PATCH", f"{DEFINITIONS}/{plural}.{GROUP}", body=[{"op": "replace", "path": "/spec/conversion", "value": conversion}],
                    content_type="application/json-patch+json")


def answered(cluster):
    """Whether all webhooks are asked and believed."""
    try:
        for version in (OLD, NEW):
            for manifest in (queue("probe", version), local_queue("probe", version=version), flavor("probe", version=version)):
                cluster.request("POST", cluster.path(version, manifest["kind"], "default"), body=manifest, query=[("dryRun", "All")])
        return True
    except ApiException:
        return False


@pytest.fixture
def kinds(serving, cluster):
    """The cluster with these kinds served; what a test leaves of them is removed after it."""
    yield cluster
    for kind in ("ClusterQueue", "Cohort", "ResourceFlavor", "Topology", "WorkloadPriorityClass"):
        for item in cluster.list(NEW, kind):
            cluster.delete_at_once(NEW, kind, item["metadata"]["name"])


# --- manifests ---

def manifest_of(kind, name, spec, version=NEW):
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec}


def quota(cpu="4", **limits):
    return [{"coveredResources": ["cpu"], "flavors": [{"name": "default", "resources": [{"name": "cpu", "nominalQuota": cpu, **limits}]}]}]


def queue(name="team", version=NEW, **spec):
    return manifest_of("ClusterQueue", name, {"namespaceSelector": {}, "resourceGroups": quota()} | spec, version)


def local_queue(name="team", version=NEW, **spec):
    return manifest_of("LocalQueue", name, {"clusterQueue": "team"} | spec, version)


def flavor(name="gpu", version=NEW, **spec):
    return manifest_of("ResourceFlavor", name, spec, version)


def topology(*labels, version=NEW):
    return manifest_of("Topology", "network", {"levels": [{"nodeLabel": label} for label in labels]}, version)


def pod_set(name="main", count=2, image="registry.example/main", **more):
    return {"name": name, "count": count, "template": {"spec": {"containers": [{"name": "main", "image": image}]}}} | more


def workload(*pod_sets, version=NEW, **spec):
    return manifest_of("Workload", "job-train", {"queueName": "team", "podSets": list(pod_sets) or [pod_set()]} | spec, version)


def refusal(cluster, manifest, namespace):
    """What the API server says to it; "" where it takes it."""
    try:
        cluster.request("POST", cluster.path(manifest["apiVersion"], manifest["kind"], namespace), body=manifest, query=[("dryRun", "All")])
        return ""
    except ApiException as error:
        return json.loads(error.body)["message"]


# --- what is taken ---

GOOD = """
kind: Topology
metadata: {name: network}
spec:
  levels:
    - nodeLabel: cloud.provider.com/topology-block
    - nodeLabel: cloud.provider.com/topology-rack
    - nodeLabel: kubernetes.io/hostname
---
kind: ResourceFlavor
metadata: {name: plain}
---
kind: ResourceFlavor
metadata: {name: gpu}
spec:
  nodeLabels: {pool: gpu}
  nodeTaints: [{key: pool, value: gpu, effect: NoSchedule}]
  tolerations: [{key: pool, operator: Exists}]
  topologyName: network
---
kind: Cohort
metadata: {name: all}
spec:
  resourceGroups:
    - coveredResources: [cpu]
      flavors: [{name: plain, resources: [{name: cpu, nominalQuota: 10}]}]
---
kind: Cohort
metadata: {name: research}
spec: {parentName: all, fairSharing: {weight: 500m}}
---
kind: ClusterQueue
metadata: {name: team}
spec:
  COHORT: research
  namespaceSelector: {matchExpressions: [{key: team, operator: In, values: [a, b]}]}
  queueingStrategy: StrictFIFO
  stopPolicy: Hold
  flavorFungibility: {whenCanBorrow: TryNextFlavor, whenCanPreempt: MayStopSearch}
  preemption:
    withinClusterQueue: LowerPriority
    reclaimWithinCohort: Any
    borrowWithinCohort: {policy: LowerPriority, maxPriorityThreshold: 100}
  fairSharing: {weight: 2}
  resourceGroups:
    - coveredResources: [cpu, memory]
      flavors:
        - name: plain
          resources: [{name: cpu, nominalQuota: 4, borrowingLimit: 2, lendingLimit: 1}, {name: memory, nominalQuota: 8Gi}]
    - coveredResources: [nvidia.com/gpu]
      flavors: [{name: gpu, resources: [{name: nvidia.com/gpu, nominalQuota: 16}]}]
---
kind: LocalQueue
metadata: {name: team}
spec: {clusterQueue: team}
---
kind: WorkloadPriorityClass
metadata: {name: high}
value: 1000
description: for what cannot wait
"""


def good(version):
    text = GOOD.replace("COHORT", "cohort" if version == OLD else "cohortName")
    return [{"apiVersion": version} | manifest for manifest in yaml.safe_load_all(text)]


@pytest.mark.parametrize("version", [OLD, NEW])
def test_objects_of_both_versions_are_taken(kinds, namespace, version):
    for apply in (["apply"], ["apply", "--server-side"]):
        printed = kinds.kubectl(*apply, "--validate=strict", "-n", namespace, "-f", "-", input=yaml.safe_dump_all(good(version)))
        assert len(printed.splitlines()) == len(good(version))
    assert kinds.get(NEW, "ClusterQueue", "team")["spec"]["cohortName"] == "research"
    assert kinds.get(OLD, "ClusterQueue", "team")["spec"]["cohort"] == "research"
    assert kinds.get(NEW, "Topology", "network")["spec"] == kinds.get(OLD, "Topology", "network")["spec"]


def test_what_is_not_said_has_the_usual_values(kinds, namespace):
    spec = kinds.create(queue())["spec"]
    assert spec["queueingStrategy"] == "BestEffortFIFO"
    assert spec["stopPolicy"] == "None"
    assert spec["flavorFungibility"] == {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "TryNextFlavor"}
    assert spec["preemption"] == {"withinClusterQueue": "Never", "reclaimWithinCohort": "Never", "borrowWithinCohort": {"policy": "Never"}}
    assert kinds.create(local_queue(), namespace)["spec"]["stopPolicy"] == "None"
    bare = kinds.create(manifest_of("Workload", "bare", {"podSets": [{"template": {"spec": {"containers": []}}}]}), namespace)["spec"]
    assert bare["active"] is True
    assert (bare["podSets"][0]["name"], bare["podSets"][0]["count"]) == ("main", 1)


def test_a_pod_template_is_kept_whole(kinds, namespace):
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "main", "image": "x", "resources": {"requests": {"cpu": "1"}}}],
                                                            "topologySpreadConstraints": [{"maxSkew": 1}], "newField": {"of": ["the", "future"]}}}
    kinds.create(workload(pod_set() | {"template": template}), namespace)
    assert kinds.get(NEW, "Workload", "job-train", namespace)["spec"]["podSets"][0]["template"] == template
    assert kinds.get(OLD, "Workload", "job-train", namespace)["spec"]["podSets"][0]["template"] == template


# --- what is refused ---

REFUSED = [
    (topology("a", "a"), "a node label can be a level only once"),
    (topology(HOSTNAME, "a"), "kubernetes.io/hostname can only be the last level"),
    (topology(*(f"l{i}" for i in range(17))), "must have at most 16 items"),
    (topology(), "should have at least 1 items"),
    (topology("not a label"), "spec.levels[0].nodeLabel"),
    (flavor(topologyName="network"), "a flavor with a topologyName needs at least one of nodeLabels"),
    (flavor(nodeLabels={"-a-": "b"}), 'spec.nodeLabels: "-a-" is not a label key'),
    (flavor(nodeTaints=[{"key": "a", "effect": "Sometimes"}]), "spec.nodeTaints[0].effect"),
    (flavor(nodeTaints=[{"key": "a", "effect": "NoSchedule"}] * 2), "is there twice with the same effect"),
    (flavor(tolerations=[{"value": "a"}]), "a toleration without a key needs the operator Exists"),
    (queue(queueingStrategy="Random"), "spec.queueingStrategy"),
    (queue(resourceGroups=quota(borrowingLimit="1")), "borrowingLimit needs a cohortName"),
    (queue(version=OLD, resourceGroups=quota(borrowingLimit="1")), "borrowingLimit needs a cohort"),
    (queue(resourceGroups=quota(lendingLimit="1")), "lendingLimit makes sense in a cohort only"),
    (queue(cohortName="c", resourceGroups=quota(lendingLimit="5")), "resources[0].lendingLimit is more than nominalQuota"),
    (queue(resourceGroups=quota("-1")), "nominalQuota must be at least 0"),
    (queue(resourceGroups=quota() + quota()), "cpu is covered twice"),
    (queue(preemption={"borrowWithinCohort": {"policy": "LowerPriority"}}), "borrowWithinCohort needs a reclaimWithinCohort that is not Never"),
    (queue(flavorFungibility={"preference": "BorrowingOverPreemption"}), "preference needs TryNextFlavor in both"),
    (queue(namespaceSelector={"matchExpressions": [{"key": "a", "operator": "Near"}]}), 'operator "Near" is not known'),
    (manifest_of("Cohort", "c", {"parentName": "c"}), 'Cohort "c" is its own ancestor'),
    (local_queue(stopPolicy="Never"), "spec.stopPolicy"),
    (manifest_of("LocalQueue", "q", {}), "spec.clusterQueue is missing"),
    (workload(pod_set(minCount=3)), "minCount can be at most count"),
    (workload(pod_set("a", minCount=1), pod_set("b", minCount=1)), "only one of them can have a minCount"),
    (workload(pod_set("a"), pod_set("a")), "Duplicate value"),
    (workload(pod_set(topologyRequest={"podSetSliceSize": 2})), "podSetSliceRequiredTopology and podSetSliceSize need each other"),
    (workload(pod_set(template={})), "spec.podSets[0].template.spec is missing"),
    (workload(priorityClassRef={"group": GROUP, "kind": "PriorityClass", "name": "p"}, priority=1), "kueue.x-k8s.io has WorkloadPriorityClass"),
    (workload(priorityClassRef={"group": GROUP, "kind": "WorkloadPriorityClass", "name": "p"}), "priorityClassRef needs a priority"),
]


@pytest.mark.parametrize("manifest, sentence", REFUSED, ids=[sentence for _, sentence in REFUSED])
def test_what_makes_no_sense_is_refused(kinds, manifest, sentence):
    assert sentence in refusal(kinds, manifest, "default")


def change(cluster, manifest, spec, namespace=None):
    """What the API server says to a change of the spec."""
    try:
        cluster.merge(manifest["apiVersion"], manifest["kind"], manifest["metadata"]["name"], {"spec": spec}, namespace)
        return ""
    except ApiException as error:
        return json.loads(error.body)["message"]


def test_what_must_not_change_does_not(kinds, namespace):
    kinds.create(flavor(nodeLabels={"a": "b"}, topologyName="network"))
    assert "spec.topologyName cannot be changed once it is set" in change(kinds, flavor(), {"topologyName": "other"})
    assert "spec.topologyName cannot be changed once it is set" in change(kinds, flavor(), {"topologyName": None})
    assert change(kinds, flavor(), {"nodeLabels": {"a": "c"}}) == ""
    kinds.create(local_queue(), namespace)
    assert "spec.clusterQueue cannot be changed" in change(kinds, local_queue(), {"clusterQueue": "other"}, namespace)
    assert change(kinds, local_queue(), {"stopPolicy": "Hold"}, namespace) == ""


def test_levels_change_only_above_hosts(kinds):
    kinds.create(topology("block", "rack", HOSTNAME))
    assert change(kinds, topology(), topology("rack", HOSTNAME)["spec"]) == ""
    assert "levels can change only where" in change(kinds, topology(), topology("rack")["spec"])


def test_pod_sets_that_hold_quota_do_not_change(kinds, namespace):
    kinds.create(workload(pod_set()), namespace)
    assert change(kinds, workload(), {"podSets": [pod_set(count=3)]}, namespace) == ""
    given = {"clusterQueue": "team", "podSetAssignments": [{"name": "main", "count": 3}]}
    kinds.merge(NEW, "Workload", "job-train", {"status": {"conditions": [CONDITION], "admission": given}}, namespace, "status")
    sentence = "spec.podSets cannot be changed while quota is reserved"
    assert sentence in change(kinds, workload(), {"podSets": [pod_set(count=4)]}, namespace)
    assert sentence in change(kinds, workload(), {"podSets": [pod_set(count=3, image="other")]}, namespace)
    assert "spec.queueName cannot be changed while quota is reserved" in change(kinds, workload(), {"queueName": "other"}, namespace)
    assert change(kinds, workload(), {"active": False}, namespace) == ""


def test_a_queue_that_nobody_may_use_is_warned_of(kinds):
    done = subprocess.run([str(kinds._kubectl), "--kubeconfig", str(kinds.kubeconfig), "create", "-f", "-"], capture_output=True, text=True, timeout=60,
                          input=yaml.safe_dump(manifest_of("ClusterQueue", "closed", {"resourceGroups": quota()})))
    assert done.returncode == 0, done.stderr
    assert 'ClusterQueue "closed" has no spec.namespaceSelector, so no namespace may use it' in done.stderr


# --- conversion ---

def test_old_words_become_new_ones(kinds, namespace):
    kinds.create(queue(version=OLD, cohort="c", flavorFungibility={"whenCanBorrow": "Borrow", "whenCanPreempt": "Preempt"}, admissionChecks=["first"]))
    spec = kinds.get(NEW, "ClusterQueue", "team")["spec"]
    assert spec["cohortName"] == "c"
    assert spec["flavorFungibility"] == {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "MayStopSearch"}
    assert spec["admissionChecksStrategy"] == {"admissionChecks": [{"name": "first"}]}
    kinds.create(workload(version=OLD, priority=5, priorityClassName="high", priorityClassSource="kueue.x-k8s.io/workloadpriorityclass"), namespace)
    assert kinds.get(NEW, "Workload", "job-train", namespace)["spec"]["priorityClassRef"] == {
        "group": GROUP, "kind": "WorkloadPriorityClass", "name": "high"}


def test_assignments_have_the_form_of_the_version(kinds, namespace):
    kinds.create(workload(), namespace)
    compact = {"levels": ["block", "rack"], "slices": [
        {"domainCount": 2, "valuesPerLevel": [{"universal": "b1"}, {"individual": {"prefix": "r", "roots": ["1", "2"]}}],
         "podCounts": {"individual": [1, 3]}}]}
    flat = {"levels": ["block", "rack"], "domains": [{"values": ["b1", "r1"], "count": 1}, {"values": ["b1", "r2"], "count": 3}]}

    def admission(assignment):
        return {"status": {"admission": {"clusterQueue": "team", "podSetAssignments": [{"name": "main", "count": 4, "topologyAssignment": assignment}]}}}

    def assigned(version):
        return kinds.get(version, "Workload", "job-train", namespace)["status"]["admission"]["podSetAssignments"][0]["topologyAssignment"]

    kinds.merge(NEW, "Workload", "job-train", admission(compact), namespace, "status")
    assert assigned(OLD) == flat
    kinds.merge(NEW, "Workload", "job-train", {"status": {"admission": None}}, namespace, "status")
    kinds.merge(OLD, "Workload", "job-train", admission(flat), namespace, "status")
    assert assigned(OLD) == flat
    assert "domains" not in assigned(NEW)


def test_usage_of_a_local_queue_goes_by_its_name_in_each_version(kinds, namespace):
    kinds.create(local_queue(), namespace)
    usage = [{"name": "default", "resources": [{"name": "cpu", "total": "3"}]}]
    kinds.merge(NEW, "LocalQueue", "team", {"status": {"flavorsUsage": usage}}, namespace, "status")
    assert kinds.get(OLD, "LocalQueue", "team", namespace)["status"] == {"flavorUsage": usage}


def test_the_authority_is_written_into_definitions_again(kinds):
    def bundle():
        return definition(kinds, "workloads")["spec"]["conversion"]["webhook"]["clientConfig"].get("caBundle")
    assert bundle()
    kinds.request("PATCH", f"{DEFINITIONS}/workloads.{GROUP}", body=[{"op": "remove", "path": "/spec/conversion/webhook/clientConfig/caBundle"}],
                  content_type="application/json-patch+json")
    kinds.wait_for(bundle, 60, "the authority to be written again")


# --- what is seen ---

def test_kubectl_shows_the_usual_columns(kinds, namespace):
    kinds.kubectl("apply", "-n", namespace, "-f", "-", input=yaml.safe_dump_all(good(NEW)))
    kinds.create(workload(), namespace)
    kinds.merge(NEW, "ClusterQueue", "team", {"status": {"pendingWorkloads": 3, "admittedWorkloads": 2}}, subresource="status")

    def shown(*arguments):
        return [line.split() for line in kinds.kubectl("get", "-n", namespace, *arguments).splitlines()]

    assert shown("cq") == [["NAME", "COHORT", "PENDING", "WORKLOADS"], ["team", "research", "3"]]
    assert shown("cq", "-o", "wide")[1] == ["team", "research", "StrictFIFO", "3", "2"]
    assert shown("clusterqueues.v1beta1.kueue.x-k8s.io")[1] == ["team", "research", "3"]
    # "queues" and "queue" are KAI's own Queues, whose names go before the short names of others.
    assert shown("lq")[0] == ["NAME", "CLUSTERQUEUE", "PENDING", "WORKLOADS", "ADMITTED", "WORKLOADS"]
    assert shown("lq")[1] == ["team", "team"]
    assert shown("kwl")[0] == ["NAME", "QUEUE", "RESERVED", "IN", "ADMITTED", "FINISHED", "AGE"]
    assert shown("kwl")[1][:2] == ["job-train", "team"]
    assert shown("wpc")[1] == ["high", "1000"]
    for short in ("topo", "flavor", "flavors", "rf", "co", "kueueworkloads"):
        assert len(shown(short)) > 1, short


def test_workloads_are_selected_by_their_queue(kinds, namespace):
    kinds.create(workload(), namespace)
    kinds.merge(NEW, "Workload", "job-train", {"status": {"admission": {"clusterQueue": "team", "podSetAssignments": [{"name": "main"}]}}},
                namespace, "status")
    path = kinds.path(NEW, "Workload", namespace)
    assert len(kinds.request("GET", path, query=[("fieldSelector", "status.admission.clusterQueue=team")])["items"]) == 1
    assert not kinds.request("GET", path, query=[("fieldSelector", "status.admission.clusterQueue=other")])["items"]


def test_the_doctor_sees_kueue_itself(kinds):
    def finding():
        done = subprocess.run([binary(), "doctor", "--kubeconfig", kinds.kubeconfig, "-o", "json"], capture_output=True, text=True, timeout=60)
        return [(f["health"], f["message"]) for f in json.loads(done.stdout)["findings"] if f["check"] == "kueue"]
    assert finding() == [("ok", "Kueue itself is not installed, so Gantree admits the workloads of its queues")]
    kinds.create({"apiVersion": CONFIGURATIONS, "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "theirs"}, "webhooks": [
        {"name": "vworkload.kb.io", "rules": [], "admissionReviewVersions": ["v1"], "sideEffects": "None", "failurePolicy": "Ignore",
         "clientConfig": {"service": {"namespace": "kueue-system", "name": "any", "path": f"/validate-{GROUP.replace('.', '-')}-v1beta2-workload"}}}]})
    try:
        assert finding()[0][0] == "warning"
        assert 'ValidatingWebhookConfiguration "theirs"' in finding()[0][1]
    finally:
        kinds.delete(CONFIGURATIONS, "ValidatingWebhookConfiguration", "theirs")


# Last, since it ends the replica.
def test_the_stored_version_is_served_without_anybody(kinds, namespace, serving):
    kinds.create(queue(cohortName="c"))
    kinds.create(local_queue(), namespace)
    serving.kill()
    kinds.merge(NEW, "ClusterQueue", "team", {"status": {"pendingWorkloads": 1}}, subresource="status")
    kinds.merge(NEW, "LocalQueue", "team", {"status": {"pendingWorkloads": 1}}, namespace, "status")
    assert kinds.get(NEW, "ClusterQueue", "team")["spec"]["cohortName"] == "c"
    with pytest.raises(ApiException, match="conversion webhook"):
        kinds.get(OLD, "ClusterQueue", "team")
