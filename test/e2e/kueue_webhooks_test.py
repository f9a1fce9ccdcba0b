"""Jobs that name a queue are held back from the moment they are created, by the real API server and controllers."""
import json

import pytest
import yaml
from kubernetes.client import ApiException

QUEUE = "kueue.x-k8s.io/queue-name"
POD = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "registry.example/main", "resources": {"requests": {"cpu": "1"}}}]}


def job(name, queue="team", annotations=None, **spec):
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "labels": {QUEUE: queue} if queue else {}},
            "spec": {"template": {"metadata": {"annotations": annotations or {}}, "spec": POD}} | spec}


def job_set(name, queue="team"):
    return {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": {"name": name, "labels": {QUEUE: queue} if queue else {}},
            "spec": {"replicatedJobs": [{"name": "workers", "replicas": 2, "template": {"spec": {"parallelism": 2, "completions": 2, "template": {"spec": POD}}}}]}}


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
    cluster.create(job("train"), namespace)
    cluster.merge("batch/v1", "Job", "train", {"metadata": {"labels": {QUEUE: "other"}}}, namespace)
    cluster.merge("batch/v1", "Job", "train", {"spec": {"suspend": False}}, namespace)
    said = refused(lambda: cluster.merge("batch/v1", "Job", "train", {"metadata": {"labels": {QUEUE: "team"}}}, namespace))
    assert 'cannot change from "other" to "team" while the Job runs' in said, said
    assert "to none" in refused(lambda: cluster.merge("batch/v1", "Job", "train", {"metadata": {"labels": {QUEUE: None}}}, namespace))
    # Somebody runs it already, so it is not held back by a queue that it is given later.
    cluster.create(job("free", queue=None), namespace)
    assert "from none" in refused(lambda: cluster.merge("batch/v1", "Job", "free", {"metadata": {"labels": {QUEUE: "team"}}}, namespace))


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
