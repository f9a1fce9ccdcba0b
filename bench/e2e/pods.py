#!/usr/bin/env python3
"""Measures `gantree run` on a real control plane against a bare load generator on the same one.

  pods.py GANTREE POD_LOAD [--nodes 5000,20000] [--pods 5000] [--gang 50] [--rounds 3]

For each number of nodes a control plane is started. In turn, as often as --rounds says: pods are made and bound by the bare generator;
pods are made, Gantree is started, and binds them. The rate is that of the middle of all rounds, as a watch sees it: from the first
pod that has a node to the last. The figure that counts is the ratio, since both share one machine with all the rest.
"""
import argparse
import statistics
import subprocess
import time

from common import Load, control_plane, cpu_seconds, empty, resident_mib, say, say_figures, seen_by, wait_for_nodes

IDLE_SECONDS = 20.0


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


def measure(gantree, pod_load, nodes, pods, gang, rounds):
    cluster = control_plane()
    try:
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
    for nodes in map(int, options.nodes.split(",")):
        figures = measure(options.gantree, options.pod_load, nodes, options.pods, options.gang, options.rounds)
        say_figures(figures)


main()
