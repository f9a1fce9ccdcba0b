"""Queues: what they tell of themselves, what happens when they are stopped, and what `gantree get` shows of them."""
import json
import subprocess
import time

import pytest

from harness.gantree import binary
from harness.objects import job

GROUP = "kueue.x-k8s.io"
API = f"{GROUP}/v1beta2"
QUEUE = f"{GROUP}/queue-name"
ONE_CORE = {"cpu": "1"}


def flavor(name="pool"):
    return {"apiVersion": API, "kind": "ResourceFlavor", "metadata": {"name": name}, "spec": {}}


def cluster_queue(name, cpu, flavor="pool", **spec):
    return {"apiVersion": API, "kind": "ClusterQueue", "metadata": {"name": name},
            "spec": {"namespaceSelector": {}, "resourceGroups": [
                {"coveredResources": ["cpu"], "flavors": [{"name": flavor, "resources": [{"name": "cpu", "nominalQuota": str(cpu)}]}]}]} | spec}


def local_queue(name, namespace, above):
    return {"apiVersion": API, "kind": "LocalQueue", "metadata": {"name": name, "namespace": namespace}, "spec": {"clusterQueue": above}}


def queued(manifest, queue="team"):
    manifest["metadata"]["labels"] = {QUEUE: queue}
    return manifest


def condition(thing, kind):
    """(status, reason) of a condition; nothing where it has none."""
    for one in (thing or {}).get("status", {}).get("conditions", []):
        if one["type"] == kind:
            return one["status"], one["reason"]
    return None


class Queues:
    """The queues of a test, and how to look at them."""

    def __init__(self, cluster, namespace):
        self.cluster, self.namespace = cluster, namespace
        self._made = []

    def make(self, *manifests):
        self.cluster.apply(manifests)
        self._made += [(m["kind"], m["metadata"]["name"]) for m in manifests if "namespace" not in m["metadata"]]

    def get(self, kind, name):
        return self.cluster.get(API, kind, name, self.namespace if kind == "LocalQueue" else None)

    def status(self, kind, name):
        return self.get(kind, name).get("status", {})

    def counts(self, kind, name):
        """(pending, admitted)"""
        status = self.status(kind, name)
        return status.get("pendingWorkloads"), status.get("admittedWorkloads")

    def workload(self, owner):
        """That of a job."""
        for one in self.cluster.list(API, "Workload", self.namespace):
            if any(reference["name"] == owner for reference in one["metadata"].get("ownerReferences", [])):
                return one
        return None

    def remove(self):
        for kind, name in self._made:
            self.cluster.delete_at_once(API, kind, name)


@pytest.fixture
def queues(cluster, installed, namespace):
    queues = Queues(cluster, namespace)
    yield queues
    queues.remove()


@pytest.fixture
def team(queues, gantree_with_webhooks):
    """A team with four cores, and two jobs of three pods of one core each, of which one finds room."""
    queues.cluster.make_nodes(4)
    queues.make(flavor(), cluster_queue("team", 4), local_queue("team", queues.namespace, "team"))
    for name in ("first", "second"):
        queues.cluster.create(queued(job(name, 3, asks=ONE_CORE)), queues.namespace)
        queues.cluster.wait_for(lambda: queues.workload(name), 10, f"the workload of {name}")
    queues.cluster.wait_for(lambda: len(queues.cluster.running(queues.namespace)) == 3, 20, "the first to run")
    return queues


