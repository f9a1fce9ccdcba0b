#!/usr/bin/env python3
"""The examples do what their comments say."""
import collections
import json
import subprocess
import sys
import unittest

import yaml

from cli import ROOT, CliTest, gantree

EXAMPLES = ROOT / "examples"
NOT_STARTED = {"impossible-rack": "TopologyTooLarge", "evaluate-everything": "QuotaExceeded", "wrong-level": "InvalidRequest"}


def cluster(*options):
    return subprocess.run([sys.executable, EXAMPLES / "cluster.py", *options], capture_output=True, text=True, check=True).stdout


class Examples(CliTest):
    def planned(self, *files):
        path = self.write("cluster.yaml", cluster())
        done = gantree("plan", "-f", path, "-f", EXAMPLES / "queues.yaml", *(word for file in files for word in ("-f", file)), "-o", "json")
        self.assertEqual(done.stderr, "")
        return {gang["name"]: gang for gang in json.loads(done.stdout)["gangs"]}

    def domains(self, gang, depth, pod_sets=slice(None)):
        """How many domains of the topology's first `depth` levels the gang uses."""
        return {tuple(domain["values"][:depth]) for pod_set in gang["podSets"][pod_sets] for domain in pod_set["topologyAssignment"]["domains"]}

    def test_every_job_of_the_demo_ends_as_its_comment_says(self):
        gangs = self.planned(EXAMPLES / "jobs")
        self.assertEqual(len(gangs), len(list((EXAMPLES / "jobs").glob("*.yaml"))))
        self.assertEqual({name: gang["reason"] for name, gang in gangs.items() if gang["state"] != "Placed"}, NOT_STARTED)
        one_rack = {"finetune-70b", "rlhf", "zz-serve-405b", "pretrain-8b"}
        one_block = one_rack | {"pretrain-13b", "pretrain-34b", "pipeline-180b"}
        for name, gang in gangs.items():
            if gang["state"] == "Placed":
                self.assertTrue(name not in one_rack or len(self.domains(gang, 2)) == 1, name)
                self.assertTrue(name not in one_block or len(self.domains(gang, 1)) == 1, name)
        self.assertEqual(len(self.domains(gangs["embedding-service"], 2)), 8)
        benchmark = gangs["all-reduce-benchmark"]["podSets"][0]["topologyAssignment"]["domains"]
        shares = collections.Counter(tuple(domain["values"][:2]) for domain in benchmark for _ in range(domain["count"]))
        self.assertEqual(sorted(shares.values()), [10, 10])
        self.assertEqual(len(self.domains(gangs["tensor-parallel-7b"], 3)), 2)
        self.assertEqual(gangs["hyperparameter-search"]["podSets"][0]["count"], 148)

    def test_the_families_of_the_demo_share_one_cluster(self):
        gangs = self.planned(*(EXAMPLES / family for family in ("jobs", "kai", "koordinator", "lws")))
        self.assertEqual({gang["dialect"] for gang in gangs.values()}, {"kueue", "kai", "koordinator", "lws"})
        self.assertEqual({name: gang["reason"] for name, gang in gangs.items() if gang["state"] != "Placed"}, NOT_STARTED)
        used = collections.Counter(domain["values"][-1] for gang in gangs.values() if gang["state"] == "Placed" and gang["dialect"] == "lws"
                                   for pod_set in gang["podSets"] for domain in pod_set["topologyAssignment"]["domains"])
        self.assertEqual(set(used.values()), {1})

    def test_the_stories_are_placed(self):
        for file in sorted((EXAMPLES / "stories").glob("*.yaml")):
            with self.subTest(file.name):
                (gang,) = self.planned(file).values()
                self.assertEqual(gang["state"], "Placed", gang.get("message"))

    def test_the_segments_of_kai_stay_in_a_rack_each_and_all_in_a_block(self):
        gang = self.planned(EXAMPLES / "kai")["tensor-parallel-groups"]
        self.assertEqual((gang["state"], gang["dialect"]), ("Placed", "kai"))
        self.assertEqual(len(self.domains(gang, 1)), 1)
        racks = [tuple(domain["values"][:2]) for domain in gang["podSets"][1]["topologyAssignment"]["domains"] for _ in range(domain["count"])]
        self.assertTrue(all(len(set(racks[first:first + 4])) == 1 for first in range(0, 16, 4)), racks)

    def test_the_gang_group_of_koordinator_gets_one_rack(self):
        gang = self.planned(EXAMPLES / "koordinator")["tune-driver"]
        self.assertEqual((gang["state"], gang["dialect"]), ("Placed", "koordinator"))
        self.assertEqual(len(self.domains(gang, 2)), 1)

    def test_every_replica_of_the_leader_worker_set_owns_a_rack(self):
        gangs = self.planned(EXAMPLES / "lws")
        self.assertEqual({name: (gang["state"], gang["dialect"]) for name, gang in gangs.items()},
                         {f"serve-671b-{index}": ("Placed", "lws") for index in range(2)})
        racks = [self.domains(gang, 2) for gang in gangs.values()]
        self.assertEqual([len(rack) for rack in racks], [1, 1])
        self.assertNotEqual(*racks)

    def test_the_urgent_job_gets_its_rack_by_evicting_whole_jobs(self):
        path = self.write("cluster.yaml", cluster("--busy", "0.95"))
        done = gantree("plan", "-f", path, "-f", EXAMPLES / "preemption", "--levels",
                       "cloud.provider.com/topology-block,cloud.provider.com/topology-rack,kubernetes.io/hostname", "-o", "json")
        answer = json.loads(done.stdout)
        (gang,) = answer["gangs"]
        self.assertEqual(gang["state"], "Placed", gang.get("message"))
        self.assertEqual(len(self.domains(gang, 2)), 1)
        self.assertTrue(answer["evictions"])
        self.assertEqual({eviction["for"] for eviction in answer["evictions"]}, {"team-research/urgent-retrain"})

    def test_the_cluster_is_the_same_in_yaml_and_json_and_every_time(self):
        text = cluster("--blocks", "1")
        self.assertEqual(yaml.load(text, yaml.CSafeLoader), json.loads(cluster("--blocks", "1", "-o", "json")))
        self.assertEqual(text, cluster("--blocks", "1"))
        self.assertNotEqual(text, cluster("--blocks", "1", "--seed", "8"))


if __name__ == "__main__":
    unittest.main()
