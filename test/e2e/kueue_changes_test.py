"""Jobs that others make, and what becomes of jobs when their Workload goes."""
from harness.objects import job
from harness.queues import GATE, KUEUE, QUEUE_NAME, RACK, REQUIRED

A_MINUTE = 60


def test_the_jobs_of_a_cron_job_wait_in_the_queue_that_its_template_names(pool):
    pool.make_nodes(1)
    pool.make_queue()
    made = job("unnamed", 3, asks={"cpu": "1", "nvidia.com/gpu": "1"})
    pool.cluster.create({
        "apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "sample", "namespace": pool.namespace},
        "spec": {"schedule": "* * * * *", "concurrencyPolicy": "Forbid",
                 "jobTemplate": {"metadata": {"labels": {QUEUE_NAME: "main"}}, "spec": made["spec"]}}})

    def first():
        return next(iter(pool.cluster.list("batch/v1", "Job", pool.namespace)), None)
    name = pool.wait(first, "a Job of the CronJob", A_MINUTE + 30)["metadata"]["name"]
    pool.check_assignment(name, pool.running(name, 3))


def test_a_job_whose_workload_is_deleted_queues_again_and_starts_as_before(pool):
    pool.make_nodes(1, racks=2)
    pool.make_queue()
    pool.submit_job("train", 4, {REQUIRED: RACK})
    pool.running("train", 4)
    before = pool.workload("train")
    pool.cluster.delete(f"{KUEUE}/v1beta2", "Workload", before["metadata"]["name"], pool.namespace)

    def another():  # admitted: until then the pods of the one before it may still run
        workload = pool.workload("train") or before
        return workload["metadata"]["uid"] != before["metadata"]["uid"] and workload.get("status", {}).get("admission")
    pool.wait(another, "another Workload that is admitted")
    pool.check_assignment("train", pool.running("train", 4))
    assert pool.workload("train")["spec"]["podSets"] == before["spec"]["podSets"]
    template = pool.cluster.get("batch/v1", "Job", "train", pool.namespace)["spec"]["template"]
    assert [gate["name"] for gate in template["spec"]["schedulingGates"]] == [GATE]


def test_a_job_that_grows_while_it_runs_queues_again_for_all_its_pods(pool):
    pool.make_nodes(1)
    pool.make_queue(quota=6, topology=False)
    pool.submit_job("train", 4, more={"completionMode": "NonIndexed", "completions": 8})
    pool.running("train", 4)
    pool.change_job("train", {"spec": {"parallelism": 8}})
    pool.told("train", "Evicted", reason="JobChanged")
    pool.told("train", "QuotaReserved", "False", "ExceedsMaxQuota")
    pool.change_job("train", {"spec": {"parallelism": 6}})
    pool.running("train", 6)
