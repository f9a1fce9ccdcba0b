#!/usr/bin/env python3
"""Who goes first, who may start at all, and on which hosts: order, quota, eligibility, pod requests, refusals."""
import unittest

from cli import BLOCK, HOST, KUEUE, RACK, CliTest, cases, domains, job, node, pod, pod_spec, priority_class, queues

ONE_HOST = [*queues(), node("n1", gpus=8)]
WHOLE = {"required": RACK}


class Order(CliTest):
    """One host with room for one of two jobs."""

    def winner(self, *objects):
        gangs = self.plan(*ONE_HOST, *objects)
        return [name for name, gang in gangs.items() if gang["state"] == "Placed"]

    def test_the_higher_priority_goes_first(self):
        classes = [priority_class("high", 100), priority_class("low", -5)]
        self.assertEqual(self.winner(*classes, job("a", 8, priority="low"), job("z", 8, priority="high")), ["z"])

    def test_no_class_is_priority_zero(self):
        self.assertEqual(self.winner(priority_class("low", -5), job("a", 8, priority="low"), job("z", 8)), ["z"])

    def test_a_priority_class_of_the_pod_counts(self):
        core = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "urgent"}, "value": 1000}
        self.assertEqual(self.winner(core, job("a", 8), job("z", 8, pod={"priorityClassName": "urgent"})), ["z"])

    def test_of_equal_priority_the_older_goes_first(self):
        self.assertEqual(self.winner(job("a", 8, created="2026-01-02T00:00:00Z"), job("z", 8, created="2026-01-01T23:59:59Z")), ["z"])

    def test_priority_goes_before_age(self):
        self.assertEqual(self.winner(priority_class("high", 1), job("a", 8, created="2026-01-01T00:00:00Z"),
                                     job("z", 8, created="2026-06-01T00:00:00Z", priority="high")), ["z"])

    def test_of_equal_age_the_first_name_goes_first(self):
        self.assertEqual(self.winner(job("b", 8), job("a", 8)), ["a"])

    def test_a_small_job_behind_a_large_one_that_waits_still_starts(self):
        gangs = self.plan(*ONE_HOST, job("a", 9, topology=WHOLE), job("b", 8))
        self.assertEqual({name: gang["state"] for name, gang in gangs.items()}, {"a": "Waiting", "b": "Placed"})


class Quota(CliTest):
    def test_over_quota_waits_and_what_fits_below_goes_on(self):
        gangs = self.plan(*queues(quota=10), node("n1", gpus=8), node("n2", gpus=8), job("a", 6), job("b", 5), job("c", 4),
                          expect={"a": "Placed", "b": "Waiting", "c": "Placed"})
        self.assertEqual(gangs["b"]["reason"], "QuotaExceeded")
        self.assertIn("nvidia.com/gpu", gangs["b"]["message"])

    def test_more_than_the_whole_quota_is_said_so(self):
        gangs = self.plan(*queues(quota=4), node("n1", gpus=8), job("a", 5))
        self.assertEqual((gangs["a"]["state"], gangs["a"]["reason"]), ("Waiting", "QuotaExceeded"))

    def test_quota_is_counted_in_exact_fractions(self):
        objects = queues()
        objects[2]["spec"]["resourceGroups"][0] = {"coveredResources": ["cpu"], "flavors": [
            {"name": "tas", "resources": [{"name": "cpu", "nominalQuota": "300m"}]}]}
        gangs = self.plan(*objects, node("n1"), job("a", 3, 0, cpu="0.1"), job("b", 1, 0, cpu="1m"))
        self.assertEqual({name: gang["state"] for name, gang in gangs.items()}, {"a": "Placed", "b": "Waiting"})

    def test_the_second_flavor_is_taken_where_the_first_has_no_room(self):
        objects = queues()
        objects[1:2] = [{**objects[1], "metadata": {"name": name},
                         "spec": {"nodeLabels": {"pool": name}, "topologyName": "default"}} for name in ("first", "second")]
        gpus = [{"name": "nvidia.com/gpu", "nominalQuota": "100"}]
        objects[3]["spec"]["resourceGroups"][0]["flavors"] = [{"name": name, "resources": gpus} for name in ("first", "second")]
        cluster = [node("n1", gpus=4, labels={"pool": "first"}), node("n2", gpus=8, labels={"pool": "second"})]
        gangs = self.plan(*objects, *cluster, job("a", 3, topology=WHOLE), job("b", 3, topology=WHOLE))
        self.assertEqual(domains(gangs["a"]), [("b1/r1/n1", 3)])
        self.assertEqual(domains(gangs["b"]), [("b1/r1/n2", 3)])

    def test_a_flavor_without_a_topology_is_planned_by_hosts_too(self):
        objects = queues(flavor={"nodeLabels": {"cloud.provider.com/node-group": "tas"}})
        gangs = self.plan(*objects, node("n1", gpus=8), job("a", 8), job("b", 1))
        self.assertEqual(gangs["a"]["state"], "Placed")

    def test_a_stopped_queue_holds_its_jobs(self):
        objects = queues()
        objects[3]["spec"]["stopPolicy"] = "Hold"
        gangs = self.plan(*objects, node("n1"), job("a", 1))
        self.assertEqual(gangs["a"]["state"], "Waiting")


