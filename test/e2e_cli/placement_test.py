#!/usr/bin/env python3
"""Small clusters whose best placement is plain to see."""
import collections
import unittest

from cli import BLOCK, HOST, KUEUE, RACK, CliTest, domains, job, node, pod, pod_spec, queues

SLICE = KUEUE + "podset-slice-required-topology"
SLICE_SIZE = KUEUE + "podset-slice-size"
LAYERS = KUEUE + "podset-slice-required-topology-constraints"
GROUP = KUEUE + "podset-group-name"


def racks(**free):
    """Nodes by rack of one block: racks(a=[4, 4]) is rack a with hosts a1 and a2 of 4 free GPUs."""
    return [node(f"{rack}{i}", "b", rack, gpus) for rack, hosts in free.items() for i, gpus in enumerate(hosts, 1)]


def annotated(a_job, **annotations):
    """The Job with further pod-template annotations, by the names above."""
    names = {"slice_level": SLICE, "slice_size": SLICE_SIZE, "layers": LAYERS, "group": GROUP}
    a_job["spec"]["template"]["metadata"]["annotations"].update({names[key]: value for key, value in annotations.items()})
    return a_job


def jobset(name, **parts):
    """parts: a replicated job each, as (replicas, parallelism, gpus, pod-template annotations[, pod spec])."""
    def replicated(part, replicas, parallelism, gpus, annotations, spec=None):
        template = {"metadata": {"annotations": annotations}, "spec": {**pod_spec(gpus), **(spec or {})}}
        return {"name": part, "replicas": replicas,
                "template": {"spec": {"parallelism": parallelism, "completions": parallelism, "template": template}}}

    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
            "metadata": {"name": name, "namespace": "default", "labels": {KUEUE + "queue-name": "queue"}},
            "spec": {"suspend": True, "replicatedJobs": [replicated(part, *rest) for part, rest in parts.items()]}}


