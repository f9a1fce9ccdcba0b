"""Preemption of gangs of pods as Koordinator describes it: who is told what, and that the room is kept, also over a crash."""
import pytest

from harness.objects import GANG_LABEL, gang, requests

PATIENCE = 30
QUIET = 2
WHOLE_HOST = requests(gpu=8)

pytestmark = pytest.mark.usefixtures("observer")


@pytest.fixture
def classes(cluster, namespace):
    """Names of priority classes, by what they are."""
    made = {}
    for name, value in (("low", 1), ("middle", 5), ("high", 10)):
        made[name] = f"{namespace}-{name}"
        cluster.create({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": made[name]}, "value": value})
    return made


def members(cluster, namespace, name):
    return cluster.pods(namespace, f"{GANG_LABEL}={name}")


def runs(cluster, namespace, name, pods):
    cluster.wait_for(lambda: len(cluster.running(namespace, f"{GANG_LABEL}={name}")) == pods, PATIENCE,
                     lambda: f"{pods} pods of {name} to run; {[p['status'] for p in members(cluster, namespace, name)]}")


def nominated(cluster, namespace, name):
    return [p["status"].get("nominatedNodeName") for p in members(cluster, namespace, name)]


def condition(pod, kind):
    return next((c for c in pod["status"].get("conditions", []) if c["type"] == kind), None)


def preempt(cluster, namespace, classes):
    """A gang of two on two of three hosts that takes its time to leave, and one of three that wants them all."""
    cluster.make_nodes(3)
    cluster.create_all(gang("low", 2, asks=WHOLE_HOST, annotations={"gantree.dev/stop-after": "5s"}, grace=8, priorityClassName=classes["low"]),
                       namespace)
    runs(cluster, namespace, "low", 2)
    cluster.create_all(gang("hello-job", 3, asks=WHOLE_HOST, scheduler="koord-scheduler", priorityClassName=classes["high"]), namespace)
    cluster.wait_for(lambda: len(set(nominated(cluster, namespace, "hello-job")) - {None}) == 3, PATIENCE,
                     lambda: f"all pods to be nominated; {[p['status'] for p in members(cluster, namespace, 'hello-job')]}")


def test_members_are_nominated_and_victims_told_by_whom_they_are_preempted(cluster, namespace, gantree, classes):
    preempt(cluster, namespace, classes)

    def leaving():
        pods = members(cluster, namespace, "low")
        return pods if len(pods) == 2 and all("deletionTimestamp" in p["metadata"] for p in pods) else None
    for victim in cluster.wait_for(leaving, PATIENCE, "both victims to be told to leave"):
        assert victim["metadata"]["deletionGracePeriodSeconds"] == 8
        told = condition(victim, "DisruptionTarget")
        assert (told["status"], told["reason"]) == ("True", "PreemptionByScheduler")
        assert told["message"].startswith("koord-scheduler: preempting to accommodate higher priority pods, "
                                          f"preemptor: {namespace}/hello-job, triggerpod: {namespace}/hello-job-")
    places = dict(zip((p["metadata"]["name"] for p in members(cluster, namespace, "hello-job")), nominated(cluster, namespace, "hello-job")))
    runs(cluster, namespace, "hello-job", 3)
    assert cluster.bound(namespace, f"{GANG_LABEL}=hello-job") == places


def test_the_room_of_a_preemptor_survives_a_crash(cluster, namespace, gantree, classes):
    preempt(cluster, namespace, classes)
    gantree.kill()
    # It would take the host that is free, and is created before the next process starts.
    cluster.create_all(gang("late", 1, asks=WHOLE_HOST, priorityClassName=classes["middle"]), namespace)
    gantree.restart()
    runs(cluster, namespace, "hello-job", 3)
    assert not cluster.bound(namespace, f"{GANG_LABEL}=late")
    cluster.stays(lambda: len(cluster.bound(namespace, f"{GANG_LABEL}=hello-job")) == 3, QUIET, "nobody is evicted a second time")


def test_nominations_are_taken_away_where_the_gang_cannot_start(cluster, namespace, gantree, classes):
    preempt(cluster, namespace, classes)
    cluster.delete("v1", "Pod", "hello-job-0", namespace)
    cluster.wait_for(lambda: set(nominated(cluster, namespace, "hello-job")) == {None}, PATIENCE,
                     lambda: f"nominations to be cleared; {nominated(cluster, namespace, 'hello-job')}")


def test_a_budget_keeps_its_gang_from_being_preempted(cluster, namespace, gantree, classes):
    cluster.make_nodes(1)
    cluster.create({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "guard"},
                    "spec": {"minAvailable": 1, "selector": {"matchLabels": {GANG_LABEL: "low"}}}}, namespace)
    cluster.create_all(gang("low", 1, asks=WHOLE_HOST, priorityClassName=classes["low"]), namespace)
    runs(cluster, namespace, "low", 1)
    cluster.create_all(gang("high", 1, asks=WHOLE_HOST, priorityClassName=classes["high"]), namespace)
    cluster.stays(lambda: condition(members(cluster, namespace, "low")[0], "DisruptionTarget") is None, QUIET, "the budget holds")
    assert not members(cluster, namespace, "low")[0]["metadata"].get("deletionTimestamp")
