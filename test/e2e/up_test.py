"""`gantree up`: the embedded cluster as kubectl and the official Python client see it."""
import json
import os
import pathlib
import signal
import subprocess

import kubernetes
import pytest
import yaml

from harness.gantree import binary
from harness.processes import Process, wait_until

HERE = pathlib.Path(__file__).parent
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "labels": {"x": "1"}}, "data": {"k": "v"}}
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "things.example.com"},
    "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
             "versions": [{"name": "v1", "served": True, "storage": True, "subresources": {"status": {}},
                           "additionalPrinterColumns": [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}],
                           "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {
                               "type": "object", "properties": {"size": {"type": "integer", "description": "How large"}}}}}}}]}}


@pytest.fixture(scope="session")
def kubectl_binary():
    built = subprocess.run([HERE / "control_plane" / "build"], stdout=subprocess.PIPE, text=True, check=True)
    return pathlib.Path(built.stdout.strip().splitlines()[-1]) / "bin" / "kubectl"


class Up:
    """A process of `gantree up`. Ready once constructed."""

    def __init__(self, kubectl, folder, log, flags):
        self._kubectl = kubectl
        self._folder = folder
        self.process = Process("up", [binary(), "up", "--listen", "127.0.0.1:0", "--data", folder / "data", *flags], log)
        self.kubeconfig = folder / "data" / "kubeconfig"
        wait_until(lambda: "Ctrl-C" in self.process.tail() or not self.process.running, 60, lambda: f"up to be up:\n{self.process.tail()}")
        assert self.process.running, self.process.tail()
        config = yaml.safe_load(self.kubeconfig.read_text())
        self.server = config["clusters"][0]["cluster"]["server"]

    def kubectl(self, *arguments, stdin=None, check=True):
        done = subprocess.run([self._kubectl, *arguments], input=stdin, capture_output=True, text=True, timeout=60,
                              env={"KUBECONFIG": str(self.kubeconfig), "HOME": str(self._folder), "PATH": os.environ["PATH"]})
        assert done.returncode == 0 or not check, f"kubectl {arguments}: {done.stderr}"
        return done

    def apply(self, *objects):
        return self.kubectl("apply", "-f", "-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))


@pytest.fixture
def start(kubectl_binary, tmp_path):
    started = []

    def make(*flags):
        started.append(Up(kubectl_binary, tmp_path, tmp_path / f"up-{len(started)}.log", flags))
        return started[-1]

    yield make
    for up in started:
        up.process.stop()


@pytest.fixture
def up(start):
    return start("--in-memory", "--no-scheduler")


def test_kubectl_creates_changes_and_deletes(up):
    assert "created" in up.apply(CONFIG_MAP).stdout
    assert "unchanged" in up.apply(CONFIG_MAP).stdout
    up.kubectl("patch", "configmap", "a", "-p", '{"data":{"k":"w"}}')
    up.kubectl("label", "configmap", "a", "y=2")
    up.kubectl("annotate", "configmap", "a", "z=3")
    read = json.loads(up.kubectl("get", "configmap", "a", "-o", "json").stdout)
    assert read["data"] == {"k": "w"}
    assert read["metadata"]["labels"] == {"x": "1", "y": "2"}
    assert "DATA" in up.kubectl("get", "configmaps").stdout
    assert up.kubectl("get", "configmaps", "-l", "x=1", "-o", "name").stdout.split() == ["configmap/a"]
    up.kubectl("delete", "configmap", "a")
    missing = up.kubectl("get", "configmap", "a", check=False)
    assert missing.stderr.strip() == 'Error from server (NotFound): configmaps "a" not found'


def test_server_side_apply_names_the_other_owner(up):
    up.kubectl("apply", "--server-side", "--field-manager=one", "-f", "-", stdin=json.dumps(CONFIG_MAP))
    other = {**CONFIG_MAP, "data": {"k": "other"}}
    refused = up.kubectl("apply", "--server-side", "--field-manager=two", "-f", "-", stdin=json.dumps(other), check=False)
    assert refused.returncode != 0 and 'conflict with "one"' in refused.stderr
    up.kubectl("apply", "--server-side", "--force-conflicts", "--field-manager=two", "-f", "-", stdin=json.dumps(other))


def test_definitions_are_served_explained_and_printed(up):
    up.apply(DEFINITION)
    up.kubectl("wait", "--for=condition=Established", "crd/things.example.com", "--timeout=20s")
    up.kubectl("create", "-f", "-", stdin=json.dumps({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": {"size": 3}}))
    assert up.kubectl("get", "things").stdout.splitlines()[0].split() == ["NAME", "SIZE"]
    assert "How large" in up.kubectl("explain", "thing.spec.size").stdout
    assert "things" in up.kubectl("api-resources", "--api-group=example.com").stdout
    refused = up.kubectl("patch", "thing", "t", "--type=merge", "-p", '{"spec":{"size":"x"}}', check=False)
    assert "spec.size" in refused.stderr


def test_the_python_client_lists_and_watches(up):
    client = kubernetes.config.new_client_from_config(str(up.kubeconfig))
    core = kubernetes.client.CoreV1Api(client)
    core.create_namespaced_config_map("default", CONFIG_MAP)
    listed = core.list_namespaced_config_map("default", label_selector="x=1")
    assert [o.metadata.name for o in listed.items] == ["a"]
    core.patch_namespaced_config_map("a", "default", {"data": {"k": "w"}})
    core.delete_namespaced_config_map("a", "default")
    seen = [(e["type"], e["object"].metadata.name) for e in kubernetes.watch.Watch().stream(
        core.list_namespaced_config_map, "default", resource_version=listed.metadata.resource_version, timeout_seconds=2)]
    assert seen == [("MODIFIED", "a"), ("DELETED", "a")]


def test_workloads_adopt_what_was_left_behind_and_obey_their_own_rules(start):
    up = start("--in-memory", "--no-scheduler", "--generate", "small", "--speed", "60x")
    up.kubectl("create", "deployment", "web", "--image=a", "--replicas=2")
    up.kubectl("rollout", "status", "deployment/web", "--timeout=20s")
    sets = up.kubectl("get", "replicasets", "-o", "name").stdout
    up.kubectl("delete", "deployment", "web", "--cascade=orphan")
    up.kubectl("create", "deployment", "web", "--image=a", "--replicas=2")
    up.kubectl("rollout", "status", "deployment/web", "--timeout=20s")
    assert up.kubectl("get", "replicasets", "-o", "name").stdout == sets
    pod = up.kubectl("get", "pods", "-o", "name").stdout.split()[0].removeprefix("pod/")
    assert f"Created pod: {pod}" in up.kubectl("get", "events").stdout
    up.apply({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"}, "spec": {
        "selector": {"matchLabels": {"app": "db"}}, "serviceName": "db",
        "template": {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [
            {"name": "c", "image": "i", "volumeMounts": [{"name": "data", "mountPath": "/data"}]}]}},
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}]}})
    up.kubectl("rollout", "status", "statefulset/db", "--timeout=20s")
    up.kubectl("wait", "--for=jsonpath={.status.phase}=Bound", "pvc/data-db-0", "--timeout=20s")
    assert up.kubectl("get", "pvc", "data-db-0", "-o", "jsonpath={.spec.storageClassName}").stdout == "standard"
    assert up.kubectl("get", "pv", "-o", "jsonpath={.items[*].status.phase}").stdout == "Bound"
    up.apply({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train"}, "spec": {
        "podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}]},
        "template": {"metadata": {"annotations": {"gantree.dev/fail-after": "1s", "gantree.dev/exit-code": "42"}},
                     "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}})
    up.kubectl("wait", "--for=condition=Failed", "job/train", "--timeout=20s")
    assert up.kubectl("get", "job", "train", "-o", "jsonpath={.status.conditions[-1:].reason}").stdout == "PodFailurePolicy"


def test_what_was_acknowledged_survives_a_kill(start):
    up = start("--no-scheduler")
    up.apply(CONFIG_MAP)
    before = json.loads(up.kubectl("get", "configmap", "a", "-o", "json").stdout)
    up.process.kill()
    again = start("--no-scheduler")
    assert json.loads(again.kubectl("get", "configmap", "a", "-o", "json").stdout) == before


def test_a_folder_in_use_is_refused_in_one_line(up, tmp_path):
    second = subprocess.run([binary(), "up", "--data", tmp_path / "data", "--listen", "127.0.0.1:0"], capture_output=True, text=True, timeout=30)
    assert second.returncode == 1
    assert "is in use by another gantree up" in second.stderr and len(second.stderr.strip().splitlines()) == 1


def test_the_scheduler_inside_installs_itself_and_binds(start):
    up = start("--in-memory")
    up.kubectl("get", "crd", "topologies.kueue.x-k8s.io")
    up.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"},
              "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}, "capacity": {"cpu": "4", "memory": "8Gi", "pods": "10"},
                         "conditions": [{"type": "Ready", "status": "True"}]}})
    up.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
              "spec": {"schedulerName": "gantree", "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}})
    wait_until(lambda: up.kubectl("get", "pod", "p", "-o", "jsonpath={.spec.nodeName}").stdout == "n1", 20, lambda: f"the pod to be bound:\n{up.process.tail()}")
    doctor = subprocess.run([binary(), "doctor", "--kubeconfig", up.kubeconfig], capture_output=True, text=True, timeout=30)
    assert "Gantree runs in its process" in doctor.stdout and "\u2717" not in doctor.stdout, doctor.stdout
    assert doctor.returncode == 2, doctor.stdout  # a cluster without a network is worth a word
    up.process.signal(signal.SIGTERM)
    wait_until(lambda: not up.process.running, 15, lambda: f"up to end:\n{up.process.tail()}")
    assert up.process.exit_status == 0


def test_a_folder_that_had_a_scheduler_takes_jobs_without_it(start):
    up = start()
    assert up.kubectl("get", "validatingwebhookconfigurations,mutatingwebhookconfigurations", "-o", "name").stdout
    up.process.stop()
    again = start("--no-scheduler")
    assert not again.kubectl("get", "validatingwebhookconfigurations,mutatingwebhookconfigurations", "-o", "name").stdout
    again.apply({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train", "labels": {"kueue.x-k8s.io/queue-name": "q"}}, "spec": {
        "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}})
    again.process.stop()
    third = start()
    assert third.kubectl("get", "validatingwebhookconfigurations", "-o", "name").stdout


def test_webhooks_that_somebody_else_made_stay_without_the_scheduler(start):
    """Those of a scheduler that runs beside the cluster have the names that the one inside would give them."""
    def names(up):
        return set(up.kubectl("get", "validatingwebhookconfigurations,mutatingwebhookconfigurations", "-o", "name").stdout.split())

    up = start("--no-scheduler")
    objects = [one for one in yaml.safe_load_all((HERE.parents[1] / "deploy" / "gantree.yaml").read_text()) if one and one["kind"].endswith("WebhookConfiguration")]
    for one in objects:
        up.apply(one)
    theirs = names(up)
    assert len(theirs) == len(objects) > 0
    up.process.stop()
    again = start("--no-scheduler")
    assert names(again) == theirs
    again.process.stop()
    # Also where one inside has run meanwhile: it wrote to them, and did not make them.
    inside = start()
    inside.process.stop()
    last = start("--no-scheduler")
    assert names(last) == theirs


def test_a_folder_keeps_the_nodes_that_it_has(start):
    up = start("--no-scheduler", "--generate", "blocks=1,racks=1,hosts=3")
    up.kubectl("delete", "node", "gpu-b1-r1-02")
    up.process.stop()
    again = start("--no-scheduler", "--generate", "blocks=1,racks=1,hosts=3")
    assert "passed over" not in again.process.tail()
    again.process.stop()
    other = start("--no-scheduler", "--generate", "nvl72")
    assert "--generate nvl72 is passed over" in other.process.tail()
    assert other.kubectl("get", "nodes", "-o", "name").stdout.split() == ["node/gpu-b1-r1-01", "node/gpu-b1-r1-03"]


def test_a_start_that_fails_leaves_nothing_behind(tmp_path):
    for flags in (["--listen", "8080"], ["--listen", "127.0.0.1:0", "--generate", "nonsense"], ["--speed", "fast"]):
        failed = subprocess.run([binary(), "up", "--data", tmp_path / "data", *flags], capture_output=True, text=True, timeout=30)
        assert failed.returncode == 1 and failed.stderr.count("gantree: ") == 1, failed.stderr
        assert not (tmp_path / "data").exists()


def test_services_lead_to_pods_that_are_spread_and_wait_for_what_they_mount(start):
    up = start("--in-memory", "--no-scheduler", "--generate", "blocks=1,racks=2,hosts=2", "--speed", "10x")
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {
        "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule",
                                       "labelSelector": {"matchLabels": {"app": "web"}}}],
        "containers": [{"name": "c", "image": "i", "envFrom": [{"configMapRef": {"name": "settings"}}]}]}}
    up.apply({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
              "spec": {"replicas": 4, "selector": {"matchLabels": {"app": "web"}}, "template": template}})
    up.kubectl("expose", "deployment", "web", "--port=80")
    wait_until(lambda: "CreateContainerConfigError" in up.kubectl("get", "pods").stdout, 20, lambda: up.kubectl("get", "pods").stdout)
    up.kubectl("create", "configmap", "settings", "--from-literal=a=b")
    up.kubectl("rollout", "status", "deployment/web", "--timeout=30s")
    pods = json.loads(up.kubectl("get", "pods", "-o", "json").stdout)["items"]
    assert len({pod["spec"]["nodeName"] for pod in pods}) == 4
    wait_until(lambda: sorted(up.kubectl("get", "endpoints", "web", "-o", "jsonpath={.subsets[*].addresses[*].ip}").stdout.split())
               == sorted(pod["status"]["podIP"] for pod in pods), 10, lambda: up.kubectl("get", "endpoints,endpointslices", "-A").stdout)
    assert "Failed to get lease" not in up.kubectl("describe", "node", pods[0]["spec"]["nodeName"]).stdout
    assert "is simulated" in up.kubectl("exec", pods[0]["metadata"]["name"], "--", "true", check=False).stderr


