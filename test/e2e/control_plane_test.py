"""That the cluster under the other tests is what they take it for, whichever kind it is of."""
import json
import time

import pytest
from kubernetes.client import ApiException

from harness.objects import daemon_set, job, job_set, leader_worker_set, pod, requests


def test_the_pods_of_a_job_run_and_go_on_running(cluster, namespace):
    nodes = cluster.make_nodes(2)
    cluster.create(job("train", 4), namespace)
    cluster.wait_for(lambda: len(cluster.running(namespace)) == 4, 30, "four running pods")
    assert set(cluster.bound(namespace).values()) <= set(nodes)
    cluster.stays(lambda: len(cluster.running(namespace)) == 4, 2, "four running pods")


def test_a_pod_that_says_how_long_it_runs_ends_the_job(cluster, namespace):
    cluster.make_nodes(1)
    cluster.create(job("short", 2, annotations={"gantree.dev/run-for": "500ms"}), namespace)
    cluster.wait_for(lambda: cluster.get("batch/v1", "Job", "short", namespace)["status"].get("succeeded") == 2, 30,
                     "the job to succeed")


def test_a_pod_that_is_to_fail_fails(cluster, namespace):
    cluster.make_nodes(1)
    cluster.create(pod("bad", annotations={"gantree.dev/fail-after": "100ms"}), namespace)
    cluster.wait_for(lambda: cluster.get("v1", "Pod", "bad", namespace)["status"]["phase"] == "Failed", 20, "the pod to fail")


def test_a_job_set_makes_its_pods(cluster, namespace):
    cluster.make_nodes(2)
    cluster.create(job_set("set", replicas=2, pods=3), namespace)
    cluster.wait_for(lambda: len(cluster.running(namespace)) == 6, 30, "six running pods")
    assert {p["metadata"]["labels"]["jobset.sigs.k8s.io/job-index"] for p in cluster.pods(namespace)} == {"0", "1"}


def test_the_webhook_of_job_set_refuses_nonsense(cluster, namespace):
    nonsense = job_set("set", replicas=1, pods=1)
    nonsense["spec"]["successPolicy"] = {"operator": "All", "targetReplicatedJobs": ["nobody"]}
    with pytest.raises(ApiException, match="nobody"):
        cluster.create(nonsense, namespace)


def test_a_leader_worker_set_makes_its_pods(cluster, namespace):
    cluster.make_nodes(2)
    cluster.create(leader_worker_set("serve", groups=2, size=3), namespace)
    cluster.wait_for(lambda: len(cluster.running(namespace)) == 6, 30, "six running pods")
    # The webhook numbers the pods, so this says that it was asked.
    numbers = sorted(p["metadata"]["labels"]["leaderworkerset.sigs.k8s.io/worker-index"] for p in cluster.pods(namespace))
    assert numbers == ["0", "0", "1", "1", "2", "2"]


def test_a_pod_of_another_scheduler_waits_until_it_is_bound(cluster, namespace):
    cluster.make_nodes(1)
    cluster.create(pod("mine", scheduler="nobody-else"), namespace)
    cluster.stays(lambda: not cluster.bound(namespace), 1, "the pod has no node")
    cluster.bind(namespace, "mine", "node-0")
    cluster.wait_for(lambda: cluster.running(namespace) == ["mine"], 10, "the pod to run")
    with pytest.raises(ApiException) as refused:
        cluster.bind(namespace, "mine", "node-0")
    assert refused.value.status == 409


def test_a_deleted_pod_stays_as_long_as_it_needs_to_stop(cluster, namespace):
    cluster.make_nodes(1)
    cluster.create(pod("slow", annotations={"gantree.dev/stop-after": "3s"}, grace=20), namespace)
    cluster.wait_for(lambda: cluster.running(namespace), 20, "the pod to run")
    cluster.delete("v1", "Pod", "slow", namespace)
    begun = time.monotonic()
    cluster.stays(lambda: cluster.pods(namespace), 1.5, "the pod is still there")
    cluster.wait_for(lambda: not cluster.pods(namespace), 10, "the pod to go")
    assert time.monotonic() - begun < 8


def test_a_daemon_set_lands_on_every_node(cluster, namespace):
    nodes = cluster.make_nodes(5)
    cluster.create(daemon_set("agent", asks=requests(cpu="100m")), namespace)
    cluster.wait_for(lambda: len(cluster.running(namespace)) == 5, 30, "five running pods")
    assert sorted(cluster.bound(namespace).values()) == sorted(nodes)


def test_a_node_goes_down_and_comes_back(cluster):
    cluster.make_nodes(2)
    cluster.take_down("node-1")
    cluster.wait_for(lambda: cluster.usable_nodes() == ["node-0"], 20, "node-1 to be down")
    cluster.bring_up("node-1")
    cluster.wait_for(lambda: sorted(cluster.usable_nodes()) == ["node-0", "node-1"], 20, "node-1 to be back")


def test_kubectl_sees_what_the_client_made(cluster, namespace):
    cluster.create(pod("seen", scheduler="nobody"), namespace)
    listed = json.loads(cluster.kubectl("get", "pods", "-n", namespace, "-o", "json"))
    assert [item["metadata"]["name"] for item in listed["items"]] == ["seen"]
