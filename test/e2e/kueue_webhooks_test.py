"""Jobs that name a queue are held back from the moment they are created."""
import json
from concurrent.futures import ThreadPoolExecutor

import pytest
import yaml
from kubernetes.client import ApiException

QUEUE = "kueue.x-k8s.io/queue-name"
PREFIX = "kueue.x-k8s.io"
POD = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "registry.example/main", "resources": {"requests": {"cpu": "1"}}}]}


def job(name, queue="team", annotations=None, **spec):
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "labels": {QUEUE: queue} if queue else {}},
            "spec": {"template": {"metadata": {"annotations": annotations or {}}, "spec": POD}} | spec}


def job_set(name, queue="team"):
    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": name, "labels": {QUEUE: queue} if queue else {}},
            "spec": {"replicatedJobs": [{"name": "workers", "replicas": 2, "template": {"spec": {"parallelism": 2, "completions": 2, "template": {"spec": POD}}}}]}}


def pod(name, queue="team", group=None, total=None, annotations=None):
    labels = ({QUEUE: queue} if queue else {}) | ({f"{PREFIX}/pod-group-name": group} if group else {})
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "labels": labels,
                         "annotations": (annotations or {}) | ({f"{PREFIX}/pod-group-total-count": str(total)} if total else {})},
            "spec": POD}


def replicated(kind, name, replicas, queue="team", annotations=None):
    """A Deployment, a ReplicaSet or a StatefulSet."""
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name, "labels": {QUEUE: queue} if queue else {}},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}},
                     "template": {"metadata": {"labels": {"app": name}, "annotations": annotations or {}}, "spec": POD | {"restartPolicy": "Always"}}}
            | ({"serviceName": name} if kind == "StatefulSet" else {})}


def leader_worker_set(name, replicas, size, leader=True, **group):
    template = {"spec": POD | {"restartPolicy": "Always"}}
    return {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": {"name": name, "labels": {QUEUE: "team"}},
            "spec": {"replicas": replicas,
                     "leaderWorkerTemplate": {"size": size, "workerTemplate": template} | ({"leaderTemplate": template} if leader else {}) | group}}


def gates(pod):
    return [gate["name"] for gate in pod["spec"].get("schedulingGates", [])]


def marks(pod):
    """Its labels and annotations of ours, without the prefix; a label wins."""
    both = pod["metadata"].get("annotations", {}) | pod["metadata"].get("labels", {})
    return {key.removeprefix(f"{PREFIX}/"): value for key, value in both.items() if key.startswith(PREFIX)}


def refused(create):
    """What the API server says to it."""
    with pytest.raises(ApiException) as error:
        create()
    return json.loads(error.value.body)["message"]


def test_a_job_with_a_queue_is_created_suspended(cluster, namespace, gantree_with_webhooks):
    cluster.kubectl("create", "-n", namespace, "-f", "-", input=yaml.safe_dump(job("train", parallelism=3)))
    assert cluster.get("batch/v1", "Job", "train", namespace)["spec"]["suspend"] is True
    assert cluster.create(job_set("set"), namespace)["spec"]["suspend"] is True
    cluster.stays(lambda: not cluster.pods(namespace), 2, "nothing of them starts")


def test_a_job_without_a_queue_is_left_alone(cluster, namespace, gantree_with_webhooks):
    assert not cluster.create(job("free", queue=None), namespace)["spec"].get("suspend")
    assert not cluster.create(job_set("set", queue=None), namespace)["spec"].get("suspend")
    cluster.wait_for(lambda: len(cluster.pods(namespace)) == 5, 20, "the pods of both")


def test_a_dry_run_shows_what_would_be_stored(cluster, namespace, gantree_with_webhooks):
    printed = cluster.kubectl("create", "-n", namespace, "--dry-run=server", "-o", "json", "-f", "-", input=yaml.safe_dump(job("train")))
    assert json.loads(printed)["spec"]["suspend"] is True
    assert cluster.get("batch/v1", "Job", "train", namespace) is None


