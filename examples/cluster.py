#!/usr/bin/env python3
"""Writes a GPU cluster as `kubectl get nodes,pods -A -o yaml` would: hosts in racks in blocks, some of them in use.

  examples/cluster.py > cluster.yaml
  examples/cluster.py --blocks 40 --busy 0.7 -o json > large.json

The same options give the same cluster. Needs nothing but Python.
"""
import argparse
import json
import random
import re
import sys

CREATED = "2026-01-05T08:00:00Z"
RACK = "cloud.provider.com/topology-rack"
BLOCK = "cloud.provider.com/topology-block"


def metadata(name, namespace=None, **more):
    where = {} if namespace is None else {"namespace": namespace}
    return {"name": name, **where, "creationTimestamp": CREATED, **more}


def condition(kind, status, reason):
    return {"type": kind, "status": status, "reason": reason, "lastHeartbeatTime": CREATED, "lastTransitionTime": CREATED}


def node(name, block, rack, gpus, state):
    """One host. state: "ready", "cordoned", "repair" (tainted) or "lost" (not ready)."""
    size = {"cpu": "192", "memory": "2113929216Ki", "pods": "110", "nvidia.com/gpu": str(gpus)}
    taints = [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]
    spec = {"providerID": f"example:///{name}"}
    if state == "cordoned":
        spec["unschedulable"] = True
        taints.append({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
    if state == "repair":
        taints.append({"key": "example.com/repair", "value": "nvlink", "effect": "NoSchedule"})
    if state == "lost":
        taints.append({"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"})
    ready = condition("Ready", "Unknown", "NodeStatusUnknown") if state == "lost" else condition("Ready", "True", "KubeletReady")
    labels = {"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux", "kubernetes.io/hostname": name,
              "node.kubernetes.io/instance-type": "gpu-8x-h100", "cloud.provider.com/node-group": "h100", BLOCK: block, RACK: rack}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata(name, labels=labels), "spec": {**spec, "taints": taints},
            "status": {"capacity": {**size, "memory": "2147483648Ki"}, "allocatable": size,
                       "conditions": [condition("MemoryPressure", "False", "KubeletHasSufficientMemory"), ready],
                       "nodeInfo": {"kubeletVersion": "v1.34.2", "osImage": "Debian GNU/Linux 12 (bookworm)"}}}


def pod(name, namespace, host, requests, owner):
    limits = {key: value for key, value in requests.items() if "/" in key}
    container = {"name": "main", "image": "registry.example.com/ml/train:24.10",
                 "resources": {"requests": requests, **({"limits": limits} if limits else {})}}
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": metadata(name, namespace, ownerReferences=[{"apiVersion": owner[0], "kind": owner[1], "name": owner[2],
                                                                    "uid": f"00000000-0000-4000-8000-{hash_of(owner[2]):012d}",
                                                                    "controller": True}]),
            "spec": {"nodeName": host, "restartPolicy": "Never", "containers": [container],
                     "tolerations": [{"operator": "Exists"}]},
            "status": {"phase": "Running", "startTime": CREATED}}


def hash_of(text):
    """A number for a text that is the same in every run."""
    value = 0
    for character in text:
        value = (value * 131 + ord(character)) % 10 ** 12
    return value


class Cluster:
    def __init__(self, options):
        self.random = random.Random(options.seed)
        self.items, self.free, self.by_rack = [], {}, {}
        self.gpus = options.gpus
        for b in range(1, options.blocks + 1):
            for r in range(1, options.racks + 1):
                for h in range(1, options.hosts + 1):
                    self.add_host(f"b{b}", f"r{r}", f"gpu-b{b}-r{r}-{h:02}", options.trouble)
        self.fill(options.busy)

    def add_host(self, block, rack, name, trouble):
        state = "ready"
        if self.random.random() < trouble:
            state = self.random.choice(["cordoned", "repair", "lost"])
        self.items.append(node(name, block, rack, self.gpus, state))
        self.items.append(pod(f"gpu-telemetry-{name}", "monitoring", name, {"cpu": "200m", "memory": "256Mi"},
                              ("apps/v1", "DaemonSet", "gpu-telemetry")))
        if state != "lost":
            self.free[name] = self.gpus
            self.by_rack.setdefault((block, rack), []).append(name)

    def run(self, job, hosts, gpus):
        for index, host in enumerate(hosts):
            requests = {"cpu": str(gpus * 20), "memory": f"{gpus * 200}Gi", "nvidia.com/gpu": str(gpus)}
            self.items.append(pod(f"{job}-{index}", "team-research", host, requests, ("batch/v1", "Job", job)))
            self.free[host] -= gpus

    def fill(self, share):
        """Running work: gangs of whole hosts in one rack, and every third job a small one that leaves holes."""
        total = sum(self.free.values())
        number = 0
        racks = list(self.by_rack.values())
        while racks and sum(self.free.values()) > total * (1 - share):
            number += 1
            job = f"running-{number:03}"
            rack = self.random.choice(racks)
            if number % 3:
                whole = [host for host in rack if self.free[host] == self.gpus]
                self.run(job, whole[:self.random.choice([2, 4, 8, 8, 16])], self.gpus)
            else:
                gpus = self.random.choice([size for size in (1, 1, 2, 3, 4) if size <= self.gpus])
                holes = [host for host in rack if gpus <= self.free[host]]
                self.run(job, self.random.sample(holes, min(len(holes), 3)), gpus)


def scalar(value):
    """A YAML scalar, quoted where it would be read as something else."""
    if isinstance(value, (bool, int)):
        return json.dumps(value)
    plain = re.fullmatch(r"[A-Za-z_/][A-Za-z0-9_./ ()-]*(:[A-Za-z0-9_./-]+)*", value) and not value.endswith(" ")
    return value if plain and value.lower() not in ("true", "false", "null", "yes", "no", "on", "off") else json.dumps(value)


def lines(value, indent):
    """The YAML lines of a list or map, as kubectl indents them."""
    for key, item in value.items() if isinstance(value, dict) else ((None, item) for item in value):
        head = "- " if key is None else f"{scalar(key)}:"
        if isinstance(item, dict) and key is None:
            inner = list(lines(item, indent + "  "))
            yield indent + "- " + inner[0].lstrip()
            yield from inner[1:]
        elif isinstance(item, (dict, list)):
            yield indent + head
            yield from lines(item, indent + ("  " if isinstance(item, dict) else ""))
        else:
            yield indent + (head if key is None else head + " ") + scalar(item)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--blocks", type=int, default=4)
    parser.add_argument("--racks", type=int, default=8, help="racks of each block (8)")
    parser.add_argument("--hosts", type=int, default=16, help="hosts of each rack (16)")
    parser.add_argument("--gpus", type=int, default=8, help="GPUs of each host (8)")
    parser.add_argument("--busy", type=float, default=0.4, help="share of the GPUs in use (0.4)")
    parser.add_argument("--trouble", type=float, default=0.02, help="share of the hosts cordoned, in repair or lost (0.02)")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("-o", "--output", choices=["yaml", "json"], default="yaml")
    options = parser.parse_args()
    if min(options.blocks, options.racks, options.hosts, options.gpus) < 1 or not 0 <= options.busy <= 1:
        parser.error("blocks, racks, hosts and gpus are at least 1, and busy is between 0 and 1")
    answer = {"apiVersion": "v1", "items": Cluster(options).items, "kind": "List", "metadata": {"resourceVersion": ""}}
    if options.output == "json":
        json.dump(answer, sys.stdout, indent=4)
        print()
    else:
        print("\n".join(lines(answer, "")))


if __name__ == "__main__":
    main()
