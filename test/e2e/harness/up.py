"""`gantree up` as a process under test, and the plainest of clients for it."""
import http.client
import json
import ssl
import urllib.parse

import yaml

from harness.gantree import binary
from harness.processes import Process, wait_until

# What a client sees of a server that dies under it.
GONE = (OSError, http.client.HTTPException, ValueError)
PATCHES = {"apply": "application/apply-patch+yaml", "merge": "application/merge-patch+json", "json": "application/json-patch+json",
           "strategic": "application/strategic-merge-patch+json"}


class UpProcess:
    """The cluster in a folder, which may be started again after it was killed."""

    def __init__(self, folder, flags=("--no-scheduler",)):
        self._folder = folder
        self._flags = flags
        self._lives = 0
        self.process = None
        self.revision = 0  # what a test last found it at
        self.server = None
        self.token = None

    def launch(self):
        """Starts it and does not wait."""
        self._lives += 1
        log = self._folder / f"up-{self._lives}.log"
        self.process = Process("up", [binary(), "up", "--listen", "127.0.0.1:0", "--data", self._folder / "data", *self._flags], log)

    def start(self):
        """Starts it and returns when it answers."""
        self.launch()
        wait_until(lambda: "Ctrl-C" in self.process.tail() or not self.process.running, 60,
                   lambda: f"up to be up:\n{self.process.tail()}", every=0.01)
        assert self.process.running, self.process.tail()
        config = yaml.safe_load((self._folder / "data" / "kubeconfig").read_text())
        self.server = urllib.parse.urlparse(config["clusters"][0]["cluster"]["server"])
        self.token = config["users"][0]["user"]["token"]

    def client(self, timeout=10):
        return Client(self.server, self.token, timeout)


class Client:
    """One connection, used by one thread."""

    def __init__(self, server, token, timeout):
        self._connection = http.client.HTTPSConnection(server.hostname, server.port, timeout=timeout,
                                                       context=ssl._create_unverified_context())
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}

    def close(self):
        self._connection.close()

    def call(self, method, path, body=None, kind="application/json"):
        """(status, answer)"""
        self._connection.request(method, path, None if body is None else json.dumps(body), {**self._headers, "Content-Type": kind})
        answer = self._connection.getresponse()
        return answer.status, json.loads(answer.read())

    def patch(self, how, path, body):
        return self.call("PATCH", path, body, PATCHES[how])

    def list(self, path):
        status, answer = self.call("GET", path)
        assert status == 200, answer
        return answer

    def watch(self, path):
        """Events as they come, until the stream ends."""
        self._connection.request("GET", path, headers=self._headers)
        answer = self._connection.getresponse()
        assert answer.status == 200, answer.read()
        while True:
            line = answer.readline()
            if not line.endswith(b"\n"):
                return
            yield json.loads(line)
