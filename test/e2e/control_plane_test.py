"""That the cluster under the other tests is what they take it for, whichever kind it is of."""
import json
import time

import pytest
from kubernetes.client import ApiException

from harness.objects import daemon_set, job, job_set, leader_worker_set, pod, requests, template


def test_the_pods_of_a_job_run_and_go_on_running(cluster, namespace):
    nodes = cluster.make_nodes(2)
    cluster.create(job("train", 4), namespace)
    cluster.wait_for(lambda: len(cluster.running(namespace)) == 4, 30, "four running pods")
    assert set(cluster.bound(namespace).values()) <= set(nodes)
    cluster.stays(lambda: len(cluster.running(namespace)) == 4, 2, "four running pods")


def test_a_pod_that_says_how_long_it_runs_ends_the_job(cluster, namespace):
    cluster.make_nodes(1)
    cluster.create(job("short", 2, annotations={"gantree.dev/run-for": "500ms"}), namespace)
    cluster.wait_for(lambda: cluster.get("batch/v1", "Job", "short", namespace)["status"].get("succeeded") == 2, 30,
                     "the job to succeed")


def test_a_pod_that_is_to_fail_fails(cluster, namespace):
    cluster.make_nodes(1)
    cluster.create(pod("bad", annotations={"gantree.dev/fail-after": "100ms"}), namespace)
    cluster.wait_for(lambda: cluster.get("v1", "Pod", "bad", namespace)["status"]["phase"] == "Failed", 20, "the pod to fail")


def test_a_job_set_makes_its_pods(cluster, namespace):
    cluster.make_nodes(2)
    cluster.create(job_set("set", replicas=2, pods=3), namespace)
    cluster.wait_for(lambda: len(cluster.running(namespace)) == 6, 30, "six running pods")
    assert {p["metadata"]["labels"]["jobset.sigs.k8s.io/job-index"] for p in cluster.pods(namespace)} == {"0", "1"}


def explained(cluster, path):
    return " ".join(cluster.kubectl("explain", path).split())


def test_kubectl_lists_and_explains_the_kinds_of_workloads(cluster):
    verbs = "create,delete,deletecollection,get,list,patch,update,watch"
    for group, line in {"jobset.x-k8s.io": ["jobsets", "jobset.x-k8s.io/v1alpha2", "true", "JobSet"],
                        "leaderworkerset.x-k8s.io": ["leaderworkersets", "lws", "leaderworkerset.x-k8s.io/v1", "true", "LeaderWorkerSet"]}.items():
        listed = [row.split() for row in cluster.kubectl("api-resources", f"--api-group={group}", "--no-headers", "-o", "wide").splitlines()]
        assert len(listed) == 1 and listed[0][:-1] == line, listed
        assert ",".join(sorted(listed[0][-1].split(","))) == verbs
    for path, words in {"jobset": ["KIND: JobSet", "VERSION: v1alpha2", "spec <Object>", "status <Object>"],
                        "jobset.spec": ["replicatedJobs <[]Object>", "suspend <boolean>", "successPolicy <Object>", "failurePolicy <Object>"],
                        "jobset.spec.replicatedJobs": ["name <string> -required-", "replicas <integer>", "template <Object> -required-"],
                        "jobset.spec.failurePolicy.restartStrategy": ["FIELD: restartStrategy <string>", "Recreate"],
                        "lws": ["GROUP: leaderworkerset.x-k8s.io", "KIND: LeaderWorkerSet"],
                        "lws.spec": ["leaderWorkerTemplate <Object> -required-", "replicas <integer>", "startupPolicy <string>"],
                        "lws.spec.leaderWorkerTemplate": ["size <integer>", "workerTemplate <Object> -required-"]}.items():
        text = explained(cluster, path)
        assert not [word for word in words if word not in text], text


def test_the_webhook_of_job_set_refuses_nonsense(cluster, namespace):
    nonsense = job_set("set", replicas=1, pods=1)
    nonsense["spec"]["successPolicy"] = {"operator": "All", "targetReplicatedJobs": ["nobody"]}
    with pytest.raises(ApiException, match="nobody"):
        cluster.create(nonsense, namespace)


