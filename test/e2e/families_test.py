"""Jobs of queues and gangs of pods on one cluster: one order, and each is evicted for the other. All tests share one replica of Gantree; each has
nodes, a network and queues of its own, its `pool`."""
from harness.objects import GANG_LABEL, gang, requests
from harness.queues import POOL, RACK, REQUIRED, condition, holds

QUIET = 1.5
PREEMPTION = {"withinClusterQueue": "LowerPriority"}


def make_class(pool, name, value):
    """The name of a class of pods with that priority."""
    full = f"{pool.name}-{name}"
    pool.cluster.create({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": full}, "value": value})
    return full


def submit_gang(pool, name, pods, priority, gpu=8, grace=1):
    pool.cluster.create_all(gang(name, pods, asks=requests(gpu=gpu), priorityClassName=priority, nodeSelector={POOL: pool.name}, grace=grace),
                            pool.namespace)


def members(pool, name):
    return pool.cluster.pods(pool.namespace, f"{GANG_LABEL}={name}")


def gang_runs(pool, name, pods):
    labels = f"{GANG_LABEL}={name}"
    pool.wait(lambda: len(pool.cluster.running(pool.namespace, labels)) == pods,
              lambda: f"{pods} pods of {name} to run; {[(p['spec'].get('nodeName'), p['status']) for p in members(pool, name)]}")


def gang_is_told(pool, name, reason):
    def told():
        pods = members(pool, name)
        found = [c for p in pods for c in p["status"].get("conditions", []) if c["type"] == "PodScheduled" and c["message"].startswith(reason)]
        return len(found) == len(pods) and pods
    return pool.wait(told, lambda: f"pods of {name} to say {reason}; {[p['status'] for p in members(pool, name)]}")


def test_a_gang_of_high_priority_gets_the_rack_before_a_job_that_came_earlier(pool):
    pool.make_nodes(2)
    pool.make_queue()
    high = make_class(pool, "high", 1000)
    # Something that nobody may evict has the rack.
    pool.submit_job("before", 2, {REQUIRED: RACK}, gpu=8, priority=pool.make_priority("top", 5000))
    pool.running("before", 2)
    pool.submit_job("early", 2, {REQUIRED: RACK}, gpu=8, priority=pool.make_priority("low", 50))
    pool.told("early", "QuotaReserved", "False")
    submit_gang(pool, "late", 2, high)
    gang_is_told(pool, "late", "TopologyBusy")
    pool.delete_job("before")
    gang_runs(pool, "late", 2)
    assert not holds(pool.workload("early"), "QuotaReserved")


def test_a_job_evicts_a_gang_of_lower_priority_as_a_whole(pool):
    pool.make_nodes(2)
    pool.make_queue(preemption=PREEMPTION)
    submit_gang(pool, "low", 2, make_class(pool, "low", 100))
    gang_runs(pool, "low", 2)
    pool.submit_job("urgent", 1, {REQUIRED: RACK}, gpu=8, priority=pool.make_priority("high", 5000))
    pool.running("urgent", 1)
    pool.wait(lambda: not members(pool, "low"), "all pods of the gang to be gone")


def test_a_gang_evicts_a_job_of_lower_priority_as_a_whole(pool):
    pool.make_nodes(2)
    pool.make_queue(preemption=PREEMPTION)
    pool.submit_job("low", 2, {REQUIRED: RACK}, gpu=8, priority=pool.make_priority("low", 50))
    pool.running("low", 2)
    submit_gang(pool, "urgent", 1, make_class(pool, "high", 1000))
    gang_runs(pool, "urgent", 1)
    workload = pool.told("low", "Preempted", "True")
    assert f"gang {pool.namespace}/urgent" in condition(workload, "Preempted")["message"]
    pool.told("low", "QuotaReserved", "False")
    pool.wait(lambda: not pool.pods("low"), "no pod of the job to run without the others")


def test_of_a_job_and_a_gang_that_claim_one_rack_in_the_same_second_one_wins(pool):
    pool.make_nodes(2)
    pool.make_queue(preemption=PREEMPTION)
    same = make_class(pool, "same", 10)
    pool.submit_job("job", 2, {REQUIRED: RACK}, gpu=8, priority=pool.make_priority("same", 10))
    submit_gang(pool, "gang", 2, same)

    def on_hosts():
        return [p for p in pool.cluster.pods(pool.namespace) if p["spec"].get("nodeName")]
    pool.wait(lambda: sum(p["status"]["phase"] == "Running" for p in on_hosts()) == 2, "one of them to run")
    pool.cluster.stays(lambda: len(on_hosts()) == 2, QUIET, "the other waits")
    assert len({p["spec"]["nodeName"] for p in on_hosts()}) == 2
    assert len({GANG_LABEL in p["metadata"].get("labels", {}) for p in on_hosts()}) == 1


def test_a_gang_of_kai_is_not_bound_one_by_one(pool):
    pool.make_nodes(1)
    marked = gang("kai", 1, asks=requests(gpu=1), nodeSelector={POOL: pool.name})[1]
    marked["metadata"]["labels"] = {"kai.scheduler/queue": "team"}
    pool.cluster.create(marked, pool.namespace)

    def told():
        found = [c for p in pool.cluster.pods(pool.namespace) for c in p["status"].get("conditions", [])]
        return next((c for c in found if c["type"] == "PodScheduled" and "kai.scheduler/queue" in c["message"]), None)
    assert pool.wait(told, "the pod to say what is not honoured")["message"].startswith("InvalidRequest")
    assert not pool.cluster.bound(pool.namespace)