class PartialAdmission(CliTest):
    def placed(self, minimum, room):
        a_job = job("a", 8, topology=WHOLE, annotations={KUEUE + "job-min-parallelism": str(minimum)})
        gang = self.plan(*queues(), node("n1", gpus=room), a_job)["a"]
        return gang["podSets"][0]["count"] if gang["state"] == "Placed" else None

    def test_as_many_as_fit_start(self):
        self.assertEqual(self.placed(2, 5), 5)

    def test_all_start_where_all_fit(self):
        self.assertEqual(self.placed(2, 8), 8)

    def test_never_fewer_than_the_minimum(self):
        self.assertEqual(self.placed(5, 5), 5)
        self.assertIsNone(self.placed(6, 5))

    def test_quota_may_be_what_limits(self):
        a_job = job("a", 8, annotations={KUEUE + "job-min-parallelism": "2"})
        gangs = self.plan(*queues(quota=3), node("n1", gpus=8), a_job)
        self.assertEqual((gangs["a"]["state"], gangs["a"]["podSets"][0]["count"]), ("Placed", 3))


TAINT = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}
AFFINITY = lambda *expressions: {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
    "nodeSelectorTerms": [{"matchExpressions": [expression]} for expression in expressions]}}}}

# name: node spec, node labels, pod spec, may the pod run there?
HOSTS = {
    "a plain host": ({}, {}, {}, True),
    "a cordoned host": ({"unschedulable": True}, {}, {}, False),
    "a tainted host": ({"taints": [TAINT]}, {}, {}, False),
    "a taint of NoExecute": ({"taints": [{**TAINT, "effect": "NoExecute"}]}, {}, {}, False),
    "a taint that only asks": ({"taints": [{**TAINT, "effect": "PreferNoSchedule"}]}, {}, {}, True),
    "a taint tolerated by value": ({"taints": [TAINT]}, {}, {"tolerations": [{"key": "gpu", "value": "yes"}]}, True),
    "a taint of another value": ({"taints": [TAINT]}, {}, {"tolerations": [{"key": "gpu", "operator": "Equal", "value": "no"}]}, False),
    "a taint tolerated by key": ({"taints": [TAINT]}, {}, {"tolerations": [{"key": "gpu", "operator": "Exists"}]}, True),
    "a toleration of everything": ({"taints": [TAINT]}, {}, {"tolerations": [{"operator": "Exists"}]}, True),
    "a toleration of another effect": (
        {"taints": [TAINT]}, {}, {"tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoExecute"}]}, False),
    "two taints of which one is tolerated": (
        {"taints": [TAINT, {"key": "x", "effect": "NoSchedule"}]}, {}, {"tolerations": [{"key": "gpu", "operator": "Exists"}]}, False),
    "a node selector that matches": ({}, {"disk": "ssd"}, {"nodeSelector": {"disk": "ssd"}}, True),
    "a node selector that does not": ({}, {"disk": "hdd"}, {"nodeSelector": {"disk": "ssd"}}, False),
    "affinity In": ({}, {"disk": "ssd"}, AFFINITY({"key": "disk", "operator": "In", "values": ["nvme", "ssd"]}), True),
    "affinity In without the label": ({}, {}, AFFINITY({"key": "disk", "operator": "In", "values": ["ssd"]}), False),
    "affinity NotIn": ({}, {"disk": "ssd"}, AFFINITY({"key": "disk", "operator": "NotIn", "values": ["ssd"]}), False),
    "affinity NotIn without the label": ({}, {}, AFFINITY({"key": "disk", "operator": "NotIn", "values": ["ssd"]}), True),
    "affinity Exists": ({}, {"disk": ""}, AFFINITY({"key": "disk", "operator": "Exists"}), True),
    "affinity DoesNotExist": ({}, {"disk": ""}, AFFINITY({"key": "disk", "operator": "DoesNotExist"}), False),
    "affinity Gt": ({}, {"cores": "10"}, AFFINITY({"key": "cores", "operator": "Gt", "values": ["9"]}), True),
    "affinity Gt is strict": ({}, {"cores": "9"}, AFFINITY({"key": "cores", "operator": "Gt", "values": ["9"]}), False),
    "affinity Gt on a word": ({}, {"cores": "many"}, AFFINITY({"key": "cores", "operator": "Gt", "values": ["9"]}), False),
    "affinity Lt": ({}, {"cores": "8"}, AFFINITY({"key": "cores", "operator": "Lt", "values": ["9"]}), True),
    "one of two affinity terms is enough": (
        {}, {"disk": "ssd"}, AFFINITY({"key": "cores", "operator": "Exists"}, {"key": "disk", "operator": "Exists"}), True),
    "an affinity to the node by name": ({}, {}, {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]}}}}, True),
}


