#!/usr/bin/env python3
"""Measures queues on a real control plane: 15,000 workloads of 2, 4 and 8 pods, 30 queues in 5 cohorts, 640 nodes.

  queues.py GANTREE POD_LOAD WORKLOAD_LOAD BARE_ADMISSION [--percent 100] [--rounds 1]

The shape of Kueue's own performance test. In turn, as often as --rounds says: Gantree admits the workloads; then a bare generator does, which
makes as many writes as Gantree made and decides nothing. The figures that count are the ratio of the two, since both share one machine with
all the rest, and the time that Gantree is at work: its cycles, and all the CPU that the process takes.

What is written for a workload is counted by the API server, for all clients together.
"""
import argparse
import os
import statistics
import subprocess
import threading

from common import Load, control_plane, cpu_seconds, request_counts, resident_mib, say, say_figures, wait_for_nodes
from harness.gantree import Gantree

NODES = 640
SAY_EVERY = 30  # seconds
WORKLOADS = "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads"


def work_of(replica):
    metrics = replica.metrics()
    return {"cycle_seconds": metrics["gantree_cycle_seconds_sum"], "cycles": metrics["gantree_cycle_seconds_count"],
            "tries": metrics["gantree_placement_seconds_count"],
            "admissions": sum(value for name, value in metrics.items() if name.startswith("gantree_gangs_placed_total")),
            "cpu_seconds": cpu_seconds(replica.process.pid),
            "resident_mib": resident_mib(replica.process.pid)}


def say_work(replica, over):
    """What it has done so far, for those who have not the time to wait for the end."""
    while not over.wait(SAY_EVERY):
        say(f"so far: {work_of(replica)}")


def writes_since(cluster, before):
    """{what is written: how often} for workloads, queues and events."""
    counts = {what: count - before.get(what, 0) for what, count in request_counts(cluster).items()}
    return {what: count for what, count in counts.items()
            if count > 0 and what.split()[1].split("/")[0] in ("workloads", "clusterqueues", "localqueues", "events")}


def remove_workloads(cluster):
    """Deletes all of them, and waits until their finalizers are removed."""
    cluster.request("DELETE", WORKLOADS)
    cluster.wait_for(lambda: not cluster.request("GET", WORKLOADS, query=[("limit", "1")])["items"], 300, "the workloads to be gone")


def gantree_round(cluster, load, gantree, percent):
    os.environ["GANTREE"] = gantree
    before = request_counts(cluster)
    replica = Gantree(cluster.kubeconfig, cluster.folder, flags=["--leader-elect=false"])
    try:
        over = threading.Event()
        threading.Thread(target=say_work, args=(replica, over), daemon=True).start()
        try:
            figures = load.run("run", percent) | work_of(replica)
        finally:
            over.set()
        figures["writes"] = writes_since(cluster, before)
        remove_workloads(cluster)
    finally:
        replica.release()
    return figures


def extra_writes(figures):
    """How often why a workload waits was written, events, and statuses of queues."""
    writes = figures["writes"]
    def sum_of(*resources):
        return sum(count for what, count in writes.items() if what.split()[1] in resources)
    return (max(0, sum_of("workloads", "workloads/status") - 3 * figures["workloads"]), sum_of("events"),
            sum_of("clusterqueues", "clusterqueues/status", "localqueues", "localqueues/status"))


def bare_round(cluster, load, bare, percent, like):
    before = request_counts(cluster)
    process = subprocess.Popen([bare, cluster.kubeconfig, str(percent), *map(str, extra_writes(like))], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline().strip() == "ready"
        figures = load.run("run", percent)
    finally:
        process.terminate()
        process.wait(30)
    figures["writes"] = writes_since(cluster, before)
    remove_workloads(cluster)
    return figures


def say_writes(figures):
    for what, count in sorted(figures["writes"].items()):
        say(f"    {what:32} {count / figures['workloads']:6.2f} a workload")


def measure(gantree, pod_load, workload_load, bare, percent, rounds):
    cluster = control_plane()
    try:
        say(f"{NODES} nodes: making them")
        Load(pod_load, cluster.kubeconfig).run("nodes", NODES)
        wait_for_nodes(cluster, NODES)
        load = Load(workload_load, cluster.kubeconfig)
        load.run("setup")
        ours, theirs = [], []
        for number in range(rounds):
            ours.append(gantree_round(cluster, load, gantree, percent))
            say(f"  round {number + 1}: gantree        {ours[-1]['per_second']:6.1f} workloads/s")
            say_writes(ours[-1])
            theirs.append(bare_round(cluster, load, bare, percent, ours[-1]))
            say(f"  round {number + 1}: bare generator {theirs[-1]['per_second']:6.1f} workloads/s")
            say_writes(theirs[-1])
        last = {key: value for key, value in ours[-1].items() if key != "writes"}
        rates = [statistics.median(one["per_second"] for one in rounds_of) for rounds_of in (ours, theirs)]
        return last | {"per_second": rates[0], "bare_per_second": rates[1], "ratio": rates[0] / rates[1]}
    finally:
        cluster.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gantree")
    parser.add_argument("pod_load")
    parser.add_argument("workload_load")
    parser.add_argument("bare_admission")
    parser.add_argument("--percent", type=int, default=100, help="of the 15,000 workloads")
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    say_figures(measure(options.gantree, options.pod_load, options.workload_load, options.bare_admission, options.percent, options.rounds))


main()
