"""Manifests as tests need them: short, and with nothing that the test is not about."""
import json


def requests(cpu="1", gpu=None, memory="1Gi"):
    wanted = {"cpu": cpu, "memory": memory}
    return wanted if gpu is None else wanted | {"nvidia.com/gpu": str(gpu)}


def pod_spec(asks=None, scheduler=None, grace=1, **more):
    """The spec of a pod with one container. Without a scheduler it is the default one's."""
    asks = asks or requests()
    devices = {name: amount for name, amount in asks.items() if "/" in name}
    resources = {"requests": asks} | ({"limits": devices} if devices else {})
    spec = {"containers": [{"name": "main", "image": "registry.example/main", "resources": resources}],
            "terminationGracePeriodSeconds": grace}
    if scheduler is not None:
        spec["schedulerName"] = scheduler
    return spec | more


def pod(name, labels=None, annotations=None, **spec):
    """A pod that is over when its container ends."""
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "labels": labels or {}, "annotations": annotations or {}},
            "spec": pod_spec(**{"restartPolicy": "Never"} | spec)}


def template(labels=None, annotations=None, **spec):
    return {"metadata": {"labels": labels or {}, "annotations": annotations or {}}, "spec": pod_spec(**spec)}


def job(name, pods, annotations=None, **spec):
    """An indexed Job that runs all its pods at once. Annotations are the pods'."""
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
            "spec": {"parallelism": pods, "completions": pods, "completionMode": "Indexed", "backoffLimit": 0,
                     "template": template(annotations=annotations, restartPolicy="Never", **spec)}}


def daemon_set(name, **spec):
    labels = {"app": name}
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": name},
            "spec": {"selector": {"matchLabels": labels}, "template": template(labels=labels, **spec)}}


def job_set(name, replicas, pods, **spec):
    inner = job("unnamed", pods, **spec)["spec"]
    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": name},
            "spec": {"replicatedJobs": [{"name": "workers", "replicas": replicas, "template": {"spec": inner}}]}}


def leader_worker_set(name, groups, size, **spec):
    return {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": {"name": name},
            "spec": {"replicas": groups, "leaderWorkerTemplate": {"size": size, "workerTemplate": template(**spec)}}}


# --- gangs, as Koordinator has them ---

BLOCK, RACK = "topology.example.com/block", "topology.example.com/rack"
GANG_LABEL = "pod-group.scheduling.sigs.k8s.io"
GANG = "gang.scheduling.koordinator.sh"


def network():
    """Nodes in racks, racks in blocks."""
    return {"apiVersion": "scheduling.koordinator.sh/v1alpha1", "kind": "ClusterNetworkTopology", "metadata": {"name": "default"},
            "spec": {"networkTopologySpec": [
                {"topologyLayer": "BlockLayer", "labelKey": [BLOCK]},
                {"topologyLayer": "RackLayer", "parentTopologyLayer": "BlockLayer", "labelKey": [RACK]},
                {"topologyLayer": "NodeTopologyLayer", "parentTopologyLayer": "RackLayer"}]}}


def rack_labels(nodes_in_rack, racks_in_block=2):
    """The labels of the node with this index, for `make_nodes`."""
    def labels(index):
        rack = index // nodes_in_rack
        return {RACK: f"rack-{rack}", BLOCK: f"block-{rack // racks_in_block}"}
    return labels


def pod_group(name, minimum, gather=None, groups=None):
    """`gather` is the layer in one domain of which all pods must be; `groups` are the namespace/name of a GangGroup."""
    annotations = {}
    if gather is not None:
        annotations[f"{GANG}/network-topology-spec"] = json.dumps({"gatherStrategy": [{"layer": gather, "strategy": "MustGather"}]})
    if groups is not None:
        annotations[f"{GANG}/groups"] = json.dumps(groups)
    return {"apiVersion": "scheduling.sigs.k8s.io/v1alpha1", "kind": "PodGroup",
            "metadata": {"name": name, "annotations": annotations}, "spec": {"minMember": minimum}}


def gang_pods(name, pods, scheduler="gantree", annotations=None, **spec):
    return [pod(f"{name}-{index}", labels={GANG_LABEL: name}, annotations=annotations, scheduler=scheduler, **spec)
            for index in range(pods)]


def gang(name, pods, minimum=None, gather=None, groups=None, **spec):
    """A PodGroup and its pods, which are all needed unless a minimum says otherwise."""
    return [pod_group(name, minimum or pods, gather, groups), *gang_pods(name, pods, **spec)]
