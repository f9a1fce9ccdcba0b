"""What people see of queued jobs: why theirs does not run, in the words they type, on the objects they made."""
import json
import subprocess

import pytest
from kubernetes.client import ApiException

from harness.gantree import binary
from harness.objects import job, pod, requests, template
from harness.queues import API, KUEUE, RACK, REQUIRED, condition, gates, holds

ASKS = {"cpu": "1", "nvidia.com/gpu": "2"}


@pytest.fixture
def ask(pool):
    """Asks a command of the cluster about the pool's namespace: (exit code, what it printed)."""
    def ask(*words):
        ran = subprocess.run([binary(), *words, "-n", pool.namespace, "--kubeconfig", pool.cluster.kubeconfig],
                             capture_output=True, text=True, timeout=60)
        return ran.returncode, ran.stdout or ran.stderr
    return ask


def explained(ask, name):
    """(exit code, state, reason) of a job."""
    code, shown = ask("explain", name, "-o", "json")
    answer = json.loads(shown)
    return code, answer["state"], answer.get("reason")


def reasons(pool, kind, name):
    return {event["reason"] for event in pool.cluster.events(pool.namespace, name) if event["involvedObject"]["kind"] == kind}


def test_a_class_of_priority_that_is_not_there_is_waited_for(pool):
    pool.make_nodes(1)
    pool.make_queue()
    name = f"later-{pool.name}"
    pool.submit_job("train", 2, {REQUIRED: RACK}, priority=name)
    pool.told("train", "QuotaReserved", "False", "Misconfigured", f'there is no WorkloadPriorityClass "{name}"')
    assert "priorityClassRef" not in pool.workload("train")["spec"]
    pool.cluster.create({"apiVersion": API, "kind": "WorkloadPriorityClass", "metadata": {"name": name}, "value": 7})
    try:
        pool.running("train", 2)
        assert pool.workload("train")["spec"]["priority"] == 7
    finally:
        pool.cluster.delete(API, "WorkloadPriorityClass", name)


def test_explain_says_what_keeps_a_job_from_running(pool, ask):
    pool.make_nodes(1)
    pool.make_queue()
    pool.submit_job("train", 4, {REQUIRED: RACK})
    pods = pool.running("train", 4)
    assert explained(ask, "job/train")[:2] == (0, "Running")
    code, shown = ask("explain", f"pod/{pods[0]['metadata']['name']}")
    assert code == 0 and "/train  Job (kueue)  Running" in shown and f'ClusterQueue "{pool.name}"' in shown, shown
    pool.change_workload("train", {"spec": {"active": False}})
    pool.wait(lambda: not pool.workload("train")["status"].get("admission"), "the room to come back")
    assert explained(ask, "job/train") == (2, "Deactivated", "Deactivated")
    assert "Deactivated" in ask("get", "gangs")[1]
    code, shown = ask("get", "wl", "train")
    assert code == 0 and "Inactive" in shown and len(shown.splitlines()) == 2, shown
    pool.change_workload("train", {"spec": {"active": True}})
    pool.running("train", 4)
    assert condition(pool.workload("train"), "Requeued")["reason"] == "Reactivated" and holds(pool.workload("train"), "Requeued")
    pool.change_job("train", {"spec": {"suspend": True}})
    pool.wait(lambda: not pool.workload("train")["status"].get("admission"), "the room to come back")
    assert explained(ask, "job/train") == (2, "Suspended", "Suspended")
    assert condition(pool.workload("train"), "Requeued")["status"] == "False"
    pool.submit_job("short", 1, {"gantree.dev/run-for": "0.5s"})
    pool.told("short", "Finished", "True")
    assert explained(ask, "job/short") == (0, "Finished", "Succeeded")


def test_the_same_word_is_said_everywhere(pool, ask):
    pool.make_nodes(1)
    pool.make_queue()
    odd = job("odd", 1, asks={"cpu": "1", "example.com/odd": "1"})
    for manifest, queue, word, reason in ((job("lost", 1, asks=ASKS), "nosuch", "QueueNotFound", "Misconfigured"),
                                          (odd, "main", "NoMatchingFlavor", "NoMatchingFlavor")):
        name = manifest["metadata"]["name"]
        pool.submit(manifest, queue)
        workload = pool.told(name, "QuotaReserved", "False", reason)
        assert condition(workload, "QuotaReserved")["message"].startswith(f"{word}: ")
        assert explained(ask, f"job/{name}") == (2, "Waiting", word)
        code, shown = ask("get", "workload", name, "-o", "json")
        assert json.loads(shown)["workloads"][0]["reason"] == word
        assert "jobs:1" not in ask("explain", f"job/{name}")[1]


