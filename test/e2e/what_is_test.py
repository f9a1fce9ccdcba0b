"""`gantree get gangs`, `top` and `explain` tell what the objects of the cluster say, and `gantree plan` what would happen."""
import json
import subprocess

import pytest

from harness import operators
from harness.gantree import binary
from harness.objects import gang, job, requests, template
from harness.queues import RACK, REQUIRED, assigned, condition

PYTORCH = "kubeflow.org/v1"


@pytest.fixture(scope="module")
def kinds(whole_cluster, shared_gantree):
    """Jobs that nobody makes pods for."""
    definitions = operators.Definitions(whole_cluster, [(PYTORCH, "PyTorchJob"), ("trainer.kubeflow.org/v1alpha1", "TrainJob")])
    yield
    definitions.remove()


@pytest.fixture
def place(pool, kinds):
    pool.make_nodes(2, racks=2)
    pool.make_queue()
    return pool


def run(place, *words, code=None):
    ran = subprocess.run([binary(), *words, "--kubeconfig", place.cluster.kubeconfig], capture_output=True, text=True, timeout=60)
    assert code is None or ran.returncode == code, ran
    return ran.stdout


def gangs(place):
    shown = json.loads(run(place, "get", "gangs", "-n", place.namespace, "-o", "json", code=0))
    return {one["name"]: one for one in shown["gangs"]}


def hosts(gang):
    return {domain["values"][-1]: domain["count"] for pods in gang["podSets"] for domain in pods["topologyAssignment"]["domains"]}


def kubectl(place, kind, name):
    return json.loads(place.cluster.kubectl("get", kind, name, "-n", place.namespace, "-o", "json"))


def test_an_admitted_job_is_where_its_workload_says_before_it_has_pods(place):
    place.submit_job("first", 2, {REQUIRED: RACK}, gpu=4)
    place.running("first", 2)
    pods = template(annotations={REQUIRED: RACK}, asks=requests(gpu=8))
    place.submit({"apiVersion": PYTORCH, "kind": "PyTorchJob", "metadata": {"name": "given"},
                  "spec": {"pytorchReplicaSpecs": {"Worker": {"replicas": 2, "template": pods}}}})
    place.admitted("given")
    given = gangs(place)["given"]
    assert given["state"] == "Admitted" and hosts(given) == {values[-1]: count for values, count in assigned(place.workload("given"))}, given


def test_what_runs_and_what_waits_is_as_kubectl_has_it(place):
    place.submit_job("train", 2, {REQUIRED: RACK}, gpu=2)
    pods = place.running("train", 2)
    place.submit_job("large", 3, {REQUIRED: RACK}, gpu=8)
    told = condition(place.told("large", "QuotaReserved", "False"), "QuotaReserved")["message"]
    place.cluster.create_all(gang("group", 2, asks=requests(gpu=64)), place.namespace)
    def refused():
        status = kubectl(place, "podgroup.scheduling.sigs.k8s.io", "group").get("status", {})
        found = condition({"status": status}, "Scheduled")
        return found if found["status"] == "False" and found["reason"] != "GangIncomplete" else None
    why = place.wait(refused, "the PodGroup to say why it waits")
    shown = gangs(place)
    assert shown["train"]["state"] == "Running"
    on = {}
    for pod in pods:
        on[pod["spec"]["nodeName"]] = on.get(pod["spec"]["nodeName"], 0) + 1
    assert hosts(shown["train"]) == on
    assert (shown["large"]["state"], f"{shown['large']['reason']}: {shown['large']['message']}") == ("Waiting", told)
    assert [shown["group"][key] for key in ("state", "reason", "message")] == ["Waiting", why["reason"], why["message"]]
    explained = json.loads(run(place, "explain", "job/large", "-n", place.namespace, "-o", "json", code=2))
    assert explained["state"] == "Waiting" and f"{explained['reason']}: {explained['message']}" == told
    assert "remedies" in explained and explained["ifDecidedNow"]["state"] == "Waiting"


def test_a_train_job_that_nobody_starts_waits(place):
    place.cluster.create({"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob", "metadata": {"name": "tune"},
                          "spec": {"runtimeRef": {"name": "torch"}, "trainer": {"numNodes": 1}}}, place.namespace)
    tune = gangs(place)["tune"]
    assert (tune["state"], tune["reason"]) == ("Waiting", "UnknownOwner"), tune
    text = run(place, "top", "--once", code=0)
    assert "UnknownOwner" in text and "Placed" not in text


def test_a_plan_on_top_of_the_cluster_says_what_would_happen(place, tmp_path):
    place.submit_job("train", 2, {REQUIRED: RACK}, gpu=8)
    place.running("train", 2)

    def planned(pods):
        manifest = job("wanted", pods, {REQUIRED: RACK}, asks={"cpu": "1", "nvidia.com/gpu": "8"})
        manifest["metadata"] |= {"namespace": place.namespace, "labels": {"kueue.x-k8s.io/queue-name": "main"}}
        path = tmp_path / f"{pods}.json"
        path.write_text(json.dumps(manifest))
        ran = subprocess.run([binary(), "plan", "--kubeconfig", place.cluster.kubeconfig, "-f", path, "-o", "json"],
                             capture_output=True, text=True, timeout=60)
        assert ran.returncode in (0, 2), ran
        return {one["name"]: one for one in json.loads(ran.stdout)["gangs"] if one["namespace"] == place.namespace}

    told = planned(2)
    taken = {pod["spec"]["nodeName"] for pod in place.pods("train")}
    assert told.keys() == {"wanted"} and told["wanted"]["state"] == "Placed" and not taken & hosts(told["wanted"]).keys(), told
    assert planned(3)["wanted"]["reason"] == "TopologyTooLarge"
    assert place.cluster.get("batch/v1", "Job", "wanted", place.namespace) is None, "a plan was carried out"
    train = tmp_path / "train.json"
    train.write_text(json.dumps(job("train", 1) | {"metadata": {"name": "train", "namespace": place.namespace}}))
    ran = subprocess.run([binary(), "plan", "--kubeconfig", place.cluster.kubeconfig, "-f", train], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 1 and "is given twice (first in the cluster)" in ran.stderr, ran
