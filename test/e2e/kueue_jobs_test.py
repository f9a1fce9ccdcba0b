"""The life of queued jobs: the test plans of Kueue's topology proposal, and what may happen besides.

Both versions of the proposal have the same plan. Its unit tests, line by line, are in test/unit/kueue/test_plan_test.cpp and once more here; its
integration tests are:

  adding new nodes                                      test_a_new_node_makes_admission_possible
  assignment for required and preferred                 test_an_assignment_is_computed_for_required, ..._for_preferred_across_several_values
  the gate is in the Job's pod template                 test_the_scheduling_gate_is_added_to_the_pod_template
  pods with the gate are ungated                        test_pods_are_ungated_within_a_second_of_their_creation
  the Workload can be suspended and unsuspended         test_a_workload_can_be_suspended_and_unsuspended

All tests share one replica of Gantree; each has nodes, a network and queues of its own, its `pool`.
"""
import statistics
import time

import pytest
from kubernetes.client import ApiException

from harness.objects import daemon_set, job_set, pod, requests
from harness.queues import (BLOCK, GATE, KUEUE, PREFERRED, RACK, REQUIRED, SlotKeeper, assigned, condition, gates, holds)

QUIET = 1.0


@pytest.fixture
def slots(whole_cluster, pool):
    """Whether any domain has more pods than were assigned to it, at any moment."""
    slots = SlotKeeper(whole_cluster, pool.namespace)
    yield slots
    slots.stop()
    slots.check()


def racks_of(pool, pods):
    nodes = pool.labels_of_nodes()
    return {nodes[one["spec"]["nodeName"]][RACK] for one in pods}


def no_pods(pool, name):
    pool.cluster.stays(lambda: not pool.pods(name), QUIET, f"nothing of {name} starts")


# --- the test plan of the proposal: unit tests ---


def test_a_new_node_makes_admission_possible(pool):
    pool.make_nodes(1)
    pool.make_queue()
    pool.submit_job("train", 16, {REQUIRED: BLOCK})
    pool.told("train", "QuotaReserved", "False", "TopologyPlacementFailed")
    no_pods(pool, "train")
    pool.make_nodes(1)
    pool.check_assignment("train", pool.running("train", 16))


def test_an_assignment_is_computed_for_required(pool):
    pool.make_nodes(2, racks=2)
    pool.make_queue()
    pool.submit_job("train", 12, {REQUIRED: RACK})
    pods = pool.running("train", 12)
    given = pool.check_assignment("train", pods)
    assert [count for _, count in given["main"]] == [8, 4]
    assert len(racks_of(pool, pods)) == 1


def test_an_assignment_cannot_be_computed_for_required(pool):
    pool.make_nodes(1, racks=2)
    pool.make_queue()
    pool.submit_job("train", 12, {REQUIRED: RACK})
    workload = pool.told("train", "QuotaReserved", "False", "TopologyPlacementFailed")
    assert "8" in condition(workload, "QuotaReserved")["message"], "how many would fit into the nearest rack"
    assert not workload["status"].get("admission")
    pool.wait(lambda: any(reason == "Pending" for reason, _ in pool.events(workload)), "an event that says so")
    assert pool.cluster.get("batch/v1", "Job", "train", pool.namespace)["spec"]["suspend"] is True
    no_pods(pool, "train")


def test_an_assignment_is_computed_for_preferred_across_several_values(pool):
    pool.make_nodes(1, racks=3)
    pool.make_queue()
    pool.submit_job("train", 20, {PREFERRED: RACK})
    pods = pool.running("train", 20)
    given = pool.check_assignment("train", pods)
    assert len(given["main"]) == 3 and len(racks_of(pool, pods)) == 3


def test_an_assignment_cannot_be_computed_for_preferred(pool):
    pool.make_nodes(1, racks=2)
    pool.make_queue()
    pool.submit_job("train", 17, {PREFERRED: RACK})
    pool.told("train", "QuotaReserved", "False", "TopologyPlacementFailed")
    no_pods(pool, "train")


