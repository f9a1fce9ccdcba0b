"""Pods that wait in queues by themselves: alone, in groups, and those that StatefulSets, LeaderWorkerSets and Deployments make."""
import time

import pytest

from harness.objects import leader_worker_set, pod, template
from harness.queues import API, KUEUE, RACK, REQUIRED, assigned, gates, holds

GROUP, TOTAL, INDEX = f"{KUEUE}/pod-group-name", f"{KUEUE}/pod-group-total-count", f"{KUEUE}/pod-group-pod-index"
ASKS = {"cpu": "1", "nvidia.com/gpu": "2"}


def group_pod(group, index, total, annotations=None, name=None, asks=None):
    return pod(name or f"{group}-{index}", labels={GROUP: group, INDEX: str(index)},
               annotations={TOTAL: str(total)} | (annotations or {}), asks=asks or ASKS, restartPolicy="Never")


def submit_group(pool, group, pods, total=None, annotations=None):
    for index in reversed(range(pods)):
        pool.submit(group_pod(group, index, total or pods, annotations))


class Watcher:
    def __init__(self, pool):
        self.pool = pool

    def workload(self, name):
        return self.pool.cluster.get(API, "Workload", name, self.pool.namespace)

    def pods(self):
        return self.pool.cluster.pods(self.pool.namespace)

    def running(self, count, keep=lambda one: True):
        def run():
            pods = [one for one in self.pods() if one["status"]["phase"] == "Running" and keep(one) and not one["metadata"].get("deletionTimestamp")]
            return (pods or True) if len(pods) == count else None
        return self.pool.wait(run, lambda: f"{count} pods to run; {[(one['metadata']['name'], one['status']['phase'], gates(one)) for one in self.pods()]}, "
                                           f"{[(w['metadata']['name'], w.get('status')) for w in self.workloads()]}")

    def workloads(self):
        return self.pool.cluster.list(API, "Workload", self.pool.namespace)

    def racks(self, pods):
        nodes = self.pool.labels_of_nodes()
        return {nodes[one["spec"]["nodeName"]][RACK] for one in pods}

    def gone(self):
        """Nothing is left: no pod, held by a finalizer or not, and no Workload that holds quota."""
        self.pool.wait(lambda: not self.pods() and not self.workloads(),
                       lambda: f"all to go; {[(one['metadata']['name'], one['metadata'].get('finalizers')) for one in self.pods()]}, "
                               f"{[w['metadata']['name'] for w in self.workloads()]}")


@pytest.fixture
def watcher(pool):
    return Watcher(pool)


def stays_gated(watcher, seconds=2):
    time.sleep(seconds)
    pods = watcher.pods()
    assert pods and all(f"{KUEUE}/admission" in gates(one) for one in pods), [gates(one) for one in pods]


def test_a_group_of_pods_is_in_one_rack_by_rank(pool, watcher):
    pool.make_nodes(2, racks=2)
    pool.make_queue()
    submit_group(pool, "ring", 6, annotations={REQUIRED: RACK})
    pods = watcher.running(6)
    assert len(watcher.racks(pods)) == 1
    workload = watcher.workload("ring")
    assert holds(workload, "Admitted") and sum(count for _, count in assigned(workload)) == 6
    by_rank = [one["spec"]["nodeName"] for one in sorted(pods, key=lambda one: int(one["metadata"]["labels"][INDEX]))]
    assert by_rank == [values[0] for values, count in assigned(workload) for _ in range(count)]
    assert {owner["kind"] for owner in workload["metadata"]["ownerReferences"]} == {"Pod"}
    pool.wait(lambda: holds(watcher.workload("ring"), "PodsReady"), "the pods to be ready")


def test_a_group_that_lacks_a_pod_waits_at_the_gate(pool, watcher):
    pool.make_nodes(2)
    pool.make_queue()
    submit_group(pool, "short", 2, total=3)
    stays_gated(watcher)
    assert not watcher.workloads()
    pool.submit(group_pod("short", 2, 3))
    watcher.running(3)


