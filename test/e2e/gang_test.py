"""Gangs on a cluster: whole or not at all, counted against all there is."""
import pytest

from harness.objects import (GANG_LABEL, RACK, daemon_set, gang, gang_pods, pod, pod_group, rack_labels, requests)

PATIENCE = 30  # seconds that a decision may take on a busy machine
QUIET = 2      # seconds of nothing that are taken for an answer
ONE_GPU = requests(gpu=1)
POD_GROUPS = "scheduling.sigs.k8s.io/v1alpha1", "PodGroup"

pytestmark = pytest.mark.usefixtures("observer")


def whole(cluster, namespace, name, pods):
    """Waits until so many pods of a gang run."""
    labels = f"{GANG_LABEL}={name}"
    cluster.wait_for(lambda: len(cluster.running(namespace, labels)) == pods, PATIENCE,
                     lambda: f"{pods} pods of {name} to run; {len(cluster.running(namespace, labels))} do")


def racks_of(cluster, bound):
    nodes = {node["metadata"]["name"]: node["metadata"]["labels"][RACK] for node in cluster.list("v1", "Node")}
    return {nodes[node] for node in bound.values()}


def condition(status, kind):
    return next((c for c in status.get("conditions", []) if c["type"] == kind), None)


def wait_for_refusal(cluster, namespace, name, complete=True):
    """Waits until the PodGroup says why it waits, and returns the condition. `complete`: that all its pods were seen."""
    def refused():
        found = condition(cluster.get(*POD_GROUPS, name, namespace).get("status", {}), "Scheduled")
        return found if found and found["status"] == "False" and (found["reason"] != "GangIncomplete") == complete else None
    return cluster.wait_for(refused, PATIENCE, f"{name} to say why it waits")


def test_a_gang_of_64_binds_whole_and_in_one_rack(cluster, namespace, topology, gantree):
    cluster.make_nodes(16, labels=rack_labels(nodes_in_rack=8))
    cluster.create_all(gang("train", 64, gather="RackLayer", asks=ONE_GPU), namespace)
    whole(cluster, namespace, "train", 64)
    assert len(racks_of(cluster, cluster.bound(namespace))) == 1
    cluster.wait_for(lambda: cluster.get(*POD_GROUPS, "train", namespace)["status"].get("running") == 64, PATIENCE, "the status to tell")
    status = cluster.get(*POD_GROUPS, "train", namespace)["status"]
    assert status["phase"] == "Running" and status["scheduled"] == 64
    assert condition(status, "Scheduled")["status"] == "True"


def test_a_gang_for_which_one_place_is_missing_binds_nothing_and_says_why(cluster, namespace, gantree):
    cluster.make_nodes(7, prefix="full")
    cluster.make_nodes(1, prefix="short", allocatable={"nvidia.com/gpu": "7"})
    cluster.create_all(gang("train", 64, asks=ONE_GPU), namespace)
    told = wait_for_refusal(cluster, namespace, "train")
    cluster.stays(lambda: not cluster.bound(namespace), QUIET, "nothing is bound")
    assert "63" in told["message"], told
    def all_told():
        return all((condition(p["status"], "PodScheduled") or {}).get("reason") == "Unschedulable" for p in cluster.pods(namespace))
    cluster.wait_for(all_told, PATIENCE, "every pod to say that it cannot be scheduled")


def test_a_gang_with_one_pod_missing_binds_nothing_until_it_comes(cluster, namespace, gantree):
    cluster.make_nodes(8)
    cluster.create(pod_group("train", 8), namespace)
    *early, late = gang_pods("train", 8, asks=ONE_GPU)
    cluster.create_all(early, namespace)
    assert "7 of the 8" in wait_for_refusal(cluster, namespace, "train", complete=False)["message"]
    cluster.stays(lambda: not cluster.bound(namespace), QUIET, "nothing is bound")
    cluster.create(late, namespace)
    whole(cluster, namespace, "train", 8)


def test_of_two_gangs_for_one_rack_exactly_one_starts(cluster, namespace, topology, gantree):
    cluster.make_nodes(4, labels=rack_labels(nodes_in_rack=4))
    one = gang("one", 20, gather="RackLayer", asks=ONE_GPU)
    two = gang("two", 20, gather="RackLayer", asks=ONE_GPU)
    # Interleaved, so that neither is complete much before the other.
    cluster.create_all([o for pair in zip(one, two) for o in pair], namespace)
    cluster.wait_for(lambda: len(cluster.running(namespace)) == 20, PATIENCE, "twenty pods to run")
    cluster.stays(lambda: len(cluster.bound(namespace)) == 20, QUIET, "twenty pods are bound")
    winners = {name.split("-")[0] for name in cluster.bound(namespace)}
    assert len(winners) == 1
    loser = ({"one", "two"} - winners).pop()
    assert wait_for_refusal(cluster, namespace, loser)["reason"] == "TopologyBusy"
    for name in cluster.bound(namespace):
        cluster.delete("v1", "Pod", name, namespace)
    whole(cluster, namespace, loser, 20)