def test_the_scheduling_gate_is_added_to_the_pod_template(pool):
    pool.make_nodes(1)
    pool.make_queue()
    pool.submit_job("train", 2, {REQUIRED: RACK})
    pool.submit_job_set("set", 1, 2, {REQUIRED: RACK})
    workload = pool.admitted("train")
    started = pool.wait(lambda: (lambda o: o if not o["spec"]["suspend"] else None)(pool.cluster.get("batch/v1", "Job", "train", pool.namespace)), "the start")
    template = started["spec"]["template"]
    assert gates(template) == [GATE]
    assert template["spec"]["nodeSelector"] == {"gantree.dev/pool": pool.name}
    assert template["metadata"]["labels"][f"{KUEUE}/podset"] == "main"
    assert template["metadata"]["annotations"][f"{KUEUE}/workload"] == workload["metadata"]["name"]
    pool.admitted("set")
    started = pool.wait(lambda: (lambda o: o if not o["spec"].get("suspend") else None)(
        pool.cluster.get("jobset.x-k8s.io/v1alpha2", "JobSet", "set", pool.namespace)), "the start")
    assert gates(started["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]) == [GATE]


# --- the test plan of the proposal: integration tests (adding nodes, required, preferred and the gate are above) ---


def test_pods_are_ungated_within_a_second_of_their_creation(pool, slots):
    """From its creation, by the API server's clock, to the moment at which a watcher sees it without its gate. Nineteen of twenty pods; others may
    keep the machine busy for a while, so there are three tries."""
    pool.make_nodes(6)
    pool.make_queue()
    for attempt in range(3):
        before = len(slots.seconds_gated())
        jobs = [(f"{name}-{attempt}", count) for name, count in (("train", 32), ("small", 8), ("smaller", 4), ("last", 4))]
        for name, count in jobs:
            pool.submit_job(name, count, {REQUIRED: RACK})
            pool.check_assignment(name, pool.running(name, count))
        waited = sorted(slots.seconds_since_creation()[before:])
        seen = sorted(slots.seconds_gated()[before:])
        print(f"ungated {statistics.median(waited) * 1000:.0f} ms after their creation in the middle, {waited[-1] * 1000:.0f} ms at most; "
              f"seen gated for {statistics.median(seen) * 1000:.0f} ms in the middle, {seen[-1] * 1000:.0f} ms at most")
        assert len(seen) == 48
        if waited[45] < 1 and seen[45] < 1:
            return
        for name, _ in jobs:
            pool.delete_job(name)
        pool.wait(lambda: not any(pool.pods(name) for name, _ in jobs), "their pods to go")
    pytest.fail(f"{waited}, {seen}")


def test_ranks_decide_which_pod_goes_where(pool):
    pool.make_nodes(2, racks=2)
    pool.make_queue()
    pool.submit_job_set("train", 2, 8, {f"{KUEUE}/podset-slice-required-topology": RACK, f"{KUEUE}/podset-slice-size": "8"}, gpu=2)
    pods = pool.running("train", 16)
    order = [values[0] for values, count in pool.check_assignment("train", pods)["workers"] for _ in range(count)]
    for one in pods:
        labels = one["metadata"]["labels"]
        rank = 8 * int(labels["jobset.sigs.k8s.io/job-index"]) + int(labels["batch.kubernetes.io/job-completion-index"])
        assert one["spec"]["nodeName"] == order[rank], f"rank {rank}"


def test_a_workload_can_be_suspended_and_unsuspended(pool):
    """Deactivation stops the job and gives back quota and room, activation starts it again."""
    pool.make_nodes(1)
    pool.make_queue()
    pool.submit_job("train", 8, {REQUIRED: RACK})
    pool.running("train", 8)
    pool.change_workload("train", {"spec": {"active": False}})
    workload = pool.told("train", "Evicted", "True", "Deactivated")
    workload = pool.told("train", "QuotaReserved", "False")
    assert not workload["status"].get("admission")
    assert pool.cluster.get("batch/v1", "Job", "train", pool.namespace)["spec"]["suspend"] is True
    pool.submit_job("next", 8, {REQUIRED: RACK})
    pool.running("next", 8)
    no_pods(pool, "train")
    pool.delete_job("next")
    pool.change_workload("train", {"spec": {"active": True}})
    pool.check_assignment("train", pool.running("train", 8))
    assert not holds(pool.workload("train"), "Evicted")


# --- mistakes ---


@pytest.mark.parametrize("mark", [REQUIRED, PREFERRED])
def test_an_unknown_level_is_named_and_waited_for(pool, mark):
    pool.make_nodes(1)
    pool.make_queue()
    pool.submit_job("train", 2, {mark: "example.com/rak"})
    workload = pool.told("train", "QuotaReserved", "False", "NoMatchingFlavor", "example.com/rak")
    assert workload["spec"].get("active", True)
    pool.wait(lambda: any("example.com/rak" in message for _, message in pool.events(workload)), "an event that names the level")
    no_pods(pool, "train")
    # Others are not held up.
    pool.submit_job("right", 2, {REQUIRED: RACK})
    pool.running("right", 2)


def test_an_annotation_on_one_template_alone_deactivates_the_workload_and_is_named(pool):
    pool.make_nodes(1)
    pool.make_queue()
    both = job_set("train", 1, 1, annotations={REQUIRED: RACK}, asks=requests(gpu=1))
    other = job_set("train", 1, 1, asks=requests(gpu=1))["spec"]["replicatedJobs"][0]
    both["spec"]["replicatedJobs"].append(other | {"name": "driver"})
    pool.submit(both)
    workload = pool.told("train", "Evicted", "True", "Deactivated", "driver")
    pool.wait(lambda: pool.workload("train")["spec"]["active"] is False, "the workload to be deactivated")
    pool.wait(lambda: any("driver" in message for _, message in pool.events(workload)), "an event that names the template")
    no_pods(pool, "train")


# --- levels that the scheduler chooses ---


def blocks(pool, name):
    nodes = pool.labels_of_nodes()
    return {nodes[pod["spec"]["nodeName"]][BLOCK] for pod in pool.pods(name)}


def test_auto_required_is_one_domain_of_the_top_and_in_it_the_fewest(pool):
    pool.make_nodes(1, racks=2, block="b1")
    pool.make_nodes(2, racks=2, block="b2")
    pool.make_queue()
    pool.submit_job("train", 24, {REQUIRED: "auto"})
    given = pool.check_assignment("train", pool.running("train", 24))["main"]
    assert blocks(pool, "train") == {"b2"} and [count for _, count in given] == [8, 8, 8]
    # No block holds so many.
    pool.submit_job("large", 33, {REQUIRED: "auto"})
    pool.told("large", "QuotaReserved", "False", "TopologyPlacementFailed", "TopologyTooLarge")


def test_auto_preferred_is_the_lowest_level_that_holds_all_and_else_as_close_as_possible(pool):
    pool.make_nodes(1, racks=2, block="b1")
    pool.make_nodes(2, racks=2, block="b2")
    pool.make_queue()
    pool.submit_job("small", 8, {PREFERRED: "auto"})
    given = pool.check_assignment("small", pool.running("small", 8))["main"]
    assert len(given) == 1, "one host holds them"
    pool.delete_job("small")
    pool.submit_job("large", 40, {PREFERRED: "auto"})
    pool.check_assignment("large", pool.running("large", 40))
    assert blocks(pool, "large") == {"b1", "b2"}, "no block holds them, and it does not wait for one"


# --- quota and queues ---


def test_of_two_jobs_under_one_quota_the_second_waits_for_the_first_to_finish(pool):
    pool.make_nodes(2)
    pool.make_queue(quota=8)
    pool.submit_job("first", 8, {REQUIRED: RACK, "gantree.dev/run-for": "3s"})
    pool.running("first", 8)
    pool.submit_job("second", 4, {REQUIRED: RACK})
    pool.told("second", "QuotaReserved", "False", "WaitingForQuota")
    assert not pool.pods("second")
    pool.running("second", 4)
    assert condition(pool.told("first", "Finished", "True"), "Finished")["reason"] == "Succeeded"


def test_a_job_waits_for_a_queue_that_does_not_exist_yet(pool):
    pool.make_nodes(1)
    pool.make_queue()
    pool.submit_job("train", 2, {REQUIRED: RACK}, queue="later")
    pool.told("train", "QuotaReserved", "False", "Misconfigured", "later")
    no_pods(pool, "train")
    pool.cluster.create(pool.local_queue("later"), pool.namespace)
    pool.running("train", 2)


def test_a_flavor_without_a_topology_is_a_matter_of_quota_alone(pool):
    """As the first steps of Kueue's documentation have it: cores and memory, one flavor for all, a generated name."""
    pool.make_nodes(1)
    pool.make_queue(quota={"cpu": 3, "memory": "36Gi"}, topology=False)
    sample = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"generateName": "sample-"},
              "spec": {"parallelism": 3, "completions": 3, "template": {"spec": {
                  "restartPolicy": "Never",
                  "containers": [{"name": "main", "image": "registry.example/main", "command": ["/bin/sh"], "args": ["-c", "sleep 60"],
                                  "resources": {"requests": {"cpu": "1", "memory": "200Mi"}}}]}}}}
    first = pool.submit(sample)["metadata"]["name"]
    pods = pool.running(first, 3)  # of two in one second the name would decide, which is a random one
    second = pool.submit(sample)["metadata"]["name"]
    assert all(not gates(one) for one in pods)
    workload = pool.workload(first)
    given, = workload["status"]["admission"]["podSetAssignments"]
    assert given["flavors"] == {"cpu": pool.name, "memory": pool.name} and "topologyAssignment" not in given
    assert given["resourceUsage"] == {"cpu": "3", "memory": "600Mi"}
    pool.told(second, "QuotaReserved", "False", "WaitingForQuota")
    pool.delete_job(first)
    pool.running(second, 3)