@pytest.fixture
def own_parts(up_bare, kubectl_binary, tmp_path):
    """Kubernetes' own controller manager and scheduler, in place of those inside."""
    up_bare.kubectl("annotate", "namespace", "kube-system", "gantree.dev/pause=controllers,scheduler")
    key = tmp_path / "accounts.key"
    subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
    flags = {"kube-scheduler": [],
             # Simulated nodes have no leases, and no networks.
             "kube-controller-manager": ["--controllers=*,-node-lifecycle-controller,-node-ipam-controller",
                                         "--service-account-private-key-file", key]}
    parts = [Process(name, [kubectl_binary.parent / name, "--kubeconfig", up_bare.kubeconfig, "--secure-port=0", *more], tmp_path / f"{name}.log")
             for name, more in flags.items()]
    yield up_bare
    for part in parts:
        part.stop()


@pytest.fixture
def up_bare(start):
    return start("--in-memory", "--no-scheduler", "--generate", "small", "--start-delay", "100ms")


def test_the_real_controller_manager_and_scheduler_work_on_it(own_parts):
    pods = {"spec": {"containers": [{"name": "c", "image": "i"}]}}
    own_parts.apply(
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
         "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": {"metadata": {"labels": {"app": "web"}}, **pods}}},
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}},
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "once"},
         "spec": {"completions": 2, "parallelism": 2, "completionMode": "Indexed", "template": {
             "metadata": {"annotations": {"gantree.dev/run-for": "1s"}}, "spec": {**pods["spec"], "restartPolicy": "Never"}}}})
    own_parts.kubectl("rollout", "status", "deployment/web", "--timeout=60s")
    own_parts.kubectl("wait", "--for=condition=Complete", "job/once", "--timeout=60s")
    hosts = own_parts.kubectl("get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].spec.nodeName}").stdout.split()
    assert len(set(hosts)) == 3, "kube-scheduler spreads them"
    events = own_parts.kubectl("get", "events", "-o", "jsonpath={range .items[*]}{.reportingComponent} {.source.component}{\"\\n\"}{end}").stdout.split()
    assert {"default-scheduler", "deployment-controller", "replicaset-controller", "job-controller"} <= set(events)
    own_parts.kubectl("delete", "deployment", "web", "--cascade=foreground", "--timeout=60s")
    assert own_parts.kubectl("get", "pods,replicasets", "-l", "app=web", "-o", "name").stdout == ""


