"""A thousand decisions through a connection that fails in every way there is, with somebody watching."""
import random
import time

import pytest

from harness.fault_proxy import REQUEST_FAULTS, WATCH_FAULTS
from harness.objects import gang, pod, rack_labels, requests
from harness.observer import Observer

ONE_GPU = requests(gpu=1)
SEED = 20261
CHANCES = {"cut_before": 0.02, "cut_after": 0.03, "delay": 0.05, "conflict": 0.03, "gone": 0.01, "too_many": 0.02, "error": 0.02,
           "unavailable": 0.02, "watch_cut": 0.003, "watch_end": 0.003, "watch_gone": 0.003, "watch_twice": 0.02}
# A connection that falls silent is noticed after minutes, not seconds: that is tested where the clock can be turned.
LEFT_OUT = {"watch_silent"}


def test_every_fault_is_among_the_chances():
    assert set(CHANCES) == (set(REQUEST_FAULTS) | set(WATCH_FAULTS)) - LEFT_OUT


@pytest.fixture
def watching(cluster, installed):
    """An observer with patience: where the answer to a binding is unclear, half a minute is given to the event that would tell."""
    observer = Observer(cluster, moment=90)
    yield observer
    observer.stop()


def test_a_thousand_decisions_through_a_failing_connection(cluster, namespace, topology, watching, replicas, make_proxy):
    cluster.make_nodes(16, labels=rack_labels(nodes_in_rack=4))
    proxy = make_proxy(SEED)
    proxy.chances(**CHANCES)  # from the first list on
    gantree = replicas.start(through=proxy, wait=False)
    gantree.wait_until_ready(60)
    dice = random.Random(SEED)
    made = 0
    for index in range(200):
        size = dice.randint(1, 9)
        annotations = {"gantree.dev/run-for": f"{dice.randint(100, 1500)}ms"}
        gather = dice.choice([None, "RackLayer"])
        if size == 1:
            cluster.create(pod(f"single-{index}", scheduler="gantree", asks=ONE_GPU, annotations=annotations), namespace)
        else:
            cluster.create_all(gang(f"gang-{index}", size, gather=gather, asks=ONE_GPU, annotations=annotations), namespace)
        made += size

    def left():
        return [p for p in cluster.pods(namespace) if p["status"]["phase"] != "Succeeded"]

    def told():
        return f"{made} pods to have run; {len(left())} have not, as: " + "; ".join(
            f"{p['metadata']['name']} on {p['spec'].get('nodeName')}: {p['status']}" for p in left()[:3])
    begun = time.monotonic()
    cluster.wait_for(lambda: not left(), 150, told, every=0.5)
    print(f"{made} pods, the last one {time.monotonic() - begun:.0f} s after it was made; faults: {dict(proxy.injected)}")
    assert made >= 900 and watching.bindings >= made
    assert all(proxy.injected[fault] > 0 for fault in CHANCES), proxy.injected
    assert gantree.process.running
    watching.check()
    # SIGTERM must be obeyed on a bad connection too; the fixture asserts that it is.
