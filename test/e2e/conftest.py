"""Fixtures of the end-to-end tests. `--cluster` says which kind of cluster they run on."""
import pathlib
import subprocess

import pytest

from harness import gantree as program
from harness.control_plane import ControlPlane, program as control_plane_program
from harness.embedded import EmbeddedCluster
from harness.fault_proxy import FaultProxy
from harness.gantree import Gantree
from harness.objects import network
from harness.observer import Observer
from harness.queues import Pool
from harness.webhooks import Webhooks

HERE = pathlib.Path(__file__).parent


def _built():
    """The folder of the programs of a real control plane, of which all tests use kubectl."""
    built = subprocess.run([HERE / "control_plane" / "build"], stdout=subprocess.PIPE, text=True)
    if built.returncode != 0:
        pytest.exit("the control plane could not be built: see above", returncode=1)
    return built.stdout.strip().splitlines()[-1]


CLUSTERS = {"real": lambda: ControlPlane(_built()),
            "embedded": lambda: EmbeddedCluster(control_plane_program(_built(), "kubectl"))}


def pytest_addoption(parser):
    parser.addoption("--cluster", choices=sorted(CLUSTERS), default="real",
                     help="what the tests run on: real is etcd, kube-apiserver and the rest, embedded is gantree up")
    parser.addoption("--only-on-cluster", action="store_true", help="leave out the tests that need no cluster of either kind")


# Files that take longest for what they hold: begun first, so that no worker is left with one of them at the end.
LONG = ("faults_test.py", "kueue_changes_test.py", "kueue_readiness_test.py", "leader_test.py", "resilience_test.py", "kueue_pods_test.py", "install_test.py")


def pytest_collection_modifyitems(config, items):
    items.sort(key=lambda item: LONG.index(item.path.name) if item.path.name in LONG else len(LONG))
    if config.getoption("--only-on-cluster"):
        config.hook.pytest_deselected(items=[item for item in items if "whole_cluster" not in item.fixturenames])
        items[:] = [item for item in items if "whole_cluster" in item.fixturenames]


@pytest.fixture(scope="session")
def whole_cluster(request):
    """One cluster for all tests of this process."""
    cluster = CLUSTERS[request.config.getoption("--cluster")]()
    yield cluster
    cluster.stop()


@pytest.fixture
def cluster(whole_cluster):
    """The cluster, empty of nodes and of other tests' pods."""
    yield whole_cluster
    whole_cluster.clean()


@pytest.fixture
def namespace(cluster):
    return cluster.make_namespace()


@pytest.fixture(scope="session")
def installed(whole_cluster):
    """Gantree's definitions and roles are in the cluster, as `gantree install` puts them there: (namespace, service account)."""
    wanted = {"Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "CustomResourceDefinition"}
    objects = [o for o in program.installation() if o["kind"] in wanted]
    # There are no Services here to ask. Tests that want objects converted say by whom.
    for definition in [o["spec"] for o in objects if o["kind"] == "CustomResourceDefinition"]:
        definition["conversion"] = {"strategy": "None"}
    whole_cluster.apply(objects)
    for definition in [o["spec"] for o in objects if o["kind"] == "CustomResourceDefinition"]:
        whole_cluster.wait_until_served(definition)
    account = next(o for o in objects if o["kind"] == "ServiceAccount")
    return account["metadata"]["namespace"], account["metadata"]["name"]


@pytest.fixture
def topology(cluster, installed):
    """Nodes in racks, racks in blocks, by the labels of `rack_labels`."""
    cluster.apply([network()])
    yield
    cluster.delete("scheduling.koordinator.sh/v1alpha1", "ClusterNetworkTopology", "default")


class Replicas:
    """All processes of Gantree in a test. They have the rights that `gantree install` gives, and no others."""

    def __init__(self, cluster, installed, folder):
        self._cluster, self._installed, self._folder = cluster, installed, folder
        self._all = []

    def start(self, *flags, elect=False, through=None, wait=True):
        """One more; `through` is the proxy between it and the API server."""
        name = f"gantree-{len(self._all)}"
        kubeconfig = self._cluster.kubeconfig_of_service_account(
            *self._installed, self._folder / f"{name}.kubeconfig", server=through and through.server)
        election = ["--namespace", self._installed[0]] if elect else ["--leader-elect=false"]
        replica = Gantree(kubeconfig, self._folder, name, [*election, *flags], wait)
        self._all.append(replica)
        return replica

    def logs(self):
        return {name: text for replica in self._all for name, text in replica.logs().items()}

    def stop(self):
        try:
            for replica in self._all:
                if replica.process.running:
                    replica.stop()
        finally:
            for replica in self._all:
                replica.release()


@pytest.fixture
def make_proxy(cluster):
    """Makes proxies that stand before the API server and can be told to fail."""
    proxies = []

    def make(seed=1):
        proxies.append(FaultProxy(cluster.server, cluster.authority, seed))
        return proxies[-1]
    yield make
    for proxy in proxies:
        proxy.stop()


@pytest.fixture
def replicas(cluster, installed, make_proxy, tmp_path):
    # After the proxies, so that it is stopped before them.
    replicas = Replicas(cluster, installed, tmp_path)
    yield replicas
    replicas.stop()


@pytest.fixture
def gantree(replicas):
    """One replica, ready."""
    return replicas.start()


@pytest.fixture
def webhooks(cluster, installed):
    """The API server asks Gantree's webhooks, of which nobody is there yet: start a replica with `*webhooks.flags`."""
    webhooks = Webhooks(cluster, installed[0])
    yield webhooks
    webhooks.remove()


@pytest.fixture
def gantree_with_webhooks(webhooks, replicas):
    """One replica, ready, that the API server asks about what it stores."""
    replica = replicas.start(*webhooks.flags)
    webhooks.wait_until_asked()
    return replica


@pytest.fixture(scope="module")
def shared_webhooks(whole_cluster, installed):
    """The API server asks the replica that all tests of a file share."""
    webhooks = Webhooks(whole_cluster, installed[0])
    yield webhooks
    webhooks.remove()


@pytest.fixture(scope="module")
def shared_gantree(request, whole_cluster, installed, shared_webhooks, tmp_path_factory):
    """One replica with webhooks for all tests of a file, with the file's GANTREE_FLAGS. Whatever they make must be their own."""
    replicas = Replicas(whole_cluster, installed, tmp_path_factory.mktemp("shared"))
    replica = replicas.start(*shared_webhooks.flags, *getattr(request.module, "GANTREE_FLAGS", []))
    shared_webhooks.wait_until_asked()
    yield replica
    replicas.stop()
    whole_cluster.clean()


@pytest.fixture
def pool(whole_cluster, shared_gantree):
    """A namespace with a network and queues of its own."""
    pool = Pool(whole_cluster)
    yield pool
    pool.remove()


@pytest.fixture
def observer(cluster, installed, request):
    """Sees all that happens in the cluster, and tells at the end of the test which promises were broken.

    MOMENT of the file is how many seconds a gang may be bound in part.
    """
    observer = Observer(cluster, moment=getattr(request.module, "MOMENT", 10.0))
    yield observer
    observer.stop()
    observer.check()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Where a test fails, the last lines of everybody's log are part of the report."""
    report = yield
    if report.failed and call.when == "call":
        logs = {}
        for value in getattr(item, "funcargs", {}).values():
            if callable(getattr(value, "logs", None)):
                logs |= value.logs()
        report.sections += [(f"log of {name}", text) for name, text in logs.items()]
    return report