def test_pods_of_other_schedulers_and_daemon_sets_are_counted(cluster, namespace, gantree):
    cluster.make_nodes(2)
    cluster.create(daemon_set("agent", asks=requests(cpu="2")), namespace)
    cluster.create(pod("other", asks=ONE_GPU), namespace)
    cluster.wait_for(lambda: len(cluster.running(namespace)) == 3, PATIENCE, "the agents and the other scheduler's pod to run")
    others = set(cluster.bound(namespace))
    # 16 devices less one, 2 x 32 cores less 2 x 2 and one.
    cluster.create_all(gang("devices", 16, asks=ONE_GPU), namespace)
    cluster.create_all(gang("cores", 2, asks=requests(cpu="31")), namespace)
    wait_for_refusal(cluster, namespace, "devices")
    wait_for_refusal(cluster, namespace, "cores")
    cluster.stays(lambda: set(cluster.bound(namespace)) == others, QUIET, "nothing more is bound")
    cluster.create_all(gang("fitting", 15, asks=ONE_GPU), namespace)
    whole(cluster, namespace, "fitting", 15)


def test_nodes_that_are_added_start_a_gang_that_waits(cluster, namespace, topology, gantree):
    cluster.make_nodes(3, prefix="old", labels=rack_labels(nodes_in_rack=4))
    cluster.create_all(gang("train", 32, gather="RackLayer", asks=ONE_GPU), namespace)
    wait_for_refusal(cluster, namespace, "train")
    assert not cluster.bound(namespace)
    cluster.make_nodes(1, prefix="new", labels=rack_labels(nodes_in_rack=4))
    whole(cluster, namespace, "train", 32)


def test_a_gang_group_binds_together_across_namespaces(cluster, namespace, gantree):
    cluster.make_nodes(4)
    other = cluster.make_namespace()
    groups = [f"{namespace}/driver", f"{other}/workers"]
    cluster.create_all(gang("driver", 1, groups=groups, asks=ONE_GPU), namespace)
    wait_for_refusal(cluster, namespace, "driver", complete=False)
    cluster.stays(lambda: not cluster.bound(namespace), QUIET, "the driver waits for the workers")
    cluster.create_all(gang("workers", 12, groups=groups, asks=ONE_GPU), other)
    whole(cluster, namespace, "driver", 1)
    whole(cluster, other, "workers", 12)


def test_a_gang_group_without_room_for_all_binds_nothing(cluster, namespace, gantree):
    cluster.make_nodes(1)
    groups = [f"{namespace}/driver", f"{namespace}/workers"]
    cluster.create_all(gang("driver", 1, groups=groups, asks=ONE_GPU), namespace)
    cluster.create_all(gang("workers", 8, groups=groups, asks=ONE_GPU), namespace)
    wait_for_refusal(cluster, namespace, "workers")
    cluster.stays(lambda: not cluster.bound(namespace), QUIET, "nothing is bound")


def test_plain_pods_bind_one_by_one(cluster, namespace, gantree):
    cluster.make_nodes(1)
    cluster.create_all([pod(f"single-{index}", scheduler="gantree", asks=ONE_GPU) for index in range(10)], namespace)
    cluster.wait_for(lambda: len(cluster.running(namespace)) == 8, PATIENCE, "as many pods to run as there are devices")
    cluster.stays(lambda: len(cluster.bound(namespace)) == 8, QUIET, "eight are bound")


def test_pods_of_schedulers_that_are_not_ours_are_left_alone(cluster, namespace, replicas):
    replicas.start("--scheduler-names", "mine")
    cluster.make_nodes(1)
    cluster.create_all([pod("mine", scheduler="mine"), pod("not-mine", scheduler="gantree")], namespace)
    cluster.wait_for(lambda: cluster.running(namespace) == ["mine"], PATIENCE, "the one pod to run")
    cluster.stays(lambda: list(cluster.bound(namespace)) == ["mine"], QUIET, "the other pod is not bound")


def test_nodes_that_are_down_or_closed_get_no_pods(cluster, namespace, gantree):
    down, closed, good = cluster.make_nodes(3)
    cluster.take_down(down)
    cluster.kubectl("cordon", closed)
    cluster.wait_for(lambda: cluster.usable_nodes() == [good], PATIENCE, "one node to be left")
    cluster.create_all(gang("small", 8, asks=ONE_GPU), namespace)
    whole(cluster, namespace, "small", 8)
    assert set(cluster.bound(namespace).values()) == {good}
    cluster.create_all(gang("next", 8, asks=ONE_GPU), namespace)
    wait_for_refusal(cluster, namespace, "next")
    cluster.kubectl("uncordon", closed)
    whole(cluster, namespace, "next", 8)


def test_the_topology_tells_how_many_nodes_are_where(cluster, namespace, topology, gantree):
    cluster.make_nodes(4, labels=rack_labels(nodes_in_rack=2))

    def counts():
        status = cluster.get("scheduling.koordinator.sh/v1alpha1", "ClusterNetworkTopology", "default").get("status", {})
        return {d["topologyInfo"]["topologyName"]: d["nodeNum"] for d in status.get("detailStatus", [])}
    cluster.wait_for(lambda: counts().get("rack-0") == 2 and counts().get("block-0") == 4, PATIENCE, lambda: f"the counts; they are {counts()}")
    cluster.delete("v1", "Node", "node-0")
    cluster.wait_for(lambda: counts().get("rack-0") == 1 and counts().get("block-0") == 3, PATIENCE, lambda: f"the counts; they are {counts()}")


def test_a_waiting_gang_is_told_of_in_events_and_metrics(cluster, namespace, gantree):
    cluster.make_nodes(1)
    cluster.create_all(gang("big", 9, asks=ONE_GPU), namespace)
    wait_for_refusal(cluster, namespace, "big")
    cluster.wait_for(lambda: cluster.events(namespace, "big"), PATIENCE, "an event about the gang")
    cluster.wait_for(lambda: any("waiting" in sample and value >= 1 for sample, value in gantree.metrics().items()), PATIENCE,
                     "the metrics to count the gang that waits")
