"""`gantree install`, `uninstall` and `doctor` on a cluster, and the webhook as the API server calls it."""
import json
import subprocess

import pytest
from kubernetes.client import ApiException

from harness.gantree import binary
from harness.objects import BLOCK, GANG, RACK, pod_group, rack_labels
from harness.webhooks import API, NAME as WEBHOOK, Webhooks


@pytest.fixture
def run(cluster):
    """Runs a command of Gantree on the cluster, as its administrator."""
    def run(command, *arguments):
        return subprocess.run([binary(), command, "--kubeconfig", cluster.kubeconfig, *map(str, arguments)],
                              capture_output=True, text=True, timeout=60)
    return run


@pytest.fixture
def doctor(run):
    """(exit code, {check: [(health, message)]})"""
    def doctor(*arguments):
        done = run("doctor", "-o", "json", *arguments)
        assert done.stdout, done.stderr
        findings = {}
        for finding in json.loads(done.stdout)["findings"]:
            findings.setdefault(finding["check"], []).append((finding["health"], finding["message"]))
        return done.returncode, findings
    return doctor


def test_install_and_uninstall(cluster, installed, namespace, run):
    first = run("install", "--namespace", namespace)
    assert first.returncode == 0, first.stderr
    assert cluster.get("apps/v1", "Deployment", "gantree", namespace)["spec"]["replicas"] == 2
    again = run("install", "--namespace", namespace, "--replicas", "1", "--image", "registry.example.com/gantree:1")
    assert again.returncode == 0, again.stderr
    deployment = cluster.get("apps/v1", "Deployment", "gantree", namespace)
    assert deployment["spec"]["replicas"] == 1
    assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == "registry.example.com/gantree:1"
    gone = run("uninstall", "--namespace", namespace)
    assert gone.returncode == 0, gone.stderr
    assert cluster.get("apps/v1", "Deployment", "gantree", namespace) is None
    assert cluster.get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "podgroups.scheduling.sigs.k8s.io")
    # The roles of the whole cluster were those of every test.
    assert run("install", "--namespace", installed[0]).returncode == 0
    for kind, name in (("Deployment", "gantree"), ("Service", "gantree-metrics"), ("Service", WEBHOOK), ("Secret", WEBHOOK),
                       ("PodDisruptionBudget", "gantree"), ("ValidatingWebhookConfiguration", WEBHOOK),
                       ("MutatingWebhookConfiguration", WEBHOOK)):
        cluster.kubectl("delete", kind, name, "-n", installed[0])


def test_the_doctor_finds_what_is_wrong(cluster, topology, doctor):
    cluster.make_nodes(3, labels=rack_labels(1))
    cluster.make_nodes(1, prefix="lost", labels={BLOCK: "block-0"})
    cluster.make_nodes(1, prefix="outside", labels={RACK: "rack-0"})
    cluster.kubectl("cordon", "node-1")
    code, findings = doctor()
    assert code == 1
    assert [health for health, _ in findings["connection"]] == ["ok"]
    assert [health for health, _ in findings["permissions"]] == ["ok"], findings["permissions"]
    assert {health for health, _ in findings["definitions"]} == {"ok"}, findings["definitions"]
    assert findings["nodes"] == [("warning", "1 of 5 nodes are cordoned: node-1")]
    assert findings["topology"] == [
        ("warning", f"BlockLayer: 1 of 5 nodes lack label {BLOCK}: outside-0"),
        ("warning", f"RackLayer: 1 of 5 nodes lack label {RACK}: lost-0"),
        ("warning", "1 of 5 nodes are outside the topology: outside-0")]


def test_the_doctor_sees_the_leader_and_the_pods_that_wait(cluster, namespace, topology, replicas, doctor):
    cluster.make_nodes(2, labels=rack_labels(1))
    replicas.start(elect=True)
    cluster.create(pod_group("train", 3), namespace)
    cluster.create({"apiVersion": "v1", "kind": "Pod",
                    "metadata": {"name": "alone", "labels": {"pod-group.scheduling.sigs.k8s.io": "train"}},
                    "spec": {"schedulerName": "gantree", "containers": [{"name": "main", "image": "registry.example/main"}]}}, namespace)
    cluster.wait_for(lambda: "nobody" not in doctor()[1]["pods"][0][1], 20, "the scheduler to look at the pod")
    _, findings = doctor()
    assert findings["lease"][0][0] == "ok", findings["lease"]
    assert findings["pods"][0][0] == "warning"
    assert f"1 pod waits; {namespace}/alone" in findings["pods"][0][1]


def test_the_doctor_tells_a_user_what_they_lack(cluster, installed, run, tmp_path):
    nobody = cluster.kubeconfig_for("nobody")
    done = subprocess.run([binary(), "doctor", "--kubeconfig", nobody], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "this user may not do" in done.stdout
    assert "nodes could not be looked at" in done.stdout


@pytest.fixture
def webhook(cluster, installed, replicas):
    """A replica that serves the webhooks with a certificate of its own making, and the API server told to ask it or refuse."""
    webhooks = Webhooks(cluster, installed[0], failure_policy="Fail")
    webhooks.start = lambda: replicas.start(*webhooks.flags)
    yield webhooks
    webhooks.remove()


def accepted(cluster, manifest, namespace):
    """Whether the API server takes it; None where it could not ask."""
    try:
        cluster.create(manifest, namespace)
        return True
    except ApiException as error:
        if "failed calling webhook" in error.body:
            return None
        return error.body


def test_the_api_server_asks_the_webhook(cluster, namespace, webhook):
    assert accepted(cluster, pod_group("before", 2), namespace) is None
    webhook.start()
    cluster.wait_for(lambda: all(webhook.bundles()), 20, "the authority to be written into the configuration")
    cluster.wait_for(lambda: accepted(cluster, pod_group("good", 2), namespace), 20, "the API server to trust the webhook")
    bad = pod_group("bad", 2)
    bad["metadata"]["annotations"] = {f"{GANG}/mode": "Sometimes"}
    answer = accepted(cluster, bad, namespace)
    assert "must be Strict or NonStrict" in answer, answer
    circle = {"apiVersion": "scheduling.koordinator.sh/v1alpha1", "kind": "ClusterNetworkTopology", "metadata": {"name": "circle"},
              "spec": {"networkTopologySpec": [
                  {"topologyLayer": "A", "parentTopologyLayer": "B", "labelKey": ["a"]},
                  {"topologyLayer": "B", "parentTopologyLayer": "A", "labelKey": ["b"]}]}}
    answer = accepted(cluster, circle, None)
    assert "no root" in answer, answer


def test_a_configuration_that_is_reset_is_corrected(cluster, namespace, webhook):
    webhook.start()
    cluster.wait_for(lambda: all(webhook.bundles()), 20, "the authority to be written into the configuration")
    for kind in ("validating", "mutating"):
        cluster.request("PATCH", f"/apis/{API}/{kind}webhookconfigurations/{WEBHOOK}",
                        body=[{"op": "remove", "path": "/webhooks/0/clientConfig/caBundle"}], content_type="application/json-patch+json")
    cluster.wait_for(lambda: all(webhook.bundles()), 60, "the authority to be written again")