@cases(HOSTS)
class Eligibility(CliTest):
    def check(self, node_spec, labels, spec, eligible):
        gangs = self.plan(*queues(), node("n1", labels=labels, **node_spec), job("a", 1, topology=WHOLE, pod=spec))
        self.assertEqual(gangs["a"]["state"] == "Placed", eligible, gangs["a"].get("message"))


class HostState(CliTest):
    def state(self, *objects):
        return self.plan(*queues(), *objects, job("a", 8, topology=WHOLE))["a"]["state"]

    def test_a_host_that_is_not_ready_takes_nothing(self):
        for status in ("False", "Unknown"):
            bad = node("n1")
            bad["status"]["conditions"] = [{"type": "Ready", "status": status}]
            self.assertEqual(self.state(bad), "Waiting")

    def test_a_host_without_a_level_is_outside(self):
        bad = node("n1")
        del bad["metadata"]["labels"][RACK]
        self.assertEqual(self.state(bad), "Waiting")

    def test_a_host_without_the_labels_of_the_flavor_is_outside(self):
        bad = node("n1")
        del bad["metadata"]["labels"]["cloud.provider.com/node-group"]
        self.assertEqual(self.state(bad), "Waiting")

    def test_tolerations_of_the_flavor_count(self):
        spec = {"nodeLabels": {"cloud.provider.com/node-group": "tas"}, "topologyName": "default",
                "tolerations": [{"key": "gpu", "operator": "Exists"}]}
        gangs = self.plan(*queues(flavor=spec), node("n1", taints=[TAINT]), job("a", 8, topology=WHOLE))
        self.assertEqual(gangs["a"]["state"], "Placed")

    def test_pods_that_have_ended_take_nothing(self):
        for phase, state in {"Running": "Waiting", "Pending": "Waiting", "Succeeded": "Placed", "Failed": "Placed"}.items():
            with self.subTest(phase):
                self.assertEqual(self.state(node("n1"), pod("p", "n1", 1, phase)), state)

    def test_pods_of_no_host_take_nothing(self):
        waiting = pod("p", "n1", 4, "Pending")
        del waiting["spec"]["nodeName"]
        self.assertEqual(self.state(node("n1"), waiting), "Placed")

    def test_a_host_holds_no_more_pods_than_it_may(self):
        few = node("n1")
        few["status"]["allocatable"]["pods"] = "9"
        self.assertEqual(self.state(few), "Placed")
        self.assertEqual(self.state(few, pod("p1", "n1", 0)), "Placed")
        self.assertEqual(self.state(few, pod("p1", "n1", 0), pod("p2", "n1", 0)), "Waiting")