def test_what_contradicts_itself_is_refused_in_one_sentence(cluster, namespace, gantree_with_webhooks):
    said = refused(lambda: cluster.create(job("train", annotations={"kueue.x-k8s.io/podset-slice-size": "2"}), namespace))
    assert said.endswith("kueue.x-k8s.io/podset-slice-size needs kueue.x-k8s.io/podset-slice-required-topology beside it"), said
    assert "cannot change" not in refused(lambda: cluster.create(job("train", queue="Team"), namespace))


def test_the_queue_of_a_job_changes_only_while_it_is_suspended(cluster, namespace, gantree_with_webhooks):
    def change(name, queue, **spec):
        return cluster.merge("batch/v1", "Job", name, {"metadata": {"labels": {QUEUE: queue}}, "spec": spec}, namespace)
    cluster.create(job("train"), namespace)
    change("train", "other")
    said = refused(lambda: change("train", "team", suspend=False))
    assert "spec.suspend cannot be set to false" in said, said
    assert "to none" in refused(lambda: change("train", None, suspend=False))
    # It runs already, so it is not held back by a queue that it is given later.
    cluster.create(job("free", queue=None), namespace)
    assert "from none" in refused(lambda: change("free", "team"))


def test_while_nobody_answers_only_jobs_with_a_queue_are_refused(cluster, namespace, webhooks, gantree_with_webhooks):
    cluster.create(job("before"), namespace)
    gantree_with_webhooks.kill()
    assert "failed calling webhook" in refused(lambda: cluster.create(job("train"), namespace))
    assert "failed calling webhook" in refused(lambda: cluster.create(job_set("set"), namespace))
    cluster.create(job("free", queue=None), namespace)
    # What is there can go, finalizers and all.
    cluster.delete("batch/v1", "Job", "before", namespace, propagationPolicy="Foreground")
    cluster.wait_for(lambda: cluster.get("batch/v1", "Job", "before", namespace) is None, 20, "the job to go")
    gantree_with_webhooks.restart()
    webhooks.wait_until_asked()
    assert cluster.create(job("train"), namespace)["spec"]["suspend"] is True


def test_a_pod_with_a_queue_is_gated(cluster, namespace, gantree_with_webhooks):
    alone = cluster.create(pod("alone"), namespace)
    assert gates(alone) == ["kueue.x-k8s.io/admission"]
    assert alone["metadata"]["finalizers"] == ["kueue.x-k8s.io/managed"]
    assert marks(alone)["managed"] == "true"
    near = cluster.create(pod("near", annotations={"kueue.x-k8s.io/podset-required-topology": "rack"}), namespace)
    assert gates(near) == ["kueue.x-k8s.io/admission", "kueue.x-k8s.io/topology"]
    assert not gates(cluster.create(pod("free", queue=None), namespace))
    first, second = (cluster.create(pod(name, group="g", total=2), namespace) for name in ("first", "second"))
    assert marks(first)["role-hash"] == marks(second)["role-hash"] and len(marks(first)["role-hash"]) == 8
    said = refused(lambda: cluster.create(pod("half", group="g"), namespace))
    assert "pod-group-name needs kueue.x-k8s.io/pod-group-total-count beside it" in said, said


def take_off_gates(cluster, namespace, name):
    cluster.request("PATCH", cluster.path("v1", "Pod", namespace, name), body=[{"op": "replace", "path": "/spec/schedulingGates", "value": []}],
                    content_type="application/json-patch+json")


