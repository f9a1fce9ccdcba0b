"""What one tenant puts into its namespace holds nobody else up. Margins are wide: machines are busy."""
import time

import pytest

from harness.objects import GANG_LABEL, pod, pod_group, requests

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
    return gantree.metrics()["process_resident_memory_bytes"]


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
