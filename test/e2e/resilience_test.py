"""What must not matter: that Gantree dies, that the API server does, that things come in another order."""
import pytest

from harness.gantree import installation
from harness.objects import GANG_LABEL, gang, pod, requests

PATIENCE = 60
ONE_GPU = requests(gpu=1)

pytestmark = pytest.mark.usefixtures("observer")


def wait_until_running(cluster, namespace, count, labels=None):
    cluster.wait_for(lambda: len(cluster.running(namespace, labels)) == count, PATIENCE,
                     lambda: f"{count} pods to run; {len(cluster.running(namespace, labels))} do", every=0.2)


def in_mid_binding(cluster, namespace, pods):
    """Waits until some pods of a gang are bound and many are not."""
    def some():
        bound = len(cluster.bound(namespace))
        assert bound < pods, "all were bound before anybody looked"
        return 0 < bound < pods * 3 // 4
    cluster.wait_for(some, PATIENCE, "a gang to be bound in part", every=0.01)


def test_killed_in_mid_binding_it_completes_the_gang_after_a_restart(cluster, namespace, replicas, make_proxy):
    cluster.make_nodes(40)
    # Every binding takes up to a second here, so that there is a middle to be killed in.
    proxy = make_proxy()
    proxy.chances(delay=1.0)
    gantree = replicas.start(through=proxy)
    cluster.create_all(gang("train", 300, asks=ONE_GPU), namespace)
    in_mid_binding(cluster, namespace, 300)
    gantree.kill()
    proxy.chances()
    before = cluster.bound(namespace)
    gantree.restart()
    wait_until_running(cluster, namespace, 300)
    after = cluster.bound(namespace)
    assert {name: after[name] for name in before} == before, "what was bound stays where it was"


def test_killed_again_and_again_it_neither_loses_nor_doubles(cluster, namespace, replicas):
    cluster.make_nodes(8)
    gantree = replicas.start()
    for index in range(24):
        cluster.create_all(gang(f"gang-{index}", 8, asks=ONE_GPU, annotations={"gantree.dev/run-for": "1s"}), namespace)
        if index % 6 == 5:
            gantree.kill()
            gantree.restart()
    cluster.wait_for(lambda: all(p["status"]["phase"] == "Succeeded" for p in cluster.pods(namespace)), PATIENCE,
                     "every pod to have run", every=0.5)


def test_told_to_stop_in_mid_binding_it_leaves_no_gang_half_bound(cluster, namespace, replicas, make_proxy):
    cluster.make_nodes(40)
    proxy = make_proxy()
    proxy.chances(delay=1.0)
    gantree = replicas.start(through=proxy)
    cluster.create_all(gang("train", 300, asks=ONE_GPU), namespace)
    in_mid_binding(cluster, namespace, 300)
    gantree.stop()
    assert len(cluster.bound(namespace)) == 300


def test_it_goes_on_when_the_api_server_was_away(cluster, namespace, gantree):
    cluster.make_nodes(2)
    cluster.create_all(gang("before", 8, asks=ONE_GPU), namespace)
    wait_until_running(cluster, namespace, 8)
    cluster.restart_api_server()
    cluster.create_all(gang("after", 8, asks=ONE_GPU), namespace)
    wait_until_running(cluster, namespace, 16)
    assert gantree.process.running


def test_it_starts_while_the_api_server_is_away(cluster, namespace, replicas, make_proxy):
    cluster.make_nodes(1)
    proxy = make_proxy()
    proxy.chances(cut_before=1.0)
    gantree = replicas.start(through=proxy, wait=False)
    cluster.wait_for(lambda: proxy.injected["cut_before"] >= 3, PATIENCE, "three tries in vain")
    assert gantree.process.running and gantree.get("/readyz")[0] != 200
    assert gantree.get("/healthz")[0] == 200, "who waits for the API server need not be restarted"
    proxy.chances()
    gantree.wait_until_ready(60)
    cluster.create(pod("single", scheduler="gantree"), namespace)
    wait_until_running(cluster, namespace, 1)


def test_definitions_that_come_later_are_picked_up_without_a_restart(cluster, namespace, installed, replicas):
    name = "podgroups.scheduling.sigs.k8s.io"
    cluster.kubectl("delete", "crd", name, "--wait=true", "--timeout=60s")
    try:
        replicas.start()
        cluster.make_nodes(1)
        cluster.create(pod("single", scheduler="gantree", asks=ONE_GPU), namespace)
        wait_until_running(cluster, namespace, 1)
    finally:
        definition = next(o for o in installation() if o["metadata"]["name"] == name)
        cluster.apply([definition])
        cluster.wait_until_served(definition["spec"])
    cluster.create_all(gang("train", 7, asks=ONE_GPU), namespace)
    wait_until_running(cluster, namespace, 7, f"{GANG_LABEL}=train")
