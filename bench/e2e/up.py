#!/usr/bin/env python3
"""Measures `gantree up` as an API server, and a real kube-apiserver with etcd on the same machine in the same run.

  up.py GANTREE API_LOAD [--only start,writes,fanout,kubectl] [--nodes 1000,100000] [--count 4000] [--in-flight 1,16,96]

The real one runs alone, without controllers or scheduler, so those of `gantree up` are paused; and as it is shipped: etcd waits for the disk,
as `gantree up` does. `--no-fsync` adds a round in which etcd does not.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

from common import E2E, cpu_seconds, resident_mib, say, say_figures, stop_with  # puts the harness on the path

from harness.control_plane import ControlPlane
from harness.processes import Process, wait_until

SHAPES = {1_000: "blocks=5,racks=10,hosts=20,gpus=8", 10_000: "blocks=10,racks=25,hosts=40,gpus=8", 100_000: "blocks=50,racks=50,hosts=40,gpus=8"}


class BareControlPlane(ControlPlane):
    """etcd and kube-apiserver, and nobody else."""

    def __init__(self, built, fsync=True):
        self._fsync = fsync
        super().__init__(built, ("--disable-admission-plugins", "ServiceAccount,TaintNodesByCondition", "--audit-log-path="))

    def _start(self):
        self._start_bare()
        self._wait_for_https("kube-apiserver", "/readyz")

    def _run(self, name, *arguments, environment=None):
        if self._fsync:
            arguments = [argument for argument in arguments if argument != "--unsafe-no-fsync"]
        super()._run(name, *arguments, environment=environment)

    @property
    def pids(self):
        return [self._parts[name].pid for name in ("etcd", "kube-apiserver")]


class Up:
    """`gantree up` in a folder of its own."""

    def __init__(self, gantree, *flags, folder=None):
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix="gantree-bench-"))
        self.began = time.monotonic()
        self.process = Process("up", [gantree, "up", "--listen", "127.0.0.1:0", "--data", self.folder / "data", *flags],
                               self.folder / f"log-{len(list(self.folder.glob('log-*')))}")
        self.kubeconfig = self.folder / "data" / "kubeconfig"

    def wait(self):
        wait_until(lambda: "Ctrl-C" in self.process.tail() or not self.process.running, 300, lambda: f"up to be up:\n{self.process.tail()}", every=0.01)
        if not self.process.running:
            stop_with(self.process.tail())
        return time.monotonic() - self.began

    def stop(self, keep=False):
        self.process.stop(30)
        if not keep:
            shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def pids(self):
        return [self.process.pid]


def peak_mib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0.0


def kubectl(program, kubeconfig, *arguments):
    began = time.monotonic()
    done = subprocess.run([program, "--kubeconfig", kubeconfig, *arguments], capture_output=True, text=True, check=True,
                          env={"HOME": str(pathlib.Path(kubeconfig).parent), "PATH": os.environ["PATH"]})
    return time.monotonic() - began, done.stdout


def settle(pid):
    """Until the process is nearly idle."""
    for _ in range(120):
        before = cpu_seconds(pid)
        time.sleep(1)
        if cpu_seconds(pid) - before < 0.1:
            return


def measure_start(gantree, program, nodes):
    flags = ["--generate", SHAPES[nodes]]
    for what, folder, given in [("from nothing", None, flags), ("from disk", "the same", [])]:
        up = Up(gantree, *given, folder=folder and kept)
        seconds = up.wait()
        spent = cpu_seconds(up.process.pid)
        count = len(kubectl(program, up.kubeconfig, "get", "nodes", "-o", "name")[1].splitlines())
        if count != nodes:
            stop_with(f"there are {count} nodes in place of {nodes}")
        first = time.monotonic() - up.began
        peak = peak_mib(up.process.pid)
        settle(up.process.pid)
        say_figures({"what": f"start {what}", "nodes": nodes, "up_seconds": seconds, "cpu_seconds": spent, "all_nodes_listed_seconds": first,
                     "peak_mib": peak, "settled_mib": resident_mib(up.process.pid)})
        kept = up.folder
        up.stop(keep=what == "from nothing")


def loaded(load, kubeconfig, *words):
    out = subprocess.run([load, kubeconfig, *map(str, words)], check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(out.splitlines()[-1])


def measure_writes(load, program, server, count, in_flight):
    """Rates by what was done and how many at a time."""
    rates = {}
    for number in in_flight:
        so_many = count if number > 4 else max(count // 8, 200)
        # Pods on nodes that are not there are removed by controllers sooner or later: those that are bound come last and stay.
        bound = f"bound{number}"
        kubectl(program, server.kubeconfig, "create", "namespace", bound)
        for verb, kind, namespace in [("create", "configmaps", "default"), ("patch", "configmaps", "default"), ("remove", "configmaps", "default"),
                                      ("create", "pods", "default"), ("patch", "pods", "default"), ("remove", "pods", "default"),
                                      ("create", "pods", bound), ("bind", "pods", bound)]:
            before = sum(map(cpu_seconds, server.pids))
            figures = loaded(load, server.kubeconfig, verb, kind, namespace, so_many, number)
            figures["server_cpu_ms"] = (sum(map(cpu_seconds, server.pids)) - before) / so_many * 1000
            rates.setdefault((f"{verb} {kind}", number), figures)
    return rates


def measure_fan_out(load, server, count):
    for watchers in (1, 10, 100):
        so_many = count if watchers < 100 else count // 4
        figures = loaded(load, server.kubeconfig, "fanout", "configmaps", "default", so_many, 32, watchers)
        loaded(load, server.kubeconfig, "remove", "configmaps", "default", so_many, 32)
        yield figures


def measure_kubectl(load, program, server, pods):
    loaded(load, server.kubeconfig, "create", "pods", "default", pods, 96)
    rows = {}
    for what, arguments in {"get pods": [], "get pods -o wide": ["-o", "wide"], "get pods -o json": ["-o", "json"],
                            "get pods -l": ["-l", "part=p3"]}.items():
        times = [kubectl(program, server.kubeconfig, "get", "pods", *arguments) for _ in range(3)]
        rows[what] = min(seconds for seconds, _ in times)
    rows["resident_mib"] = sum(map(resident_mib, server.pids))
    loaded(load, server.kubeconfig, "remove", "pods", "default", pods, 96)
    return rows


def real_servers(built, no_fsync):
    yield "kube-apiserver and etcd", lambda: BareControlPlane(built)
    if no_fsync:
        yield "the same, etcd without fsync", lambda: BareControlPlane(built, fsync=False)


def compare(options, built, program):
    figures = {}
    servers = [("gantree up", lambda: bare(Up(options.gantree, "--no-scheduler"), program)), *real_servers(built, options.no_fsync)]
    for name, start in servers:
        server = start()
        try:
            if "writes" in options.only:
                rates = measure_writes(options.api_load, program, server, options.count, options.in_flight)
                figures[name] = rates
                for (what, number), one in rates.items():
                    say(f"{name:28}  {what:18} {number:3} at a time: {one['per_second']:8.0f}/s, {one['server_cpu_ms']:.2f} ms of the server's CPU")
            if "fanout" in options.only:
                for one in measure_fan_out(options.api_load, server, options.count):
                    say(f"{name:28}  {one['watchers']:3} watchers: {one['events_per_second']:9.0f} events/s, {one['megabytes_per_second']:.0f} MB/s, "
                        f"{one['writes_per_second']:.0f} writes/s")
            if "kubectl" in options.only:
                rows = measure_kubectl(options.api_load, program, server, 10_000)
                say(f"{name:28}  10,000 pods: " + ", ".join(f"{what} {value:.2f}" for what, value in rows.items()))
        finally:
            server.stop()
    if "writes" in options.only:
        ours, real = (figures[name] for name in ("gantree up", "kube-apiserver and etcd"))
        for key, one in ours.items():
            say(f"{key[0]:18} {key[1]:3} at a time: {one['per_second'] / real[key]['per_second']:.1f} times the real one")


def bare(up, program):
    """The API server, and nobody at work beside it."""
    up.wait()
    kubectl(program, up.kubeconfig, "annotate", "namespace", "kube-system", "gantree.dev/pause=controllers,scheduler,kubelets")
    return up


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gantree")
    parser.add_argument("api_load")
    parser.add_argument("--only", default="start,writes,fanout,kubectl", type=lambda text: text.split(","))
    parser.add_argument("--nodes", default="1000,100000", type=lambda text: [int(n) for n in text.split(",")])
    parser.add_argument("--count", type=int, default=4000)
    parser.add_argument("--in-flight", default="1,16,96", type=lambda text: [int(n) for n in text.split(",")])
    parser.add_argument("--no-fsync", action="store_true")
    options = parser.parse_args()
    built = subprocess.run([E2E / "control_plane" / "build"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip().splitlines()[-1]
    program = pathlib.Path(built) / "bin" / "kubectl"
    if "start" in options.only:
        for nodes in options.nodes:
            measure_start(options.gantree, program, nodes)
    if set(options.only) & {"writes", "fanout", "kubectl"}:
        compare(options, built, program)


main()
