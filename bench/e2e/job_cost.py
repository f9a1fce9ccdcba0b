#!/usr/bin/env python3
"""Counts what one Job in a queue costs the API server, from its creation to its end: writes, by whomever, and calls of webhooks.

  job_cost.py GANTREE [--jobs 100] [--pods 4]

On a real control plane with Gantree's webhooks: the Jobs come together, there is room for all of them, and their pods run for two seconds.
"""
import argparse
import os

from common import control_plane, request_counts, say, say_figures, webhook_counts
from harness.gantree import Gantree
from harness.queues import RACK, REQUIRED, Pool
from harness.webhooks import Webhooks

# What others do for themselves, whatever runs.
ASIDE = {"leases", "nodes", "endpoints", "endpointslices", "serviceaccounts", "configmaps", "secrets"}


def finished(pool):
    return sum(any(c["type"] == "Complete" and c["status"] == "True" for c in job.get("status", {}).get("conditions", []))
               for job in pool.cluster.list("batch/v1", "Job", pool.namespace))


def difference(after, before):
    return {what: count - before.get(what, 0) for what, count in sorted(after.items()) if count > before.get(what, 0)}


def measure(gantree, jobs, pods):
    os.environ["GANTREE"] = gantree
    cluster = control_plane()
    try:
        namespace = cluster.make_namespace("gantree")
        webhooks = Webhooks(cluster, namespace)
        replica = Gantree(cluster.kubeconfig, cluster.folder, flags=["--leader-elect=false", *webhooks.flags])
        try:
            webhooks.wait_until_asked()
            pool = Pool(cluster)
            pool.make_nodes(32, racks=max(1, jobs * pods // 256 + 1))
            pool.make_queue()
            before, asked_before = request_counts(cluster), webhook_counts(cluster)
            own_before = replica.metrics()
            for number in range(jobs):
                pool.submit_job(f"job-{number}", pods, {REQUIRED: RACK, "gantree.dev/run-for": "2s"})
            cluster.wait_for(lambda: finished(pool) == jobs, 300, "the jobs to end", every=1)
            counts = difference(request_counts(cluster), before)
            asked = difference(webhook_counts(cluster), asked_before)
            own = difference({k: v for k, v in replica.metrics().items() if k.startswith("gantree_writes_total")}, own_before)
        finally:
            replica.release()
    finally:
        cluster.stop()
    counts = {what: count for what, count in counts.items() if what.split()[1].split("/")[0] not in ASIDE}
    for title, table in (("writes that the API server carried out", counts), ("calls of webhooks", asked), ("Gantree's own writes", own)):
        say(f"{title}, a job of {pods} pods:")
        for what, count in table.items():
            say(f"  {what:64} {count / jobs:6.2f}")
    return {"jobs": jobs, "pods": pods, "writes": sum(counts.values()) / jobs, "webhook_calls": sum(asked.values()) / jobs,
            "own_writes": sum(own.values()) / jobs}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gantree")
    parser.add_argument("--jobs", type=int, default=100)
    parser.add_argument("--pods", type=int, default=4)
    options = parser.parse_args()
    say_figures(measure(options.gantree, options.jobs, options.pods))


main()
