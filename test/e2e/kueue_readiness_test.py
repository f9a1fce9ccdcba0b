"""Jobs of queues whose pods do not become ready."""
from harness.queues import RACK, REQUIRED, condition

# A Job rests for ten seconds before it makes a pod anew.
GANTREE_FLAGS = ["--pods-ready-timeout", "15s", "--pods-recovery-timeout", "3s", "--requeue-backoff", "1s", "--requeue-limit", "1"]


def test_a_job_that_does_not_get_ready_is_queued_again_and_then_given_up(pool):
    pool.make_nodes(1)
    pool.make_queue()
    pool.submit_job("train", 8, {REQUIRED: RACK, "gantree.dev/stay-pending": "true"})
    workload = pool.told("train", "Evicted", "True", "PodsReadyTimeout")
    pool.wait(lambda: any(reason == "EvictedDueToPodsReadyTimeout" for reason, _ in pool.events(workload)), "an event that says so")
    state = pool.wait(lambda: pool.workload("train")["status"].get("requeueState"), "to be told when it is queued again")
    assert state["count"] == 1 and state.get("requeueAt"), state
    pool.told("train", "Admitted")
    pool.wait(lambda: pool.workload("train")["spec"]["active"] is False, "it to be given up after the second time")
    assert condition(pool.workload("train"), "Evicted")["reason"].startswith("Deactivated")
    pool.wait(lambda: not pool.pods("train"), "its pods to go")
    # What it had is free.
    pool.submit_job("next", 8, {REQUIRED: RACK})
    pool.running("next", 8)


def test_a_job_that_does_not_recover_in_time_is_queued_again(pool):
    pool.make_nodes(1)
    pool.make_queue()
    pool.submit_job("train", 8, {REQUIRED: RACK}, more={"backoffLimit": 40})
    pods = pool.running("train", 8)
    pool.told("train", "PodsReady", "True")
    # A pod fails, and the one that takes its place comes too late.
    pool.cluster.merge("v1", "Pod", pods[0]["metadata"]["name"], {"metadata": {"annotations": {"gantree.dev/fail-after": "0s"}}}, pool.namespace)
    pool.told("train", "Evicted", "True", "PodsReadyTimeout")
    pool.running("train", 8)
