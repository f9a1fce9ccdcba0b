"""`make demo`, once built: in a pipe it runs to its end by itself, on a terminal it leaves the cluster running."""
import os
import pathlib
import pty
import re
import select
import signal
import socket
import subprocess
import time

import pytest

from harness.gantree import binary
from harness.processes import wait_until

DEMO = pathlib.Path(__file__).parents[2] / "examples" / "demo"
NEVER = {"team-research/impossible-rack": ("TopologyTooLarge", "no rack can hold all 20 pods"),
         "team-inference/evaluate-everything": ("QuotaExceeded", 'ClusterQueue "inference" gives 256 nvidia.com/gpu in flavor "h100": 320 are needed'),
         "team-research/wrong-level": ("NoMatchingFlavor", 'Topology "gpu-fabric" has no level "cloud.provider.com/topology-row"')}
# Together they are more than the team's quota: which of them wait depends on which came first.
LAST = {f"team-research/{name}" for name in ("all-reduce-benchmark", "hyperparameter-search", "mixture-of-experts", "pipeline-180b", "pretrain-13b",
                                            "pretrain-34b", "pretrain-8b", "rlhf", "sweep", "tensor-parallel-7b", "embed-corpus", "finetune-70b")}
ALWAYS = {f"team-research/story-{name}": kind for name, kind in {
    "1a": "Job", "1b": "Job", "2": "JobSet", "3": "JobSet", "4": "Job", "5": "JobSet", "6": "LeaderWorkerSet",
    "8": "LeaderWorkerSet", "9": "Job"}.items()} | {
    "team-research/index-offset": "StatefulSet", "team-research/store": "StatefulSet", "team-research/trio": "Pod", "team-research/tune-driver": "PodGroup",
    "team-inference/embedding-service": "Job", "team-inference/zz-serve-405b": "Job"}


def environment(**more):
    """Where the demo must find its own cluster by itself."""
    return {**os.environ, "GANTREE": str(binary()), "COLUMNS": "200", "KUBECONFIG": "/nowhere", **more}


def in_a_pipe(folder, **more):
    return subprocess.run([DEMO, folder], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=150, env=environment(**more))


def nobody_listens(text):
    port = int(re.search(r"up at https://127\.0\.0\.1:(\d+)", text)[1])
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


def gangs_of(picture):
    """({name: (kind, where)} of those that run, {name: (reason, sentence)} of those that wait)"""
    running, waiting = picture.split("\nRunning ")[1].split("\nWaiting ")
    runs = {match[1]: (match[2], match[3]) for match in re.finditer(r"(?m)^\S  (team-\S+) +(\w+) +\d+ +\d+  (.+)$", running)}
    waits = {match[1]: (match[2], " ".join(match[3].split()))
             for match in re.finditer(r"(?m)^   (team-\S+) +\w+ +\d+  (\w+)\n((?:     .*\n)*)", waiting)}
    return runs, waits


def test_in_a_pipe_it_starts_what_can_start_says_why_the_rest_waits_and_ends(tmp_path):
    done = in_a_pipe(tmp_path / "demo")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == "" and "\x1b" not in done.stdout
    runs, waits = gangs_of(done.stdout)
    assert {name: runs.get(name, "no")[0] for name in ALWAYS} == ALWAYS, done.stdout
    assert re.fullmatch(r"b\d/r\d: 3 hosts", runs["team-research/story-1a"][1]), "a gang did not land in one rack"
    assert sum(name.startswith("team-research/answers-") for name in runs) == 8, "the Deployment does not run"
    for name, (reason, sentence) in NEVER.items():
        assert waits[name][0] == reason and sentence in waits[name][1], waits[name]
        assert name.split("/")[1] in done.stdout.split("never start:")[1]
    for name in waits.keys() - NEVER:
        assert name in LAST and waits[name][0] == "QuotaExceeded", f"{name}: {waits[name]}"
    assert waits.keys() - NEVER and LAST - waits.keys() <= runs.keys()
    assert nobody_listens(done.stdout)


def test_it_fails_where_its_jobs_are_refused(tmp_path):
    refusing = tmp_path / "gantree"
    refusing.write_text(f'#!/bin/sh\ncase "$*" in *examples/jobs*) echo refused >&2; exit 1;; esac\nexec {binary()} "$@"\n')
    refusing.chmod(0o755)
    done = in_a_pipe(tmp_path / "demo", GANTREE=str(refusing))
    assert done.returncode == 1 and done.stderr == "refused\n", done.stderr
    assert "gantree top" not in done.stdout and nobody_listens(done.stdout)


