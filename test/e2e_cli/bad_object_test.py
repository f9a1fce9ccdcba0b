#!/usr/bin/env python3
"""Well-formed text that is no valid object: exit 1 and one line that says where.

Each case is one object; the line that the message must name ends in "# here" (no such mark: any line of the file). The object stands behind
a good cluster, so that only the case itself is wrong.
"""
import json
import unittest

from cli import CliTest, cases, gantree, node, queues

HERE = "# here"


def node_with(status="", spec="", metadata=""):
    return ("apiVersion: v1\nkind: Node\nmetadata:\n  name: bad\n" + metadata + "spec:\n  podCIDR: 10.0.0.0/24\n" + spec
            + "status:\n  conditions: [{type: Ready, status: 'True'}]\n" + status)


def allocatable(line):
    return node_with(status="  allocatable:\n    cpu: 4\n    " + line + " # here\n")


def pod_with(spec, status="  phase: Running\n"):
    return ("apiVersion: v1\nkind: Pod\nmetadata: {name: bad, namespace: default}\nspec:\n  nodeName: n1\n" + spec
            + "status:\n" + status)


def requests(line):
    return pod_with("  containers:\n  - name: c\n    resources:\n      requests:\n        " + line + " # here\n")


def job_with(spec="", template="", pod="", metadata=""):
    return ("apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: bad\n  namespace: default\n"
            "  labels: {kueue.x-k8s.io/queue-name: queue}\n" + metadata
            + "spec:\n  suspend: true\n" + (spec or "  parallelism: 2\n") + "  template:\n" + template
            + "    spec:\n" + (pod or "      containers: [{name: c, resources: {requests: {nvidia.com/gpu: 1}}}]\n"))


def kueue(kind, spec, version="v1beta2", name="bad"):
    return f"apiVersion: kueue.x-k8s.io/{version}\nkind: {kind}\nmetadata: {{name: {name}, namespace: default}}\nspec:\n{spec}"


def levels(*labels):
    return kueue("Topology", "  levels:\n" + "".join(f"  - nodeLabel: {label}\n" for label in labels))


def cluster_queue(group):
    return kueue("ClusterQueue", "  namespaceSelector: {}\n  resourceGroups:\n" + group)


def quota(line):
    return cluster_queue("  - coveredResources: [nvidia.com/gpu]\n    flavors:\n    - name: tas\n      resources:\n"
                         "      - name: nvidia.com/gpu\n        nominalQuota: " + line + " # here\n")