def test_queues_tell_who_waits_who_is_admitted_and_what_is_used(team):
    team.cluster.wait_for(lambda: team.counts("ClusterQueue", "team") == (1, 1), 5, "the counts of the ClusterQueue")
    team.cluster.wait_for(lambda: team.counts("LocalQueue", "team") == (1, 1), 5, "the counts of the LocalQueue")
    used = [{"name": "pool", "resources": [{"name": "cpu", "total": "3", "borrowed": "0"}]}]
    status = team.status("ClusterQueue", "team")
    assert status["flavorsUsage"] == status["flavorsReservation"] == used
    assert status["reservingWorkloads"] == 1
    assert condition(team.get("ClusterQueue", "team"), "Active") == ("True", "Ready")
    assert condition(team.get("LocalQueue", "team"), "Active") == ("True", "Ready")
    assert team.status("LocalQueue", "team")["flavorsUsage"] == [{"name": "pool", "resources": [{"name": "cpu", "total": "3"}]}]
    shown = team.cluster.kubectl("get", "localqueues", "-n", team.namespace).splitlines()
    assert shown[0].split("  ")[0] == "NAME" and "PENDING WORKLOADS" in shown[0] and shown[1].split() == ["team", "team", "1", "1"]
    shown = team.cluster.kubectl("get", "clusterqueues", "team", "-o", "wide").splitlines()
    assert shown[1].split()[-2:] == ["1", "1"], shown
    # What ends makes room, and is told.
    team.cluster.delete("batch/v1", "Job", "first", team.namespace, propagationPolicy="Background")
    team.cluster.wait_for(lambda: team.counts("ClusterQueue", "team") == (0, 1), 20, "the second to be admitted")


def gantree(cluster, *words):
    """(exit code, what it printed, what it complained) of a command that is asked of the cluster."""
    ran = subprocess.run([binary(), *words, "--kubeconfig", cluster.kubeconfig], capture_output=True, text=True, timeout=60)
    return ran.returncode, ran.stdout, ran.stderr


def test_get_and_explain_answer_on_a_cluster(team):
    code, shown, said = gantree(team.cluster, "get", "queues")
    assert code == 0 and [line.split() for line in shown.splitlines()] == [
        ["QUEUE", "COHORT", "cpu", "BORROWED", "PENDING", "ADMITTED", "ACTIVE"], ["team", "-", "3/4", "-", "1", "1", "yes"]], (shown, said)
    team.cluster.wait_for(lambda: condition(team.workload("first"), "PodsReady") == ("True", "Started"), 10, "the first to be ready")
    team.cluster.wait_for(lambda: condition(team.workload("second"), "QuotaReserved"), 10, "the second to be told")
    code, shown, said = gantree(team.cluster, "get", "workloads", "-n", team.namespace, "-o", "json")
    assert code == 0, said
    rows = {row["job"]: row for row in json.loads(shown)["workloads"]}
    assert rows["Job/first"]["state"] == "Running" and rows["Job/first"]["where"] == "pool"
    assert rows["Job/second"]["state"] == "Pending" and rows["Job/second"]["reason"] == "QuotaExceeded"
    code, shown, said = gantree(team.cluster, "explain", "job/second", "-n", team.namespace)
    assert code == 2 and "quota" in shown.lower(), (shown, said)
    by_workload = gantree(team.cluster, "explain", f"workload/{team.workload('second')['metadata']['name']}", "-n", team.namespace)
    assert by_workload == (code, shown, said)
    code, shown, said = gantree(team.cluster, "explain", "job/first", "-n", team.namespace)
    assert code == 0, (shown, said)
    assert gantree(team.cluster, "explain", "nobody", "-n", team.namespace)[0] == 1


def test_a_queue_says_what_is_missing_and_that_it_came(queues, gantree_with_webhooks):
    queues.make(cluster_queue("team", 4, flavor="later"), local_queue("team", queues.namespace, "team"), local_queue("lost", queues.namespace, "nobody"))
    queues.cluster.wait_for(lambda: condition(queues.get("ClusterQueue", "team"), "Active") == ("False", "FlavorNotFound"), 5, "what is missing")
    message = queues.status("ClusterQueue", "team")["conditions"][0]["message"]
    assert message == 'ClusterQueue "team": there is no ResourceFlavor "later"'
    queues.cluster.wait_for(lambda: condition(queues.get("LocalQueue", "team"), "Active") == ("False", "ClusterQueueIsInactive"), 5, "the LocalQueue")
    queues.cluster.wait_for(lambda: condition(queues.get("LocalQueue", "lost"), "Active") == ("False", "ClusterQueueDoesNotExist"), 5, "the lost one")
    queues.make(flavor("later"))
    queues.cluster.wait_for(lambda: condition(queues.get("LocalQueue", "team"), "Active") == ("True", "Ready"), 5, "that it came")


