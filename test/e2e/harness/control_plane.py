"""A real Kubernetes control plane on loopback: etcd, kube-apiserver, kube-controller-manager, kube-scheduler, the JobSet and
LeaderWorkerSet controllers with their webhooks, and KWOK for nodes and pods.

`test/e2e/control_plane/build` makes the programs. Several may run at once: each has its own ports and folders.
"""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import ssl
import urllib.error
import urllib.request

import yaml

from harness.certificates import Authority, write_service_account_key
from harness.cluster import Cluster, manifests_of
from harness.kubeconfigs import inline, write_kubeconfig
from harness.processes import Port, Process, own_folder, wait_until

STAGES = pathlib.Path(__file__).parent.parent / "kwok_stages.yaml"
START_TIMEOUT = 90.0
# What is worth keeping of all that the API server is asked: who wrote what, in which order.
AUDIT_POLICY = {
    "apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
    "rules": [{"level": "None", "users": ["system:masters", "system:apiserver"]},
              {"level": "Metadata", "verbs": ["create", "update", "patch", "delete"],
               "resources": [{"group": "", "resources": ["pods", "pods/*"]},
                             {"group": "coordination.k8s.io", "resources": ["leases"]},
                             {"group": "scheduling.sigs.k8s.io"}]},
              {"level": "None"}]}


def program(built, name):
    """Where KUBEBUILDER_ASSETS has one of the three that it may have, that one."""
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    if assets and name in ("etcd", "kube-apiserver", "kubectl") and os.access(pathlib.Path(assets, name), os.X_OK):
        return pathlib.Path(assets, name)
    return pathlib.Path(built) / "bin" / name