def test_partial_admission_starts_fewer_pods_but_not_below_the_minimum(pool):
    pool.make_nodes(2)
    pool.make_queue(quota=10)
    minimum = {f"{KUEUE}/job-min-parallelism": "4"}
    pool.submit_job("train", 16, {REQUIRED: RACK}, marks=minimum, more={"completionMode": "NonIndexed"})
    pool.running("train", 10)
    assert pool.cluster.get("batch/v1", "Job", "train", pool.namespace)["spec"]["parallelism"] == 10
    given, = pool.workload("train")["status"]["admission"]["podSetAssignments"]
    assert given["count"] == 10
    pool.submit_job("next", 16, {REQUIRED: RACK}, marks=minimum, more={"completionMode": "NonIndexed"})
    pool.told("next", "QuotaReserved", "False", "WaitingForQuota")
    no_pods(pool, "next")


def test_pods_that_are_over_give_back_quota_and_room(pool):
    pool.make_nodes(1)
    pool.make_queue(quota=8)
    pool.submit_job("train", 8, {REQUIRED: RACK})
    pods = pool.running("train", 8)
    pool.submit_job("next", 2, {REQUIRED: RACK})
    pool.told("next", "QuotaReserved", "False", "WaitingForQuota")
    for one in pods[:2]:
        pool.cluster.merge("v1", "Pod", one["metadata"]["name"], {"metadata": {"annotations": {"gantree.dev/run-for": "0.1s"}}}, pool.namespace)
    pool.running("next", 2)
    assert pool.workload("train")["status"]["reclaimablePods"] == [{"name": "main", "count": 2}]


