"""What the tests are written against: a cluster, whoever serves its API.

`Cluster` needs no more than a kubeconfig and a kubectl; all else goes through the API. How it comes up and goes down is for
the classes below it: `ControlPlane` starts the real thing, `EmbeddedCluster` is `gantree up`. What both offer besides:

    server, authority            where the API is, and the authority of its certificate
    kubeconfig_for("somebody")   a user who has no rights
    restart_api_server()         kills the API server and waits until it is back
    paused("scheduler")          a context in which the default scheduler stands still; "controllers": those of workloads
"""
import json
import pathlib
import subprocess
import time
import uuid

import kubernetes.client
import kubernetes.config
import yaml

from harness.kubeconfigs import write_kubeconfig
from harness.processes import wait_until

NODES_OF_TESTS = "gantree.dev/e2e-node"
CREATE_TIMEOUT = 30.0
SIMULATED = {"kwok.x-k8s.io/node": "fake"}  # without it nobody of a real control plane says that a node is ready


class Cluster:
    """A cluster that one test at a time has for itself."""

    def __init__(self, kubeconfig, kubectl):
        self.kubeconfig = pathlib.Path(kubeconfig)
        self._kubectl = kubectl
        self._namespaces = []
        self._connect()

    def _connect(self):
        self.client = kubernetes.config.new_client_from_config(str(self.kubeconfig))
        self.core = kubernetes.client.CoreV1Api(self.client)
        self.apps = kubernetes.client.AppsV1Api(self.client)
        self.batch = kubernetes.client.BatchV1Api(self.client)
        self.custom = kubernetes.client.CustomObjectsApi(self.client)
        self.coordination = kubernetes.client.CoordinationV1Api(self.client)
        self._resources = {}

    def stop(self):
        self.client.close()

    def logs(self, lines=12):
        """The last lines that each part of the cluster logged: {name: text}."""
        return {}

    # --- objects of any kind, as manifests have them ---

    def request(self, verb, path, body=None, query=(), content_type="application/json"):
        """One request to the API, its answer decoded."""
        answer = self.client.call_api(path, verb, query_params=list(query), body=body, auth_settings=["BearerToken"],
                                      header_params={"Content-Type": content_type, "Accept": "application/json"},
                                      _preload_content=False, _return_http_data_only=True)
        return json.loads(answer.data)

    def _resource(self, api_version, kind):
        if (api_version, kind) not in self._resources:
            root = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
            for resource in self.request("GET", root)["resources"]:
                if "/" not in resource["name"]:
                    self._resources[api_version, resource["kind"]] = (root, resource["name"], resource["namespaced"])
        return self._resources[api_version, kind]

    def path(self, api_version, kind, namespace=None, name=None, subresource=None):
        """Where the API keeps such an object, or all of them."""
        root, plural, namespaced = self._resource(api_version, kind)
        parts = [root]
        if namespaced and namespace is not None:
            parts.append(f"namespaces/{namespace}")
        return "/".join(parts + [part for part in (plural, name, subresource) if part])

    def create(self, manifest, namespace=None):
        """Creates one object from its manifest and returns it as the API server has it."""
        metadata = manifest["metadata"]
        path = self.path(manifest["apiVersion"], manifest["kind"], metadata.get("namespace") or namespace)
        return self.request("POST", path, body=manifest)

    def create_all(self, manifests, namespace=None):
        return [self.create(manifest, namespace) for manifest in manifests]

    def get(self, api_version, kind, name, namespace=None):
        """The object, or None where there is none."""
        try:
            return self.request("GET", self.path(api_version, kind, namespace, name))
        except kubernetes.client.ApiException as error:
            if error.status == 404:
                return None
            raise

    def merge(self, api_version, kind, name, change, namespace=None, subresource=None):
        """A JSON merge patch."""
        return self.request("PATCH", self.path(api_version, kind, namespace, name, subresource), body=change,
                            content_type="application/merge-patch+json")

    def delete(self, api_version, kind, name, namespace=None, **options):
        return self.request("DELETE", self.path(api_version, kind, namespace, name), body=options or None)

    def delete_at_once(self, api_version, kind, name):
        """The same for what is in no namespace, whoever would take its finalizers off."""
        self.delete(api_version, kind, name)
        if self.get(api_version, kind, name):
            self._drop_finalizers(api_version, kind, name)

    def kubectl(self, *arguments, input=None, check=True):
        """Runs kubectl against this cluster; its standard output."""
        command = [str(self._kubectl), "--kubeconfig", str(self.kubeconfig), *map(str, arguments)]
        done = subprocess.run(command, input=input, capture_output=True, text=True, timeout=120)
        if check and done.returncode != 0:
            raise AssertionError(f"kubectl {' '.join(map(str, arguments))} failed: {done.stderr.strip()}")
        return done.stdout

    def apply(self, manifests):
        """As `kubectl apply --server-side`, for manifests as text, or as a list of objects."""
        # JSON is YAML, and is written in a fraction of the time.
        text = manifests if isinstance(manifests, str) else "\n---\n".join(json.dumps(manifest) for manifest in manifests)
        return self.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", input=text)

    def wait_until_served(self, definition):
        """Until the API serves the kind of a custom resource definition, given its spec."""
        api_version, kind = f"{definition['group']}/{definition['versions'][0]['name']}", definition["names"]["kind"]

        self._resources.pop((api_version, kind), None)  # it may have been there before, and be gone since

        def served():
            try:
                return self.request("GET", self.path(api_version, kind))
            except (KeyError, kubernetes.client.ApiException):
                return None
        self.wait_for(served, CREATE_TIMEOUT, f"{kind} to be served")

    # --- nodes ---

    def make_nodes(self, count, prefix="node", labels=None, allocatable=None, ready=True):
        """Simulated nodes PREFIX-0 ... Labels may be a function of the index. Returns their names, all of them ready."""
        names = [f"{prefix}-{index}" for index in range(count)]
        room = {"cpu": "32", "memory": "256Gi", "pods": "110", "nvidia.com/gpu": "8"} | (allocatable or {})
        for index, name in enumerate(names):
            own = labels(index) if callable(labels) else (labels or {})
            self.create({"apiVersion": "v1", "kind": "Node",
                         "metadata": {"name": name,
                                      "labels": {"kubernetes.io/hostname": name, NODES_OF_TESTS: "true"} | own,
                                      "annotations": SIMULATED},
                         "status": {"allocatable": room, "capacity": room}})
        if ready:
            self.wait_for(lambda: set(names) <= set(self.usable_nodes()), CREATE_TIMEOUT, f"{count} nodes to be ready", every=0.1)
        return names

    def usable_nodes(self):
        """Names of the nodes that are ready and that nothing keeps pods off."""
        return [node["metadata"]["name"] for node in self.list("v1", "Node")
                if any(c["type"] == "Ready" and c["status"] == "True" for c in node["status"].get("conditions", []))
                and not node["spec"].get("taints") and not node["spec"].get("unschedulable")]

    def take_down(self, node):
        self.merge("v1", "Node", node, {"metadata": {"annotations": {"gantree.dev/not-ready": "true"}}})

    def bring_up(self, node):
        self.merge("v1", "Node", node, {"metadata": {"annotations": {"gantree.dev/not-ready": None}}})

    # --- pods ---

    def list(self, api_version, kind, namespace=None, labels=None):
        query = [("labelSelector", labels)] if labels else []
        return self.request("GET", self.path(api_version, kind, namespace), query=query)["items"]

    def pods(self, namespace, labels=None):
        return self.list("v1", "Pod", namespace, labels)

    def bound(self, namespace, labels=None):
        """{pod: node} of the pods that have a node."""
        return {pod["metadata"]["name"]: pod["spec"]["nodeName"]
                for pod in self.pods(namespace, labels) if pod["spec"].get("nodeName")}

    def running(self, namespace, labels=None):
        return [pod["metadata"]["name"] for pod in self.pods(namespace, labels) if pod["status"]["phase"] == "Running"]

    def bind(self, namespace, pod, node):
        """What a scheduler does: creates the binding of a pod."""
        self.request("POST", self.path("v1", "Pod", namespace, pod, "binding"),
                     body={"apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod},
                           "target": {"apiVersion": "v1", "kind": "Node", "name": node}})

    def events(self, namespace, name=None):
        """Events in a namespace, about one object where its name is given."""
        return [event for event in self.list("v1", "Event", namespace)
                if name is None or event["involvedObject"]["name"] == name]

    # --- identities ---

    def service_account_token(self, namespace, name):
        asked = self.request("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token",
                             body={"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 7200}})
        return asked["status"]["token"]

    def kubeconfig_of_service_account(self, namespace, name, file, server=None):
        """A kubeconfig with a token of this service account; `server` where it is to go through somebody else."""
        configuration = self.client.configuration
        return write_kubeconfig(file, server or configuration.host, configuration.ssl_ca_cert, token=self.service_account_token(namespace, name))

    def may(self, user, verb, resource, group="", namespace=None, subresource=None):
        """Whether RBAC lets this user do that."""
        attributes = {"verb": verb, "group": group, "resource": resource, "namespace": namespace, "subresource": subresource}
        review = self.request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews",
                              body={"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
                                    "spec": {"user": user, "resourceAttributes": {k: v for k, v in attributes.items() if v}}})
        return review["status"]["allowed"]

    # --- namespaces, waiting, cleaning up ---

    def make_namespace(self, prefix="test"):
        """A namespace of its own, ready to take pods."""
        name = f"{prefix}-{uuid.uuid4().hex[:8]}"
        self.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        self._namespaces.append(name)
        # Pods are refused until their namespace has its default service account.
        self.wait_for(lambda: self.get("v1", "ServiceAccount", "default", name), CREATE_TIMEOUT, f"the service account of {name}")
        return name

    def wait_for(self, predicate, timeout, what, every=0.05):
        return wait_until(predicate, timeout, what, every)

    def stays(self, predicate, seconds, what, every=0.1):
        """Asserts that the predicate holds all that time."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            assert predicate(), f"it did not stay so: {what}"
            time.sleep(every)

    def clean(self):
        """Removes what tests made. A namespace that is going takes no new pods, so controllers cannot make them again."""
        for namespace in self._namespaces:
            self.request("DELETE", f"/api/v1/namespaces/{namespace}")
        for namespace in self._namespaces:
            self.request("DELETE", f"/api/v1/namespaces/{namespace}/pods", query=[("gracePeriodSeconds", "0")])
            # Whoever would take the finalizers away may be gone already.
            for pod in [pod for pod in self.pods(namespace) if pod["metadata"].get("finalizers")]:
                self._drop_finalizers("v1", "Pod", pod["metadata"]["name"], namespace)
        for namespace in self._namespaces:
            self.wait_for(lambda: not self.pods(namespace), CREATE_TIMEOUT, f"the pods of {namespace} to go")
        self._namespaces.clear()
        self.request("DELETE", "/api/v1/nodes", query=[("labelSelector", NODES_OF_TESTS)])

    def _drop_finalizers(self, api_version, kind, name, namespace=None):
        try:
            self.merge(api_version, kind, name, {"metadata": {"finalizers": None}}, namespace)
        except kubernetes.client.ApiException as error:
            if error.status != 404:  # it has gone by itself
                raise


def manifests_of(file):
    """The objects of a file of YAML documents."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    with open(file) as text:
        return [manifest for manifest in yaml.load_all(text, loader) if manifest]
