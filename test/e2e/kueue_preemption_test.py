"""Who has to go for whom, with topology: within a queue, in a cohort, by fair shares. All tests share one replica of Gantree; each has nodes, a
network and queues of its own, its `pool`."""
from harness.queues import RACK, REQUIRED, condition, holds

GANTREE_FLAGS = ["--fair-sharing", "true"]
QUIET = 1.5


def racks_of(pool, pods):
    nodes = pool.labels_of_nodes()
    return {nodes[one["spec"]["nodeName"]][RACK] for one in pods}


def evicted(pool, name, by, reason):
    """The Workload of a job that went for another: conditions and event name that one."""
    preemptor = pool.workload(by)["metadata"]
    workload = pool.told(name, "Preempted", "True", reason)
    for kind in ("Evicted", "Preempted"):
        message = condition(workload, kind)["message"]
        assert preemptor["name"] in message and preemptor["uid"] in message, message
    assert condition(workload, "Evicted")["reason"] == "Preempted"
    pool.wait(lambda: any(reason == "EvictedDueToPreempted" and preemptor["name"] in message for reason, message in pool.events(workload)),
              "an event that names the preemptor")
    return workload


def untouched(pool, *names):
    for name in names:
        assert not holds(pool.workload(name), "Evicted"), name


def test_within_a_queue_the_cheapest_rack_is_cleared(pool):
    pool.make_nodes(2, racks=2)
    pool.make_queue(preemption={"withinClusterQueue": "LowerPriority"})
    low, middle, high = (pool.make_priority(name, value) for name, value in (("low", 1), ("middle", 5), ("high", 10)))
    pool.submit_job("whole", 16, {REQUIRED: RACK}, priority=middle)
    kept = racks_of(pool, pool.running("whole", 16))
    for name in ("one", "two"):
        pool.submit_job(name, 8, {REQUIRED: RACK}, priority=low)
        pool.running(name, 8)
    pool.submit_job("urgent", 16, {REQUIRED: RACK}, priority=high)
    pods = pool.running("urgent", 16)
    pool.check_assignment("urgent", pods)
    assert len(racks_of(pool, pods)) == 1 and racks_of(pool, pods) != kept
    for name in ("one", "two"):
        evicted(pool, name, "urgent", "InClusterQueue")
    untouched(pool, "whole")


def test_nobody_goes_where_that_does_not_let_the_other_start(pool):
    pool.make_nodes(1, racks=2)
    pool.make_queue(preemption={"withinClusterQueue": "LowerPriority"})
    low, high = pool.make_priority("low", 1), pool.make_priority("high", 10)
    for name in ("one", "two"):
        pool.submit_job(name, 8, {REQUIRED: RACK}, priority=low)
        pool.running(name, 8)
    pool.submit_job("urgent", 9, {REQUIRED: RACK}, priority=high)
    pool.told("urgent", "QuotaReserved", "False", "TopologyPlacementFailed")
    pool.cluster.stays(lambda: not any(holds(pool.workload(name), "Evicted") for name in ("one", "two")), QUIET, "nobody goes in vain")


def test_a_queue_takes_back_its_quota_in_one_rack(pool):
    pool.make_nodes(2, racks=2)
    pool.make_queue()
    pool.make_team("a", 16, preemption={"reclaimWithinCohort": "Any"})
    pool.make_team("b", 16)
    names = [f"b-{index}" for index in range(4)]
    for name in names:
        pool.submit_job(name, 8, {REQUIRED: RACK}, queue="b")
    where = {name: racks_of(pool, pool.running(name, 8)) for name in names}
    pool.submit_job("own", 16, {REQUIRED: RACK}, queue="a")
    pods = pool.running("own", 16)
    rack = racks_of(pool, pods)
    assert len(rack) == 1
    for name in names:
        if where[name] == rack:
            evicted(pool, name, "own", "InCohortReclamation")
        else:
            untouched(pool, name)
    assert sorted(map(sorted, where.values())).count(sorted(rack)) == 2, "two of four had to go"


def test_a_queue_with_a_smaller_share_takes_from_one_with_a_larger(pool):
    pool.make_nodes(2, racks=2)
    pool.make_queue()
    pool.make_team("lender", 32)
    pool.make_team("a", 0, preemption={"reclaimWithinCohort": "Any"})
    pool.make_team("b", 0, preemption={"reclaimWithinCohort": "Any"})
    names = [f"b-{index}" for index in range(4)]
    for name in names:
        pool.submit_job(name, 8, {REQUIRED: RACK}, queue="b")
    where = {name: racks_of(pool, pool.running(name, 8)) for name in names}
    pool.submit_job("half", 16, {REQUIRED: RACK}, queue="a")
    rack = racks_of(pool, pool.running("half", 16))
    assert len(rack) == 1
    for name in names:
        if where[name] == rack:
            evicted(pool, name, "half", "InCohortFairSharing")
        else:
            untouched(pool, name)
    # Both have half now: neither takes from the other.
    pool.submit_job("more", 8, {REQUIRED: RACK}, queue="a")
    pool.told("more", "QuotaReserved", "False")
    pool.cluster.stays(lambda: not holds(pool.workload("half"), "Evicted") and len(pool.pods("half")) == 16
                       and sum(not holds(pool.workload(name), "Evicted") for name in names) == 2, QUIET, "shares are even")


def test_queues_that_borrow_take_turns_by_their_shares(pool):
    """Whoever came first: what is beyond all quotas is given out evenly, or by weight."""
    pool.make_queue()
    pool.make_team("lender", 32)
    pool.make_team("a", 0)
    pool.make_team("b", 0, fairSharing={"weight": "3"})
    for team in ("a", "b"):
        for index in range(4):
            pool.submit_job(f"{team}-{index}", 8, {REQUIRED: RACK}, queue=team)
            pool.told(f"{team}-{index}", "QuotaReserved", "False")
    pool.make_nodes(4)

    def admitted():
        count = {team: sum(holds(pool.workload(f"{team}-{index}"), "Admitted") for index in range(4)) for team in ("a", "b")}
        return count if sum(count.values()) == 4 else None
    assert pool.wait(admitted, "four of them to be admitted") == {"a": 1, "b": 3}