# --- what users do to their jobs ---


def test_a_job_deleted_while_it_waits_is_forgotten(pool):
    pool.make_nodes(1)
    pool.make_queue(queueingStrategy="StrictFIFO")
    pool.submit_job("big", 16, {REQUIRED: RACK})
    pool.told("big", "QuotaReserved", "False")
    pool.submit_job("small", 2, {REQUIRED: RACK})
    no_pods(pool, "small")
    pool.delete_job("big")
    pool.running("small", 2)
    pool.wait(lambda: pool.workload("big") is None, "the workload to go with its job")


@pytest.mark.parametrize("moment", ["admitted", "started", "running"])
def test_a_job_deleted_at_any_moment_frees_quota_and_room(pool, moment):
    pool.make_nodes(1)
    pool.make_queue(quota=8)
    pool.submit_job("first", 8, {REQUIRED: RACK})
    pool.submit_job("second", 8, {REQUIRED: RACK})
    if moment == "admitted":
        pool.wait(lambda: (pool.workload("first") or {}).get("status", {}).get("admission"), "the admission")
    elif moment == "started":
        pool.wait(lambda: pool.pods("first"), "the first pod")
    else:
        pool.running("first", 8)
    pool.delete_job("first")
    pool.check_assignment("second", pool.running("second", 8))


def test_a_user_suspends_and_resumes_a_running_job(pool):
    pool.make_nodes(1)
    pool.make_queue(quota=8)
    pool.submit_job("train", 8, {REQUIRED: RACK})
    pool.running("train", 8)
    pool.change_job("train", {"spec": {"suspend": True}})
    pool.wait(lambda: not pool.pods("train"), "its pods to go")
    # What it had is free for others as long as it is suspended.
    pool.submit_job("next", 8, {REQUIRED: RACK})
    pool.running("next", 8)
    pool.change_job("train", {"spec": {"suspend": False}})
    # It waits in the queue again, and its controller was given no moment to make pods in.
    pool.told("train", "QuotaReserved", "False", "WaitingForQuota")
    no_pods(pool, "train")
    pool.delete_job("next")
    pool.check_assignment("train", pool.running("train", 8))