OBJECTS = {
    # any object
    "no kind": "apiVersion: v1\nmetadata: {name: a}\n",
    "no apiVersion": "kind: Node\nmetadata: {name: a}\n",
    "kind is a number": "apiVersion: v1\nkind: 5 # here\nmetadata: {name: a}\n",
    "kind is a list": "apiVersion: v1\nkind: [Node] # here\nmetadata: {name: a}\n",
    "apiVersion is a map": "apiVersion: {v: 1} # here\nkind: Node\nmetadata: {name: a}\n",
    "a List whose items are a map": "apiVersion: v1\nkind: List\nitems: {a: b} # here\n",
    "a List with a number in it": "apiVersion: v1\nkind: List\nitems:\n- 5 # here\n",
    "a List with a nameless object in it": "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Node} # here\n",
    # nodes
    "a node without metadata": "apiVersion: v1\nkind: Node\nspec: {}\n",
    "a node without a name": "apiVersion: v1\nkind: Node\nmetadata: {labels: {}}\n",
    "a node with an empty name": "apiVersion: v1\nkind: Node\nmetadata: {name: ''}\n",
    "a node whose name is a number": "apiVersion: v1\nkind: Node\nmetadata:\n  name: 17 # here\n",
    "a node whose metadata is a list": "apiVersion: v1\nkind: Node\nmetadata: [name] # here\n",
    "a node whose labels are a list": node_with(metadata="  labels: [a, b] # here\n"),
    "a node whose label is a number": node_with(metadata="  labels:\n    rack: 7 # here\n"),
    "a node whose label is true": node_with(metadata="  labels:\n    gpu: true # here\n"),
    "a node whose label is a map": node_with(metadata="  labels:\n    gpu: {a: b} # here\n"),
    "a node whose spec is a text": "apiVersion: v1\nkind: Node\nmetadata: {name: bad}\nspec: none # here\n",
    "a node that is unschedulable in words": node_with(spec="  unschedulable: 'yes' # here\n"),
    "a node whose taints are a map": node_with(spec="  taints: {key: a} # here\n"),
    "a node with a taint that is a text": node_with(spec="  taints:\n  - gpu # here\n"),
    "a node with a taint without a key": node_with(spec="  taints:\n  - {effect: NoSchedule} # here\n"),
    "a node with a taint without an effect": node_with(spec="  taints:\n  - {key: gpu} # here\n"),
    "a node with a taint of an unknown effect": node_with(spec="  taints:\n  - {key: gpu, effect: Never} # here\n"),
    "a node whose status is a list": "apiVersion: v1\nkind: Node\nmetadata: {name: bad}\nstatus: [] # here\n",
    "a node whose conditions are a map": "apiVersion: v1\nkind: Node\nmetadata: {name: bad}\nstatus:\n"
                                         "  conditions: {Ready: true} # here\n",
    "a node whose allocatable is a list": node_with(status="  allocatable: [cpu] # here\n"),
    "a node with a negative amount": allocatable("nvidia.com/gpu: -8"),
    "a node with a negative amount in quotes": allocatable("nvidia.com/gpu: '-8'"),
    "a node with 1e99 of memory": allocatable("memory: 1e99"),
    "a node with a huge amount": allocatable("memory: 99999999999999999999"),
    "a node with a huge suffix": allocatable("memory: 100000Ei"),
    "a node with an unknown suffix": allocatable("memory: 5GB"),
    "a node with words for an amount": allocatable("memory: plenty"),
    "a node with an empty amount": allocatable("memory: ''"),
    "a node with a suffix alone": allocatable("memory: Gi"),
    "a node with a space in an amount": allocatable("memory: '5 Gi'"),
    "a node with two dots in an amount": allocatable("memory: '1.2.3'"),
    "a node with a hexadecimal amount": allocatable("memory: 0x10"),
    "a node with infinity": allocatable("memory: .inf"),
    "a node with not a number": allocatable("memory: .nan"),
    "a node with a huge exponent": allocatable("memory: 1e999999999999"),
    "a node with true for an amount": allocatable("memory: true"),
    "a node with a map for an amount": allocatable("memory: {is: 5}"),
    "a node with a list for an amount": allocatable("memory: [5]"),
    # pods
    "a pod whose nodeName is a list": pod_with("  containers: []\n").replace("nodeName: n1", "nodeName: [n1] # here"),
    "a pod whose containers are a map": pod_with("  containers: {c: {}} # here\n"),
    "a pod with a container that is a text": pod_with("  containers:\n  - nginx # here\n"),
    "a pod whose resources are a list": pod_with("  containers:\n  - name: c\n    resources: [] # here\n"),
    "a pod whose requests are a list": pod_with("  containers:\n  - name: c\n    resources:\n      requests: [1] # here\n"),
    "a pod with a negative request": requests("cpu: -1"),
    "a pod with an absurd request": requests("cpu: 1e99"),
    "a pod with words for a request": requests("cpu: four"),
    "a pod whose init containers are a text": pod_with("  containers: []\n  initContainers: none # here\n"),
    "a pod whose overhead is a number": pod_with("  containers: []\n  overhead: 5 # here\n"),
    "a pod with a bad overhead": pod_with("  containers: []\n  overhead:\n    cpu: lots # here\n"),
    "a pod whose phase is a list": pod_with("  containers: []\n", status="  phase: [Running] # here\n"),
    # jobs
    "a job without a spec": "apiVersion: batch/v1\nkind: Job\nmetadata: {name: bad, labels: {kueue.x-k8s.io/queue-name: queue}}\n",
    "a job without a name": "apiVersion: batch/v1\nkind: Job\nmetadata: {labels: {kueue.x-k8s.io/queue-name: queue}}\nspec: {}\n",
    "a job whose parallelism is a word": job_with("  parallelism: many # here\n"),
    "a job whose parallelism is a text": job_with("  parallelism: '2' # here\n"),
    "a job whose parallelism is a fraction": job_with("  parallelism: 2.5 # here\n"),
    "a job whose parallelism is huge": job_with("  parallelism: 99999999999 # here\n"),
    "a job whose parallelism is a list": job_with("  parallelism: [2] # here\n"),
    "a job whose completions are true": job_with("  parallelism: 2\n  completions: true # here\n"),
    "a job whose template is a list": "apiVersion: batch/v1\nkind: Job\nmetadata: {name: bad, labels: {kueue.x-k8s.io/queue-name: queue}}\n"
                                      "spec:\n  template: [] # here\n",
    "a job whose annotation is a number": job_with(
        template="    metadata:\n      annotations:\n        kueue.x-k8s.io/podset-slice-size: 4 # here\n"),
    "a job whose annotation is true": job_with(
        template="    metadata:\n      annotations:\n        kueue.x-k8s.io/podset-unconstrained-topology: true # here\n"),
    "a job whose annotations are a list": job_with(template="    metadata:\n      annotations: [a] # here\n"),
    "a job whose queue name is a number": job_with().replace("queue-name: queue}", "queue-name: 5} # here"),
    "a job whose labels are a text": job_with().replace("labels: {kueue.x-k8s.io/queue-name: queue}", "labels: queue # here"),
    "a job whose creation time is no time": job_with(metadata="  creationTimestamp: yesterday # here\n"),
    "a job whose creation time is impossible": job_with(metadata="  creationTimestamp: '2026-02-31T00:00:00Z' # here\n"),
    "a job whose creation time is a map": job_with(metadata="  creationTimestamp: {} # here\n"),
    "a job whose containers are a map": job_with(pod="      containers: {} # here\n"),
    "a job with a negative request": job_with(
        pod="      containers:\n      - name: c\n        resources: {requests: {cpu: -1}} # here\n"),
    "a job with an absurd request": job_with(
        pod="      containers:\n      - name: c\n        resources: {requests: {cpu: 1e99}} # here\n"),
    "a job whose node selector is a list": job_with(pod="      containers: []\n      nodeSelector: [a] # here\n"),
    "a job whose node selector has a number": job_with(pod="      containers: []\n      nodeSelector: {a: 5} # here\n"),
    "a job whose tolerations are a map": job_with(pod="      containers: []\n      tolerations: {key: a} # here\n"),
    "a job with a toleration of an unknown operator": job_with(
        pod="      containers: []\n      tolerations:\n      - {key: a, operator: Like} # here\n"),
    "a job with a toleration of an unknown effect": job_with(
        pod="      containers: []\n      tolerations:\n      - {key: a, operator: Exists, effect: Never} # here\n"),
    "a job whose affinity is a text": job_with(pod="      containers: []\n      affinity: none # here\n"),
    "a job with an unknown affinity operator": job_with(
        pod="      containers: []\n      affinity:\n        nodeAffinity:\n"
            "          requiredDuringSchedulingIgnoredDuringExecution:\n            nodeSelectorTerms:\n"
            "            - matchExpressions:\n              - {key: a, operator: Near, values: [b]} # here\n"),
    "a job with affinity values that are a text": job_with(
        pod="      containers: []\n      affinity:\n        nodeAffinity:\n"
            "          requiredDuringSchedulingIgnoredDuringExecution:\n            nodeSelectorTerms:\n"
            "            - matchExpressions:\n              - {key: a, operator: In, values: b} # here\n"),
    "a jobset whose replicated jobs are a map": "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\n"
        "metadata: {name: bad, labels: {kueue.x-k8s.io/queue-name: queue}}\nspec:\n  replicatedJobs: {} # here\n",
    "a jobset whose replicas are a word": "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\n"
        "metadata: {name: bad, labels: {kueue.x-k8s.io/queue-name: queue}}\nspec:\n  replicatedJobs:\n"
        "  - name: a\n    replicas: two # here\n    template: {spec: {template: {spec: {containers: []}}}}\n",
    "a jobset with a nameless replicated job": "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\n"
        "metadata: {name: bad, labels: {kueue.x-k8s.io/queue-name: queue}}\nspec:\n  replicatedJobs:\n"
        "  - replicas: 1 # here\n    template: {spec: {template: {spec: {containers: []}}}}\n",
    # topologies
    "a topology without a spec": "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Topology\nmetadata: {name: bad}\n",
    "a topology without levels": kueue("Topology", "  levels: []\n"),
    "a topology whose levels are a map": kueue("Topology", "  levels: {a: b} # here\n"),
    "a topology with a level that is a text": kueue("Topology", "  levels:\n  - rack # here\n"),
    "a topology with a level without a label": kueue("Topology", "  levels:\n  - {label: rack} # here\n"),
    "a topology with a level that is a number": levels("5"),
    "a topology with the same level twice": levels("a.com/rack", "a.com/rack"),
    "a topology with seventeen levels": levels(*(f"a.com/l{i}" for i in range(17))),
    "a topology with hostname at the top": levels("kubernetes.io/hostname", "a.com/rack"),
    "a topology with a level that is no label": levels("'not a label!'"),
    "a topology with an empty level": levels("''"),
    # flavors
    "a flavor whose node labels are a list": kueue("ResourceFlavor", "  nodeLabels: [a] # here\n"),
    "a flavor whose node label is a number": kueue("ResourceFlavor", "  nodeLabels: {a: 5} # here\n"),
    "a flavor whose topology name is a list": kueue("ResourceFlavor", "  nodeLabels: {a: b}\n  topologyName: [x] # here\n"),
    "a flavor whose tolerations are a map": kueue("ResourceFlavor", "  nodeLabels: {a: b}\n  tolerations: {} # here\n"),
    # queues
    "a queue whose groups are a map": kueue("ClusterQueue", "  resourceGroups: {} # here\n"),
    "a queue whose covered resources are a text": cluster_queue("  - coveredResources: cpu # here\n    flavors: []\n"),
    "a queue whose flavors are a map": cluster_queue("  - coveredResources: [cpu]\n    flavors: {} # here\n"),
    "a queue with a negative quota": quota("-5"),
    "a queue with an absurd quota": quota("1e99"),
    "a queue with words for a quota": quota("unlimited"),
    "a queue with a list for a quota": quota("[5]"),
    "a local queue whose queue is a map": kueue("LocalQueue", "  clusterQueue: {} # here\n"),
    "a local queue without a queue": kueue("LocalQueue", "  stopPolicy: None\n"),
    # twice the same
    "the same node twice": "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n",
    "the same topology twice": kueue("Topology", "  levels: [{nodeLabel: a.com/rack}]\n", name="default"),
    "the same topology twice in two versions": kueue("Topology", "  levels: [{nodeLabel: a.com/rack}]\n", "v1beta1", "default"),
    "the same flavor twice": kueue("ResourceFlavor", "  nodeLabels: {a: b}\n", name="tas"),
    "the same queue twice": kueue("ClusterQueue", "  resourceGroups: []\n", name="cluster-queue"),
    "the same local queue twice": kueue("LocalQueue", "  clusterQueue: cluster-queue\n", name="queue"),
    "the same job twice": job_with() + "---\n" + job_with(),
    "the same pod twice": pod_with("  containers: []\n") + "---\n" + pod_with("  containers: []\n"),
}


@cases(OBJECTS)
class BadObject(CliTest):
    def check(self, text):
        good = "".join("---\n" + json.dumps(item) + "\n" for item in [*queues(), node("n1")])
        content = good + "---\n" + text
        marked = [number for number, line in enumerate(content.splitlines(), 1) if line.endswith(HERE)]
        path = self.write("objects.yaml", content)
        done = gantree("plan", "-f", path, "-o", "json")
        self.assert_refused(done, path, marked[0] if marked else None)
        line = int(done.stderr[len(str(path)) + 1:].split(":")[0])
        self.assertGreater(line, good.count("\n"), f"the good part is blamed: {done.stderr}")


if __name__ == "__main__":
    unittest.main()
