"""`gantree top` on a terminal, on the cluster of `gantree up`."""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

import pytest

from harness.gantree import binary
from harness.processes import Process, wait_until

ROWS, COLUMNS = 6, 100  # fewer rows than the picture has lines


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory):
    folder = tmp_path_factory.mktemp("top")
    up = Process("up", [binary(), "up", "--listen", "127.0.0.1:0", "--data", folder / "data", "--in-memory", "--generate",
                        "blocks=2,racks=8,hosts=4,gpus=8"], folder / "up.log")
    wait_until(lambda: "Ctrl-C" in up.tail() or not up.running, 60, lambda: f"up to be up:\n{up.tail()}")
    yield folder / "data" / "kubeconfig"
    up.stop()


class Terminal:
    """`gantree top` on a screen of ROWS and COLUMNS."""

    def __init__(self, kubeconfig):
        self.pid, self._end = pty.fork()
        if self.pid == 0:
            os.execve(binary(), ["gantree", "top", "--kubeconfig", str(kubeconfig), "--color", "never"],
                      {**os.environ, "TERM": "xterm", "LC_ALL": "C"})
        fcntl.ioctl(self._end, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.rows = [""] * ROWS
        self.drawn = 0  # rows, so far
        self._rest = ""

    def press(self, keys):
        os.write(self._end, keys)

    def look(self, seconds=0.1):
        """Takes in what was drawn."""
        deadline = time.monotonic() + seconds
        while select.select([self._end], [], [], max(deadline - time.monotonic(), 0))[0]:
            self._rest += os.read(self._end, 1 << 16).decode()
            *whole, self._rest = re.split(r"(?=\x1b\[\d+;1H)", self._rest)
            for part in whole + ([self._rest] if self._rest.endswith("\x1b[0m") else []):
                if move := re.match(r"\x1b\[(\d+);1H", part):
                    self.rows[min(int(move[1]), ROWS) - 1] = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", part)
                    self.drawn += 1
            if self._rest.endswith("\x1b[0m"):
                self._rest = ""
        return self.rows

    def wait_for(self, condition, what, seconds=20):
        wait_until(lambda: self.look() and condition(self.rows), seconds, lambda: f"{what}:\n" + "\n".join(self.rows))

    def close(self):
        os.close(self._end)
        wait_until(lambda: os.waitpid(self.pid, os.WNOHANG)[0], 20, "top to end with its terminal")


@pytest.fixture
def top(kubeconfig):
    terminal = Terminal(kubeconfig)
    terminal.wait_for(lambda rows: "64 hosts" in rows[0] and "q: leave" in rows[-1], "the first picture")
    yield terminal
    terminal.close()


@pytest.fixture
def lines(kubeconfig):
    done = subprocess.run([binary(), "top", "--once", "--kubeconfig", kubeconfig], capture_output=True, text=True, timeout=30,
                          env={**os.environ, "COLUMNS": str(COLUMNS), "LC_ALL": "C"})
    return done.stdout.splitlines()


@pytest.mark.parametrize("keys", [b"jj", b"\x1b[B\x1b[B", b"\x1bOB\x1bOB", b"jjjk"], ids=["letters", "arrows", "application mode", "up again"])
def test_keys_that_come_together_all_count(top, lines, keys):
    top.press(keys)
    top.wait_for(lambda rows: rows[0] == lines[2] and rows[1] == lines[3], f"the third line above\n{lines[:4]}")


def test_a_key_that_comes_in_parts_counts(top, lines):
    top.press(b"\x1b")
    time.sleep(0.05)
    top.press(b"[B")
    top.wait_for(lambda rows: rows[0] == lines[1], f"the second line above: {lines[:4]}")


def test_the_clock_goes_on_and_nothing_else_is_drawn(top):
    def clock():
        return top.look()[-1].split()[0]

    top.look(1.5)
    first, drawn = clock(), top.drawn
    wait_until(lambda: clock() not in (first, ""), 5, "the clock to go on")
    second = clock()
    wait_until(lambda: clock() != second, 5, "the clock to go on again")
    assert top.drawn - drawn <= 3, "more is drawn than the clock"


def test_q_leaves_the_view_and_the_cluster_goes_on(top, kubeconfig):
    assert "q: leave, the cluster goes on" in top.rows[-1]
    top.press(b"xq")
    wait_until(lambda: os.waitid(os.P_PID, top.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT), 10, "top to end")
    subprocess.run([binary(), "get", "queues", "--kubeconfig", kubeconfig], check=True, timeout=30)
