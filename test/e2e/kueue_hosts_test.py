"""What becomes of jobs whose hosts fail, go or are drained. All tests share one replica of Gantree; each has nodes, a network and queues of its
own, its `pool`."""
import pytest

from harness.queues import RACK, REQUIRED, holds

# Pods leave a node that is not ready at once, where they would stay for five minutes.
LEAVES = {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0}
TOLERATIONS = [LEAVES | {"key": f"node.kubernetes.io/{key}"} for key in ("not-ready", "unreachable")]
# A node is looked at every few seconds, and a Job rests for ten before it makes a pod anew.
PATIENCE = 60


def racks_of(pool, pods):
    nodes = pool.labels_of_nodes()
    return {nodes[one["spec"]["nodeName"]][RACK] for one in pods}


@pytest.fixture
def failing(pool):
    """A rack of three hosts, a job with a pod on each of two; the host that fails, and the pods. (A Job that loses many pods at once rests
    for minutes before it makes others.)"""
    pool.make_nodes(3, racks=1)
    pool.make_queue()
    pool.submit_job("train", 2, {REQUIRED: RACK}, gpu=8, more={"backoffLimit": 40}, tolerations=TOLERATIONS)
    pods = pool.running("train", 2)
    return pods[0]["spec"]["nodeName"], {one["metadata"]["uid"] for one in pods}


def is_deleted(pool, node):
    """The node goes, and what ran there: at once, where the cluster itself would take its time."""
    pool.cluster.delete("v1", "Node", node)
    names = [one["metadata"]["name"] for one in pool.cluster.pods(pool.namespace) if one["spec"].get("nodeName") == node]
    if names:
        pool.cluster.kubectl("delete", "pods", "-n", pool.namespace, "--grace-period=0", "--force", "--wait=false", "--ignore-not-found", *names)


def is_not_ready(pool, node):
    pool.cluster.take_down(node)


def is_tainted(pool, node):
    pool.cluster.kubectl("taint", "node", node, "gantree.dev/broken=fan:NoExecute")


def is_drained(pool, node):
    pool.cluster.kubectl("drain", node, "--force", "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=30s")


@pytest.mark.parametrize("trouble", (is_deleted, is_not_ready, is_tainted, is_drained), ids=lambda trouble: trouble.__name__)
def test_a_host_is_replaced_inside_the_rack_when_it(pool, failing, trouble):
    node, before = failing
    trouble(pool, node)

    def mended():
        pods = [one for one in pool.pods("train") if one["status"]["phase"] == "Running"]
        return pods if len(pods) == 2 and node not in {one["spec"]["nodeName"] for one in pods} else None
    pods = pool.wait(mended, lambda: f"2 pods elsewhere than on {node}; {pool.workload('train')['status']}", PATIENCE)
    pool.check_assignment("train", pods)
    assert len(racks_of(pool, pods)) == 1
    assert len(before & {one["metadata"]["uid"] for one in pods}) == 1, "that of the other host ran on"
    assert not holds(pool.workload("train"), "Evicted")
    pool.wait(lambda: not pool.workload("train")["status"].get("unhealthyNodes"), "no host to be named as failed any more")


def test_a_pod_finds_another_host_though_others_of_its_job_run_on_at_the_cordoned_one(pool):
    first, second = pool.make_nodes(2, racks=1)
    pool.make_queue()
    pool.submit_job("train", 4, {REQUIRED: RACK}, gpu=2, more={"backoffLimit": 40})
    pods = pool.running("train", 4)
    node, = {one["spec"]["nodeName"] for one in pods}
    pool.cluster.kubectl("cordon", node)
    pool.cluster.delete("v1", "Pod", pods[0]["metadata"]["name"], pool.namespace, gracePeriodSeconds=0)
    other = second if node == first else first
    pool.wait(lambda: sorted(one["spec"].get("nodeName", "") for one in pool.pods("train") if one["status"]["phase"] == "Running")
              == sorted([node] * 3 + [other]), lambda: f"one of four at {other}; {pool.workload('train')['status']}", PATIENCE)
    pool.check_assignment("train", pool.running("train", 4))
    assert not holds(pool.workload("train"), "Evicted")


def test_where_there_is_no_other_host_in_the_rack_the_job_is_queued_again(pool):
    pool.make_nodes(2, racks=1)
    pool.make_queue()
    pool.submit_job("train", 16, {REQUIRED: RACK}, more={"backoffLimit": 40})
    is_deleted(pool, pool.running("train", 16)[0]["spec"]["nodeName"])
    workload = pool.told("train", "Evicted", "True", "NodeFailures")
    pool.wait(lambda: any(reason == "EvictedDueToNodeFailures" for reason, _ in pool.events(workload)), "an event that says so")
    pool.told("train", "QuotaReserved", "False")
    pool.make_nodes(2, racks=1)
    pods = pool.running("train", 16)
    pool.check_assignment("train", pods)
    assert len(racks_of(pool, pods)) == 1