def test_a_job_that_is_changed_while_it_waits_is_queued_as_it_is_now(pool):
    pool.make_nodes(1)
    pool.make_queue()
    pool.submit_job("moved", 2, {REQUIRED: RACK}, queue="nowhere")
    pool.submit_job("shrunk", 9, {REQUIRED: RACK})
    pool.submit_job("mended", 2, {REQUIRED: "example.com/rak"})
    pool.told("moved", "QuotaReserved", "False", "Misconfigured")
    pool.told("shrunk", "QuotaReserved", "False", "TopologyPlacementFailed")
    pool.told("mended", "QuotaReserved", "False", "NoMatchingFlavor")
    assert pool.workload("moved")["metadata"]["generation"] == 1, "nothing was changed yet"
    pool.change_job("moved", {"metadata": {"labels": {f"{KUEUE}/queue-name": "main"}}})
    pool.change_job("shrunk", {"spec": {"parallelism": 3, "completions": 3}})
    pool.change_job("mended", {"spec": {"template": {"metadata": {"annotations": {REQUIRED: RACK}}}}})
    for name, count in (("moved", 2), ("shrunk", 3), ("mended", 2)):
        pool.check_assignment(name, pool.running(name, count))


def test_nobody_starts_a_job_past_its_queue(pool):
    pool.make_nodes(1)
    pool.make_queue(quota=4)
    pool.submit_job("train", 8, {REQUIRED: RACK})
    pool.told("train", "QuotaReserved", "False")
    with pytest.raises(ApiException, match="spec.suspend cannot be set to false") as refused:
        pool.change_job("train", {"spec": {"suspend": False}})
    assert refused.value.status == 403
    no_pods(pool, "train")
    # As the sentence says.
    pool.change_job("train", {"metadata": {"labels": {f"{KUEUE}/queue-name": None}}})
    pool.change_job("train", {"spec": {"suspend": False}})
    pool.wait(lambda: len(pool.pods("train")) == 8, "its pods")


def test_a_failed_job_ends_its_workload(pool):
    pool.make_nodes(1)
    pool.make_queue()
    pool.submit_job("train", 2, {REQUIRED: RACK, "gantree.dev/fail-after": "0.5s"})
    workload = pool.told("train", "Finished", "True")
    assert condition(workload, "Finished")["reason"] == "Failed"


# --- what others use ---


def test_daemon_sets_and_pods_of_others_are_counted(pool):
    pool.make_nodes(1, allocatable={"cpu": "10"})
    pool.make_queue()
    here = {"nodeSelector": {"gantree.dev/pool": pool.name}}
    pool.cluster.create(daemon_set("agent", asks=requests(cpu="2"), **here), pool.namespace)
    pool.cluster.create(pod("other", asks=requests(cpu="1"), **here), pool.namespace)
    pool.wait(lambda: len(pool.cluster.running(pool.namespace)) == 2, "the agent and the other pod")
    pool.submit_job("train", 8, {REQUIRED: RACK})
    pool.told("train", "QuotaReserved", "False", "TopologyPlacementFailed")
    no_pods(pool, "train")
    pool.cluster.delete("v1", "Pod", "other", pool.namespace, gracePeriodSeconds=0)
    pool.running("train", 8)


def test_pods_that_a_daemon_set_is_about_to_get_are_counted(pool):
    """On a new node its pod is made in moments, but not bound yet: the room is not given away."""
    pool.make_queue()
    pool.cluster.create(daemon_set("agent", asks=requests(cpu="2"), nodeSelector={"gantree.dev/pool": pool.name}), pool.namespace)
    pool.submit_job("train", 8, {REQUIRED: RACK})
    pool.told("train", "QuotaReserved", "False")
    with pool.cluster.paused("scheduler"):
        pool.make_nodes(1, allocatable={"cpu": "9"})
        pool.wait(lambda: [p for p in pool.cluster.pods(pool.namespace) if not p["spec"].get("nodeName")], "the agent's pod, of no node")
        pool.cluster.stays(lambda: not pool.workload("train")["status"].get("admission"), 2 * QUIET, "the room of the agent is kept")
    pool.wait(lambda: len(pool.cluster.running(pool.namespace)) == 1, "the agent")
    pool.cluster.stays(lambda: not pool.workload("train")["status"].get("admission"), QUIET, "the agent is counted")
    pool.cluster.delete("apps/v1", "DaemonSet", "agent", pool.namespace)
    pool.running("train", 8)


