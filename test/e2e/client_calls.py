"""What api_test.py does with the official Python client, on one cluster."""
import json
import pathlib
import tempfile
import time

import kubernetes
import kubernetes.dynamic
import kubernetes.utils

NAMESPACE = "api-client"
TEMPLATE = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "a", "image": "busybox:1"}]}}


POD = {"metadata": {"name": "p", "labels": {"app": "p"}},
       "spec": {**TEMPLATE["spec"], "schedulerName": "nobody", "automountServiceAccountToken": False, "terminationGracePeriodSeconds": 0}}
JOB = {"metadata": {"name": "j"}, "spec": {"suspend": True, "completions": 2, "parallelism": 2, "completionMode": "Indexed",
                                           "template": {"spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}}}
GROUP = "client.example.com"
THINGS = (GROUP, "v1", NAMESPACE, "things")
THING = {"apiVersion": f"{GROUP}/v1", "kind": "Thing", "metadata": {"name": "t", "labels": {"x": "1"}}, "spec": {"size": 1}}
SIZE = {"type": "object", "properties": {"size": {"type": "integer", "minimum": 0}, "colour": {"type": "string", "default": "red"}}}
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"things.{GROUP}"},
    "spec": {"group": GROUP, "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
             "versions": [{"name": "v1", "served": True, "storage": True,
                           "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}},
                           "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": SIZE, "status": SIZE}}}}]}}
APPLIED = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied"}, "data": {"k": "v"}}


def results(kubeconfig):
    """{what was done: its answer}"""
    with kubernetes.config.new_client_from_config(str(kubeconfig)) as client:
        return {name: _answer(client, call) for name, call in CALLS.items()}


def _answer(client, call):
    try:
        return {"code": 200, "body": client.sanitize_for_serialization(call(client))}
    except kubernetes.client.ApiException as error:
        return {"code": error.status, "reason": error.reason}


def _core(client):
    return kubernetes.client.CoreV1Api(client)


def _apps(client):
    return kubernetes.client.AppsV1Api(client)


def _watch(client):
    core = _core(client)
    listed = core.list_namespaced_config_map(NAMESPACE, label_selector="x=1")
    core.patch_namespaced_config_map("a", NAMESPACE, {"data": {"k": "z"}})
    core.delete_namespaced_config_map("a", NAMESPACE)
    return [(event["type"], event["object"].metadata.name) for event in kubernetes.watch.Watch().stream(
        core.list_namespaced_config_map, NAMESPACE, label_selector="x=1", resource_version=listed.metadata.resource_version, timeout_seconds=2)]


def _custom(client):
    return kubernetes.client.CustomObjectsApi(client)


def _batch(client):
    return kubernetes.client.BatchV1Api(client)


def _wait_for_things(client):
    """Until the kind is served, whoever says so."""
    for _ in range(100):
        try:
            return _custom(client).list_namespaced_custom_object(*THINGS)["items"]
        except kubernetes.client.ApiException:
            time.sleep(0.1)
    raise AssertionError("the kind is never served")


def _apply(client, manager, data, **more):
    return _core(client).patch_namespaced_config_map("applied", NAMESPACE, {**APPLIED, "data": data}, field_manager=manager,
                                                     _content_type="application/apply-patch+yaml", **more)


def _read_by_pages(client):
    """How many were on each page, and how many were left."""
    pages, place = [], None
    while place != "":
        page = _core(client).list_namespaced_config_map(NAMESPACE, label_selector="page", limit=2, _continue=place)
        place = page.metadata._continue or ""
        pages.append([len(page.items), page.metadata.remaining_item_count])
    return pages


def _raw(answer):
    return json.loads(answer.data)


def _bind(client):
    binding = {"metadata": {"name": "p"}, "target": {"apiVersion": "v1", "kind": "Node", "name": "n1"}}
    return _raw(_core(client).create_namespaced_pod_binding("p", NAMESPACE, binding, _preload_content=False))


def _evict(client, name):
    return _raw(_core(client).create_namespaced_pod_eviction(name, NAMESPACE, {"metadata": {"name": name}}, _preload_content=False))


