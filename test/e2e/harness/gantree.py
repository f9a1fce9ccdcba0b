"""Gantree as a process under test: started as its users start it, watched by its own endpoints, killed and restarted at will."""
import copy
import functools
import os
import pathlib
import re
import signal
import subprocess
import urllib.error
import urllib.request

import yaml

from harness.processes import Port, Process, wait_until

READY_TIMEOUT = 30.0
STOP_TIMEOUT = 30.0
SAMPLE = re.compile(r"^([a-zA-Z_:][a-zA-Z0-9_:]*(?:\{[^}]*\})?) (\S+)$")


def binary():
    """The program under test: what GANTREE names, else what `make build` leaves."""
    return pathlib.Path(os.environ.get("GANTREE", pathlib.Path(__file__).parents[3] / "bin" / "gantree"))


def installation():
    """The objects that `gantree install` would apply."""
    return copy.deepcopy(_installation())


@functools.lru_cache
def _installation():
    printed = subprocess.run([binary(), "install", "--dry-run"], capture_output=True, text=True, check=True, timeout=60)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return [manifest for manifest in yaml.load_all(printed.stdout, loader) if manifest]


class Gantree:
    """One replica of `gantree run`. Ready once constructed."""

    def __init__(self, kubeconfig, folder, name="gantree", flags=(), wait=True):
        self.name = name
        self._port = Port()
        command = [binary(), "run", "--kubeconfig", kubeconfig, "--listen", f"127.0.0.1:{self._port}", *flags]
        self.process = Process(name, command, folder / f"{name}-{self._port}.log")
        if wait:
            self.wait_until_ready()

    def wait_until_ready(self, timeout=READY_TIMEOUT):
        wait_until(self._ready_or_dead, timeout, lambda: f"{self.name} to be ready:\n{self.process.tail()}")
        assert self.process.running, f"{self.name} ended with {self.process.exit_status}:\n{self.process.tail()}"

    def _ready_or_dead(self):
        return not self.process.running or self.get("/readyz")[0] == 200

    def get(self, path):
        """(status, text) of one of its own pages; status 0 where it does not answer."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._port}{path}", timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            return 0, ""

    def metrics(self):
        """{sample with its labels: value} of /metrics."""
        status, text = self.get("/metrics")
        assert status == 200, f"/metrics answered {status}"
        samples = (SAMPLE.match(line) for line in text.splitlines())
        return {sample.group(1): float(sample.group(2)) for sample in samples if sample}

    def kill(self):
        self.process.kill()

    def pause(self):
        self.process.signal(signal.SIGSTOP)

    def go_on(self):
        self.process.signal(signal.SIGCONT)

    def restart(self):
        """Starts it again after it was killed or stopped."""
        assert not self.process.running
        self.process.start()
        self.wait_until_ready()

    def stop(self):
        """SIGTERM; it must end by itself, and well."""
        status = self.process.stop(STOP_TIMEOUT)
        assert status == 0, f"{self.name} was told to stop and ended with {status}:\n{self.process.tail()}"

    def log(self):
        return self.process.log.read_text(errors="replace")

    def logs(self, lines=60):
        return {self.name: self.process.tail(lines)}

    def release(self):
        """Ends it whatever state it is in."""
        self.process.kill()
        self._port.release()
