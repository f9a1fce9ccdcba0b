"""Two clusters that are asked the same: the embedded one and the real one, and what each answers to a step of a list.

A step is data, read from the YAML files of `api/`:

    name      what it is, in words; known differences are named by it
    request   METHOD PATH. A path that begins without a slash begins with a resource of PATHS
    body, type, accept, token, headers   of the request; type is one of TYPES
    kubectl   arguments, as in a shell; stdin, what it reads; editor, a command for `edit`
    asked     (true) what the webhook of the file was asked since the last such step
    watch     how many events to read from the request before it is closed; seconds, how long to wait for them
    meanwhile kubectl commands to run while `kubectl` watches
    until     {path: value} that the answer must come to hold (a code where the path is `code`); asked again until then
    keep      {variable: path}; later steps write ${variable}
    only      the paths to compare, where the rest belongs to controllers; of kubectl, none: its exit status alone counts
    sorted    the lines of the output have no order

`answer` is what of it is comparable: code, object or text, events, warnings.
"""
import http.client
import json
import os
import re
import shlex
import shutil
import ssl
import subprocess
import time
import urllib.parse

import yaml

from harness.control_plane import ControlPlane
from harness.gantree import binary
from harness.processes import Process, own_folder, wait_until

TYPES = {"json": "application/json-patch+json", "merge": "application/merge-patch+json", "strategic": "application/strategic-merge-patch+json",
         "apply": "application/apply-patch+yaml"}
