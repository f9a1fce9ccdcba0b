"""Kinds of other operators, which are not there: small definitions of theirs, and somebody who makes the pods that they would make."""
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
TRAINING = "training.kubeflow.org"
INDEX = f"{TRAINING}/replica-index"
ROLES = {"MPIJob": "mpiReplicaSpecs", "PyTorchJob": "pytorchReplicaSpecs"}


def definition(api_version, kind):
    """Takes any field, and has a status that is written apart."""
    group, version = api_version.split("/")
    plural = f"{kind.lower()}s"
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"{plural}.{group}"},
            "spec": {"group": group, "scope": "Namespaced",
                     "names": {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"},
                     "versions": [{"name": version, "served": True, "storage": True, "subresources": {"status": {}},
                                   "schema": {"openAPIV3Schema": schema}}]}}


class Definitions:
    """(apiVersion, kind) that the cluster serves from now on."""

    def __init__(self, cluster, kinds):
        self._cluster = cluster
        self._all = [definition(*kind) for kind in kinds]
        cluster.apply(self._all)
        for one in self._all:
            cluster.wait_until_served(one["spec"])

    def remove(self):
        for one in self._all:
            self._cluster.request("DELETE", f"{DEFINITIONS}/{one['metadata']['name']}")


def make_pods(cluster, namespace, job):
    """What the operator makes of a training job that was started: for each role pods of its template, numbered."""
    assert not job["spec"]["runPolicy"]["suspend"], job["spec"]
    owner = {key: job[key] for key in ("apiVersion", "kind")} | {key: job["metadata"][key] for key in ("name", "uid")}
    for role, replica in job["spec"][ROLES[job["kind"]]].items():
        # Where the launcher works beside the workers it has rank 0.
        first = 1 if role == "Worker" and job["spec"].get("runLauncherAsWorker") else 0
        for index in range(replica.get("replicas", 1)):
            template = replica["template"]
            marks = {f"{TRAINING}/job-name": job["metadata"]["name"], f"{TRAINING}/job-role": role.lower(), INDEX: str(index + first)}
            cluster.create({"apiVersion": "v1", "kind": "Pod",
                            "metadata": template.get("metadata", {}) | {
                                "name": f"{job['metadata']['name']}-{role.lower()}-{index}",
                                "labels": template.get("metadata", {}).get("labels", {}) | marks,
                                "ownerReferences": [owner | {"controller": True}]},
                            "spec": template["spec"] | {"restartPolicy": "Never"}}, namespace)
