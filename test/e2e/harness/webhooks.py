"""Gantree's webhooks without a Service: the configurations of `gantree install`, and the conversion of its definitions, with one address
on loopback in each."""
from kubernetes.client import ApiException

from harness.gantree import installation
from harness.processes import Port

NAME = "gantree-webhook"
API = "admissionregistration.k8s.io/v1"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
TRUST_TIMEOUT = 30.0


class Webhooks:
    """The API server asks at this address from now on. Who answers there is a replica that is started with `flags`."""

    def __init__(self, cluster, namespace, failure_policy=None):
        self._cluster, self._namespace = cluster, namespace
        self._port = Port()
        self.flags = ["--webhook-listen", f"127.0.0.1:{self._port}", "--namespace", namespace]
        cluster.create({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": NAME}}, namespace)
        objects = installation()
        self._configurations = [o for o in objects if o["kind"].endswith("WebhookConfiguration")]
        self._definitions = [o["metadata"]["name"] for o in objects if o["kind"] == "CustomResourceDefinition"
                             and o["spec"].get("conversion", {}).get("strategy") == "Webhook"]
        for configuration in self._configurations:
            for hook in configuration["webhooks"]:
                hook["clientConfig"] = {"url": f"https://127.0.0.1:{self._port}{hook['clientConfig']['service']['path']}"}
                # What carries no label of a queue is stored whether anybody answers or not.
                if failure_policy and "default-queue" not in hook["name"]:
                    hook["failurePolicy"] = failure_policy
            cluster.create(configuration)
        self._convert({"strategy": "Webhook", "webhook": {
            "conversionReviewVersions": ["v1"], "clientConfig": {"url": f"https://127.0.0.1:{self._port}/convert"}}})

    def _convert(self, conversion):
        for name in self._definitions:
            self._cluster.request("PATCH", f"{DEFINITIONS}/{name}", body=[{"op": "replace", "path": "/spec/conversion", "value": conversion}],
                                  content_type="application/json-patch+json")

    def bundles(self):
        """The authority of each webhook, as it is written into configurations and definitions; None where it is not."""
        read = [self._cluster.get(API, o["kind"], o["metadata"]["name"]) for o in self._configurations]
        definitions = [self._cluster.request("GET", f"{DEFINITIONS}/{name}") for name in self._definitions]
        clients = [hook["clientConfig"] for configuration in read for hook in configuration["webhooks"]]
        clients += [definition["spec"]["conversion"]["webhook"]["clientConfig"] for definition in definitions]
        return [client.get("caBundle") for client in clients]

    def wait_until_asked(self):
        """Until a replica answers and the API server trusts it."""
        probe = {"apiVersion": "batch/v1", "kind": "Job",
                 "metadata": {"name": "probe", "labels": {"kueue.x-k8s.io/queue-name": "probe"}},
                 "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "registry.example/main"}]}}}}

        def asked():
            try:
                stored = self._cluster.request("POST", "/apis/batch/v1/namespaces/default/jobs", body=probe, query=[("dryRun", "All")])
                return stored["spec"].get("suspend")
            except ApiException as error:
                if "failed calling webhook" in error.body:
                    return False
                raise
        self._cluster.wait_for(lambda: all(self.bundles()), TRUST_TIMEOUT, "the authority to be written into the configurations")
        self._cluster.wait_for(asked, TRUST_TIMEOUT, "the API server to ask the webhooks")

    def remove(self):
        for configuration in self._configurations:
            self._cluster.delete(API, configuration["kind"], configuration["metadata"]["name"])
        self._convert({"strategy": "None"})
        self._cluster.delete("v1", "Secret", NAME, self._namespace)
        self._port.release()
