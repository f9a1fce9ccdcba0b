"""What the benchmarks on a real control plane share."""
import json
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
E2E = HERE.parent.parent / "test" / "e2e"
sys.path.insert(0, str(E2E))

from kubernetes.client.exceptions import ApiException  # noqa: E402

from harness.cluster import manifests_of  # noqa: E402
from harness.control_plane import ControlPlane  # noqa: E402


def say(text):
    print(text, flush=True)


def stop_with(sentence):
    sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {sentence}")


def say_figures(figures):
    say(json.dumps({key: round(value, 3) if isinstance(value, float) else value for key, value in figures.items()}))


def control_plane():
    """A real one, with Gantree's kinds."""
    built = subprocess.run([E2E / "control_plane" / "build"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip().splitlines()[-1]
    # Nodes are made ready; without this each would wait for a controller to take a taint away, ten minutes for 20,000.
    cluster = ControlPlane(built, ("--disable-admission-plugins", "TaintNodesByCondition"))
    try:
        for file in sorted((HERE.parent.parent / "deploy" / "crds").glob("*.yaml")):
            for definition in manifests_of(file):
                cluster.create(definition)
                cluster.wait_until_served(definition["spec"])
    except BaseException:
        cluster.stop()
        raise
    return cluster


class Load:
    def __init__(self, program, kubeconfig):
        self._command = [str(program), str(kubeconfig)]

    def run(self, *words):
        """What it prints of itself, if it does."""
        out = subprocess.run([*self._command, *map(str, words)], check=True, stdout=subprocess.PIPE, text=True).stdout
        return json.loads(out.splitlines()[-1]) if out else None

    def watch(self, namespace, count):
        """A watch that has begun; communicate() gives its line."""
        process = subprocess.Popen([*self._command, "watch", namespace, str(count)], stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline().strip() == "ready"
        return process


def seen_by(watch):
    out, _ = watch.communicate(timeout=900)
    if watch.returncode != 0:
        stop_with("the watch failed")
    return json.loads(out.splitlines()[-1])


REQUEST = re.compile(r"^apiserver_request_total\{(.*)\} (\S+)$", re.M)
ASKED = re.compile(r"^apiserver_admission_webhook_request_total\{(.*)\} (\S+)$", re.M)
LABEL = re.compile(r'(\w+)="([^"]*)"')


def api_metrics(cluster):
    return cluster.client.call_api("/metrics", "GET", auth_settings=["BearerToken"], header_params={"Accept": "text/plain"},
                                   _preload_content=False, _return_http_data_only=True).data.decode()


def request_counts(cluster):
    """{"PATCH workloads/status": how often}: the writes that the API server has carried out, by whomever."""
    counts = {}
    for labels, value in REQUEST.findall(api_metrics(cluster)):
        label = dict(LABEL.findall(labels))
        if label["verb"] in ("POST", "PUT", "PATCH", "DELETE", "APPLY") and not label["dry_run"]:
            what = f"{label['verb']} {label['resource']}{'/' if label['subresource'] else ''}{label['subresource']}"
            counts[what] = counts.get(what, 0) + float(value)
    return counts


def webhook_counts(cluster):
    """{webhook: how often the API server has asked it}."""
    counts = {}
    for labels, value in ASKED.findall(api_metrics(cluster)):
        label = dict(LABEL.findall(labels))
        counts[label["name"]] = counts.get(label["name"], 0) + float(value)
    return counts


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def wait_for_nodes(cluster, count):
    deadline = time.monotonic() + 900
    while time.monotonic() < deadline:
        ready = 0
        token = ""
        while True:
            page = cluster.core.list_node(limit=1000, _continue=token) if token else cluster.core.list_node(limit=1000)
            ready += sum(any(c.type == "Ready" and c.status == "True" for c in node.status.conditions or [])
                         and not any(t.key == "node.kubernetes.io/not-ready" for t in node.spec.taints or []) for node in page.items)
            token = page.metadata._continue
            if not token:
                break
        if ready >= count:
            return
        time.sleep(2)
    stop_with("the nodes did not become ready")


def empty(cluster, namespace):
    while cluster.core.list_namespaced_pod(namespace, limit=1).items:
        try:
            cluster.core.delete_collection_namespaced_pod(namespace, grace_period_seconds=0)
        except ApiException as error:
            if error.status != 504:  # the server stops after a minute, wherever it is
                raise
        time.sleep(0.5)