def test_a_job_has_events_of_its_own(pool):
    pool.make_nodes(1)
    pool.make_queue(quota=8)
    pool.submit_job("train", 8, {REQUIRED: RACK})
    pool.running("train", 8)
    pool.wait(lambda: {"CreatedWorkload", "Started"} <= reasons(pool, "Job", "train"), lambda: f"the events; {reasons(pool, 'Job', 'train')}")
    pool.submit_job("next", 2, {REQUIRED: RACK})
    pool.wait(lambda: "Pending" in reasons(pool, "Job", "next"), "why it waits")
    pool.change_workload("train", {"spec": {"active": False}})
    pool.wait(lambda: "EvictedDueToDeactivated" in reasons(pool, "Job", "train"), "why it was stopped")


def test_pods_of_a_group_that_is_not_complete_are_told(pool):
    pool.make_nodes(1)
    pool.make_queue()
    marks = {f"{KUEUE}/pod-group-total-count": "3"}
    pool.submit(pod("duo-0", labels={f"{KUEUE}/pod-group-name": "duo"}, annotations=marks, asks=ASKS, restartPolicy="Never"))
    pool.wait(lambda: any("1 of 3 pods" in event["message"] for event in pool.cluster.events(pool.namespace, "duo-0")), "an event")


def stateful_set(name, replicas):
    labels = {"app": name}
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": name},
            "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "podManagementPolicy": "Parallel",
                     "template": template(labels=labels, annotations={REQUIRED: RACK}, asks=ASKS)}}


def test_a_stateful_set_that_is_scaled_says_what_becomes_of_its_pods(pool, ask):
    pool.make_nodes(2)
    pool.make_queue()
    pool.submit(stateful_set("store", 2))

    def running(count):
        pods = [one for one in pool.cluster.pods(pool.namespace) if one["status"]["phase"] == "Running"]
        return pods if len(pods) == count else None
    before = {one["metadata"]["uid"] for one in pool.wait(lambda: running(2), "two pods")}
    pool.cluster.kubectl("scale", "statefulset/store", "--replicas=3", "-n", pool.namespace)
    pool.wait(lambda: "ExcessPod" in reasons(pool, "StatefulSet", "store") and "ExcessPod" in reasons(pool, "Pod", "store-2"), "both to be told")
    assert {one["metadata"]["uid"] for one in pool.wait(lambda: running(2), "the two to run on")} == before
    assert holds(pool.cluster.get(API, "Workload", "statefulset-store", pool.namespace), "PodsReady")
    code, shown = ask("explain", "sts/store")
    assert code == 2 and "ExcessPods" in shown and "scaled to 0" in shown, shown
    pool.cluster.kubectl("scale", "statefulset/store", "--replicas=0", "-n", pool.namespace)
    pool.wait(lambda: not pool.cluster.pods(pool.namespace) and not pool.cluster.list(API, "Workload", pool.namespace), "all to go")
    pool.cluster.kubectl("scale", "statefulset/store", "--replicas=3", "-n", pool.namespace)
    pool.wait(lambda: running(3), lambda: f"three pods; {[(p['metadata']['name'], gates(p)) for p in pool.cluster.pods(pool.namespace)]}")


def test_a_job_that_its_user_would_start_as_it_is_admitted_gets_its_assignment_all_the_same(pool):
    """Whoever is faster: refused while it waits, or no change any more."""
    pool.make_nodes(1)
    pool.make_queue()
    for round in range(5):
        name = f"train-{round}"
        pool.submit_job(name, 1, {REQUIRED: RACK})
        pool.wait(lambda: pool.workload(name), "its workload")
        try:
            pool.change_job(name, {"spec": {"suspend": False}})
        except ApiException as refused:
            assert refused.status == 403, refused.body
        pool.check_assignment(name, pool.running(name, 1))


def test_a_job_whose_pods_a_limit_range_would_refuse_waits_until_that_is_changed(pool):
    pool.make_nodes(2)
    pool.make_queue(quota=8)
    limits = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "small"},
              "spec": {"limits": [{"type": "Container", "max": {"nvidia.com/gpu": "1"}}]}}
    pool.cluster.create(limits, pool.namespace)
    pool.submit(job("large", 2, asks=requests(gpu=2)))
    pool.told("large", "QuotaReserved", "False", message='LimitRange "small": container "main" asks for 2 of nvidia.com/gpu, and at most 1 is allowed')
    pool.cluster.delete("v1", "LimitRange", "small", pool.namespace)
    pool.running("large", 2)
