"""Jobs that do not carry the label of a queue: the LocalQueue `default` of their namespace, and the queue as an annotation. That they are stored
while nobody answers is in kueue_webhooks_test.py."""
import json

import pytest
import yaml

from harness.objects import job, job_set, pod, requests, template
from harness.queues import QUEUE_NAME

MANAGED = "kueue.x-k8s.io/managed"
PROBE = job("probe", 1)


def queue_of(stored):
    return stored["metadata"].get("labels", {}).get(QUEUE_NAME)


def ask(pool, manifest, **metadata):
    """What would be stored of it."""
    manifest = manifest | {"metadata": manifest["metadata"] | metadata}
    return json.loads(pool.cluster.kubectl("create", "-n", pool.namespace, "--dry-run=server", "-o", "json", "-f", "-", input=yaml.safe_dump(manifest)))


@pytest.fixture
def place(pool):
    """A namespace whose LocalQueue is called `default`, and has quota for eight of its sixteen GPUs."""
    pool.make_nodes(2)
    pool.make_queue(quota=8, name="default")
    pool.wait(lambda: queue_of(ask(pool, PROBE)), "Gantree to know of the queue")
    return pool


def test_a_job_that_names_no_queue_waits_in_the_one_of_its_namespace(place):
    asks = requests(gpu=1)
    stored = place.cluster.create(job("first", 8, asks=asks), place.namespace)
    assert queue_of(stored) == "default" and stored["spec"]["suspend"] is True
    place.running("first", 8)
    place.cluster.create(job("second", 1, asks=asks), place.namespace)
    place.told("second", "QuotaReserved", "False", "WaitingForQuota")
    place.delete_job("first")
    place.running("second", 1)


def test_where_there_is_no_such_queue_nothing_is_held_back(pool):
    pool.make_nodes(1)
    pool.make_queue()
    stored = pool.cluster.create(job("free", 2, asks=requests(gpu=1)), pool.namespace)
    assert queue_of(stored) is None and not stored["spec"].get("suspend")
    pool.running("free", 2)
    assert pool.workload("free") is None


def test_the_queue_may_be_named_by_an_annotation(pool):
    pool.make_nodes(1)
    pool.make_queue(quota=1)
    manifest = job("train", 1, asks=requests(gpu=1))
    manifest["metadata"]["annotations"] = {QUEUE_NAME: "main"}
    stored = pool.cluster.create(manifest, pool.namespace)
    assert queue_of(stored) == "main" and stored["spec"]["suspend"] is True
    pool.running("train", 1)
    assert pool.workload("train")["spec"]["queueName"] == "main"


def test_a_pod_waits_there_for_itself(place):
    stored = place.cluster.create(pod("alone", asks=requests(gpu=1)), place.namespace)
    assert queue_of(stored) == "default" and stored["metadata"]["labels"][MANAGED] == "true"
    place.admitted("alone")
    place.wait(lambda: place.cluster.get("v1", "Pod", "alone", place.namespace)["status"]["phase"] == "Running", "the pod to run")


def test_what_waits_as_a_whole_is_not_queued_once_more_by_its_parts(place):
    place.cluster.create(job_set("set", 2, 2, asks=requests(gpu=1)), place.namespace)
    pods = place.running("set", 4)
    jobs = place.cluster.list("batch/v1", "Job", place.namespace)
    assert len(jobs) == 2 and not any(queue_of(one) for one in [*jobs, *pods])
    assert len(place.cluster.list("kueue.x-k8s.io/v1beta2", "Workload", place.namespace)) == 1


def test_the_pods_of_a_deployment_wait_one_by_one(place):
    labels = {"app": "web"}
    place.cluster.create({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
                          "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": template(labels=labels, asks=requests(gpu=5))}},
                         place.namespace)

    def running():
        return [p for p in place.cluster.pods(place.namespace) if p["status"]["phase"] == "Running"]
    place.wait(lambda: len(running()) == 1, "one of them to run: there is quota for no more")
    place.cluster.stays(lambda: len(running()) == 1, 1.5, "the other waits")


def test_what_was_there_before_the_queue_goes_on(pool):
    pool.make_nodes(1)
    labels = {"app": "web"}
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
                  "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": template(labels=labels, asks=requests(gpu=1))}}
    pool.cluster.create(deployment, pool.namespace)
    pool.wait(lambda: [p for p in pool.cluster.pods(pool.namespace) if p["status"]["phase"] == "Running"], "its pod to run")
    pool.make_queue(quota=1, name="default")
    pool.wait(lambda: queue_of(ask(pool, PROBE)), "Gantree to know of the queue")
    pool.cluster.merge("apps/v1", "Deployment", "web", {"spec": {"replicas": 3}}, pool.namespace)
    pool.wait(lambda: len([p for p in pool.cluster.pods(pool.namespace) if p["status"]["phase"] == "Running"]) == 3, "three pods to run")
    assert queue_of(pool.cluster.get("apps/v1", "Deployment", "web", pool.namespace)) is None


def test_once_the_queue_is_gone_jobs_are_left_alone_again(place):
    place.cluster.delete("kueue.x-k8s.io/v1beta2", "LocalQueue", "default", place.namespace)
    place.wait(lambda: queue_of(ask(place, PROBE)) is None, "Gantree to know that it is gone")


def test_a_job_that_names_no_class_gets_the_one_named_default_while_there_is_one(place):
    api = "kueue.x-k8s.io/v1beta2", "WorkloadPriorityClass"
    class_of = lambda stored: stored["metadata"].get("labels", {}).get("kueue.x-k8s.io/priority-class")
    place.cluster.create({"apiVersion": api[0], "kind": api[1], "metadata": {"name": "default"}, "value": 1000})
    try:
        place.wait(lambda: class_of(ask(place, PROBE)) == "default", "Gantree to know of the class")
        assert class_of(ask(place, PROBE, labels={"kueue.x-k8s.io/priority-class": "own"})) == "own"
        place.cluster.create(job("usual", 1, asks=requests(gpu=1)), place.namespace)
        place.running("usual", 1)
        assert place.workload("usual")["spec"]["priority"] == 1000
    finally:
        place.cluster.delete(*api, "default")
    place.wait(lambda: class_of(ask(place, PROBE)) is None, "Gantree to know that the class is gone")