class ControlPlane(Cluster):
    """The whole of it, up and answering once constructed."""

    def __init__(self, built, api_server_arguments=()):
        self._built = pathlib.Path(built)
        self._api_server_arguments = api_server_arguments
        self.folder = own_folder()
        self._ports = {}
        self._parts = {}
        try:
            self._start()
        except BaseException:
            print(self._log_tails())
            self._stop_parts()
            raise

    def _start_bare(self):
        """etcd and the API server, which need not be ready yet."""
        self.authority = Authority(self.folder)
        self._server_certificate = self.authority.server("server", names=("localhost", "kubernetes", "kubernetes.default.svc"))
        self._service_account_key, self._service_account_public = write_service_account_key(self.folder)
        self.server = f"https://127.0.0.1:{self.port('kube-apiserver')}"
        admin = self.kubeconfig_for("admin", ["system:masters"])
        self._start_etcd()
        self._start_api_server()
        super().__init__(admin, self._program("kubectl"))

    def _start(self):
        self._start_bare()
        self._wait_for_https("kube-apiserver", "/readyz")
        self._start_kubernetes_controllers()
        self._install("jobset")
        self._install("lws")
        self._start_kwok()
        for part in ("kube-controller-manager", "kube-scheduler"):
            self._wait_for_https(part, "/healthz")
        for part in ("jobset", "lws"):
            self._start_operator(part)
        for part in ("jobset", "lws"):
            self._wait_for_webhook(part)

    def stop(self):
        if hasattr(self, "client"):
            super().stop()
        self._stop_parts()
        shutil.rmtree(self.folder, ignore_errors=True)

    def logs(self, lines=12):
        return {name: part.tail(lines) for name, part in self._parts.items()}

    def port(self, name):
        if name not in self._ports:
            self._ports[name] = Port()
        return self._ports[name].number

    @contextlib.contextmanager
    def paused(self, part):
        process = self._parts[{"scheduler": "kube-scheduler", "controllers": "kube-controller-manager"}[part]]
        process.signal(signal.SIGSTOP)
        try:
            yield
        finally:
            process.signal(signal.SIGCONT)

    def restart_api_server(self):
        """Kills the API server and waits until it is back; all watches break."""
        self._parts["kube-apiserver"].kill()
        self._parts["kube-apiserver"].start()
        self._wait_for_https("kube-apiserver", "/readyz")

    def audit_log(self):
        """The file with one JSON line for each write to pods, leases and pod groups."""
        return self.folder / "audit.log"

    def kubeconfig_for(self, user, groups=()):
        """A kubeconfig with a client certificate for this user; RBAC decides what the user may do."""
        certificate = self.authority.client(user, groups)
        return write_kubeconfig(self.folder / f"{user.replace(':', '_')}.kubeconfig", self.server, self.authority.certificate, certificate)

    # --- the parts ---

    def _program(self, name):
        return program(self._built, name)

    def _run(self, name, *arguments, environment=None):
        self._parts[name] = Process(name, [self._program(name), *arguments], self.folder / f"{name}.log", environment)

    def _start_etcd(self):
        client, peer = (f"http://127.0.0.1:{self.port(name)}" for name in ("etcd", "etcd-peer"))
        self._run("etcd", "--data-dir", self.folder / "etcd", "--listen-client-urls", client, "--advertise-client-urls", client,
                  "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}",
                  "--unsafe-no-fsync", "--log-level", "warn")

    def _start_api_server(self):
        (self.folder / "audit-policy.yaml").write_text(yaml.safe_dump(AUDIT_POLICY))
        (self.folder / "tokens.csv").write_text("admin-token,token-admin,token-admin,\"system:masters\"\n")
        self._run("kube-apiserver",
                  "--etcd-servers", f"http://127.0.0.1:{self.port('etcd')}",
                  "--bind-address", "127.0.0.1", "--advertise-address", "127.0.0.1",
                  "--secure-port", self.port("kube-apiserver"),
                  "--tls-cert-file", self._server_certificate[0], "--tls-private-key-file", self._server_certificate[1],
                  "--client-ca-file", self.authority.certificate, "--token-auth-file", self.folder / "tokens.csv",
                  "--requestheader-client-ca-file", self.authority.certificate, "--requestheader-allowed-names", "front-proxy",
                  "--authorization-mode", "RBAC", "--anonymous-auth=true",
                  "--service-account-issuer", "https://kubernetes.default.svc",
                  "--service-account-key-file", self._service_account_public,
                  "--service-account-signing-key-file", self._service_account_key,
                  "--service-cluster-ip-range", "10.96.0.0/16", "--endpoint-reconciler-type", "none",
                  "--max-requests-inflight", "4000", "--max-mutating-requests-inflight", "2000",
                  "--audit-policy-file", self.folder / "audit-policy.yaml", "--audit-log-path", self.audit_log(),
                  "--profiling=false", "--allow-privileged=true", *self._api_server_arguments)

    def _start_kubernetes_controllers(self):
        for name in ("kube-controller-manager", "kube-scheduler"):
            kubeconfig = self.kubeconfig_for(f"system:{name}", ["system:masters"])
            arguments = ["--kubeconfig", kubeconfig, "--authentication-kubeconfig", kubeconfig, "--authorization-kubeconfig", kubeconfig,
                         "--bind-address", "127.0.0.1", "--secure-port", self.port(name), "--leader-elect=false", "--profiling=false",
                         "--tls-cert-file", self._server_certificate[0], "--tls-private-key-file", self._server_certificate[1],
                         "--kube-api-qps", "1000", "--kube-api-burst", "2000"]
            if name == "kube-controller-manager":
                arguments += ["--service-account-private-key-file", self._service_account_key,
                              "--root-ca-file", self.authority.certificate, "--concurrent-job-syncs", "20",
                              "--concurrent-gc-syncs", "20", "--concurrent-namespace-syncs", "10",
                              # Simulated nodes go down when a test says so, not when a busy machine is late.
                              "--node-monitor-grace-period", "1h"]
            self._run(name, *arguments)

    def _install(self, name):
        """The definitions and webhooks of an operator, with its webhooks called on loopback."""
        objects = self._operator_objects(name)
        for webhook in [webhook for o in objects for webhook in o.get("webhooks", [])]:
            path = webhook["clientConfig"]["service"].get("path", "")
            webhook["clientConfig"] = {"url": f"https://127.0.0.1:{self.port(name)}{path}",
                                       "caBundle": inline(self.authority.certificate)}
        self.create_all(objects)
        # An operator that finds its kinds missing looks again only after ten seconds.
        for definition in [o["spec"] for o in objects if o["kind"] == "CustomResourceDefinition"]:
            self.wait_until_served(definition)

    def _operator_objects(self, name):
        """Kept beside the manifests as JSON, since their megabytes of YAML take seconds to read."""
        kept = self._built / "manifests" / f"{name}.json"
        if kept.exists():
            return json.loads(kept.read_text())
        wanted = {"CustomResourceDefinition", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}
        objects = [_without_descriptions(o) for o in manifests_of(kept.with_suffix(".yaml")) if o["kind"] in wanted]
        part = kept.with_suffix(f".part-{os.getpid()}")
        part.write_text(json.dumps(objects))
        part.rename(kept)
        return objects

    def _start_operator(self, name):
        certificates = self.folder / f"{name}-webhook"
        certificates.mkdir()
        shutil.copy(self._server_certificate[0], certificates / "tls.crt")
        shutil.copy(self._server_certificate[1], certificates / "tls.key")
        configuration = self.folder / f"{name}.yaml"
        configuration.write_text(yaml.safe_dump({
            "apiVersion": f"config.{name}.x-k8s.io/v1alpha1", "kind": "Configuration",
            "leaderElection": {"leaderElect": False}, "internalCertManagement": {"enable": False},
            "clientConnection": {"qps": 500, "burst": 1000},
            "metrics": {"bindAddress": "0"},
            "health": {"healthProbeBindAddress": f"127.0.0.1:{self.port(name + '-health')}"},
            "webhook": {"host": "127.0.0.1", "port": self.port(name), "certDir": str(certificates)}}))
        self._run(name, "--config", configuration, "--zap-stacktrace-level", "panic", "--kubeconfig", self.kubeconfig_for(f"system:{name}", ["system:masters"]))

    def _start_kwok(self):
        self._run("kwok", "--kubeconfig", self.kubeconfig_for("system:kwok", ["system:masters"]), "--config", STAGES,
                  "--manage-nodes-with-annotation-selector", "kwok.x-k8s.io/node=fake", "--enable-crds", "", "--v", "WARN",
                  "--server-address", f"127.0.0.1:{self.port('kwok')}", "--node-lease-duration-seconds", "0")

    # --- coming up and going down ---

    def _wait_for_https(self, name, path):
        trust = ssl.create_default_context(cafile=self.authority.certificate)

        def answers():
            self._require_running(name)
            try:
                with urllib.request.urlopen(f"https://127.0.0.1:{self.port(name)}{path}", context=trust, timeout=5) as answer:
                    return answer.status == 200
            except urllib.error.HTTPError:
                return False
            except OSError:
                return False
        wait_until(answers, START_TIMEOUT, f"{name} to answer at {path}")

    def _wait_for_webhook(self, name):
        """The operators say they are ready before their webhooks are, so the webhooks themselves are asked."""
        trust = ssl.create_default_context(cafile=self.authority.certificate)

        def listens():
            self._require_running(name)
            try:
                urllib.request.urlopen(f"https://127.0.0.1:{self.port(name)}/mutate--v1-pod", data=b"{}", context=trust, timeout=5)
                return True
            except urllib.error.HTTPError as error:
                return error.code != 404
            except OSError:
                return False
        wait_until(listens, START_TIMEOUT, f"the webhooks of {name}")

    def _require_running(self, name):
        part = self._parts[name]
        if not part.running:
            raise RuntimeError(f"{name} ended with status {part.exit_status}:\n{part.tail()}")

    def _stop_parts(self):
        # The ones that write go before the ones that they write to. Nothing in them is worth a slow goodbye.
        for part in reversed(self._parts.values()):
            part.kill()
        for port in self._ports.values():
            port.release()

    def _log_tails(self):
        return "\n".join(f"--- {name}\n{text}" for name, text in self.logs().items())


def _without_descriptions(value):
    """Two thirds of a schema are prose, which the API server would keep in memory and hand to every client."""
    if isinstance(value, dict):
        return {key: _without_descriptions(inner) for key, inner in value.items()
                if not (key == "description" and isinstance(inner, str))}
    if isinstance(value, list):
        return [_without_descriptions(inner) for inner in value]
    return value
