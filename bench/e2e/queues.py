#!/usr/bin/env python3
"""Measures queues on a real control plane: 15,000 workloads of 2, 4 and 8 pods, 30 queues in 5 cohorts, 640 nodes.

  queues.py GANTREE POD_LOAD WORKLOAD_LOAD [--percent 100]

The shape of Kueue's own performance test. The figure that counts is the time that Gantree is at work: its cycles, and all the CPU that
the process takes. How long it takes as a whole says how fast the API server is, and how fast the workloads come.
"""
import argparse
import os
import threading

from common import Load, control_plane, cpu_seconds, resident_mib, say, say_figures, wait_for_nodes
from harness.gantree import Gantree

NODES = 640
SAY_EVERY = 30  # seconds


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


def measure(gantree, pod_load, workload_load, percent):
    cluster = control_plane()
    try:
        say(f"{NODES} nodes: making them")
        Load(pod_load, cluster.kubeconfig).run("nodes", NODES)
        wait_for_nodes(cluster, NODES)
        load = Load(workload_load, cluster.kubeconfig)
        load.run("setup")
        os.environ["GANTREE"] = gantree
        replica = Gantree(cluster.kubeconfig, cluster.folder, flags=["--leader-elect=false"])
        try:
            say("workloads: making them, and ending each a moment after it was admitted")
            over = threading.Event()
            threading.Thread(target=say_work, args=(replica, over), daemon=True).start()
            try:
                figures = load.run("run", percent) | work_of(replica)
            finally:
                over.set()
        finally:
            replica.release()
        return figures
    finally:
        cluster.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gantree")
    parser.add_argument("pod_load")
    parser.add_argument("workload_load")
    parser.add_argument("--percent", type=int, default=100, help="of the 15,000 workloads")
    options = parser.parse_args()
    say_figures(measure(options.gantree, options.pod_load, options.workload_load, options.percent))


main()