def test_an_owner_that_goes_does_not_take_in_again_what_it_leaves_behind(up_bare):
    up_bare.apply(*({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": f"r{i}"},
                     "spec": {"replicas": 1, "selector": {"matchLabels": {"app": f"r{i}"}}, "template": {
                         "metadata": {"labels": {"app": f"r{i}"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}} for i in range(10)))
    up_bare.kubectl("wait", "replicasets", "--all", "--for=jsonpath={.status.readyReplicas}=1", "--timeout=30s")
    up_bare.kubectl("delete", "replicasets", "--all", "--cascade=orphan")
    up_bare.kubectl("annotate", "pods", "--all", "looked=at")  # a moment for whoever would take them
    pods = json.loads(up_bare.kubectl("get", "pods", "-o", "json").stdout)["items"]
    assert [pod["metadata"].get("ownerReferences") for pod in pods] == [None] * 10


def gantree(up, *arguments):
    return subprocess.run([binary(), *arguments, "--kubeconfig", up.kubeconfig], capture_output=True, text=True, timeout=30)


def test_a_node_that_is_healthy_is_said_to_be_and_one_that_is_not_there_is_named_once(start):
    up = start("--in-memory", "--no-scheduler", "--generate", "blocks=1,racks=1,hosts=2")
    assert "no nodes yet" not in up.process.tail()
    assert gantree(up, "node", "heal", "gpu-b1-r1-01").stdout == "node/gpu-b1-r1-01 was healthy\n"
    assert gantree(up, "node", "fail", "gpu-b1-r1-01").stdout.startswith("node/gpu-b1-r1-01 fails")
    assert gantree(up, "node", "heal", "gpu-b1-r1-01").stdout == "node/gpu-b1-r1-01 heals\n"
    for deed in ("fail", "heal", "cordon", "remove"):
        done = gantree(up, "node", deed, "nope")
        assert (done.returncode, done.stdout, done.stderr) == (1, "", 'gantree: there is no node "nope"\n'), deed


def test_a_cluster_without_nodes_says_how_to_get_some(up):
    assert "It has no nodes yet" in up.process.tail() and "gantree up --generate demo" in up.process.tail()
