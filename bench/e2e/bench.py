#!/usr/bin/env python3
"""Measures `gantree run` on a real control plane against a bare load generator on the same one.

  bench.py GANTREE POD_LOAD [--nodes 5000,20000] [--pods 5000] [--gang 50] [--rounds 3]

For each number of nodes a control plane is started. In turn, as often as --rounds says: pods are made and bound by the bare generator;
pods are made, Gantree is started, and binds them. The rate is that of the middle of all rounds, as a watch sees it: from the first
pod that has a node to the last. The figure that counts is the ratio, since both share one machine with all the rest.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
E2E = HERE.parent.parent / "test" / "e2e"
sys.path.insert(0, str(E2E))

from kubernetes.client.exceptions import ApiException  # noqa: E402

from harness.cluster import manifests_of  # noqa: E402
from harness.control_plane import ControlPlane  # noqa: E402

IDLE_SECONDS = 20.0


def say(text):
    print(text, flush=True)


class Load:
    def __init__(self, program, kubeconfig):
        self._command = [str(program), str(kubeconfig)]

    def run(self, *words):
        out = subprocess.run([*self._command, *map(str, words)], check=True, capture_output=True, text=True).stdout
        return json.loads(out.splitlines()[-1])

    def watch(self, namespace, count):
        """A watch that has begun; communicate() gives its line."""
        process = subprocess.Popen([*self._command, "watch", namespace, str(count)], stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline().strip() == "ready"
        return process


def seen_by(watch):
    out, _ = watch.communicate(timeout=900)
    if watch.returncode != 0:
        sys.exit("bench.py: the watch failed")
    return json.loads(out.splitlines()[-1])


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
    sys.exit("bench.py: the nodes did not become ready")


def empty(cluster, namespace):
    while cluster.core.list_namespaced_pod(namespace, limit=1).items:
        try:
            cluster.core.delete_collection_namespaced_pod(namespace, grace_period_seconds=0)
        except ApiException as error:
            if error.status != 504:  # the server stops after a minute, wherever it is
                raise
        time.sleep(0.5)


def bare_round(cluster, load, number, pods):
    namespace = cluster.make_namespace(f"bare{number}")
    load.run("pods", namespace, "nobody", pods, 0)
    watch = load.watch(namespace, pods)
    load.run("bind", namespace)
    seen = seen_by(watch)
    empty(cluster, namespace)
    return seen


def gantree_round(cluster, load, gantree, number, pods, gang):
    namespace = cluster.make_namespace(f"gang{number}")
    load.run("pods", namespace, "gantree", pods, gang)
    watch = load.watch(namespace, pods)
    started = time.monotonic()
    with open(cluster.folder / f"gantree-{number}.log", "w") as log:
        process = subprocess.Popen([gantree, "run", "--kubeconfig", cluster.kubeconfig, "--listen", "", "--namespace", "kube-system"],
                                   stderr=log)
        try:
            seen = seen_by(watch)
            seen["start_up"] = seen["first"] - started
            seen["cpu"] = cpu_seconds(process.pid)
            time.sleep(45)  # statuses and events follow, and the simulated pods start to run
            seen["resident_mib"] = resident_mib(process.pid)
            before = cpu_seconds(process.pid)
            time.sleep(IDLE_SECONDS)
            seen["idle_cpu_percent"] = (cpu_seconds(process.pid) - before) / IDLE_SECONDS * 100
        finally:
            process.terminate()
            process.wait(30)
    empty(cluster, namespace)
    return seen


def middle(rounds, key):
    return statistics.median(round[key] for round in rounds)


def measure(built, gantree, pod_load, nodes, pods, gang, rounds):
    # Nodes are made ready; without this each would wait for a controller to take a taint away, ten minutes for 20,000.
    cluster = ControlPlane(built, ("--disable-admission-plugins", "TaintNodesByCondition"))
    try:
        for file in sorted((HERE.parent.parent / "deploy" / "crds").glob("*.yaml")):
            for definition in manifests_of(file):
                cluster.create(definition)
                cluster.wait_until_served(definition["spec"])
        load = Load(pod_load, cluster.kubeconfig)
        say(f"{nodes} nodes: making them")
        load.run("nodes", nodes)
        wait_for_nodes(cluster, nodes)
        bare, ours = [], []
        for number in range(rounds):
            bare.append(bare_round(cluster, load, number, pods))
            say(f"  round {number + 1}: bare generator {bare[-1]['per_second']:7.1f} pods/s")
            ours.append(gantree_round(cluster, load, gantree, number, pods, gang))
            one = ours[-1]
            say(f"  round {number + 1}: gantree        {one['per_second']:7.1f} pods/s, first pod after {one['start_up']:.2f} s, "
                f"{one['cpu']:.2f} s of CPU, {one['resident_mib']:.0f} MiB, idle {one['idle_cpu_percent']:.2f} % of a core")
        return {"nodes": nodes, "pods": pods, "gang": gang,
                "bare_per_second": middle(bare, "per_second"), "gantree_per_second": middle(ours, "per_second"),
                "ratio": middle(ours, "per_second") / middle(bare, "per_second"), "start_up_seconds": middle(ours, "start_up"),
                "resident_mib": middle(ours, "resident_mib"), "idle_cpu_percent": middle(ours, "idle_cpu_percent")}
    finally:
        cluster.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gantree")
    parser.add_argument("pod_load")
    parser.add_argument("--nodes", default="5000,20000")
    parser.add_argument("--pods", type=int, default=5000)
    parser.add_argument("--gang", type=int, default=50, help="pods of a gang; 0 for pods of no gang")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    built = subprocess.run([E2E / "control_plane" / "build"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip().splitlines()[-1]
    for nodes in map(int, options.nodes.split(",")):
        figures = measure(built, options.gantree, options.pod_load, nodes, options.pods, options.gang, options.rounds)
        say(json.dumps({key: round(value, 3) if isinstance(value, float) else value for key, value in figures.items()}))


main()
