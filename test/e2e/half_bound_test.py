"""Gangs that a crash left half bound: nothing stays so."""
from harness.objects import GANG_LABEL, gang, pod, requests

PATIENCE = 60
HALF = requests(gpu=4)


def half_bind(cluster, namespace, name, nodes):
    """A gang of four whose scheduler died when it had bound a pod to each of these nodes."""
    cluster.create_all(gang(name, 4, asks=HALF), namespace)
    for index, node in enumerate(nodes):
        cluster.bind(namespace, f"{name}-{index}", node)


def bound(cluster, namespace, name):
    return len(cluster.bound(namespace, f"{GANG_LABEL}={name}"))


def was_whole(cluster, namespace, name):
    group = cluster.get("scheduling.sigs.k8s.io/v1alpha1", "PodGroup", name, namespace)
    conditions = {one["type"]: one["status"] for one in group.get("status", {}).get("conditions", [])}
    return conditions.get("OnceSatisfied") == "True"


def test_of_two_gangs_that_lock_each_other_out_the_first_completes_with_the_room_of_the_other(cluster, namespace, installed, replicas):
    nodes = cluster.make_nodes(4)
    half_bind(cluster, namespace, "a", nodes[:2])
    half_bind(cluster, namespace, "b", nodes[2:])
    for node in nodes[:3]:
        cluster.create(pod(f"other-{node}", asks=HALF, nodeName=node), namespace)
    replicas.start("--give-back-after", "5s")
    cluster.wait_for(lambda: (bound(cluster, namespace, "a"), bound(cluster, namespace, "b")) == (4, 0), PATIENCE,
                     lambda: f"a to be whole and b gone; {cluster.bound(namespace)}")
    assert any(event.get("reason") == "GaveBack" for event in cluster.events(namespace))


def test_a_gang_that_ran_whole_and_lost_a_pod_keeps_its_room(cluster, namespace, installed, replicas):
    nodes = cluster.make_nodes(2)
    gantree = replicas.start("--give-back-after", "2s")
    cluster.create_all(gang("train", 4, asks=HALF), namespace)
    cluster.wait_for(lambda: len(cluster.running(namespace)) == 4, PATIENCE, "the gang to run")
    # Written down a moment after it has started: what the next process will go by.
    cluster.wait_for(lambda: was_whole(cluster, namespace, "train"), PATIENCE, "its PodGroup to say that it was whole")
    lost = next(name for name, node in cluster.bound(namespace).items() if node == nodes[0])
    cluster.delete("v1", "Pod", lost, namespace)
    cluster.wait_for(lambda: lost not in [p["metadata"]["name"] for p in cluster.pods(namespace)], PATIENCE, "the pod to be gone")
    cluster.create(pod("other", asks=HALF, nodeName=nodes[0]), namespace)
    gantree.kill()
    cluster.create(next(o for o in gang("train", 4, asks=HALF) if o["metadata"]["name"] == lost), namespace)
    gantree.restart()
    cluster.stays(lambda: bound(cluster, namespace, "train") == 3, 10, "the three that are left keep their place")
