"""Two replicas: one works, the other takes over, and never do both write."""
import threading
import time

import pytest

from harness.objects import gang, requests

TAKEOVER = 15.0  # seconds from the leader's death to the next one's first binding, as promised
MOMENT = TAKEOVER + 10.0  # a gang that the last leader bound in part is bound whole by the next one
ONE_GPU = requests(gpu=1)

pytestmark = pytest.mark.usefixtures("observer")


class Load:
    """Creates small gangs, one after the other, until told to stop."""

    def __init__(self, cluster, namespace):
        self._cluster, self._namespace = cluster, namespace
        self._stopping = threading.Event()
        self.error = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        try:
            for index in range(100_000):
                if self._stopping.wait(0.2):
                    return
                pods = gang(f"load-{index}", 4, asks=ONE_GPU, annotations={"gantree.dev/run-for": "200ms"})
                self._cluster.create_all(pods, self._namespace)
        except Exception as error:  # told by the thread that started this one
            self.error = error

    def stop(self):
        self._stopping.set()
        self._thread.join(30)
        assert self.error is None, f"the load broke off: {self.error}"


class Replica:
    """One replica behind a proxy of its own, which keeps book of its writes."""

    def __init__(self, replicas, make_proxy):
        self.proxy = make_proxy()
        self.gantree = replicas.start(elect=True, through=self.proxy)

    def bindings(self, since=0.0):
        return [write for write in self.proxy.writes("/binding") if write.begun >= since]


@pytest.fixture
def load(cluster, namespace):
    cluster.make_nodes(8)
    load = Load(cluster, namespace)
    yield load
    load.stop()


@pytest.fixture
def pair(cluster, load, replicas, make_proxy):
    """(the replica that works, the one that waits)"""
    both = [Replica(replicas, make_proxy), Replica(replicas, make_proxy)]
    cluster.wait_for(lambda: any(len(replica.bindings()) > 8 for replica in both), 40, "one of the replicas to work")
    leader, waiting = sorted(both, key=lambda replica: -len(replica.bindings()))
    assert not waiting.bindings(), "the one that does not lead has bound pods"
    return leader, waiting


def all_ran(cluster, namespace):
    return all(pod["status"]["phase"] == "Succeeded" for pod in cluster.pods(namespace))


def test_a_replica_takes_over_from_one_that_was_killed(cluster, namespace, load, pair):
    leader, waiting = pair
    leader.gantree.kill()
    killed = time.monotonic()
    cluster.wait_for(lambda: waiting.bindings(), TAKEOVER, "the other replica to take over", every=0.02)
    print(f"took over after {waiting.bindings()[0].begun - killed:.1f} s")
    load.stop()
    cluster.wait_for(lambda: all_ran(cluster, namespace), 60, "all that was asked for to have run", every=0.5)


def test_a_replica_that_is_told_to_stop_hands_over_at_once(cluster, load, pair):
    leader, waiting = pair
    leader.gantree.stop()
    stopped = time.monotonic()
    cluster.wait_for(lambda: waiting.bindings(), TAKEOVER / 2, "the other replica to take over", every=0.02)
    first = waiting.bindings()[0].begun
    print(f"took over {first - stopped:.1f} s after the other had ended")
    assert leader.bindings()[-1].begun < first, "the one that ended wrote while the other did"


def test_a_leader_that_was_frozen_writes_nothing_once_another_leads(cluster, load, pair):
    leader, waiting = pair
    leader.gantree.pause()
    cluster.wait_for(lambda: waiting.bindings(), TAKEOVER + 5, "the other replica to take over", every=0.02)
    thawed = time.monotonic()
    leader.gantree.go_on()
    time.sleep(5)
    assert not leader.bindings(since=thawed), "it went on binding though another leads"
    assert leader.gantree.get("/healthz")[0] == 200 or not leader.gantree.process.running


def test_a_leader_that_is_cut_off_stops_before_another_starts(cluster, load, pair):
    leader, waiting = pair
    leader.proxy.hold()
    cluster.wait_for(lambda: waiting.bindings(), TAKEOVER + 5, "the other replica to take over", every=0.02)
    # What the old leader had asked for and not hung up on goes through now.
    leader.proxy.pass_on()
    time.sleep(5)
    first = waiting.bindings()[0].begun
    late = [write for write in leader.bindings() if write.passed_on > first]
    assert not late, f"{len(late)} bindings of the old leader were passed on after another had taken over"
