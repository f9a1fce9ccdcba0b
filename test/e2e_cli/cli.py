"""Runs the gantree binary for the tests beside this file, and builds small manifests for it.

The binary is $GANTREE_BINARY, or bin/gantree of this tree.
"""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("GANTREE_BINARY", str(ROOT / "bin" / "gantree"))
BLOCK = "cloud.provider.com/topology-block"
RACK = "cloud.provider.com/topology-rack"
HOST = "kubernetes.io/hostname"
KUEUE = "kueue.x-k8s.io/"


def gantree(*arguments, stdin="", timeout=60):
    """The finished process; stdin, stdout and stderr are text."""
    return subprocess.run([BINARY, *map(str, arguments)], input=stdin, capture_output=True, text=True, timeout=timeout)


class CliTest(unittest.TestCase):
    """A test with a folder of its own."""

    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gantree-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content)
        return path

    def plan(self, *objects, expect=None):
        """The answer of `plan -o json` for these objects, as gangs by name; checks the exit code against it."""
        path = self.write("cluster.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
        done = gantree("plan", "-f", path, "-o", "json")
        self.assertIn(done.returncode, (0, 2), done.stderr)
        gangs = {gang["name"]: gang for gang in json.loads(done.stdout)["gangs"]}
        all_placed = all(gang["state"] == "Placed" for gang in gangs.values())
        self.assertEqual(done.returncode, 0 if all_placed else 2)
        if expect is not None:
            self.assertEqual({name: gang["state"] for name, gang in gangs.items()}, expect)
        return gangs

    def assert_refused(self, done, path, line=None):
        """Exit 1, nothing on stdout, and exactly one line on stderr: `path:line: what is wrong`."""
        self.assertEqual(done.returncode, 1, f"stdout: {done.stdout[:300]!r} stderr: {done.stderr[:300]!r}")
        self.assertEqual(done.stdout, "")
        self.assertTrue(done.stderr.endswith("\n"))
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1, done.stderr[:1000])
        match = re.match(re.escape(str(path)) + r":(\d+): \S.*\S$", lines[0])
        self.assertIsNotNone(match, lines[0])
        self.assertLess(len(lines[0]), 500, "one sentence, not the input again")
        if line is not None:
            self.assertEqual(int(match.group(1)), line, lines[0])


def cases(table):
    """Turns each row of a table into a test of the decorated class, which has a method check(*row)."""

    def decorate(cls):
        for name, row in table.items():
            def test(self, row=row):
                self.check(*(row if isinstance(row, tuple) else (row,)))

            test.__name__ = "test_" + re.sub(r"\W+", "_", name).strip("_")
            test.__doc__ = name
            if hasattr(cls, test.__name__):
                raise ValueError(f"two cases are called {name}")
            setattr(cls, test.__name__, test)
        return cls

    return decorate


# --- manifests ----------------------------------------------------------------------------------


def node(name, block="b1", rack="r1", gpus=8, cpu="64", labels=None, **spec):
    every = {"cloud.provider.com/node-group": "tas", BLOCK: block, RACK: rack, HOST: name, **(labels or {})}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": every}, "spec": spec,
            "status": {"allocatable": {"cpu": cpu, "memory": "512Gi", "pods": "110", "nvidia.com/gpu": str(gpus)},
                       "conditions": [{"type": "Ready", "status": "True"}]}}


def pod(name, on, gpus, phase="Running"):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"},
            "spec": {"nodeName": on, **pod_spec(gpus)}, "status": {"phase": phase}}


def pod_spec(gpus=1, cpu=None):
    requests = {"nvidia.com/gpu": str(gpus)} if gpus else {}
    if cpu is not None:
        requests["cpu"] = cpu
    return {"restartPolicy": "Never",
            "containers": [{"name": "main", "image": "registry.k8s.io/pause:3.10", "resources": {"requests": requests}}]}


def job(name, count, gpus=1, *, topology=None, queue="queue", priority=None, created=None, annotations=None, spec=None,
        cpu=None, pod=None, **job_spec):
    """A Job. topology: {"required": RACK} and the like, as pod-template annotations podset-...-topology."""
    on_pods = {f"{KUEUE}podset-{mode}-topology": level for mode, level in (topology or {}).items()}
    metadata = {"name": name, "namespace": "default", "labels": {KUEUE + "queue-name": queue},
                "annotations": annotations or {}}
    if priority is not None:
        metadata["labels"][KUEUE + "priority-class"] = priority
    if created is not None:
        metadata["creationTimestamp"] = created
    template = {"metadata": {"annotations": on_pods}, "spec": {**pod_spec(gpus, cpu), **(pod or {})}}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata,
            "spec": {"suspend": True, "parallelism": count, "completions": count, "completionMode": "Indexed",
                     "template": template, **job_spec}}


def queues(quota=1000000, levels=(BLOCK, RACK, HOST), version="v1beta2", flavor=None):
    """Topology, flavor, ClusterQueue and LocalQueue; the quota is for nvidia.com/gpu."""
    api = KUEUE + version
    flavor_spec = {"nodeLabels": {"cloud.provider.com/node-group": "tas"}, "topologyName": "default"}
    return [
        {"apiVersion": api, "kind": "Topology", "metadata": {"name": "default"},
         "spec": {"levels": [{"nodeLabel": level} for level in levels]}},
        {"apiVersion": api, "kind": "ResourceFlavor", "metadata": {"name": "tas"},
         "spec": flavor_spec if flavor is None else flavor},
        {"apiVersion": api, "kind": "ClusterQueue", "metadata": {"name": "cluster-queue"},
         "spec": {"namespaceSelector": {}, "resourceGroups": [
             {"coveredResources": ["nvidia.com/gpu"],
              "flavors": [{"name": "tas", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": str(quota)}]}]}]}},
        {"apiVersion": api, "kind": "LocalQueue", "metadata": {"name": "queue", "namespace": "default"},
         "spec": {"clusterQueue": "cluster-queue"}},
    ]


def priority_class(name, value):
    return {"apiVersion": KUEUE + "v1beta2", "kind": "WorkloadPriorityClass", "metadata": {"name": name}, "value": value}


def domains(gang, pod_set=0):
    """Where a pod set went: [("b1/r1/n1", 4), ...] in rank order."""
    assignment = gang["podSets"][pod_set]["topologyAssignment"]
    return [("/".join(domain["values"]), domain["count"]) for domain in assignment["domains"]]
