#!/usr/bin/env python3
"""`get gangs` of files: what runs, where, and under which names."""
import json
import unittest

from cli import BLOCK, HOST, RACK, CliTest, gantree, job, node, pod_spec, queues

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


if __name__ == "__main__":
    unittest.main()