def test_a_leader_worker_set_makes_its_pods(cluster, namespace):
    cluster.make_nodes(2)
    cluster.create(leader_worker_set("serve", groups=2, size=3), namespace)
    cluster.wait_for(lambda: len(cluster.running(namespace)) == 6, 30, "six running pods")
    # The webhook numbers the pods, so this says that it was asked.
    numbers = sorted(p["metadata"]["labels"]["leaderworkerset.sigs.k8s.io/worker-index"] for p in cluster.pods(namespace))
    assert numbers == ["0", "0", "1", "1", "2", "2"]


def test_a_pod_of_another_scheduler_waits_until_it_is_bound(cluster, namespace):
    cluster.make_nodes(1)
    cluster.create(pod("mine", scheduler="nobody-else"), namespace)
    cluster.stays(lambda: not cluster.bound(namespace), 1, "the pod has no node")
    cluster.bind(namespace, "mine", "node-0")
    cluster.wait_for(lambda: cluster.running(namespace) == ["mine"], 10, "the pod to run")
    with pytest.raises(ApiException) as refused:
        cluster.bind(namespace, "mine", "node-0")
    assert refused.value.status == 409


def test_a_deleted_pod_stays_as_long_as_it_needs_to_stop(cluster, namespace):
    cluster.make_nodes(1)
    cluster.create(pod("slow", annotations={"gantree.dev/stop-after": "3s"}, grace=20), namespace)
    cluster.wait_for(lambda: cluster.running(namespace), 20, "the pod to run")
    cluster.delete("v1", "Pod", "slow", namespace)
    begun = time.monotonic()
    cluster.stays(lambda: cluster.pods(namespace), 1.5, "the pod is still there")
    cluster.wait_for(lambda: not cluster.pods(namespace), 10, "the pod to go")
    assert time.monotonic() - begun < 8


def test_a_daemon_set_lands_on_every_node(cluster, namespace):
    nodes = cluster.make_nodes(5)
    cluster.create(daemon_set("agent", asks=requests(cpu="100m")), namespace)
    cluster.wait_for(lambda: len(cluster.running(namespace)) == 5, 30, "five running pods")
    assert sorted(cluster.bound(namespace).values()) == sorted(nodes)


def test_a_node_goes_down_and_comes_back(cluster):
    cluster.make_nodes(2)
    cluster.take_down("node-1")
    cluster.wait_for(lambda: cluster.usable_nodes() == ["node-0"], 20, "node-1 to be down")
    cluster.bring_up("node-1")
    cluster.wait_for(lambda: sorted(cluster.usable_nodes()) == ["node-0", "node-1"], 20, "node-1 to be back")


def test_kubectl_sees_what_the_client_made(cluster, namespace):
    cluster.create(pod("seen", scheduler="nobody"), namespace)
    listed = json.loads(cluster.kubectl("get", "pods", "-n", namespace, "-o", "json"))
    assert [item["metadata"]["name"] for item in listed["items"]] == ["seen"]


def _ended(cluster, namespace, name):
    conditions = cluster.get("batch/v1", "Job", name, namespace)["status"].get("conditions", [])
    return {c["type"]: (c["reason"], c["message"]) for c in conditions if c["status"] == "True"}


def test_a_job_fails_at_once_by_its_own_rule(cluster, namespace):
    cluster.make_nodes(1)
    ruled = job("ruled", 1, annotations={"gantree.dev/fail-after": "100ms"})
    ruled["spec"] |= {"backoffLimit": 6, "podFailurePolicy": {"rules": [
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]},
        {"action": "FailJob", "onExitCodes": {"containerName": "main", "operator": "NotIn", "values": [42]}}]}}
    cluster.create(ruled, namespace)
    cluster.wait_for(lambda: "Failed" in _ended(cluster, namespace, "ruled"), 20, "the job to fail")
    (failed,) = cluster.pods(namespace)
    why = ("PodFailurePolicy", f"Container main for pod {namespace}/{failed['metadata']['name']} failed with exit code 1 matching FailJob rule at index 1")
    assert _ended(cluster, namespace, "ruled") == {"FailureTarget": why, "Failed": why}