def container(cpu, **more):
    return {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}, **more}


# name: pod spec, cpu it takes as kube-scheduler counts
REQUESTS = {
    "containers add up": ({"containers": [container("1"), container("500m")]}, "1500m"),
    "a limit stands in for a request": ({"containers": [{"name": "c", "image": "i", "resources": {"limits": {"cpu": "2"}}}]}, "2"),
    "the largest init container counts": ({"containers": [container("1")], "initContainers": [container("3"), container("2")]}, "3"),
    "a small init container does not": ({"containers": [container("4")], "initContainers": [container("3")]}, "4"),
    "a sidecar runs beside": ({"containers": [container("1")], "initContainers": [container("2", restartPolicy="Always")]}, "3"),
    "an init container runs beside earlier sidecars": (
        {"containers": [container("1")], "initContainers": [container("2", restartPolicy="Always"), container("5")]}, "7"),
    "an init container before the sidecar runs alone": (
        {"containers": [container("1")], "initContainers": [container("5"), container("2", restartPolicy="Always")]}, "5"),
    "overhead is added": ({"containers": [container("1")], "overhead": {"cpu": "250m"}}, "1250m"),
    "pod-level requests replace the sum": ({"containers": [container("1")], "resources": {"requests": {"cpu": "6"}}}, "6"),
}


@cases(REQUESTS)
class PodRequests(CliTest):
    """On a host of exactly that much cpu the pod fits; on one of a thousandth less it does not."""

    def check(self, spec, cpu):
        objects = queues()
        objects[2]["spec"]["resourceGroups"][0] = {"coveredResources": ["cpu"], "flavors": [
            {"name": "tas", "resources": [{"name": "cpu", "nominalQuota": "1000"}]}]}
        a_job = job("a", 1, topology=WHOLE, pod=spec)
        milli = int(cpu[:-1]) if cpu.endswith("m") else int(cpu) * 1000
        for room, state in ((milli, "Placed"), (milli - 1, "Waiting")):
            with self.subTest(cpu=f"{room}m"):
                self.plan(*objects, node("n1", cpu=f"{room}m"), a_job, expect={"a": state})

    def test_running_pods_are_counted_alike(self):
        for name, (spec, cpu) in REQUESTS.items():
            with self.subTest(name):
                running = pod("p", "n1", 0)
                running["spec"] = {"nodeName": "n1", **spec}
                objects = [*queues(), node("n1", cpu="10"), running]
                objects[2]["spec"]["resourceGroups"][0] = {"coveredResources": ["cpu"], "flavors": [
                    {"name": "tas", "resources": [{"name": "cpu", "nominalQuota": "1000"}]}]}
                left = 10000 - (int(cpu[:-1]) if cpu.endswith("m") else int(cpu) * 1000)
                self.plan(*objects, job("a", 1, 0, cpu=f"{left}m", topology=WHOLE), expect={"a": "Placed"})
                self.plan(*objects, job("a", 1, 0, cpu=f"{left + 1}m", topology=WHOLE), expect={"a": "Waiting"})


def layers(*pairs):
    return {KUEUE + "podset-slice-required-topology-constraints":
            "[" + ", ".join(f'{{"topology": "{level}", "size": {size}}}' for level, size in pairs) + "]"}


SLICE = KUEUE + "podset-slice-required-topology"
SLICE_SIZE = KUEUE + "podset-slice-size"

