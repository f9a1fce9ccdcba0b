"""A second replica takes over queues that are full."""
import collections
import time

import pytest

from harness.queues import RACK, REQUIRED, Pool, condition
from harness.watch import Watch
from harness.webhooks import Webhooks


class Crowd:
    """Watches the pods of a namespace: how many ever were there of each job, and how many ran at once."""

    def __init__(self, cluster, namespace):
        self.of_job = collections.defaultdict(set)
        self._running = set()
        self.most = 0
        self._watch = Watch(cluster, [(cluster.path("v1", "Pod", namespace), self._pod)])

    def _pod(self, kind, pod):
        uid = pod["metadata"]["uid"]
        self.of_job[pod["metadata"].get("labels", {}).get("job-name")].add(uid)
        runs = kind != "DELETED" and pod["spec"].get("nodeName") and pod["status"].get("phase") in ("Pending", "Running")
        (self._running.add if runs else self._running.discard)(uid)
        self.most = max(self.most, len(self._running))

    def stop(self):
        self._watch.stop()


@pytest.fixture
def full_pool(cluster, installed, replicas):
    """Queues full of jobs, two replicas, and the one of them that leads. The API server does without webhooks when their server is gone."""
    webhooks = Webhooks(cluster, installed[0], failure_policy="Ignore")
    leader = replicas.start(*webhooks.flags[:2], elect=True)
    webhooks.wait_until_asked()
    replicas.start(elect=True)
    pool = Pool(cluster)
    pool.make_nodes(2)
    pool.make_queue(quota=16)
    yield pool, leader
    pool.remove()
    webhooks.remove()


def test_a_second_replica_takes_over_full_queues_and_nothing_is_lost_or_done_twice(full_pool):
    pool, leader = full_pool
    crowd = Crowd(pool.cluster, pool.namespace)
    names = [f"train-{index}" for index in range(8)]
    for name in names:
        pool.submit_job(name, 8, {REQUIRED: RACK, "gantree.dev/run-for": "2s"})
    pool.wait(lambda: len(pool.pods(names[0])) == 8 and len(pool.pods(names[1])) == 8, "the first two to run")
    leader.kill()
    killed = time.monotonic()
    for name in names:
        pool.wait(lambda: condition(pool.workload(name), "Finished").get("reason") == "Succeeded",
                  lambda: f"{name} to finish; {pool.workload(name)['status']}", 90)
    print(f"all had run {time.monotonic() - killed:.1f} s after the leader was killed")
    crowd.stop()
    assert {name: len(crowd.of_job[name]) for name in names} == {name: 8 for name in names}, "each pod once"
    assert crowd.most <= 16, "never more than the quota"