def test_a_pod_by_itself_is_admitted_and_ends_with_its_workload(pool, watcher):
    pool.make_nodes(1)
    pool.make_queue()
    pool.submit(pod("alone", annotations={"gantree.dev/run-for": "2s"}, asks=ASKS, restartPolicy="Never"))
    one, = watcher.running(1)
    assert one["spec"]["nodeSelector"]["kubernetes.io/hostname"] == one["spec"]["nodeName"]
    pool.told("alone", "Finished", reason="Succeeded")
    pool.wait(lambda: not any(one["metadata"].get("finalizers") for one in watcher.pods()), "the finalizer to go")
    pool.cluster.delete("v1", "Pod", "alone", pool.namespace)
    watcher.gone()


def test_quota_holds_for_pods_without_a_topology(pool, watcher):
    pool.make_nodes(2)
    pool.make_queue(quota=4, topology=False)
    submit_group(pool, "first", 2)
    watcher.running(2)
    pool.submit(pod("second", asks=ASKS))
    pool.told("second", "QuotaReserved", "False")
    assert gates(pool.cluster.get("v1", "Pod", "second", pool.namespace)) == [f"{KUEUE}/admission"]
    for name in ("first-0", "first-1"):
        pool.cluster.delete("v1", "Pod", name, pool.namespace)
    watcher.running(1, lambda one: one["metadata"]["name"] == "second")


def test_more_pods_than_the_group_has_stay_at_the_gate(pool, watcher):
    pool.make_nodes(2)
    pool.make_queue()
    submit_group(pool, "full", 2)
    watcher.running(2)
    pool.submit(group_pod("full", 2, 2, name="extra"))
    pool.wait(lambda: any(event["reason"] == "ExcessPod" for event in pool.cluster.events(pool.namespace, "extra")), "the event")
    assert f"{KUEUE}/admission" in gates(pool.cluster.get("v1", "Pod", "extra", pool.namespace))


def test_another_pod_takes_the_place_of_a_failed_one(pool, watcher):
    pool.make_nodes(2, racks=2)
    pool.make_queue()
    submit_group(pool, "mended", 3, annotations={REQUIRED: RACK})
    before = watcher.running(3)
    place = {one["metadata"]["name"]: one["spec"]["nodeName"] for one in before}
    pool.cluster.merge("v1", "Pod", "mended-1", {"metadata": {"annotations": {"gantree.dev/fail-after": "1s"}}}, pool.namespace)
    pool.told("mended", "WaitingForReplacementPods", "True", "PodsFailed")
    watcher.running(2)
    pool.submit(group_pod("mended", 1, 3, {REQUIRED: RACK}, name="other"))
    pool.told("mended", "WaitingForReplacementPods", "False", "PodsReady")
    after = {one["metadata"]["name"]: one["spec"]["nodeName"] for one in watcher.running(3)}
    assert after == {"mended-0": place["mended-0"], "mended-2": place["mended-2"], "other": place["mended-1"]}
    owners = {owner["name"] for owner in pool.wait(lambda: watcher.workload("mended"), "it")["metadata"]["ownerReferences"]}
    assert "other" in owners


def test_a_group_is_over_when_all_its_pods_have_succeeded(pool, watcher):
    pool.make_nodes(1)
    pool.make_queue()
    submit_group(pool, "brief", 3, annotations={"gantree.dev/run-for": "1s"})
    pool.wait(lambda: watcher.workload("brief") and holds(watcher.workload("brief"), "Finished"), "the group to be over")
    pool.wait(lambda: not any(one["metadata"].get("finalizers") for one in watcher.pods()), "the finalizers to go")


def test_an_evicted_group_is_removed(pool, watcher):
    pool.make_nodes(1)
    pool.make_queue()
    submit_group(pool, "stopped", 2)
    watcher.running(2)
    pool.cluster.merge(API, "Workload", "stopped", {"spec": {"active": False}}, pool.namespace)
    watcher.gone()


