"""What a job keeps when it is stopped, and what reaches a Workload that is there already."""
from harness.queues import API, KUEUE, RACK, REQUIRED

RUN_FOR = {"metadata": {"annotations": {"gantree.dev/run-for": "0.1s"}}}


def the_job(pool, name):
    return pool.cluster.get("batch/v1", "Job", name, pool.namespace)


def test_a_job_that_was_stopped_in_part_has_its_own_template_again_and_asks_for_the_pods_that_are_left(pool):
    pool.make_nodes(1)
    pool.make_queue(quota=3)
    pool.submit_job("train", 3, {REQUIRED: RACK})
    pods = pool.running("train", 3)
    pool.cluster.merge("v1", "Pod", pods[0]["metadata"]["name"], RUN_FOR, pool.namespace)
    over = [{"name": "main", "count": 1}]
    pool.wait(lambda: pool.workload("train")["status"].get("reclaimablePods") == over, "one pod to be given back")
    pool.change_workload("train", {"spec": {"active": False}})
    pool.told("train", "QuotaReserved", "False", "Deactivated")

    def restored():
        job = the_job(pool, "train")
        pods = job["spec"]["template"]
        marks = pods["metadata"].get("annotations", {})
        return job["spec"]["suspend"] and "nodeSelector" not in pods["spec"] and f"{KUEUE}/workload" not in marks
    pool.wait(restored, lambda: f"its own template; {the_job(pool, 'train')['spec']['template']}")
    assert pool.workload("train")["status"]["reclaimablePods"] == over
    pool.submit_job("other", 1, {REQUIRED: RACK})
    pool.running("other", 1)
    pool.change_workload("train", {"spec": {"active": True}})
    pods = pool.running("train", 2)
    given, = pool.admitted("train")["status"]["admission"]["podSetAssignments"]
    assert given["count"] == 2 and len(pods) == 2
    assert the_job(pool, "train")["spec"]["parallelism"] == 3


def test_a_changed_value_of_a_priority_class_reaches_what_waits_and_what_runs(pool):
    pool.make_nodes(1)
    pool.make_queue(quota=2)
    name = pool.make_priority("dyn", 10)
    try:
        pool.submit_job("runs", 2, {REQUIRED: RACK}, priority=name)
        pool.running("runs", 2)
        pool.submit_job("waits", 2, {REQUIRED: RACK}, priority=name)
        pool.told("waits", "QuotaReserved", "False", "WaitingForQuota")
        pool.cluster.merge(API, "WorkloadPriorityClass", name, {"value": 77})
        for job in ("runs", "waits"):
            pool.wait(lambda: pool.workload(job)["spec"]["priority"] == 77, f"the priority of {job} to follow")
    finally:
        pool.cluster.delete(API, "WorkloadPriorityClass", name)
