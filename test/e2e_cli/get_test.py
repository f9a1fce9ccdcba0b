#!/usr/bin/env python3
"""`get gangs` of files: what runs, where, and under which names."""
import json
import unittest

from cli import BLOCK, HOST, RACK, CliTest, domains, gantree, job, node, pod_spec, queues

JOB_SET = "jobset.sigs.k8s.io/"


def host(number, block="b1", rack="r1"):
    return node(f"gpu-{block}-{rack}-{number:02}", block, rack)


def member(name, on, role, gpus=8, of="train"):
    """A pod that runs, of a JobSet that is not in the input."""
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": "default",
                         "labels": {JOB_SET + "jobset-name": of, JOB_SET + "replicatedjob-name": role}},
            "spec": {"nodeName": on, **pod_spec(gpus)}, "status": {"phase": "Running"}}


class Gangs(CliTest):
    def get(self, *objects, output="text"):
        path = self.write("all.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": [*queues(), *objects]}))
        done = gantree("get", "gangs", "-f", path, "-o", output)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def train(self):
        return [*(host(n) for n in range(1, 7)), member("d", "gpu-b1-r1-01", "leader", 1),
                *(member(f"w{n}", f"gpu-b1-r1-{n:02}", "workers") for n in (2, 3, 4, 6))]

    def test_pod_sets_that_run_have_the_names_that_plans_give_them(self):
        (gang,) = json.loads(self.get(*self.train(), output="json"))["gangs"]
        self.assertEqual([(each["name"], each["count"]) for each in gang["podSets"]], [("leader", 1), ("workers", 4)])
        self.assertRegex(self.get(*self.train()), r"\n     leader +1 +1  b1/r1/gpu-b1-r1-01\n     workers +4 +32  b1/r1: 4 hosts\n")

    def test_wide_names_the_hosts(self):
        wide = self.get(*self.train(), output="wide")
        self.assertRegex(wide, r"\n     leader +1 .*\n       on gpu-b1-r1-01\n     workers +4 .*\n       on gpu-b1-r1-\[02-04,06\]\n")
        self.assertNotIn("on gpu", self.get(*self.train()))

    def test_wide_names_the_hosts_of_one_pod_set_below_the_gang(self):
        alone = [host(1), host(2), member("a", "gpu-b1-r1-01", "workers"), member("b", "gpu-b1-r1-02", "workers")]
        self.assertRegex(self.get(*alone, output="wide"), r"\nA  default/train .*\n     on gpu-b1-r1-\[01,02\]\n")

    def test_a_gang_that_is_partly_outside_the_topology_is_told_of_all_the_same(self):
        stray = host(9)
        del stray["metadata"]["labels"][BLOCK]
        gang = [host(1), stray, member("a", "gpu-b1-r1-01", "workers"), member("b", "gpu-b1-r1-09", "workers")]
        (told,) = json.loads(self.get(*gang, output="json"))["gangs"]
        self.assertEqual(told["podSets"][0]["count"], 2)
        self.assertIn("gpu-b1-r1-[01,09]", self.get(*gang, output="wide"))


def stored(thing):
    """As a dump of a cluster has it."""
    thing["metadata"].update(uid=f"{thing['kind']}-{thing['metadata']['name']}", creationTimestamp="2026-01-01T00:00:00Z")
    return thing


def condition(kind, status, reason, message):
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": "2026-01-02T00:00:00Z"}