@pytest.mark.parametrize("moment", ("gated", "waiting", "released", "running"))
def test_deletion_at_any_moment_leaves_nothing_behind(pool, watcher, moment):
    pool.make_nodes(1)
    pool.make_queue(quota=2 if moment == "waiting" else None)
    submit_group(pool, "going", 2, total=3 if moment == "gated" else 2)
    if moment == "waiting":
        pool.wait(lambda: watcher.workload("going"), "the Workload")
    elif moment == "running":
        watcher.running(2)
    elif moment == "released":
        pool.wait(lambda: any(not gates(one) for one in watcher.pods()), "a pod without gates")
    pool.cluster.request("DELETE", pool.cluster.path("v1", "Pod", pool.namespace))
    watcher.gone()
    # What it had is free again.
    pool.submit(pod("next", asks=ASKS))
    watcher.running(1)


# --- what makes pods and keeps them running ---

def stateful_set(name, replicas, annotations=None, kind="StatefulSet", **more):
    labels = {"app": name}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template(labels=labels, annotations=annotations, asks=ASKS)} | more
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def scale(pool, kind, name, replicas, api="apps/v1"):
    pool.cluster.merge(api, kind, name, {"spec": {"replicas": replicas}}, pool.namespace)


def test_a_stateful_set_is_in_one_rack_and_gives_back_what_it_had_when_scaled_down(pool, watcher):
    pool.make_nodes(2, racks=2)
    pool.make_queue(quota=8)
    pool.submit(stateful_set("web", 3, {REQUIRED: RACK}))
    assert len(watcher.racks(watcher.running(3))) == 1
    workload = watcher.workload("statefulset-web")
    assert [(owner["kind"], owner["name"]) for owner in workload["metadata"]["ownerReferences"]] == [("StatefulSet", "web")]
    assert [(s["name"], s["count"]) for s in workload["spec"]["podSets"]] == [("main", 3)]
    scale(pool, "StatefulSet", "web", 0)
    watcher.gone()
    scale(pool, "StatefulSet", "web", 4)
    assert len(watcher.racks(watcher.running(4))) == 1
    assert sum(count for _, count in assigned(watcher.workload("statefulset-web"))) == 4
    pool.cluster.delete("apps/v1", "StatefulSet", "web", pool.namespace, propagationPolicy="Background")
    watcher.gone()


def test_a_pod_of_a_stateful_set_that_is_made_anew_takes_its_place_again(pool, watcher):
    pool.make_nodes(2, racks=2)
    pool.make_queue()
    pool.submit(stateful_set("web", 3, {REQUIRED: RACK}, podManagementPolicy="Parallel"))
    place = {one["metadata"]["name"]: one["spec"]["nodeName"] for one in watcher.running(3)}
    gone = pool.cluster.get("v1", "Pod", "web-1", pool.namespace)["metadata"]["uid"]
    pool.cluster.delete("v1", "Pod", "web-1", pool.namespace)
    pool.wait(lambda: (pool.cluster.get("v1", "Pod", "web-1", pool.namespace) or {"metadata": {"uid": gone}})["metadata"]["uid"] != gone, "another pod")
    assert {one["metadata"]["name"]: one["spec"]["nodeName"] for one in watcher.running(3)} == place


def test_an_evicted_stateful_set_waits_again(pool, watcher):
    pool.make_nodes(1)
    pool.make_queue()
    pool.submit(stateful_set("web", 2, podManagementPolicy="Parallel"))
    watcher.running(2)
    pool.cluster.merge(API, "Workload", "statefulset-web", {"spec": {"active": False}}, pool.namespace)
    pool.wait(lambda: len(watcher.pods()) == 2 and all(f"{KUEUE}/admission" in gates(one) for one in watcher.pods()), "both to wait at the gate")
    pool.cluster.merge(API, "Workload", "statefulset-web", {"spec": {"active": True}}, pool.namespace)
    watcher.running(2)


