"""Gantree has the rights it uses, and no others. Every other test runs with these rights too."""
import json
import re

import pytest

from harness.objects import gang, requests

FORBIDDEN = [("list", "secrets", ""), ("get", "secrets", ""), ("create", "pods", ""), ("delete", "nodes", ""), ("update", "nodes", ""),
             ("list", "configmaps", ""), ("create", "clusterrolebindings", "rbac.authorization.k8s.io"), ("impersonate", "users", ""),
             ("delete", "podgroups", "scheduling.sigs.k8s.io"), ("create", "pods/exec", "")]
NEEDED = [("list", "nodes", ""), ("watch", "pods", ""), ("create", "pods/binding", ""), ("patch", "pods/status", ""),
          ("patch", "podgroups/status", "scheduling.sigs.k8s.io")]


def allowed(cluster, installed, verb, resource, group):
    resource, _, subresource = resource.partition("/")
    return cluster.may("system:serviceaccount:" + ":".join(installed), verb, resource, group, subresource=subresource or None)


@pytest.mark.parametrize("verb, resource, group", FORBIDDEN)
def test_it_may_not(cluster, installed, verb, resource, group):
    assert not allowed(cluster, installed, verb, resource, group)


@pytest.mark.parametrize("verb, resource, group", NEEDED)
def test_it_may(cluster, installed, verb, resource, group):
    assert allowed(cluster, installed, verb, resource, group)


def test_nothing_it_tries_is_forbidden_to_it(cluster, namespace, topology, installed, replicas, make_proxy):
    proxy = make_proxy()
    replicas.start(elect=True, through=proxy)
    cluster.make_nodes(2)
    cluster.create_all(gang("train", 8, asks=requests(gpu=1)), namespace)
    cluster.create_all(gang("big", 20, asks=requests(gpu=1)), namespace)
    cluster.wait_for(lambda: len(cluster.running(namespace)) == 8, 30, "the gang that fits to run")
    cluster.wait_for(lambda: proxy.writes("/events"), 30, "events to be written")
    cluster.wait_for(lambda: proxy.writes("/status"), 30, "statuses to be written")
    # In a namespace that is being deleted nobody may create anything: what is left of other tests may be refused there.
    there = {item["metadata"]["name"] for item in cluster.list("v1", "Namespace") if item["status"]["phase"] == "Active"}
    refused = {(request.verb, request.path) for request in proxy.requests if request.status in (401, 403)
               and there.issuperset(re.findall("/namespaces/([^/]+)", request.path))}
    assert not refused


def test_kubectl_as_somebody_else_may_do_what_that_one_may(cluster, namespace):
    def may(*who):
        return cluster.kubectl("auth", "can-i", "list", "pods", "-n", namespace, *who, check=False).strip()
    assert (may(), may("--as=alice"), may("--as=alice", "--as-group=devs")) == ("yes", "no", "no")
    cluster.kubectl("create", "role", "readers", "--verb=list", "--resource=pods", "-n", namespace)
    cluster.kubectl("create", "rolebinding", "readers", "--role=readers", "--group=devs", "-n", namespace)
    cluster.wait_for(lambda: may("--as=alice", "--as-group=devs") == "yes", 10, "the role to count")
    assert (may("--as=alice"), may("--as=bob", "--as-group=ops", "--as-group=devs")) == ("no", "yes")
    cluster.kubectl("get", "pods", "-n", namespace, "--as=alice", "--as-group=devs")
    for forbidden in [("pods", "--as=alice"), ("secrets", "--as=alice", "--as-group=devs")]:
        with pytest.raises(AssertionError, match="(?i)forbidden"):
            cluster.kubectl("get", "-n", namespace, *forbidden)
    who = json.loads(cluster.kubectl("auth", "whoami", "-o", "json", "--as=alice", "--as-group=devs"))["status"]["userInfo"]
    assert (who["username"], sorted(who["groups"])) == ("alice", ["devs", "system:authenticated"])


def test_role_edit_sees_workloads_and_writes_none(cluster, namespace, installed):
    def may(verb, resource="workloads.kueue.x-k8s.io"):
        return cluster.kubectl("auth", "can-i", verb, resource, "-n", namespace, "--as=alice", check=False).strip().splitlines()[-1]
    cluster.kubectl("create", "rolebinding", "alice", "--clusterrole=edit", "--user=alice", "-n", namespace)
    cluster.wait_for(lambda: may("list") == "yes" and may("create", "jobs.batch") == "yes", 10, "the role to count")
    assert [may(verb) for verb in ("create", "update", "patch", "delete")] == ["no"] * 4
