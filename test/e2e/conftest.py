"""Fixtures of the end-to-end tests. `--cluster` says which kind of cluster they run on."""
import os
import pathlib
import subprocess

import pytest

from harness.control_plane import ControlPlane

HERE = pathlib.Path(__file__).parent


def _real_cluster():
    built = subprocess.run([HERE / "control_plane" / "build"], stdout=subprocess.PIPE, text=True)
    if built.returncode != 0:
        pytest.exit("the control plane could not be built: see above", returncode=1)
    return ControlPlane(built.stdout.strip().splitlines()[-1])


CLUSTERS = {"real": _real_cluster}


def pytest_addoption(parser):
    parser.addoption("--cluster", choices=sorted(CLUSTERS), default=os.environ.get("GANTREE_E2E_CLUSTER", "real"),
                     help="what the tests run on: real is etcd, kube-apiserver and the rest (also GANTREE_E2E_CLUSTER)")


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


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Where a test fails, the last lines of everybody's log are part of the report."""
    report = yield
    if report.failed and call.when == "call":
        for value in getattr(item, "funcargs", {}).values():
            if callable(getattr(value, "logs", None)):
                report.sections += [(f"log of {name}", text) for name, text in value.logs().items()]
    return report