@pytest.mark.parametrize("leader", (False, True), ids=("alike", "with-leader"))
def test_every_replica_of_a_leader_worker_set_is_in_one_rack(pool, watcher, leader):
    """Story 6: leader and workers in one rack."""
    pool.make_nodes(1, racks=3)
    pool.make_queue()
    together = {REQUIRED: RACK} | ({f"{KUEUE}/podset-group-name": "all"} if leader else {})
    manifest = leader_worker_set("llm", 2, 3, annotations=together, asks=ASKS)
    if leader:
        manifest["spec"]["leaderWorkerTemplate"]["leaderTemplate"] = template(annotations=together, asks={"cpu": "1"})
    pool.submit(manifest)

    def of(replica):
        return lambda one: one["metadata"]["labels"]["leaderworkerset.sigs.k8s.io/group-index"] == str(replica)
    for replica in range(2):
        assert len(watcher.racks(watcher.running(3, of(replica)))) == 1
    sets = [("leader", 1), ("worker", 2)] if leader else [("main", 3)]
    for workload in watcher.workloads():
        assert [(s["name"], s["count"]) for s in workload["spec"]["podSets"]] == sets
    assert {w["metadata"]["name"] for w in watcher.workloads()} == {"leaderworkerset-llm-0", "leaderworkerset-llm-1"}
    lws = ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "llm")
    scale(pool, lws[1], "llm", 3, lws[0])
    assert len(watcher.racks(watcher.running(3, of(2)))) == 1
    scale(pool, lws[1], "llm", 1, lws[0])
    pool.wait(lambda: len(watcher.workloads()) == 1, lambda: f"one Workload to be left, not {len(watcher.workloads())}")
    watcher.running(3)
    pool.cluster.delete(*lws, pool.namespace, propagationPolicy="Background")
    watcher.gone()


def test_the_pods_of_a_deployment_take_quota_one_by_one(pool, watcher):
    pool.make_nodes(2)
    pool.make_queue(quota=4)
    pool.submit(stateful_set("api", 3, kind="Deployment"))
    watcher.running(2)
    waiting = [one for one in watcher.pods() if gates(one)]
    assert len(waiting) == 1 and len(watcher.workloads()) == 3
    scale(pool, "Deployment", "api", 2)
    pool.wait(lambda: len(watcher.pods()) == 2 and len(watcher.workloads()) == 2, "two to be left")
    pool.cluster.delete("apps/v1", "Deployment", "api", pool.namespace, propagationPolicy="Background")
    watcher.gone()


def test_a_kill_while_pods_are_released_loses_and_doubles_nothing(pool, watcher, shared_gantree):
    pool.make_nodes(4, racks=2)
    pool.make_queue(quota=64)
    submit_group(pool, "many", 16, annotations={REQUIRED: RACK})
    pool.wait(lambda: any(not gates(one) for one in watcher.pods()), "a pod without gates")
    shared_gantree.kill()
    shared_gantree.restart()
    pods = watcher.running(16)
    assert len(watcher.racks(pods)) == 1
    by_rank = [one["spec"]["nodeName"] for one in sorted(pods, key=lambda one: int(one["metadata"]["labels"][INDEX]))]
    assert by_rank == [values[0] for values, count in assigned(watcher.workload("many")) for _ in range(count)]


def test_workers_that_are_made_only_when_their_leader_is_ready_have_their_place_already(pool, watcher):
    pool.make_nodes(1, racks=2)
    pool.make_queue()
    together = {REQUIRED: RACK, f"{KUEUE}/podset-group-name": "all"}
    manifest = leader_worker_set("late", 1, 3, annotations=together, asks=ASKS)
    manifest["spec"]["startupPolicy"] = "LeaderReady"
    manifest["spec"]["leaderWorkerTemplate"]["leaderTemplate"] = template(annotations=together, asks={"cpu": "1"})
    pool.submit(manifest)
    assert len(watcher.racks(watcher.running(3))) == 1
    workload, = watcher.workloads()
    assert [(s["name"], s["count"]) for s in workload["spec"]["podSets"]] == [("leader", 1), ("worker", 2)]
    assert [owner["kind"] for owner in workload["metadata"]["ownerReferences"]] == ["LeaderWorkerSet"]
