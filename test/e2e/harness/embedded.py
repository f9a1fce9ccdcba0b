"""The embedded cluster, `gantree up`, in place of a real control plane: API server, controllers, the plain scheduler and the simulated
kubelets in one process, on a folder of its own.

The scheduler inside is left out: the tests start `gantree run` themselves, as on any cluster.
"""
import contextlib
import shutil
import ssl
import urllib.error
import urllib.request

import yaml

from harness.certificates import Authority
from harness.cluster import Cluster
from harness.gantree import binary
from harness.processes import Port, Process, own_folder, wait_until

START_TIMEOUT = 30.0
SYSTEM = "kube-system"
PAUSE = "gantree.dev/pause"


class EmbeddedCluster(Cluster):
    """Up and answering once constructed."""

    def __init__(self, kubectl):
        self.folder = own_folder()
        self._data = self.folder / "data"
        self._data.mkdir()
        self.authority = Authority(self.folder)
        # A folder that has a certificate keeps it; this one's authority signs for the proxies before the API server too.
        for given, kept in zip((self.authority.certificate, *self.authority.server("tls")), ("ca.crt", "tls.crt", "tls.key")):
            shutil.copy(given, self._data / kept)
        self._port = Port()
        self.server = f"https://127.0.0.1:{self._port}"
        self._process = Process("up", [binary(), "up", "--no-scheduler", "--no-sync", "--start-delay", "100ms", "--data", self._data,
                                       "--listen", f"127.0.0.1:{self._port}"], self.folder / "up.log")
        try:
            self._wait_until_ready()
            super().__init__(self._data / "kubeconfig", kubectl)
        except BaseException:
            print(self._process.tail())
            self._end()
            raise

    def _wait_until_ready(self):
        trust = ssl.create_default_context(cafile=self.authority.certificate)

        def answers():
            if not self._process.running:
                raise RuntimeError(f"gantree up ended with status {self._process.exit_status}:\n{self._process.tail()}")
            try:
                request = urllib.request.Request(f"{self.server}/readyz", headers={"Authorization": f"Bearer {self._token()}"})
                with urllib.request.urlopen(request, context=trust, timeout=5) as answer:
                    return answer.status == 200
            except OSError:  # nobody listens yet, or the files are not written yet
                return False
        wait_until(answers, START_TIMEOUT, "gantree up to answer", every=0.02)

    def _token(self):
        return yaml.safe_load((self._data / "kubeconfig").read_text())["users"][0]["user"]["token"]

    def stop(self):
        super().stop()
        self._end()

    def _end(self):
        self._process.kill()
        self._port.release()
        shutil.rmtree(self.folder, ignore_errors=True)

    def logs(self, lines=12):
        return {"up": self._process.tail(lines)}

    def restart_api_server(self):
        """Kills it and waits until it is back; all watches break."""
        self._process.kill()
        self._process.start()
        self._wait_until_ready()

    @contextlib.contextmanager
    def paused(self, part):
        self.merge("v1", "Namespace", SYSTEM, {"metadata": {"annotations": {PAUSE: part}}})
        try:
            yield
        finally:
            self.merge("v1", "Namespace", SYSTEM, {"metadata": {"annotations": {PAUSE: None}}})

    def kubeconfig_for(self, user):
        """A kubeconfig for somebody who has no rights yet: users are service accounts here."""
        self.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": user}}, "default")
        return self.kubeconfig_of_service_account("default", user, self.folder / f"{user}.kubeconfig")