# name: pod-template annotations of a Job of 8
REQUESTS_REJECTED = {
    "an unknown required level": {KUEUE + "podset-required-topology": "no.such/level"},
    "an unknown preferred level": {KUEUE + "podset-preferred-topology": "no.such/level"},
    "a misspelt annotation": {KUEUE + "podset-require-topology": RACK},
    "an empty level": {KUEUE + "podset-required-topology": ""},
    "an unconstrained request that is no bool": {KUEUE + "podset-unconstrained-topology": "maybe"},
    "required and unconstrained at once": {KUEUE + "podset-required-topology": RACK, KUEUE + "podset-unconstrained-topology": "true"},
    "an unknown slice level": {SLICE: "no.such/level", SLICE_SIZE: "4"},
    "a slice size of zero": {SLICE: RACK, SLICE_SIZE: "0"},
    "a negative slice size": {SLICE: RACK, SLICE_SIZE: "-4"},
    "a slice size in words": {SLICE: RACK, SLICE_SIZE: "four"},
    "a slice size beyond all bounds": {SLICE: RACK, SLICE_SIZE: "99999999999999999999"},
    "a slice size without a level": {SLICE_SIZE: "4"},
    "layers and a slice at once": {SLICE: RACK, SLICE_SIZE: "4", **layers((RACK, 4))},
    "layers that are no JSON": {KUEUE + "podset-slice-required-topology-constraints": "[{"},
    "layers that are no list": {KUEUE + "podset-slice-required-topology-constraints": "{}"},
    "layers that are empty": {KUEUE + "podset-slice-required-topology-constraints": "[]"},
    "layers of numbers": {KUEUE + "podset-slice-required-topology-constraints": "[1, 2]"},
    "layers from fine to coarse": layers((HOST, 4), (RACK, 2)),
    "layers that do not divide": layers((RACK, 4), (HOST, 3)),
    "layers of an unknown level": layers((BLOCK, 4), ("no.such/level", 2)),
    "a layer without a size": {KUEUE + "podset-slice-required-topology-constraints": f'[{{"topology": "{RACK}"}}]'},
    "a slice level above the required one": {KUEUE + "podset-required-topology": RACK, SLICE: BLOCK, SLICE_SIZE: "4"},
}


@cases(REQUESTS_REJECTED)
class Rejected(CliTest):
    """An invalid request rejects that gang alone."""

    def check(self, annotations):
        bad = job("bad", 8)
        bad["spec"]["template"]["metadata"]["annotations"] = annotations
        gangs = self.plan(*queues(), node("n1", gpus=16), bad, job("good", 8), expect={"bad": "Rejected", "good": "Placed"})
        self.assertEqual(gangs["bad"]["reason"], "InvalidRequest")
        self.assertNotIn("\n", gangs["bad"]["message"])
        self.assertGreater(len(gangs["bad"]["message"]), 10)


class RejectedForItsQueue(CliTest):
    def test_a_job_of_a_queue_that_is_not_there_does_not_start(self):
        gangs = self.plan(*queues(), node("n1"), job("bad", 1, queue="nowhere"), job("good", 1))
        self.assertNotEqual(gangs["bad"]["state"], "Placed")
        self.assertIn("nowhere", gangs["bad"]["message"])
        self.assertEqual(gangs["good"]["state"], "Placed")

    def test_a_topology_request_on_a_flavor_without_topology_does_not_start(self):
        objects = queues(flavor={"nodeLabels": {"cloud.provider.com/node-group": "tas"}})
        gangs = self.plan(*objects, node("n1"), job("bad", 1, topology={"required": RACK}))
        self.assertNotEqual(gangs["bad"]["state"], "Placed")


class Spread(CliTest):
    def test_a_jobset_of_many_pod_sets_is_one_gang(self):
        part = lambda name: {"name": name, "replicas": 1, "template": {"spec": {
            "parallelism": 2, "completions": 2, "template": {"spec": pod_spec(1)}}}}
        a_set = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
                 "metadata": {"name": "j", "namespace": "default", "labels": {KUEUE + "queue-name": "queue"}},
                 "spec": {"replicatedJobs": [part(f"p{i}") for i in range(10)]}}
        gangs = self.plan(*queues(), node("n1", gpus=20), a_set, expect={"j": "Placed"})
        self.assertEqual([pod_set["count"] for pod_set in gangs["j"]["podSets"]], [2] * 10)


if __name__ == "__main__":
    unittest.main()