def _dynamic(client, version, kind):
    """What the dynamic client finds by discovery, which it would else remember from server to server."""
    with tempfile.TemporaryDirectory() as folder:
        return kubernetes.dynamic.DynamicClient(client, cache_file=str(pathlib.Path(folder, "cache"))).resources.get(api_version=version, kind=kind)


def _with_dynamic(version, kind, *steps):
    def call(client):
        resource = _dynamic(client, version, kind)
        return [step(resource).to_dict() for step in steps]
    return call


CALLS = {
    "make a namespace": lambda c: _core(c).create_namespace({"metadata": {"name": NAMESPACE}}),
    "make a config map": lambda c: _core(c).create_namespaced_config_map(NAMESPACE, {"metadata": {"name": "a", "labels": {"x": "1"}}, "data": {"k": "v"}}),
    "make it again": lambda c: _core(c).create_namespaced_config_map(NAMESPACE, {"metadata": {"name": "a"}}),
    "read it": lambda c: _core(c).read_namespaced_config_map("a", NAMESPACE),
    "read what is not there": lambda c: _core(c).read_namespaced_config_map("none", NAMESPACE),
    "list by label": lambda c: _core(c).list_namespaced_config_map(NAMESPACE, label_selector="x=1"),
    "list by field": lambda c: _core(c).list_namespaced_config_map(NAMESPACE, field_selector="metadata.name=a"),
    "patch": lambda c: _core(c).patch_namespaced_config_map("a", NAMESPACE, {"data": {"k": "w"}}),
    "patch with a list of operations": lambda c: _core(c).patch_namespaced_config_map("a", NAMESPACE, [{"op": "replace", "path": "/data/k", "value": "u"}]),
    "replace": lambda c: _core(c).replace_namespaced_config_map("a", NAMESPACE, {"metadata": {"name": "a", "labels": {"x": "1"}}, "data": {"k": "r"}}),
    "replace an old one": lambda c: _core(c).replace_namespaced_config_map("a", NAMESPACE, {"metadata": {"name": "a", "resourceVersion": "1"}}),
    "watch": _watch,
    "make a deployment": lambda c: _apps(c).create_namespaced_deployment(NAMESPACE, {
        "metadata": {"name": "d"}, "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "a"}}, "template": TEMPLATE}}),
    "scale it": lambda c: _apps(c).patch_namespaced_deployment_scale("d", NAMESPACE, {"spec": {"replicas": 0}}),
    "delete it": lambda c: _apps(c).delete_namespaced_deployment("d", NAMESPACE, propagation_policy="Background"),
    "make a pod": lambda c: _core(c).create_namespaced_pod(NAMESPACE, POD),
    "change its image": lambda c: _core(c).patch_namespaced_pod("p", NAMESPACE, {"spec": {"containers": [{"name": "a", "image": "busybox:2"}]}}),
    "change its scheduler": lambda c: _core(c).patch_namespaced_pod("p", NAMESPACE, {"spec": {"schedulerName": "other"}}),
    "bind it": _bind,
    "bind it again": _bind,
    "make another pod": lambda c: _core(c).create_namespaced_pod(NAMESPACE, {**POD, "metadata": {"name": "q"}}),
    "evict it": lambda c: _evict(c, "q"),
    "evict what is not there": lambda c: _evict(c, "q"),
    "delete the pod": lambda c: _core(c).delete_namespaced_pod("p", NAMESPACE, grace_period_seconds=0).metadata.name,
    "make a job": lambda c: _batch(c).create_namespaced_job(NAMESPACE, JOB),
    "change its parallelism": lambda c: _batch(c).patch_namespaced_job("j", NAMESPACE, {"spec": {"parallelism": 1}}).spec,
    "change its template": lambda c: _batch(c).patch_namespaced_job("j", NAMESPACE, {"spec": {"completionMode": "NonIndexed"}}),
    "delete the job": lambda c: _batch(c).delete_namespaced_job("j", NAMESPACE, propagation_policy="Background"),
    "apply": lambda c: _apply(c, "one", {"k": "v"}),
    "apply as somebody else": lambda c: _apply(c, "two", {"k": "w"}),
    "apply by force": lambda c: _apply(c, "two", {"k": "w"}, force=True),
    "apply without a manager": lambda c: _apply(c, None, {"k": "w"}),
    "make five for pages": lambda c: [_core(c).create_namespaced_config_map(NAMESPACE, {"metadata": {"name": f"page-{i}", "labels": {"page": str(i)}}})
                                      for i in range(5)],
    "read them by pages": _read_by_pages,
    "go on from a place that is none": lambda c: _core(c).list_namespaced_config_map(NAMESPACE, limit=2, _continue="bm9uZQ"),
    "delete some of them": lambda c: _core(c).delete_collection_namespaced_config_map(NAMESPACE, label_selector="page in (0,1,2)"),
    "those that are left": lambda c: [o.metadata.name for o in _core(c).list_namespaced_config_map(NAMESPACE, label_selector="page").items],
    "define a kind": lambda c: kubernetes.client.ApiextensionsV1Api(c).create_custom_resource_definition(DEFINITION).spec,
    "wait for it": _wait_for_things,
    "make a custom object": lambda c: _custom(c).create_namespaced_custom_object(*THINGS, THING),
    "make a bad one": lambda c: _custom(c).create_namespaced_custom_object(*THINGS, {**THING, "spec": {"size": "x"}}),
    "read the custom object": lambda c: _custom(c).get_namespaced_custom_object(*THINGS, "t"),
    "patch it": lambda c: _custom(c).patch_namespaced_custom_object(*THINGS, "t", {"spec": {"size": 2}}),
    "patch its status": lambda c: _custom(c).patch_namespaced_custom_object_status(*THINGS, "t", {"status": {"size": 2}}),
    "read its scale": lambda c: _custom(c).get_namespaced_custom_object_scale(*THINGS, "t"),
    "list by label and version": lambda c: _custom(c).list_namespaced_custom_object(*THINGS, label_selector="x=1", resource_version="0"),
    "delete all of the kind": lambda c: _custom(c).delete_collection_namespaced_custom_object(*THINGS)["kind"],
    "by the dynamic client": _with_dynamic(
        f"{GROUP}/v1", "Thing",
        lambda things: things.create(body={**THING, "metadata": {"name": "d"}}, namespace=NAMESPACE),
        lambda things: things.get(name="d", namespace=NAMESPACE),
        lambda things: things.patch(body={"metadata": {"name": "d"}, "spec": {"size": 3}}, namespace=NAMESPACE, content_type="application/merge-patch+json"),
        lambda things: things.status.patch(name="d", namespace=NAMESPACE, body={"status": {"size": 3}}, content_type="application/merge-patch+json"),
        lambda things: things.server_side_apply(body={**THING, "metadata": {"name": "d"}}, namespace=NAMESPACE, field_manager="m", force_conflicts=True),
        lambda things: things.get(namespace=NAMESPACE, field_selector="metadata.name=d"),
        lambda things: things.delete(name="d", namespace=NAMESPACE)),
    "a built-in kind by the dynamic client": _with_dynamic(
        "v1", "ConfigMap",
        lambda maps: maps.create(body={"metadata": {"name": "dynamic"}, "data": {"k": "v"}}, namespace=NAMESPACE),
        lambda maps: maps.replace(body={"metadata": {"name": "dynamic"}, "data": {"k": "w"}}, namespace=NAMESPACE),
        lambda maps: maps.delete(name="dynamic", namespace=NAMESPACE)),
    "from YAML": lambda c: kubernetes.utils.create_from_dict(c, {"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"clusterIP": "None", "selector": {"app": "a"}}},
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "y"},
         "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "a"}}, "template": TEMPLATE}}]}, namespace=NAMESPACE),
    "delete the definition": lambda c: kubernetes.client.ApiextensionsV1Api(c).delete_custom_resource_definition(f"things.{GROUP}").kind,
    "custom objects of no kind": lambda c: _custom(c).list_cluster_custom_object("no.example.com", "v1", "things"),
    "versions": lambda c: [group.name for group in kubernetes.client.ApisApi(c).get_api_versions().groups if group.name in ("apps", "batch", "policy")],
    "resources": lambda c: sorted(resource.name for resource in kubernetes.client.BatchV1Api(c).get_api_resources().resources),
    "delete the namespace": lambda c: _core(c).delete_namespace(NAMESPACE),
}
