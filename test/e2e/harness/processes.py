"""Child processes that never outlive the tests, and ports that no two of them share.

Every child gets its own log file and its own process group, and the kernel kills it when the thread that started it
ends: start children on the main thread.
"""
import ctypes
import fcntl
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)
# Below the ports that the kernel hands out by itself, so that an outgoing connection cannot take one of ours.
PORTS = range(20000, 32000)
FOLDER_PREFIX = "gantree-e2e-"


def _die_with_parent():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Port:
    """A free port of 127.0.0.1. Locked by a file, so that runs beside this one choose others."""

    def __init__(self):
        locks = pathlib.Path(tempfile.gettempdir()) / f"{FOLDER_PREFIX}ports-{os.getuid()}"
        locks.mkdir(exist_ok=True)
        for _ in range(1000):
            self.number = random.SystemRandom().choice(PORTS)
            self._lock = open(locks / str(self.number), "w")
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                with socket.socket() as probe:
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    probe.bind(("127.0.0.1", self.number))
                return
            except OSError:
                self._lock.close()
        raise RuntimeError("there is no free port on 127.0.0.1")

    def release(self):
        self._lock.close()

    def __str__(self):
        return str(self.number)


class Process:
    """A running child. `stop` asks it to end and waits; `kill` does not ask."""

    def __init__(self, name, command, log, environment=None):
        self.name = name
        self.command = [str(part) for part in command]
        self.log = pathlib.Path(log)
        self._environment = environment or {}
        self._child = None
        self.start()

    def start(self):
        # Appended to, so that the log of a restarted child tells of all its lives.
        with open(self.log, "ab") as log:
            self._child = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                           env=os.environ | self._environment, start_new_session=True,
                                           preexec_fn=_die_with_parent)

    @property
    def pid(self):
        return self._child.pid

    @property
    def running(self):
        return self._child.poll() is None

    @property
    def exit_status(self):
        return self._child.poll()

    def signal(self, number):
        if self.running:
            os.kill(self.pid, number)

    def kill(self):
        """As `kill -9`; returns once the child is gone."""
        if self.running:
            os.killpg(self.pid, signal.SIGKILL)
        self._child.wait()

    def stop(self, timeout=10.0):
        """SIGTERM, then SIGKILL after the timeout. The exit status, or None where it had to be killed."""
        self.signal(signal.SIGTERM)
        try:
            return self._child.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            return None

    def tail(self, lines=30):
        if not self.log.exists():
            return ""
        with open(self.log, "rb") as log:
            log.seek(max(0, self.log.stat().st_size - 200 * lines))
            return "\n".join(log.read().decode(errors="replace").splitlines()[-lines:])


def wait_until(predicate, timeout, what, every=0.05):
    """The first true value of the predicate. An assertion error that says `what` did not come in time."""
    deadline = time.monotonic() + timeout
    while True:
        value = predicate()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {timeout:g} s in vain for {what() if callable(what) else what}")
        time.sleep(every)


def _folder_of_the_dead(folder):
    owner = folder.name.removeprefix(FOLDER_PREFIX).split("-")[0]
    return owner.isdigit() and not pathlib.Path("/proc", owner).exists()


def own_folder():
    """A temporary folder; ones that killed runs left behind are removed on the way."""
    for folder in pathlib.Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}*-*"):
        if _folder_of_the_dead(folder):
            shutil.rmtree(folder, ignore_errors=True)
    return pathlib.Path(tempfile.mkdtemp(prefix=f"{FOLDER_PREFIX}{os.getpid()}-"))