def test_nobody_takes_a_pod_out_of_its_queue(cluster, namespace, gantree_with_webhooks):
    cluster.create(pod("held"), namespace)
    said = refused(lambda: take_off_gates(cluster, namespace, "held"))
    assert 'gate kueue.x-k8s.io/admission cannot be taken off: Pod "held" waits in queue "team"' in said, said
    for label in ("managed", "queue-name"):
        said = refused(lambda: cluster.merge("v1", "Pod", "held", {"metadata": {"labels": {f"{PREFIX}/{label}": None}}}, namespace))
        assert f"the label kueue.x-k8s.io/{label} cannot be taken off" in said, said
    said = refused(lambda: cluster.merge("v1", "Pod", "held", {"metadata": {"finalizers": None}}, namespace))
    assert "the finalizer kueue.x-k8s.io/managed cannot be taken off" in said, said
    assert gates(cluster.get("v1", "Pod", "held", namespace)) == ["kueue.x-k8s.io/admission"]
    cluster.delete("v1", "Pod", "held", namespace)


def test_a_pod_stays_in_its_group_and_is_otherwise_free(cluster, namespace, gantree_with_webhooks):
    cluster.create(pod("first", group="g", total=2), namespace)
    assert "stays in its group" in refused(lambda: cluster.merge("v1", "Pod", "first", {"metadata": {"labels": {f"{PREFIX}/pod-group-name": "h"}}}, namespace))
    cluster.merge("v1", "Pod", "first", {"metadata": {"labels": {"colour": "red"}, "annotations": {"a": "b"}}}, namespace)
    # What nobody needs to be asked about goes on without Gantree.
    gantree_with_webhooks.kill()
    cluster.merge("v1", "Pod", "first", {"metadata": {"annotations": {"a": "c"}}}, namespace)
    assert "failed calling webhook" in refused(lambda: take_off_gates(cluster, namespace, "first"))
    assert "failed calling webhook" in refused(lambda: cluster.create(pod("second"), namespace))
    cluster.create(pod("free", queue=None), namespace)


def test_the_pods_of_a_job_are_not_gated_since_the_job_waits(cluster, namespace, gantree_with_webhooks):
    owner = cluster.create(job("train"), namespace)["metadata"]
    made = pod("train-x")
    made["metadata"]["ownerReferences"] = [{"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": owner["uid"], "controller": True}]
    assert not gates(cluster.create(made, namespace))


def test_the_pods_of_a_deployment_wait_one_by_one(cluster, namespace, gantree_with_webhooks):
    cluster.create(replicated("Deployment", "web", 2), namespace)
    made = cluster.wait_for(lambda: len(cluster.pods(namespace)) == 2 and cluster.pods(namespace), 20, "its pods")
    for one in made:
        assert gates(one) == ["kueue.x-k8s.io/admission"]
        assert not one["metadata"].get("finalizers")
        assert marks(one)["queue-name"] == "team" and marks(one)["pod-suspending-parent"] == "deployment"
    sets = cluster.list("apps/v1", "ReplicaSet", namespace)
    assert len(sets) == 1
    # Another scale needs no new template, and a pod that goes is made anew at once.
    cluster.merge("apps/v1", "Deployment", "web", {"spec": {"replicas": 3}}, namespace)
    cluster.delete("v1", "Pod", made[0]["metadata"]["name"], namespace)
    cluster.wait_for(lambda: len(cluster.pods(namespace)) == 3, 20, "three pods")
    assert len(cluster.list("apps/v1", "ReplicaSet", namespace)) == 1
    cluster.create(replicated("ReplicaSet", "bare", 1), namespace)
    bare = cluster.wait_for(lambda: cluster.pods(namespace, "app=bare"), 20, "the pod of the ReplicaSet")
    assert gates(bare[0]) == ["kueue.x-k8s.io/admission"]