def workload(name, conditions, hosts=()):
    """The Workload of a Job, admitted to those hosts, one pod each."""
    status = {"conditions": conditions}
    if hosts:
        status["admission"] = {"clusterQueue": "cluster-queue", "podSetAssignments": [
            {"name": "main", "count": len(hosts), "flavors": {"nvidia.com/gpu": "tas"},
             "topologyAssignment": {"levels": [HOST], "slices": [
                 {"domainCount": len(hosts), "valuesPerLevel": [{"individual": {"roots": list(hosts)}}], "podCounts": {"universal": 1}}]}}]}
    return stored({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
                   "metadata": {"name": f"job-{name}", "namespace": "default", "ownerReferences": [
                       {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": f"Job-{name}", "controller": True}]},
                   "spec": {"queueName": "queue", "podSets": [{"name": "main", "count": 2}]}, "status": status})


class WhatIs(CliTest):
    """A dump says what is, and nothing is decided anew."""

    def dump(self):
        hosts = [host(n, rack=rack) for rack in ("r1", "r2") for n in (1, 2)]
        runs = member("w1", "gpu-b1-r1-01", "workers", gpus=2)
        busy = stored(job("waits", 2, 8, topology={"required": RACK}))
        admitted = stored(job("admitted", 2, 4, topology={"required": RACK}))
        train = stored({"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "metadata": {"name": "tune", "namespace": "default"},
                        "spec": {"runtimeRef": {"name": "torch"}, "trainer": {"numNodes": 1, "resourcesPerNode": {"requests": {"nvidia.com/gpu": 1}}}}})
        return [*queues(), *hosts, stored(runs), busy, admitted, train,
                workload("waits", [condition("QuotaReserved", "False", "TopologyPlacementFailed", "TopologyBusy: no rack, it said")]),
                workload("admitted", [condition("Admitted", "True", "Admitted", "")], ["gpu-b1-r2-01", "gpu-b1-r2-02"])]

    def files(self, *more):
        return self.write("all.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": [*self.dump(), *more]}))

    def gangs(self, *more):
        done = gantree("get", "gangs", "-f", self.files(*more), "-o", "json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return {gang["name"]: gang for gang in json.loads(done.stdout)["gangs"]}

    def test_every_gang_is_what_the_cluster_says_it_is(self):
        gangs = self.gangs()
        self.assertEqual({name: (gang["state"], gang.get("reason")) for name, gang in gangs.items()},
                         {"train": ("Running", None), "admitted": ("Admitted", None), "waits": ("Waiting", "TopologyBusy"),
                          "tune": ("Waiting", "UnknownOwner")})
        self.assertEqual((gangs["waits"]["message"], gangs["waits"]["since"]), ("no rack, it said", "2026-01-02T00:00:00Z"))
        self.assertNotIn("topologyAssignment", gangs["waits"]["podSets"][0])

    def test_an_admitted_job_without_pods_is_where_its_workload_says(self):
        self.assertEqual(domains(self.gangs()["admitted"]), [("b1/r2/gpu-b1-r2-01", 1), ("b1/r2/gpu-b1-r2-02", 1)])
        text = gantree("get", "gangs", "-f", self.files()).stdout
        self.assertRegex(text, r"\nAdmitted .*\nB  default/admitted +Job +2 +8  b1/r2: 2 hosts\n")
        self.assertIn("\n1 running, 1 admitted, 2 waiting\n", text)
        self.assertNotIn("Placed", text)

    def test_what_no_cluster_has_is_planned_and_called_that(self):
        new = self.gangs(job("new", 1, 8, topology={"required": RACK}))["new"]
        self.assertEqual((new["state"], new["planned"]), ("Placed", True))
        text = gantree("get", "gangs", "-f", self.files(job("new", 1, 8))).stdout
        self.assertIn("\nWould be placed ", text)

    def test_top_draws_the_same(self):
        text = gantree("top", "-f", self.files()).stdout
        self.assertIn("gangs: 1 running, 1 admitted, 2 waiting", text)
        self.assertIn("TopologyBusy", text)

    def test_a_plan_leaves_admitted_jobs_the_place_that_they_have(self):
        done = gantree("plan", "-f", self.files(job("new", 2, 8, topology={"required": RACK})), "-o", "json")
        gangs = {gang["name"]: gang for gang in json.loads(done.stdout)["gangs"]}
        self.assertNotIn("admitted", gangs)
        self.assertEqual(gangs["new"]["reason"], "TopologyBusy", "the rack of the admitted job was given away")

    def test_explain_says_first_what_is_and_then_what_would_be(self):
        done = gantree("explain", "-f", self.files(), "job/waits")
        self.assertEqual(done.returncode, 2)
        head, after = done.stdout.split("\nIf it were decided now\n")
        self.assertIn("Waiting: TopologyBusy\n  no rack, it said\n", head)
        self.assertNotIn("in the order", head)
        self.assertIn("it would wait: TopologyBusy", after)
        self.assertIn("What would let it start", after)
        answer = json.loads(gantree("explain", "-f", self.files(), "job/waits", "-o", "json").stdout)
        self.assertEqual((answer["state"], answer["message"], answer["ifDecidedNow"]["state"]), ("Waiting", "no rack, it said", "Waiting"))

    def test_explain_of_an_admitted_job_says_where_and_plans_nothing(self):
        done = gantree("explain", "-f", self.files(), "job/admitted")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Admitted", done.stdout.splitlines()[0])
        self.assertIn("Where it was admitted to\n  2 pods: b1/r2: 2 hosts\n  on gpu-b1-r2-[01,02]\n", done.stdout)
        self.assertNotIn("If it were decided", done.stdout)


if __name__ == "__main__":
    unittest.main()
