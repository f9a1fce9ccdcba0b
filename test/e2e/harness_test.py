"""That the proxy fails as it is told to, and that the observer sees what is wrong."""
import http.client
import json
import ssl
import time
import urllib.error
import urllib.request

import pytest

from harness.fault_proxy import STATUS
from harness.objects import gang, pod, requests
from harness.observer import Observer
from harness.quantities import milli


@pytest.fixture
def ask(cluster, installed, make_proxy, tmp_path):
    """(proxy, a function that sends one request through it)"""
    proxy = make_proxy()
    token = cluster.service_account_token(*installed)
    trust = ssl.create_default_context(cafile=cluster.authority.certificate)

    def send(path, verb="GET", body=None, timeout=10):
        request = urllib.request.Request(proxy.server + path, method=verb, data=body and json.dumps(body).encode(),
                                         headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
        return urllib.request.urlopen(request, context=trust, timeout=timeout)
    return proxy, send


def test_without_faults_the_proxy_passes_on_what_it_gets(cluster, ask):
    proxy, send = ask
    cluster.make_nodes(2)
    names = [node["metadata"]["name"] for node in json.load(send("/api/v1/nodes"))["items"]]
    assert names == ["node-0", "node-1"]
    assert [(r.verb, r.path, r.status) for r in proxy.requests] == [("GET", "/api/v1/nodes", 200)]


@pytest.mark.parametrize("fault", STATUS)
def test_the_proxy_answers_in_place_of_the_server(ask, fault):
    proxy, send = ask
    proxy.once(fault)
    with pytest.raises(urllib.error.HTTPError) as error:
        send("/api/v1/nodes")
    assert error.value.code == STATUS[fault][0]
    assert json.load(error.value)["reason"] == STATUS[fault][1]
    assert send("/api/v1/nodes").status == 200


@pytest.mark.parametrize("fault, carried_out", [("cut_before", False), ("cut_after", True)])
def test_the_proxy_cuts_before_or_after_the_request_was_carried_out(cluster, namespace, ask, fault, carried_out):
    proxy, send = ask
    cluster.make_nodes(1)
    cluster.create(pod("mine", scheduler="nobody"), namespace)
    proxy.once(fault, verb="POST", path="/binding")
    with pytest.raises(OSError):
        send(f"/api/v1/namespaces/{namespace}/pods/mine/binding", "POST",
             {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "mine"}, "target": {"kind": "Node", "name": "node-0"}})
    assert bool(cluster.bound(namespace)) == carried_out


def watch_lines(send):
    """The lines of a watch on nodes until it ends, breaks or falls silent."""
    lines = []
    try:
        for line in send("/api/v1/nodes?watch=1&resourceVersion=0&timeoutSeconds=2", timeout=4):
            lines.append(json.loads(line))
    except (OSError, ValueError, http.client.HTTPException) as error:
        return lines, error
    return lines, None


@pytest.mark.parametrize("fault, types, breaks", [
    ("watch_cut", [], True), ("watch_end", ["ADDED"], False), ("watch_gone", ["ERROR"], False), ("watch_silent", [], True),
    ("watch_twice", ["ADDED"] * 6, False)])
def test_the_proxy_spoils_watches(cluster, ask, fault, types, breaks):
    proxy, send = ask
    cluster.make_nodes(5)
    proxy.once(fault)
    lines, error = watch_lines(send)
    assert [line["type"] for line in lines] == types
    assert (error is not None) == breaks, error


@pytest.fixture
def observe(cluster, installed):
    """Makes observers that this test asks by itself."""
    observers = []

    def make(**options):
        observers.append(Observer(cluster, **options))
        return observers[-1]
    yield make
    for observer in observers:
        observer.stop()


def test_the_observer_sees_a_node_that_is_given_away_twice(cluster, namespace, observe):
    cluster.make_nodes(1)
    observer = observe()
    cluster.create_all([pod(f"pod-{index}", scheduler="nobody", asks=requests(gpu=5)) for index in range(2)], namespace)
    cluster.bind(namespace, "pod-0", "node-0")
    cluster.wait_for(lambda: observer.bindings == 1, 10, "the observer to see it")
    observer.check()
    cluster.bind(namespace, "pod-1", "node-0")
    cluster.wait_for(lambda: observer.bindings == 2, 10, "the observer to see it")
    with pytest.raises(AssertionError, match="node-0 has 8 nvidia.com/gpu and 10 are used"):
        observer.check()


def test_the_observer_sees_a_gang_that_is_bound_in_part(cluster, namespace, observe):
    cluster.make_nodes(1)
    observer = observe(moment=0.5)
    cluster.create_all(gang("half", 2, scheduler="nobody"), namespace)
    cluster.bind(namespace, "half-0", "node-0")
    cluster.wait_for(observer.partly_bound, 10, "the observer to see it")
    time.sleep(1)
    with pytest.raises(AssertionError, match="1 of 2 pods of .*/half are bound"):
        observer.check()


def test_the_observer_sees_a_pod_on_a_node_that_does_not_exist(cluster, namespace, observe):
    observer = observe()
    cluster.create(pod("lost", scheduler="nobody"), namespace)
    cluster.bind(namespace, "lost", "nowhere")
    cluster.wait_for(lambda: observer.bindings == 1, 10, "the observer to see it")
    with pytest.raises(AssertionError, match="lost is on nowhere, which does not exist"):
        observer.check()


@pytest.mark.parametrize("text, thousandths", [("1500m", 1500), ("2", 2000), ("1Ki", 1024000), ("1e3", 1000000), ("0.5", 500), ("1u", 1)])
def test_quantities_are_read_as_kubernetes_reads_them(text, thousandths):
    assert milli(text) == thousandths