def test_a_queue_on_hold_lets_nothing_new_in(team):
    team.cluster.merge(API, "ClusterQueue", "team", {"spec": {"stopPolicy": "Hold"}})
    team.cluster.wait_for(lambda: condition(team.get("ClusterQueue", "team"), "Active") == ("False", "Stopped"), 5, "that it is stopped")
    team.cluster.create(queued(job("small", 1, asks=ONE_CORE)), team.namespace)
    team.cluster.wait_for(lambda: team.counts("ClusterQueue", "team") == (2, 1), 10, "the small one to wait")
    team.cluster.stays(lambda: team.counts("ClusterQueue", "team") == (2, 1), 2, "nothing new is let in")
    assert len(team.cluster.running(team.namespace)) == 3
    team.cluster.merge(API, "ClusterQueue", "team", {"spec": {"stopPolicy": "None"}})
    team.cluster.wait_for(lambda: team.counts("ClusterQueue", "team") == (1, 2), 10, "the small one to be let in")


@pytest.mark.parametrize("kind, namespaced, reason, again",
                         [("ClusterQueue", False, "ClusterQueueStopped", "ClusterQueueRestarted"), ("LocalQueue", True, "LocalQueueStopped", "LocalQueueRestarted")])
def test_a_queue_that_is_drained_sends_away_what_runs_and_takes_it_back(team, kind, namespaced, reason, again):
    where = team.namespace if namespaced else None
    team.cluster.merge(API, kind, "team", {"spec": {"stopPolicy": "HoldAndDrain"}}, where)
    team.cluster.wait_for(lambda: condition(team.workload("first"), "Evicted") == ("True", reason), 10, "the eviction")
    team.cluster.wait_for(lambda: not team.cluster.pods(team.namespace), 20, "its pods to go")
    team.cluster.wait_for(lambda: condition(team.workload("first"), "Requeued") == ("False", reason), 10, "that it waits for the queue")
    team.cluster.wait_for(lambda: team.counts("ClusterQueue", "team") == (2, 0), 10, "both to wait")
    assert team.cluster.get("batch/v1", "Job", "first", team.namespace)["spec"]["suspend"] is True
    team.cluster.merge(API, kind, "team", {"spec": {"stopPolicy": "None"}}, where)
    team.cluster.wait_for(lambda: len(team.cluster.running(team.namespace)) == 3, 20, "it to run again")
    assert condition(team.workload("first"), "Requeued") == ("True", again)
    assert condition(team.workload("first"), "Admitted")[0] == "True"


def test_statuses_follow_many_workloads_without_a_flood_of_writes(queues, gantree_with_webhooks):
    queues.cluster.make_nodes(4)
    queues.make(flavor(), cluster_queue("team", 40), local_queue("team", queues.namespace, "team"))
    queues.cluster.wait_for(lambda: condition(queues.get("ClusterQueue", "team"), "Active"), 5, "the queue to be known")
    began, seen = time.monotonic(), set()

    def all_counted():
        queue = queues.get("ClusterQueue", "team")
        seen.add(queue["metadata"]["resourceVersion"])
        return (queue["status"]["pendingWorkloads"], queue["status"]["admittedWorkloads"]) == (20, 40)
    queues.cluster.create_all([queued(job(f"job-{i}", 1, asks=ONE_CORE)) for i in range(60)], queues.namespace)
    queues.cluster.wait_for(all_counted, 60, "all to be counted")
    # One for each second, and what was there before.
    assert len(seen) <= time.monotonic() - began + 2, seen