def test_a_queue_without_a_selector_admits_no_namespace(pool):
    pool.make_nodes(1)
    pool.make_queue(namespaceSelector=None)
    pool.submit_job("train", 2, {REQUIRED: RACK})
    pool.told("train", "QuotaReserved", "False", "Misconfigured", "has no namespaceSelector")
    no_pods(pool, "train")
    pool.cluster.merge("kueue.x-k8s.io/v1beta2", "ClusterQueue", pool.name, {"spec": {"namespaceSelector": {}}})
    pool.running("train", 2)


def test_pods_that_gantree_binds_itself_go_where_room_is_kept_for_them(pool):
    pool.make_nodes(2)
    pool.make_queue()
    pool.submit_job("train", 16, {REQUIRED: RACK}, scheduler="gantree")
    pods = pool.running("train", 16)
    pool.check_assignment("train", pods)
    assert {one["spec"]["schedulerName"] for one in pods} == {"gantree"}
    pool.submit_job("next", 1, {REQUIRED: RACK}, scheduler="gantree")
    pool.told("next", "QuotaReserved", "False", "TopologyPlacementFailed")
    pool.delete_job("train")
    pool.running("next", 1)


# --- restarts ---


def test_killed_between_admission_and_ungating_it_goes_on_where_it_was(pool, slots, shared_gantree, shared_webhooks):
    pool.make_nodes(2)
    pool.make_queue()
    with pool.cluster.paused("controllers"):
        pool.submit_job("train", 16, {REQUIRED: RACK})
        pool.wait(lambda: not pool.cluster.get("batch/v1", "Job", "train", pool.namespace)["spec"]["suspend"], "the start")
        given = assigned(pool.workload("train"))
        shared_gantree.kill()
    pool.wait(lambda: len(pool.pods("train")) == 16, "the pods")
    assert all(gates(one) == [GATE] for one in pool.pods("train"))
    shared_gantree.restart()
    shared_webhooks.wait_until_asked()
    pool.check_assignment("train", pool.running("train", 16))
    assert assigned(pool.workload("train")) == given


def test_killed_in_mid_ungating_it_gives_no_domain_more_than_assigned(pool, slots, shared_gantree, shared_webhooks):
    pool.make_nodes(12, allocatable={"nvidia.com/gpu": "16"})
    pool.make_queue()
    pool.submit_job("train", 192, {REQUIRED: RACK})
    pool.cluster.wait_for(slots.ungated, 30, "the first pod to be ungated", every=0.001)
    shared_gantree.kill()
    pool.wait(lambda: len(pool.pods("train")) == 192, "the pods")
    left = [one for one in pool.pods("train") if GATE in gates(one)]
    assert 0 < len(left) < 192, f"{len(left)} of 192 pods are gated: it was not killed in the middle"
    shared_gantree.restart()
    shared_webhooks.wait_until_asked()
    pool.check_assignment("train", pool.running("train", 192))


def test_killed_again_and_again_it_admits_no_more_than_there_is(pool, slots, shared_gantree, shared_webhooks):
    pool.make_nodes(2)
    pool.make_queue(quota=16)
    for index in range(6):
        pool.submit_job(f"train-{index}", 8, {REQUIRED: RACK, "gantree.dev/run-for": "1s"})
        if index % 2:
            time.sleep(0.1)
            shared_gantree.kill()
            shared_gantree.restart()
            shared_webhooks.wait_until_asked()
    for index in range(6):
        assert condition(pool.told(f"train-{index}", "Finished"), "Finished")["reason"] == "Succeeded"


def test_a_pod_that_is_made_anew_takes_the_place_of_the_one_before(pool, slots):
    pool.make_nodes(2)
    pool.make_queue()
    pool.submit_job("train", 16, {REQUIRED: RACK}, more={"backoffLimit": 20})
    one = pool.running("train", 16)[3]
    where, rank = one["spec"]["nodeName"], one["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"]
    pool.cluster.delete("v1", "Pod", one["metadata"]["name"], pool.namespace)

    def anew():
        return next((p for p in pool.pods("train") if p["metadata"]["uid"] != one["metadata"]["uid"] and p["spec"].get("nodeName")
                     and p["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"] == rank), None)
    assert pool.wait(anew, "the pod to be made anew")["spec"]["nodeName"] == where
    pool.running("train", 16)