def test_each_index_of_a_job_has_its_own_failures(cluster, namespace):
    cluster.make_nodes(1)
    indexed = job("indexed", 2, annotations={"gantree.dev/fail-after": "100ms"})
    indexed["spec"] |= {"backoffLimitPerIndex": 0}
    del indexed["spec"]["backoffLimit"]
    cluster.create(indexed, namespace)
    cluster.wait_for(lambda: "Failed" in _ended(cluster, namespace, "indexed"), 20, "the job to fail")
    assert _ended(cluster, namespace, "indexed")["Failed"] == ("FailedIndexes", "Job has failed indexes")
    status = cluster.get("batch/v1", "Job", "indexed", namespace)["status"]
    assert (status["failedIndexes"], status["failed"]) == ("0,1", 2)
    assert {p["metadata"]["annotations"]["batch.kubernetes.io/job-index-failure-count"] for p in cluster.pods(namespace)} == {"0"}


def test_a_job_succeeds_by_its_own_rule(cluster, namespace):
    cluster.make_nodes(1)
    enough = job("enough", 3)
    enough["spec"]["successPolicy"] = {"rules": [{"succeededIndexes": "0,2", "succeededCount": 1}]}
    cluster.create(enough, namespace)
    cluster.wait_for(lambda: len(cluster.running(namespace)) == 3, 20, "the pods to run")
    last = next(p for p in cluster.pods(namespace) if p["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"] == "2")
    cluster.merge("v1", "Pod", last["metadata"]["name"], {"metadata": {"annotations": {"gantree.dev/run-for": "1ms"}}}, namespace)
    cluster.wait_for(lambda: "Complete" in _ended(cluster, namespace, "enough"), 20, "the job to succeed")
    why = ("SuccessPolicy", "Matched rules at index 0")
    assert _ended(cluster, namespace, "enough") == {"SuccessCriteriaMet": why, "Complete": why}
    status = cluster.get("batch/v1", "Job", "enough", namespace)["status"]
    assert (status["completedIndexes"], status["succeeded"], status.get("failed", 0)) == ("2", 1, 0)


def test_a_deployment_takes_in_the_replica_set_that_was_left_behind(cluster, namespace):
    cluster.make_nodes(1)
    web = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {
        "replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template(labels={"app": "web"})}}
    cluster.create(web, namespace)
    cluster.wait_for(lambda: cluster.running(namespace), 20, "the pod to run")
    (left,) = cluster.list("apps/v1", "ReplicaSet", namespace)
    (runs,) = cluster.running(namespace)
    assert f"Created pod: {runs}" in [e["message"] for e in cluster.events(namespace, left["metadata"]["name"])]
    cluster.delete("apps/v1", "Deployment", "web", namespace, propagationPolicy="Orphan")
    cluster.wait_for(lambda: not cluster.list("apps/v1", "Deployment", namespace), 10, "the ReplicaSet to be alone")
    assert "ownerReferences" not in cluster.list("apps/v1", "ReplicaSet", namespace)[0]["metadata"]
    cluster.create(web, namespace)
    cluster.wait_for(lambda: cluster.get("apps/v1", "Deployment", "web", namespace).get("status", {}).get("availableReplicas") == 1, 20,
                     "the Deployment to have its pod")
    assert [s["metadata"]["uid"] for s in cluster.list("apps/v1", "ReplicaSet", namespace)] == [left["metadata"]["uid"]]
    # A pod that no longer matches is let go, and replaced.
    cluster.merge("v1", "Pod", runs, {"metadata": {"labels": {"app": "debug"}}}, namespace)
    cluster.wait_for(lambda: len(cluster.running(namespace)) == 2, 20, "another pod to run")
    assert "ownerReferences" not in cluster.get("v1", "Pod", runs, namespace)["metadata"]


def test_a_stateful_set_has_its_claims(cluster, namespace):
    cluster.make_nodes(1)
    cluster.create({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"}, "spec": {
        "selector": {"matchLabels": {"app": "db"}}, "template": template(labels={"app": "db"}, scheduler="nobody"),
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete", "whenScaled": "Retain"},
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}]}}, namespace)
    # Controllers make the claim first, and say whose it is in a second write.
    cluster.wait_for(lambda: any("ownerReferences" in claim["metadata"] for claim in cluster.list("v1", "PersistentVolumeClaim", namespace)),
                     10, "the claim and its owner")
    (claim,) = cluster.list("v1", "PersistentVolumeClaim", namespace)
    assert claim["metadata"]["name"] == "data-db-0" and claim["metadata"]["labels"] == {"app": "db"}
    (owner,) = claim["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"], owner.get("controller")) == ("StatefulSet", "db", True)
