"""What one tenant puts into its namespace holds nobody else up. Margins are wide: machines are busy."""
import time

import pytest

from harness.objects import GANG_LABEL, job, pod, pod_group, requests
from harness.queues import API, QUEUE_NAME, Queues

PATIENCE = 120
MOST_SECONDS = 5   # that another tenant's pod may wait; by itself it is a few hundredths
MOST_MEMORY = 1 << 30  # half of the chart's limit

SMALL = requests(cpu="100m", memory="16Mi")


def expect_service(cluster, namespace, rounds=5):
    """Another tenant's pods are bound soon, one after the other."""
    for index in range(rounds):
        name = f"other-{index}"
        cluster.create(pod(name, scheduler="gantree", asks=SMALL), namespace)
        began = time.monotonic()
        cluster.wait_for(lambda name=name: name in cluster.bound(namespace), PATIENCE, f"{name} to be bound")
        waited = time.monotonic() - began
        assert waited < MOST_SECONDS, f"{name} waited {waited:.1f} s"


def memory(gantree):
    """The most that the process ever had, in bytes."""
    with open(f"/proc/{gantree.process.pid}/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM:"))


def expect_short_cycles(gantree):
    """Nearly none took more than a second; none by what it had to do, but machines are busy."""
    metrics = gantree.metrics()
    cycles = metrics["gantree_cycle_seconds_count"]
    long = cycles - metrics['gantree_cycle_seconds_bucket{le="1"}']
    assert long <= max(1, cycles / 100), f"{long} of {cycles} cycles"


def queued(name, cpu="1", notes=0, **metadata):
    """A Job in the queue `q`, as a webhook would leave it, with so many bytes of notes."""
    manifest = job(name, 1, asks=requests(cpu=cpu, memory="16Mi"))
    manifest["metadata"] |= {"labels": {QUEUE_NAME: "q"}, "annotations": {"notes": "x" * notes} if notes else {}} | metadata
    manifest["spec"]["suspend"] = True
    return manifest


@pytest.fixture
def shared_queue(cluster, namespace, tenant, installed):
    """One ClusterQueue of 8 cores for both tenants."""
    cluster.make_nodes(4)
    made = [{"apiVersion": API, "kind": "ResourceFlavor", "metadata": {"name": "tenants"}, "spec": {}},
            {"apiVersion": API, "kind": "ClusterQueue", "metadata": {"name": "tenants"}, "spec": {
                "namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["cpu", "memory"], "flavors": [
                    {"name": "tenants", "resources": [{"name": "cpu", "nominalQuota": "8"}, {"name": "memory", "nominalQuota": "1Ti"}]}]}]}}]
    cluster.create_all(made)
    for one in (namespace, tenant):
        cluster.create({"apiVersion": API, "kind": "LocalQueue", "metadata": {"name": "q"}, "spec": {"clusterQueue": "tenants"}}, one)
    yield
    for one in reversed(made):
        cluster.delete_at_once(API, one["kind"], one["metadata"]["name"])


def expect_admission(cluster, namespace, rounds=3):
    """Another tenant's jobs are admitted soon, one after the other."""
    queues = Queues(cluster, namespace)
    for index in range(rounds):
        began = time.monotonic()
        cluster.create(queued(f"other-{index}"), namespace)
        queues.admitted(f"other-{index}")
        waited = time.monotonic() - began
        assert waited < MOST_SECONDS, f"other-{index} waited {waited:.1f} s"


@pytest.fixture
def tenant(cluster):
    return cluster.make_namespace("tenant")


def test_gangs_that_list_thousands_of_others(cluster, namespace, tenant, gantree):
    cluster.make_nodes(4)
    groups = [f"{tenant}/a{i:05}" for i in range(9_000)] + [f"{tenant}/z{i:03}" for i in range(60)]
    for index in range(60):
        cluster.create(pod_group(f"z{index:03}", 1, groups=groups), tenant)
        cluster.create(pod(f"z{index:03}", labels={GANG_LABEL: f"z{index:03}"}, scheduler="gantree", asks=SMALL), tenant)
    expect_service(cluster, namespace)
    assert memory(gantree) < MOST_MEMORY
    told = cluster.wait_for(lambda: next((c["message"] for p in cluster.pods(tenant) for c in p["status"].get("conditions", [])
                                          if c["type"] == "PodScheduled"), None), PATIENCE, "a pod to be told")
    assert "at most 100 gangs" in told, told
    assert not cluster.bound(tenant)


def test_a_namespace_full_of_large_pods_that_wait(cluster, namespace, tenant, gantree):
    cluster.make_nodes(4)
    terms = [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [f"nowhere-{i}-{j}" for j in range(20)]}]}
             for i in range(10)]
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
    cluster.create_all([pod(f"p{i:04}", scheduler="gantree", asks=SMALL, affinity=affinity) for i in range(600)], tenant)
    expect_service(cluster, namespace)
    assert memory(gantree) < MOST_MEMORY


def test_a_namespace_full_of_large_jobs_that_wait(cluster, namespace, tenant, shared_queue, replicas):
    gantree = replicas.start("--namespace-memory", "64")
    cluster.create_all([queued(f"large-{i:03}", cpu="100", notes=200_000) for i in range(120)], tenant)
    told = cluster.wait_for(lambda: [e for e in cluster.events(tenant) if e["reason"] == "NamespaceFull"], PATIENCE, "some to be set aside")
    assert 'what waits in namespace "' in told[0]["message"], told[0]
    expect_admission(cluster, namespace)
    expect_short_cycles(gantree)
    assert memory(gantree) < MOST_MEMORY
    workloads = len(cluster.list(API, "Workload", tenant))
    assert 0 < workloads < 120, workloads
    # What was set aside is looked at when there is room.
    for i in range(100):
        cluster.delete("batch/v1", "Job", f"large-{i:03}", tenant, propagationPolicy="Background")
    queues = Queues(cluster, tenant)
    queues.wait(lambda: all(queues.workload(f"large-{i:03}") for i in range(100, 120)), "Workloads of those that are left", PATIENCE)


def test_a_shared_queue_full_of_jobs_no_two_of_which_are_alike(cluster, namespace, tenant, shared_queue, gantree):
    flood = []
    for i in range(1_000):
        flood.append(queued(f"unlike-{i:04}", cpu=f"{9_000 + i}m"))
        flood[-1]["spec"]["template"]["spec"]["tolerations"] = [{"key": f"k{i}", "operator": "Exists"}]
    cluster.create_all(flood, tenant)
    expect_admission(cluster, namespace)
    expect_short_cycles(gantree)
    assert memory(gantree) < MOST_MEMORY
