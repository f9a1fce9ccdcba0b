"""Training jobs of Kubeflow and clusters of Ray in queues. Their operators are not here: see harness/operators.py."""
import pytest

from harness import operators
from harness.objects import requests, template
from harness.queues import GATE, KUEUE, POOL, RACK, REQUIRED

PYTORCH, RAY = "kubeflow.org/v1", "ray.io/v1"


@pytest.fixture(scope="module")
def kinds(whole_cluster, shared_gantree):
    """They appear while Gantree runs."""
    definitions = operators.Definitions(whole_cluster, [(PYTORCH, "PyTorchJob"), (RAY, "RayCluster"), (RAY, "RayJob")])
    yield
    definitions.remove()


@pytest.fixture
def place(pool, kinds):
    """A rack of two hosts of eight GPUs, and quota for all of them."""
    pool.make_nodes(2)
    pool.make_queue(quota=16)
    return pool


def pods(gpu=1):
    return template(annotations={REQUIRED: RACK}, asks=requests(gpu=gpu))


def py_torch_job(name, workers, gpu=1):
    return {"apiVersion": PYTORCH, "kind": "PyTorchJob", "metadata": {"name": name},
            "spec": {"runPolicy": {"cleanPodPolicy": "None"},
                     "pytorchReplicaSpecs": {"Master": {"replicas": 1, "template": pods(gpu)}, "Worker": {"replicas": workers, "template": pods(gpu)}}}}


def ray_cluster(workers):
    return {"rayVersion": "2.46.0", "headGroupSpec": {"rayStartParams": {}, "template": pods()},
            "workerGroupSpecs": [{"groupName": "workers", "replicas": workers, "rayStartParams": {}, "template": pods()}]}


def started(place, api, kind, name):
    """Waits until the job was started; the job."""
    def found():
        job = place.cluster.get(api, kind, name, place.namespace)
        suspended = job["spec"].get("suspend") if api == RAY else job["spec"]["runPolicy"]["suspend"]
        return None if suspended else job
    return place.wait(found, lambda: f"{kind} {name} to be started; {(place.workload(name) or {}).get('status')}")


def set_status(place, api, kind, name, status):
    place.cluster.merge(api, kind, name, {"status": status}, place.namespace, subresource="status")


def test_a_training_job_is_held_back_placed_by_rank_and_over(place):
    stored = place.submit(py_torch_job("train", 11))
    assert stored["spec"]["runPolicy"]["suspend"] is True
    place.admitted("train")
    operators.make_pods(place.cluster, place.namespace, started(place, PYTORCH, "PyTorchJob", "train"))
    place.check_assignment("train", place.running("train", 12))
    workers = sorted((pod for pod in place.pods("train") if pod["metadata"]["labels"][f"{KUEUE}/podset"] == "worker"),
                     key=lambda pod: int(pod["metadata"]["labels"][operators.INDEX]))
    hosts = [pod["spec"]["nodeName"] for pod in workers]
    assert len(set(hosts)) == 2 and sum(a != b for a, b in zip(hosts, hosts[1:])) == 1, f"consecutive ranks share a host: {hosts}"
    set_status(place, PYTORCH, "PyTorchJob", "train", {"conditions": [{"type": "Running", "status": "True"}]})
    place.told("train", "PodsReady")
    set_status(place, PYTORCH, "PyTorchJob", "train", {"conditions": [{"type": "Succeeded", "status": "True", "message": "trained"}]})
    place.told("train", "Finished", reason="Succeeded", message="trained")


def test_a_training_job_that_has_to_go_is_suspended_and_starts_as_its_user_wrote_it(place):
    place.submit(py_torch_job("train", 3, gpu=4))
    first = started(place, PYTORCH, "PyTorchJob", "train")
    operators.make_pods(place.cluster, place.namespace, first)
    place.running("train", 4)
    place.submit(py_torch_job("next", 1))
    place.told("next", "QuotaReserved", "False", "WaitingForQuota")
    place.change_workload("train", {"spec": {"active": False}})
    place.wait(lambda: place.cluster.get(PYTORCH, "PyTorchJob", "train", place.namespace)["spec"]["runPolicy"]["suspend"], "the job to be suspended")
    for pod in place.pods("train"):
        place.cluster.delete("v1", "Pod", pod["metadata"]["name"], place.namespace, gracePeriodSeconds=0)
    place.admitted("next")
    place.cluster.delete(PYTORCH, "PyTorchJob", "next", place.namespace)
    place.change_workload("train", {"spec": {"active": True}})
    again = started(place, PYTORCH, "PyTorchJob", "train")
    assert again["spec"]["pytorchReplicaSpecs"] == first["spec"]["pytorchReplicaSpecs"]


def test_a_ray_cluster_is_started_with_what_it_was_given(place):
    stored = place.submit({"apiVersion": RAY, "kind": "RayCluster", "metadata": {"name": "ray"}, "spec": ray_cluster(2)})
    assert stored["spec"]["suspend"] is True
    spec = started(place, RAY, "RayCluster", "ray")["spec"]
    for group in (spec["headGroupSpec"], *spec["workerGroupSpecs"]):
        pod = group["template"]
        assert pod["spec"]["nodeSelector"] == {POOL: place.name} and pod["spec"]["schedulingGates"] == [{"name": GATE}]
        assert pod["metadata"]["annotations"][f"{KUEUE}/workload"] == place.workload("ray")["metadata"]["name"]
    assert [(one["name"], one["count"]) for one in place.workload("ray")["status"]["admission"]["podSetAssignments"]] == [("head", 1), ("workers", 2)]
    set_status(place, RAY, "RayCluster", "ray", {"state": "ready"})
    place.told("ray", "PodsReady")


def test_a_ray_job_waits_and_its_cluster_with_it(place):
    job = place.submit({"apiVersion": RAY, "kind": "RayJob", "metadata": {"name": "train"},
                        "spec": {"entrypoint": "python train.py", "shutdownAfterJobFinishes": True, "rayClusterSpec": ray_cluster(3)}})
    assert job["spec"]["suspend"] is True
    started(place, RAY, "RayJob", "train")
    owner = {"apiVersion": RAY, "kind": "RayJob", "name": "train", "uid": job["metadata"]["uid"], "controller": True}
    own = place.submit({"apiVersion": RAY, "kind": "RayCluster", "metadata": {"name": "train-x", "ownerReferences": [owner]}, "spec": ray_cluster(3)})
    assert "suspend" not in own["spec"]
    set_status(place, RAY, "RayJob", "train", {"jobDeploymentStatus": "Complete", "jobStatus": "SUCCEEDED", "message": "done"})
    place.told("train", "Finished", reason="Succeeded")
    assert place.workload("train-x") is None