ACCEPTS = {"table": "application/json;as=Table;v=v1;g=meta.k8s.io,application/json", "metadata": "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
           "aggregated": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"}
NAMESPACED = {"v1": ["pods", "configmaps", "secrets", "services", "serviceaccounts", "events", "resourcequotas", "limitranges", "persistentvolumeclaims",
                     "replicationcontrollers", "endpoints"],
              "apps/v1": ["deployments", "replicasets", "statefulsets", "daemonsets", "controllerrevisions"], "batch/v1": ["jobs", "cronjobs"],
              "policy/v1": ["poddisruptionbudgets"], "coordination.k8s.io/v1": ["leases"], "rbac.authorization.k8s.io/v1": ["roles", "rolebindings"],
              "networking.k8s.io/v1": ["networkpolicies"]}
WHOLE = {"v1": ["namespaces", "nodes", "persistentvolumes"], "scheduling.k8s.io/v1": ["priorityclasses"],
         "rbac.authorization.k8s.io/v1": ["clusterroles", "clusterrolebindings"],
         "admissionregistration.k8s.io/v1": ["mutatingwebhookconfigurations", "validatingwebhookconfigurations", "validatingadmissionpolicies",
                                             "validatingadmissionpolicybindings"],
         "apiextensions.k8s.io/v1": ["customresourcedefinitions"], "node.k8s.io/v1": ["runtimeclasses"], "storage.k8s.io/v1": ["storageclasses"]}
PATIENCE = 30.0


def _root(version):
    return f"/apis/{version}" if "/" in version else f"/api/{version}"


PATHS = {name: f"{_root(version)}/namespaces/${{ns}}/{name}" for version, names in NAMESPACED.items() for name in names} | {
    name: f"{_root(version)}/{name}" for version, names in WHOLE.items() for name in names}


class RealServer(ControlPlane):
    """etcd, kube-apiserver, kube-controller-manager, kube-scheduler and KWOK: what a bare cluster is."""

    token = "admin-token"

    def _start(self):
        self._start_bare()

    def wait_until_ready(self):
        self._wait_for_https("kube-apiserver", "/readyz")
        self._start_kubernetes_controllers()
        self._start_kwok()
        for part in ("kube-controller-manager", "kube-scheduler"):
            self._wait_for_https(part, "/healthz")
        return self


class EmbeddedServer:
    """`gantree up` without a scheduler of gangs."""

    def __init__(self):
        self.folder = own_folder()
        self.process = Process("up", [binary(), "up", "--in-memory", "--no-scheduler", "--listen", "127.0.0.1:0", "--data", self.folder / "data"],
                               self.folder / "up.log")
        self.kubeconfig = self.folder / "data" / "kubeconfig"

    def wait_until_ready(self):
        wait_until(lambda: "Ctrl-C" in self.process.tail() or not self.process.running, 60, lambda: f"up to be up:\n{self.process.tail()}")
        assert self.process.running, self.process.tail()
        config = yaml.safe_load(self.kubeconfig.read_text())
        self.server = config["clusters"][0]["cluster"]["server"]
        self.token = config["users"][0]["user"]["token"]
        return self

    def logs(self, lines=12):
        return {"up": self.process.tail(lines)}

    def stop(self):
        self.process.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def filled(value, variables):
    """The value with ${variables} in all its strings."""
    if isinstance(value, str):
        return re.sub(r"\$\{(\w+)\}", lambda found: str(variables[found.group(1)]), value)
    if isinstance(value, dict):
        return {filled(key, variables): filled(inner, variables) for key, inner in value.items()}
    if isinstance(value, list):
        return [filled(inner, variables) for inner in value]
    return value


def at(value, path):
    """What is at a dotted path; numbers are places in lists. None where there is nothing."""
    for part in re.findall(r"(?:\\.|[^.])+", path):
        part = part.replace("\\.", ".")
        if isinstance(value, list):
            value = value[int(part)] if int(part) < len(value) else None
        elif isinstance(value, dict):
            value = value.get(part)
        else:
            return None
    return value


class Asker:
    """Asks one cluster, step by step, on a connection of its own."""

    def __init__(self, cluster, kubectl, namespace, reviewer):
        self._cluster, self._kubectl, self._reviewer = cluster, kubectl, reviewer
        self._variables = {"ns": namespace, "reviewer": reviewer.address, "bundle": reviewer.bundle}
        self._host = urllib.parse.urlparse(cluster.server)
        self._connection = None

    def ask(self, step):
        """The answer, as far as it can be compared."""
        step = filled(step, self._variables)
        once = self._run_kubectl if "kubectl" in step else self._watch if "watch" in step else self._request if "request" in step else self._asked
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = once(step)
            if self._holds(answer, step.get("until")):
                break
            assert time.monotonic() < deadline, f"{step['name']}: {self._cluster.server} never came to hold {step['until']}: {json.dumps(answer)[:2000]}"
            time.sleep(0.1)
        for name, path in step.get("keep", {}).items():
            self._variables[name] = at(answer["body"], path)
        if "only" in step:
            answer = {"code": answer["code"], "body": {path: at(answer["body"], path) for path in step["only"]}}
        return answer

    def _holds(self, answer, wanted):
        if wanted is None:
            return True
        if isinstance(wanted, str):
            return re.search(wanted, answer["text"]) is not None
        return all((answer["code"] if path == "code" else at(answer["body"], path)) == value for path, value in wanted.items())

    def _asked(self, _):
        """What the webhooks were asked since the last time, by the server's own account of the object."""
        asked, self._reviewer.asked = self._reviewer.asked, []
        return {"code": 0, "body": sorted(asked, key=lambda one: one["path"] if one["path"].split("/")[1] in ("warn", "break", "allow", "deny") else "")}

    # --- HTTP ---

    def _open(self, step):
        method, path = step["request"].split(" ", 1)
        if not path.startswith("/"):
            resource = re.match(r"\w+", path).group()
            path = filled(PATHS[resource], self._variables) + path[len(resource):]
        body = step.get("body")
        headers = {"Content-Type": TYPES.get(step.get("type"), step.get("type", "application/json")),
                   "Accept": ACCEPTS.get(step.get("accept"), step.get("accept", "application/json")), "User-Agent": "tester/1"}
        headers.update(step.get("headers", {}))
        token = step.get("token", self._cluster.token)
        if token:
            headers["Authorization"] = f"Bearer {token}"
        data = None if body is None else body.encode() if isinstance(body, str) else json.dumps(body).encode()
        if data is None:
            del headers["Content-Type"]
        for last in (False, True):  # the server may have closed what was kept open
            if self._connection is None:
                self._connection = self._connect(40)
            try:
                self._connection.request(method, path.replace(" ", "%20"), data, headers)
                return self._connection.getresponse()
            except (ConnectionError, http.client.HTTPException):
                self._close()
                if last:
                    raise

    def _connect(self, timeout):
        return http.client.HTTPSConnection(self._host.hostname, self._host.port, context=ssl._create_unverified_context(), timeout=timeout)

    def _close(self):
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _request(self, step):
        answer = self._open(step)
        text = answer.read().decode()
        if answer.headers.get_content_type() == "application/yaml":
            text = json.dumps(yaml.safe_load(text))
        return {"code": answer.status, "body": _decoded(text), "warnings": answer.headers.get_all("Warning") or []}

    def _watch(self, step):
        self._close()
        self._connection = self._connect(step.get("seconds", 4))
        answer = self._open(step)
        if answer.status != 200:
            return {"code": answer.status, "body": _decoded(answer.read().decode())}
        events = []
        try:
            while len(events) < step["watch"]:
                line = answer.readline()
                if not line:
                    break
                events.append(json.loads(line))
        except TimeoutError:
            pass  # no more came, which is an answer too
        self._close()
        return {"code": answer.status, "body": events}

    # --- kubectl ---

    def _run_kubectl(self, step):
        command = [str(self._kubectl), "-n", self._variables["ns"], *shlex.split(step["kubectl"])]
        environment = {"KUBECONFIG": str(self._cluster.kubeconfig), "HOME": str(self._cluster.folder), "PATH": os.environ["PATH"],
                       "KUBE_EDITOR": step.get("editor", "false")}
        if "meanwhile" in step:
            return self._follow(step, command, environment)
        done = subprocess.run(command, input=_as_text(step.get("stdin")), capture_output=True, text=True, timeout=60, env=environment)
        answer = {"code": done.returncode, "errors": done.stderr, "text": done.stdout}
        if re.search(r"(-o|--output)[ =]?(yaml|json)\b", step["kubectl"]):
            try:
                answer["body"] = yaml.safe_load(done.stdout)
                answer["text"] = ""
            except yaml.YAMLError:
                pass
        if step.get("sorted"):
            answer["text"] = "\n".join(sorted(answer["text"].splitlines()))
        return answer

    def _follow(self, step, command, environment):
        """What a watching kubectl prints while others change things."""
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as follower:
            time.sleep(1.5)
            for other in step["meanwhile"]:
                subprocess.run([str(self._kubectl), "-n", self._variables["ns"], *shlex.split(other)], capture_output=True, timeout=60, env=environment)
            time.sleep(1.0)
            follower.terminate()
            text, errors = follower.communicate(timeout=10)
        return {"code": 0, "errors": errors, "text": text}


def _as_text(value):
    if value is None or isinstance(value, str):
        return value
    return yaml.safe_dump_all(value if isinstance(value, list) else [value])


def _decoded(text):
    try:
        return json.loads(text)
    except ValueError:
        return {"text": text}
