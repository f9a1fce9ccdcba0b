"""What api_test.py does with the official Python client, on one cluster."""
import kubernetes

NAMESPACE = "api-client"
TEMPLATE = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "a", "image": "busybox:1"}]}}


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
    "custom objects of no kind": lambda c: _custom(c).list_cluster_custom_object("no.example.com", "v1", "things"),
    "versions": lambda c: [group.name for group in kubernetes.client.ApisApi(c).get_api_versions().groups if group.name in ("apps", "batch", "policy")],
    "resources": lambda c: sorted(resource.name for resource in kubernetes.client.BatchV1Api(c).get_api_resources().resources),
    "delete the namespace": lambda c: _core(c).delete_namespace(NAMESPACE),
}
