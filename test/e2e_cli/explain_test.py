"""gantree explain: why a job waits, is rejected, or landed where it did."""
import json
import unittest

from cli import BLOCK, HOST, RACK, CliTest, gantree, job, node, pod, queues

SCREEN = 45


def rack(block, name, hosts, gpus=8, **spec):
    return [node(f"{block}-{name}-n{i}", block, name, gpus=gpus, **spec) for i in range(1, hosts + 1)]


def lws(name, replicas, size, gpus=8, annotations=None):
    template = {"metadata": {}, "spec": {"containers": [
        {"name": "main", "image": "registry.k8s.io/pause:3.10", "resources": {"requests": {"nvidia.com/gpu": str(gpus)}}}]}}
    return {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet",
            "metadata": {"name": name, "namespace": "default", "annotations": annotations or {}},
            "spec": {"replicas": replicas, "leaderWorkerTemplate": {"size": size, "workerTemplate": template}}}


class ExplainTest(CliTest):
    def explain(self, name, *objects, code, options=()):
        """The answer as text and as JSON; both have the exit code."""
        path = self.write("cluster.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
        text = gantree("explain", "-f", path, name, *options)
        self.assertEqual(text.returncode, code, text.stdout + text.stderr)
        answer = gantree("explain", "-f", path, name, "-o", "json", *options)
        self.assertEqual(answer.returncode, code)
        self.assertNotIn("\x1b", text.stdout, "no colours in a pipe")
        self.assertLessEqual(len(text.stdout.splitlines()), SCREEN, text.stdout)
        self.assertLessEqual(max(map(len, text.stdout.splitlines())), 100, text.stdout)
        return text.stdout, json.loads(answer.stdout)

    def refuse(self, name, *objects):
        path = self.write("cluster.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
        done = gantree("explain", "-f", path, name)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(len(done.stderr.splitlines()), 1)
        return done.stderr

    def starts(self, *objects):
        """Whether `plan` places everything."""
        path = self.write("changed.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
        return gantree("plan", "-f", path, "-o", "json").returncode == 0


def by_kind(answer):
    return {remedy["kind"]: remedy for remedy in answer["remedies"]}


class PlacedTest(ExplainTest):
    def test_the_tightest_rack_is_named_with_the_number_of_others(self):
        hosts = rack("b1", "r1", 4) + rack("b1", "r2", 3) + rack("b1", "r3", 1)
        text, answer = self.explain("train", *queues(), *hosts, job("train", 3, 8, topology={"required": RACK}), code=0)
        self.assertEqual(answer["state"], "Placed")
        self.assertEqual(answer["landing"]["values"], ["b1", "r2"])
        self.assertEqual(answer["landing"]["couldHold"], 2)
        self.assertIn("2 racks could hold it", text)
        self.assertIn("all in one rack", text)

    def test_the_only_rack_is_called_so(self):
        hosts = rack("b1", "r1", 4) + rack("b1", "r2", 3)
        text, _ = self.explain("train", *queues(), *hosts, job("train", 4, 8, topology={"required": RACK}), code=0)
        self.assertIn("No other rack could hold it", text)

    def test_a_job_that_runs_says_where(self):
        running = job("train", 1, 8, topology={"required": RACK})
        running["metadata"]["uid"] = "u1"
        running["spec"]["suspend"] = False
        bound = pod("train-0", "b1-r1-n1", 8)
        bound["metadata"]["ownerReferences"] = [
            {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "u1", "controller": True}]
        text, answer = self.explain("train", *queues(), *rack("b1", "r1", 2), running, bound, code=0)
        self.assertEqual(answer["state"], "Running")
        self.assertIn("b1/r1/b1-r1-n1", text)
        self.assertIn("\n  on b1-r1-n1\n", text)
        self.assertEqual(answer["hosts"], [{"node": "b1-r1-n1", "count": 1, "podSet": "main", "requests": answer["hosts"][0]["requests"]}])


class FlavorTest(ExplainTest):
    """Hosts that are not those of the flavor."""

    def others(self, **labels):
        return [node(f"n{i}", labels={"cloud.provider.com/node-group": "other", **labels}) for i in (1, 2)]

    def test_the_flavor_is_blamed_and_no_selector_that_the_job_does_not_have(self):
        text, answer = self.explain("train", *queues(), *self.others(), job("train", 2, 8, topology={"required": RACK}), code=2)
        self.assertIn("2 hosts without the flavor's node labels", answer["message"])
        self.assertNotIn("selector", text)
        self.assertNotIn("NoNodeSelector", by_kind(answer))

    def test_a_selector_of_the_job_is_blamed_for_what_it_keeps_out(self):
        picky = job("train", 2, 8, topology={"required": RACK}, pod={"nodeSelector": {"disk": "ssd"}})
        text, answer = self.explain("train", *queues(), *rack("b1", "r1", 2), picky, code=2)
        self.assertIn("2 hosts not matching the node selector", answer["message"])
        self.assertIn("NoNodeSelector", by_kind(answer))


class BusyTest(ExplainTest):
    def busy(self):
        """Two racks of four hosts, two of them in use in the one and three in the other."""
        hosts = rack("b1", "r1", 4) + rack("b1", "r2", 4)
        used = [pod(f"old-{i}", name, 8)
                for i, name in enumerate(["b1-r1-n1", "b1-r1-n2", "b1-r2-n1", "b1-r2-n2", "b1-r2-n3"])]
        return [*queues(), *hosts, *used]

    def test_remedies_are_the_smallest_that_work(self):
        world = self.busy()
        wanted = lambda count, level=RACK: job("train", count, 8, topology={"required": level})
        text, answer = self.explain("train", *world, wanted(3), code=2)
        self.assertEqual(answer["reason"], "TopologyBusy")
        remedies = by_kind(answer)
        self.assertEqual(remedies["FewerPods"]["count"], 2)
        self.assertTrue(self.starts(*world, wanted(2)))
        self.assertFalse(self.starts(*world, wanted(3)))
        self.assertEqual(remedies["CoarserLevel"]["to"], BLOCK)
        self.assertTrue(self.starts(*world, wanted(3, BLOCK)))
        self.assertEqual((remedies["MoreHosts"]["count"], remedies["MoreHosts"]["values"]), (1, ["b1", "r1"]))
        self.assertTrue(self.starts(*world, wanted(3), node("another", "b1", "r1")))
        self.assertIn("2 pods instead of 3", text)
        self.assertIn("one block instead of one rack", text)

    def test_levels_are_counted(self):
        _, answer = self.explain("train", *self.busy(), job("train", 3, 8, topology={"required": RACK}), code=2)
        rows = {row["level"]: row for row in answer["levels"]}
        self.assertEqual((rows[RACK]["domains"], rows[RACK]["holdWhenEmpty"], rows[RACK]["holdNow"]), (2, 2, 0))
        self.assertEqual((rows[RACK]["offers"], rows[RACK]["values"]), (2, ["b1", "r1"]))
        self.assertEqual((rows[BLOCK]["domains"], rows[BLOCK]["holdNow"]), (1, 1))
        self.assertEqual((rows[HOST]["domains"], rows[HOST]["holdNow"]), (8, 0))

    def test_cordoned_hosts_are_a_remedy(self):
        hosts = rack("b1", "r1", 2) + [node("off", "b1", "r1", unschedulable=True)]
        text, answer = self.explain("train", *queues(), *hosts, job("train", 3, 8, topology={"required": RACK}), code=2)
        self.assertEqual(by_kind(answer)["MendHosts"]["nodes"], ["off"])
        self.assertIn("1 host cordoned", text)

    def test_who_went_before_is_named(self):
        world = [*queues(), *rack("b1", "r1", 2), job("first", 2, 8, topology={"required": RACK}, created="2026-01-01T00:00:00Z")]
        text, answer = self.explain("second", *world, job("second", 2, 8, topology={"required": RACK},
                                                          created="2026-01-02T00:00:00Z"), code=2)
        self.assertEqual([gang["name"] for gang in by_kind(answer)["GoFirst"]["gangs"]], ["first"])
        self.assertIn("2nd of 2 in the order", text)
        self.assertTrue(answer["nearest"][0]["holders"][0]["wentBefore"])


class TooLargeTest(ExplainTest):
    def test_what_would_help_is_told(self):
        world = [*queues(), *rack("b1", "r1", 4), *rack("b1", "r2", 4)]
        text, answer = self.explain("train", *world, job("train", 6, 8, topology={"required": RACK}), code=2)
        self.assertEqual(answer["reason"], "TopologyTooLarge")
        remedies = by_kind(answer)
        self.assertEqual(remedies["FewerPods"]["count"], 4)
        self.assertEqual(remedies["MoreHosts"]["count"], 2)
        self.assertEqual(remedies["CoarserLevel"]["to"], BLOCK)
        self.assertNotIn("Evict", remedies)

    def test_pods_that_no_host_can_hold_are_told_how_small_they_must_be(self):
        text, answer = self.explain("train", *queues(), *rack("b1", "r1", 2), job("train", 1, 9), code=2)
        remedy = by_kind(answer)["SmallerPods"]
        self.assertEqual((remedy["resource"], remedy["amount"]), ("nvidia.com/gpu", "8"))
        self.assertEqual(list(by_kind(answer)), ["SmallerPods"])
        self.assertIn("2 hosts too small in nvidia.com/gpu", text)

    def test_selectors_and_taints_that_keep_hosts_out_are_named(self):
        taint = {"key": "dedicated", "value": "x", "effect": "NoSchedule"}
        _, answer = self.explain("train", *queues(), *rack("b1", "r1", 2, taints=[taint]), job("train", 2, 8), code=2)
        self.assertEqual(by_kind(answer)["Tolerate"]["taint"], "dedicated")
        _, answer = self.explain("train", *queues(), *rack("b1", "r1", 2),
                                 job("train", 2, 8, pod={"nodeSelector": {"disk": "ssd"}}), code=2)
        self.assertIn("NoNodeSelector", by_kind(answer))

    def test_where_one_change_is_not_enough_two_are_tried(self):
        used = [pod(f"old-{i}", f"b1-r1-n{i}", 8) for i in (1, 2)]
        _, answer = self.explain("train", *queues(), *rack("b1", "r1", 2), *used,
                                 job("train", 2, 8, topology={"required": HOST}), code=2)
        self.assertEqual([remedy["kind"] for remedy in answer["remedies"]], ["Evict"])
        self.assertTrue(answer["remedies"][0]["requiringNoLevel"])
        self.assertEqual(len(answer["remedies"][0]["gangs"]), 2)

    def test_where_nothing_helps_it_says_so(self):
        text, answer = self.explain("train", *queues(), *rack("b1", "r1", 2),
                                    job("train", 1, 9, pod={"nodeSelector": {"disk": "ssd"}}), code=2)
        self.assertEqual(answer["remedies"], [])
        self.assertIn("Nothing that was tried", text)


class QuotaTest(ExplainTest):
    def test_the_missing_amount_is_enough_and_no_less(self):
        hosts = rack("b1", "r1", 4)
        wanted = job("train", 3, 8, topology={"required": RACK})
        text, answer = self.explain("train", *queues(quota=20), *hosts, wanted, code=2)
        self.assertEqual(answer["reason"], "QuotaExceeded")
        self.assertEqual(answer["quota"][0]["missing"], "4")
        self.assertEqual(by_kind(answer)["MoreQuota"]["quota"][0]["missing"], "4")
        self.assertEqual(by_kind(answer)["FewerPods"]["count"], 2)
        self.assertIn("4 nvidia.com/gpu more in ClusterQueue", text)
        self.assertTrue(self.starts(*queues(quota=24), *hosts, wanted))
        self.assertFalse(self.starts(*queues(quota=23), *hosts, wanted))

    def test_quota_and_room_missing_together_are_told_together(self):
        _, answer = self.explain("train", *queues(quota=20), *rack("b1", "r1", 2), *rack("b1", "r2", 2),
                                 job("train", 3, 8, topology={"required": RACK}), code=2)
        remedies = by_kind(answer)
        self.assertNotIn("MoreQuota", remedies)
        self.assertTrue(remedies["CoarserLevel"]["needsQuotaToo"])
        self.assertFalse(remedies["FewerPods"]["needsQuotaToo"])


class RejectedTest(ExplainTest):
    def test_the_reason_is_all_there_is_to_say(self):
        text, answer = self.explain("train", *queues(), *rack("b1", "r1", 1),
                                    job("train", 1, topology={"required": "no-such-level"}), code=2)
        self.assertEqual((answer["state"], answer["reason"]), ("Rejected", "InvalidRequest"))
        self.assertIn("no-such-level", text)
        self.assertLess(len(text.splitlines()), 8)


def workload(name, active=True, admitted=0, **condition):
    """The Workload of a Job; condition: type, reason, message of one that holds."""
    status = {"conditions": [{"status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z", **condition}] if condition else []}
    if admitted:
        status["admission"] = {"clusterQueue": "cq", "podSetAssignments": [{"name": "main", "count": admitted, "flavors": {"nvidia.com/gpu": "tas"}}]}
        status["conditions"].append({"type": "Admitted", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"})
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
            "metadata": {"name": f"job-{name}-1a2b3", "namespace": "default",
                         "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": "1", "controller": True}]},
            "spec": {"active": active, "queueName": "queue", "podSets": [{"name": "main", "count": 4}]}, "status": status}


class StandingTest(ExplainTest):
    """What a Workload says of a job counts before what could be done for it."""

    def world(self, *more):
        return [*queues(), *rack("b1", "r1", 4), job("train", 2, 8), *more]

    def test_a_deactivated_job_is_said_to_be_that(self):
        text, answer = self.explain("train", *self.world(workload("train", active=False, type="Evicted", reason="Deactivated",
                                                                  message="somebody did it")), code=2)
        self.assertEqual((answer["state"], answer["reason"]), ("Deactivated", "Deactivated"))
        self.assertIn("Deactivated", text.splitlines()[0])
        self.assertIn("somebody did it", text)
        self.assertNotIn("What would let it start", text)
        self.assertEqual(answer["workload"], "job-train-1a2b3")

    def test_a_job_that_its_user_suspended_is_said_to_be_that(self):
        _, answer = self.explain("train", *self.world(workload("train", type="Evicted", reason="Suspended",
                                                               message="The job was suspended by its user")), code=2)
        self.assertEqual(answer["state"], "Suspended")

    def test_it_is_not_counted_in_the_order_of_others(self):
        text, answer = self.explain("other", *self.world(workload("train", active=False), job("other", 1), job("third", 1)), code=0)
        self.assertEqual(answer["turns"], 2)
        self.assertIn("of 2 in the order", text)

    def test_a_finished_job_is_known(self):
        over = [*queues(), *rack("b1", "r1", 1)]
        text, answer = self.explain("job/fin", *over, workload("fin", type="Finished", reason="Succeeded", message="done"), code=0)
        self.assertEqual((answer["state"], answer["reason"]), ("Finished", "Succeeded"))
        self.assertIn("Finished: Succeeded", text)
        self.explain("job/fin", *over, workload("fin", type="Finished", reason="Failed", message="no"), code=2)

    def test_a_workload_leads_to_its_job(self):
        for name in ("workload/job-train-1a2b3", "wl/job-train-1a2b3", "job-train-1a2b3", "default/workload/job-train-1a2b3"):
            _, answer = self.explain(name, *self.world(workload("train")), code=0)
            self.assertEqual(answer["name"], "train")


class NamesTest(ExplainTest):
    def test_unknown_names_get_suggestions(self):
        told = self.refuse("trian", *queues(), *rack("b1", "r1", 1), job("train", 1))
        self.assertIn("did you mean default/train?", told)

    def test_ambiguous_names_are_listed(self):
        other = job("train", 1)
        other["metadata"]["namespace"] = "other"
        world = [*queues(), *rack("b1", "r1", 1), job("train", 1), other]
        told = self.refuse("train", *world)
        self.assertIn("default/Job/train", told)
        self.assertIn("other/Job/train", told)
        self.explain("default/train", *world, code=0)
        self.explain("default/job/train", *world, code=0)

    def test_a_pod_leads_to_its_gang_and_a_deployment_to_its_pods(self):
        made_by = [{"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "1", "controller": True}]
        runs = pod("train-0", "b1-r1-n1", 8)
        runs["metadata"]["ownerReferences"] = made_by
        world = [*queues(), *rack("b1", "r1", 2), job("train", 1), runs]
        for name in ("pod/train-0", "po/train-0", "train-0", "default/pod/train-0"):
            _, answer = self.explain(name, *world, code=0)
            self.assertEqual((answer["kind"], answer["name"]), ("Job", "train"))
        served = pod("web-1-x", "b1-r1-n2", 8)
        served["metadata"]["ownerReferences"] = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "uid": "2", "controller": True}]
        replica_set = {"apiVersion": "apps/v1", "kind": "ReplicaSet",
                       "metadata": {"name": "web-1", "namespace": "default",
                                    "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "3", "controller": True}]},
                       "spec": {"replicas": 1, "template": {"spec": served["spec"]}}}
        for name in ("deployment/web", "deploy/web", "rs/web-1"):
            _, answer = self.explain(name, *world, served, replica_set, code=0)
            self.assertEqual(answer["name"], "web-1-x")

    def test_kinds_are_read_in_any_case(self):
        self.explain("JOB/train", *queues(), *rack("b1", "r1", 1), job("train", 1), code=0)

    def test_a_set_stands_for_its_replicas_and_the_first_that_waits_is_explained(self):
        web = lws("web", 3, 2, annotations={"leaderworkerset.sigs.k8s.io/exclusive-topology": RACK})
        world = [*queues(), *rack("b1", "r1", 2), *rack("b1", "r2", 2), web]
        text, answer = self.explain("web", *world, code=2)
        self.assertEqual(answer["state"], "Waiting")
        states = sorted(replica["state"] for replica in answer["replicas"])
        self.assertEqual(states, ["Placed", "Placed"])
        self.assertIn("a rack to itself", text)
        _, first = self.explain("web-0", *world, code=0)
        self.assertNotIn("replicas", first)


class OutputTest(ExplainTest):
    def test_yaml_and_colours_on_demand(self):
        path = self.write("cluster.json", json.dumps(
            {"apiVersion": "v1", "kind": "List", "items": [*queues(), *rack("b1", "r1", 1), job("train", 1)]}))
        self.assertIn("state: Placed", gantree("explain", "-f", path, "train", "-o", "yaml").stdout)
        self.assertIn("\x1b[", gantree("explain", "-f", path, "train", "--color", "always").stdout)

    def test_the_job_has_to_be_named(self):
        path = self.write("cluster.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": queues()}))
        done = gantree("explain", "-f", path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("JOB", done.stderr)


if __name__ == "__main__":
    unittest.main()