def test_the_pods_of_a_stateful_set_are_one_group(cluster, namespace, gantree_with_webhooks):
    wanted = replicated("StatefulSet", "web", 3, annotations={"kueue.x-k8s.io/podset-required-topology": "rack"})
    wanted["spec"]["podManagementPolicy"] = "Parallel"
    cluster.create(wanted, namespace)
    made = cluster.wait_for(lambda: len(cluster.pods(namespace)) == 3 and cluster.pods(namespace), 20, "its pods")
    assert all(gates(one) == ["kueue.x-k8s.io/admission", "kueue.x-k8s.io/topology"] for one in made)
    assert {(marks(one)["pod-group-name"], marks(one)["pod-group-total-count"], marks(one)["pod-group-serving"],
             marks(one)["pod-group-fast-admission"], marks(one)["role-hash"]) for one in made} == {("statefulset-web", "3", "true", "true", "main")}
    assert sorted(marks(one)["pod-group-pod-index"] for one in made) == ["0", "1", "2"]
    said = refused(lambda: cluster.merge("apps/v1", "StatefulSet", "web", {"spec": {"replicas": 4}}, namespace))
    assert "spec.replicas cannot change from 3 to 4" in said, said
    cluster.merge("apps/v1", "StatefulSet", "web", {"spec": {"replicas": 0}}, namespace)
    cluster.wait_for(lambda: not cluster.pods(namespace), 20, "the pods to go")
    cluster.merge("apps/v1", "StatefulSet", "web", {"spec": {"replicas": 2}}, namespace)
    made = cluster.wait_for(lambda: len(cluster.pods(namespace)) == 2 and cluster.pods(namespace), 20, "two pods")
    assert {marks(one)["pod-group-total-count"] for one in made} == {"2"}


@pytest.mark.parametrize("leader", [True, False])
def test_each_replica_of_a_leader_worker_set_is_one_group(cluster, namespace, gantree_with_webhooks, leader):
    cluster.create(leader_worker_set("serve", 2, 3, leader), namespace)
    made = cluster.wait_for(lambda: len(cluster.pods(namespace)) == 6 and cluster.pods(namespace), 30, "its pods")
    assert all(gates(one) == ["kueue.x-k8s.io/admission"] and not one["metadata"].get("finalizers") for one in made)
    groups = {}
    for one in made:
        mark = marks(one)
        assert (mark["pod-group-total-count"], mark["queue-name"], mark["managed"]) == ("3", "team", "true")
        # As its own controller counts.
        labels = one["metadata"]["labels"]
        assert mark["pod-group-pod-index"] == labels["leaderworkerset.sigs.k8s.io/worker-index"]
        assert mark["pod-group-name"] == f"leaderworkerset-serve-{labels['leaderworkerset.sigs.k8s.io/group-index']}"
        groups.setdefault(mark["pod-group-name"], []).append((int(mark["pod-group-pod-index"]), mark["role-hash"]))
    roles = ["leader", "worker", "worker"] if leader else ["main"] * 3
    assert {name: sorted(members) for name, members in groups.items()} == {
        f"leaderworkerset-serve-{index}": list(enumerate(roles)) for index in range(2)}
    said = refused(lambda: cluster.merge("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "serve",
                                         {"spec": {"leaderWorkerTemplate": {"size": 4}}}, namespace))
    assert "size cannot change from 3 to 4" in said, said


def test_many_at_once_are_all_answered(cluster, namespace, gantree_with_webhooks):
    def create(number):
        return cluster.request("POST", cluster.path("batch/v1", "Job", namespace), body=job(f"train-{number}"), query=[("dryRun", "All")])
    create(0)
    with ThreadPoolExecutor(100) as crowd:
        stored = list(crowd.map(create, range(500)))
    assert all(one["spec"]["suspend"] for one in stored)


def test_old_manifests_of_queues_are_taken(cluster, namespace, gantree_with_webhooks):
    queue = {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "LocalQueue", "metadata": {"name": "old"}, "spec": {"clusterQueue": "team"}}
    cluster.kubectl("create", "-n", namespace, "-f", "-", input=yaml.safe_dump(queue))
    assert cluster.get("kueue.x-k8s.io/v1beta2", "LocalQueue", "old", namespace)["spec"]["clusterQueue"] == "team"