def test_it_fails_in_a_sentence_where_the_cluster_does_not_come_up(tmp_path):
    broken = tmp_path / "gantree"
    broken.write_text("#!/bin/sh\necho no room >&2; exit 1\n")
    broken.chmod(0o755)
    done = in_a_pipe(tmp_path / "demo", GANTREE=str(broken))
    assert (done.returncode, done.stderr) == (1, "no room\ndemo: the cluster did not come up\n")


def test_it_leaves_nothing_running_where_its_reader_goes(tmp_path):
    with subprocess.Popen([DEMO, tmp_path / "demo"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=environment()) as demo:
        first = "".join(demo.stdout.readline() for _ in range(3))
        demo.stdout.close()
        demo.wait(60)
    assert nobody_listens(first)


class Terminal:
    """The demo on a terminal of its own."""

    def __init__(self, folder):
        self.pid, self._screen = pty.fork()
        if self.pid == 0:
            # Whoever started the tests in the background may have had it ignored.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.execve(DEMO, [str(DEMO), str(folder)], environment(TERM="xterm"))
        self.text = ""

    def wait_for(self, words, seconds=60):
        deadline = time.monotonic() + seconds
        while words not in self.text:
            assert time.monotonic() < deadline and self._read(), f"{words!r} did not come:\n{self.text[-3000:]}"

    def _read(self):
        if select.select([self._screen], [], [], 0.2)[0]:
            try:
                self.text += os.read(self._screen, 1 << 16).decode(errors="replace")
            except OSError:  # the other end is closed
                return False
        return True

    def press(self, key):
        os.write(self._screen, key)

    def ended(self):
        self._read()
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        return (os.waitstatus_to_exitcode(status),) if pid else None

    def end(self):
        try:
            os.kill(self.pid, signal.SIGTERM)
            wait_until(self.ended, 20, "the demo to end")
        except (ProcessLookupError, ChildProcessError):
            pass


@pytest.fixture
def terminal(tmp_path):
    terminal = Terminal(tmp_path / "demo")
    yield terminal
    terminal.end()


def test_on_a_terminal_it_shows_a_live_view_and_leaves_the_cluster_running_until_ctrl_c(terminal):
    terminal.wait_for("q: leave, the cluster goes on")
    terminal.press(b"q")
    terminal.wait_for("The cluster goes on until you press Ctrl-C.")
    assert terminal.text.count("Three things to try") == 1
    kubeconfig = re.search(r"export KUBECONFIG=([^)\s]+)\)", terminal.text)[1]
    assert not nobody_listens(terminal.text)
    explained = subprocess.run([binary(), "explain", "job/impossible-rack", "-n", "team-research", "--kubeconfig", kubeconfig],
                               capture_output=True, text=True, timeout=30)
    assert "no rack can hold all 20 pods" in explained.stdout, explained
    terminal.press(b"\x03")
    assert wait_until(terminal.ended, 20, lambda: f"the demo to end:\n{terminal.text[-2000:]}") == (0,)
    assert nobody_listens(terminal.text)


def test_on_a_terminal_ctrl_c_in_the_live_view_leaves_it_and_a_second_one_ends_it_all(terminal):
    terminal.wait_for("q: leave, the cluster goes on")
    terminal.press(b"\x03")
    terminal.wait_for("The cluster goes on until you press Ctrl-C.")
    assert not nobody_listens(terminal.text)
    terminal.press(b"\x03")
    assert wait_until(terminal.ended, 20, lambda: f"the demo to end:\n{terminal.text[-2000:]}") == (0,)
    assert nobody_listens(terminal.text)


def test_a_second_demo_does_not_take_the_first_ones_folder(terminal, tmp_path):
    terminal.wait_for("q: leave, the cluster goes on")
    second = in_a_pipe(tmp_path / "demo")
    assert second.returncode == 1 and "a cluster runs in" in second.stderr and "already" in second.stderr, second
    assert not nobody_listens(terminal.text)
    terminal.press(b"q")
    terminal.wait_for("The cluster goes on until you press Ctrl-C.")