class Placement(CliTest):
    def where(self, a_job, *cluster, pod_set=0):
        gangs = self.plan(*queues(), *cluster, a_job)
        gang = gangs[a_job["metadata"]["name"]]
        self.assertEqual(gang["state"], "Placed", gang.get("message"))
        return dict(domains(gang, pod_set))

    def reason(self, a_job, *cluster):
        gang = self.plan(*queues(), *cluster, a_job)[a_job["metadata"]["name"]]
        self.assertIn(gang["state"], ("Waiting", "Rejected"))
        return gang["reason"]

    # --- required -------------------------------------------------------------------------------

    def test_required_takes_the_tightest_rack(self):
        self.assertEqual(self.where(job("j", 4, topology={"required": RACK}), *racks(a=[8], b=[4], c=[6])), {"b/b/b1": 4})

    def test_among_equals_the_first_name_is_taken(self):
        self.assertEqual(self.where(job("j", 4, topology={"required": RACK}), *racks(c=[4], a=[4], b=[4])), {"b/a/a1": 4})

    def test_fewer_hosts_go_before_a_tighter_rack(self):
        self.assertEqual(self.where(job("j", 4, topology={"required": RACK}), *racks(a=[1, 1, 1, 1], b=[5])), {"b/b/b1": 4})

    def test_within_the_rack_the_tightest_host_is_taken(self):
        self.assertEqual(self.where(job("j", 3, topology={"required": RACK}), *racks(a=[8, 3, 5])), {"b/a/a2": 3})

    def test_one_host_of_a_block_goes_before_a_fuller_rack(self):
        self.assertEqual(self.where(job("j", 8, topology={"required": BLOCK}), *racks(a=[7, 3], b=[8, 2, 2])), {"b/b/b1": 8})

    def test_equal_rack_names_in_two_blocks_are_two_racks(self):
        cluster = [node("n1", "b1", "r", 4), node("n2", "b2", "r", 4)]
        self.assertEqual(self.reason(job("j", 8, topology={"required": RACK}), *cluster), "TopologyTooLarge")
        self.assertEqual(self.where(job("j", 8, topology={"preferred": RACK}), *cluster), {"b1/r/n1": 4, "b2/r/n2": 4})

    def test_a_rack_that_is_taken_is_busy_and_one_too_small_is_too_large(self):
        cluster = [*racks(a=[8]), pod("other", "a1", 5)]
        self.assertEqual(self.reason(job("j", 4, topology={"required": RACK}), *cluster), "TopologyBusy")
        self.assertEqual(self.reason(job("j", 9, topology={"required": RACK}), *cluster), "TopologyTooLarge")
        self.assertEqual(self.where(job("j", 3, topology={"required": RACK}), *cluster), {"b/a/a1": 3})

    def test_pods_of_three_gpus_leave_two_of_eight(self):
        self.assertEqual(self.where(job("j", 2, 3, topology={"required": HOST}), *racks(a=[8])), {"b/a/a1": 2})
        self.assertEqual(self.reason(job("j", 3, 3, topology={"required": HOST}), *racks(a=[8])), "TopologyTooLarge")

    def test_hosts_count_one_by_one_also_where_the_lowest_level_is_the_rack(self):
        cluster = [*queues(levels=(BLOCK, RACK)), *racks(a=[4, 4], b=[8])]
        gangs = self.plan(*cluster, job("whole", 1, 8, topology={"required": RACK}))
        self.assertEqual(domains(gangs["whole"]), [("b/b", 1)])
        gangs = self.plan(*cluster, job("two", 2, 8, topology={"required": BLOCK}))
        self.assertEqual(gangs["two"]["reason"], "TopologyTooLarge")

    # --- preferred, unconstrained ---------------------------------------------------------------

    def test_preferred_climbs_to_the_block_and_uses_few_racks(self):
        cluster = [node(f"{b}{r}", b, r, 4) for b in ("b1", "b2") for r in ("r1", "r2")]
        self.assertEqual(self.where(job("j", 6, topology={"preferred": RACK}), *cluster, pod("p", "b1r1", 3)),
                         {"b2/r1/b2r1": 4, "b2/r2/b2r2": 2})

    def test_preferred_spreads_over_blocks_rather_than_wait(self):
        cluster = [node(f"{b}{r}", b, r, 4) for b in ("b1", "b2") for r in ("r1", "r2")]
        answer = self.where(job("j", 11, topology={"preferred": RACK}), *cluster)
        self.assertEqual(sorted(answer.values()), [3, 4, 4])

    def test_unconstrained_fills_the_tightest_holes(self):
        self.assertEqual(self.where(job("j", 3, topology={"unconstrained": "true"}), *racks(a=[8, 2], b=[1, 8])), {"b/a/a2": 2, "b/b/b1": 1})

    def test_without_annotations_in_a_queue_of_topologies_holes_are_filled_too(self):
        self.assertEqual(self.where(job("j", 2), *racks(a=[8], b=[2])), {"b/b/b1": 2})

    # --- slices ---------------------------------------------------------------------------------

    def test_a_slice_stays_on_one_host(self):
        a_job = annotated(job("j", 8), slice_level=HOST, slice_size="4")
        self.assertEqual(self.where(a_job, *racks(a=[3, 3, 3], b=[6, 5])), {"b/b/b1": 4, "b/b/b2": 4})

    def test_a_slice_that_fits_one_host_is_not_spread_over_small_ones(self):
        a_job = annotated(job("j", 4), slice_level=RACK, slice_size="4")
        self.assertEqual(self.where(a_job, *racks(a=[1, 2, 8])), {"b/a/a3": 4})

    def test_a_slice_that_fits_no_rack_is_too_large(self):
        a_job = annotated(job("j", 8), slice_level=RACK, slice_size="8")
        self.assertEqual(self.reason(a_job, *racks(a=[4], b=[7])), "TopologyTooLarge")

    def test_the_rest_of_an_uneven_division_is_placed_too_and_stays_together(self):
        a_job = annotated(job("j", 7), slice_level=HOST, slice_size="4")
        self.assertEqual(self.where(a_job, *racks(a=[4, 3, 2])), {"b/a/a1": 4, "b/a/a2": 3})
        self.assertEqual(self.reason(annotated(job("j", 7), slice_level=HOST, slice_size="4"), *racks(a=[4, 2, 2])), "TopologyTooLarge")

    def test_slices_within_a_required_block(self):
        cluster = [node("x1", "b1", "r1", 4), node("x2", "b1", "r2", 3), node("y1", "b2", "r1", 4), node("y2", "b2", "r2", 4)]
        a_job = annotated(job("j", 8, topology={"required": BLOCK}), slice_level=RACK, slice_size="4")
        self.assertEqual(self.where(a_job, *cluster), {"b2/r1/y1": 4, "b2/r2/y2": 4})

    def test_slices_in_two_layers(self):
        layers = f'[{{"topology": "{RACK}", "size": 4}}, {{"topology": "{HOST}", "size": 2}}]'
        cluster = racks(a=[3, 1], b=[3, 3], c=[2, 3])  # whole pairs a host: a 1+0, b 1+1, c 1+1
        answer = self.where(annotated(job("j", 8), layers=layers), *cluster)
        self.assertEqual(answer, {"b/b/b1": 2, "b/b/b2": 2, "b/c/c1": 2, "b/c/c2": 2})

    # --- several pod sets -----------------------------------------------------------------------

    def test_a_leader_and_its_workers_share_a_rack(self):
        both = {KUEUE + "podset-required-topology": RACK, GROUP: "g"}
        a_set = jobset("j", leader=(1, 1, 1, both), workers=(1, 4, 1, both))
        gangs = self.plan(*queues(), *racks(a=[4], b=[5], c=[9]), a_set)
        self.assertEqual(dict(domains(gangs["j"], 0)), {"b/b/b1": 1})
        self.assertEqual(dict(domains(gangs["j"], 1)), {"b/b/b1": 4})

    def test_a_pod_set_of_a_group_may_have_to_stay_closer_than_the_group(self):
        in_block, in_rack = ({KUEUE + "podset-required-topology": level, GROUP: "g"} for level in (BLOCK, RACK))
        a_set = jobset("j", loaders=(1, 3, 1, in_block), workers=(1, 4, 1, in_rack))
        cluster = [node("x", "b1", "r1", 6), node("y1", "b2", "r1", 4), node("y2", "b2", "r2", 3)]
        gangs = self.plan(*queues(), *cluster, a_set)  # b1 has too little for all; in b2 only r1 holds the workers
        self.assertEqual(dict(domains(gangs["j"], 0)), {"b2/r2/y2": 3})
        self.assertEqual(dict(domains(gangs["j"], 1)), {"b2/r1/y1": 4})

    def test_a_group_cannot_be_required_and_preferred_by_halves(self):
        a_set = jobset("j", a=(1, 1, 1, {KUEUE + "podset-required-topology": RACK, GROUP: "g"}),
                       b=(1, 1, 1, {KUEUE + "podset-preferred-topology": RACK, GROUP: "g"}))
        self.assertEqual(self.reason(a_set, *racks(a=[8])), "InvalidRequest")

    def test_the_node_selector_of_a_leader_counts(self):
        both = {KUEUE + "podset-required-topology": RACK, GROUP: "g"}
        a_set = jobset("j", leader=(1, 1, 1, both, {"nodeSelector": {"kind": "big"}}), workers=(1, 4, 1, both))
        cluster = [node("a1", "b", "a", 5), node("c1", "b", "c", 8), node("c2", "b", "c", 2, labels={"kind": "big"})]
        gangs = self.plan(*queues(), *cluster, a_set)
        self.assertEqual(dict(domains(gangs["j"], 0)), {"b/c/c2": 1})
        self.assertEqual(sum(dict(domains(gangs["j"], 1)).values()), 4)
        self.assertTrue(all(path.startswith("b/c/") for path, _ in domains(gangs["j"], 1)))

    def test_a_pod_set_gives_way_to_one_that_has_no_choice(self):
        required = {KUEUE + "podset-required-topology": RACK}
        a_set = jobset("j", a=(1, 2, 1, required), b=(1, 2, 1, required, {"nodeSelector": {RACK: "small"}}))
        gangs = self.plan(*queues(), *racks(small=[2], wide=[3]), a_set)
        self.assertEqual(dict(domains(gangs["j"], 0)), {"b/wide/wide1": 2})
        self.assertEqual(dict(domains(gangs["j"], 1)), {"b/small/small1": 2})

    def test_a_jobset_starts_whole_or_not_at_all(self):
        required = {KUEUE + "podset-required-topology": RACK}
        a_set = jobset("j", a=(1, 4, 1, required), b=(1, 5, 1, required))
        after = job("k", 4, topology={"required": RACK})
        gangs = self.plan(*queues(), *racks(a=[4], b=[4]), a_set, after, expect={"j": "Waiting", "k": "Placed"})
        self.assertNotIn("topologyAssignment", gangs["j"]["podSets"][0])

    def test_replicas_multiply(self):
        gangs = self.plan(*queues(), *racks(a=[8]), jobset("j", workers=(2, 3, 1, {KUEUE + "podset-required-topology": RACK})))
        self.assertEqual(gangs["j"]["podSets"][0]["count"], 6)
        self.assertEqual(domains(gangs["j"]), [("b/a/a1", 6)])

    # --- ranks ----------------------------------------------------------------------------------

    def test_ranks_fill_one_rack_before_the_next(self):
        cluster = [node(f"{r}{h}", "b", r, 2) for r in ("r1", "r2") for h in (1, 2)]
        gangs = self.plan(*queues(), *cluster, job("j", 8, topology={"required": BLOCK}))
        listed = domains(gangs["j"])
        self.assertEqual(sum(count for _, count in listed), 8)
        visited = [path.split("/")[1] for path, _ in listed]
        changes = sum(1 for before, after in zip(visited, visited[1:]) if before != after)
        self.assertEqual(changes, len(set(visited)) - 1, listed)

    # --- no overcommitment, whatever comes first ------------------------------------------------

    def test_many_gangs_never_overcommit_a_host(self):
        jobs = [job(f"j{i:02}", 1 + i % 5, 1 + i % 3, topology=[{"required": RACK}, {"preferred": HOST}, None][i % 3]) for i in range(30)]
        gangs = self.plan(*queues(), *racks(a=[8, 5], b=[7, 3], c=[8, 8]), *jobs)
        gpus = {a_job["metadata"]["name"]: 1 + i % 3 for i, a_job in enumerate(jobs)}
        used = collections.Counter()
        for name, gang in gangs.items():
            if gang["state"] == "Placed":
                for path, count in domains(gang):
                    used[path.split("/")[2]] += count * gpus[name]
        for host, room in {"a1": 8, "a2": 5, "b1": 7, "b2": 3, "c1": 8, "c2": 8}.items():
            self.assertLessEqual(used[host], room, host)


if __name__ == "__main__":
    unittest.main()
