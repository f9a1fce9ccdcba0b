"""PodGroups and Queues of KAI on a cluster: workloads written for KAI-Scheduler, unchanged."""
import pytest

from harness.objects import BLOCK, RACK, job, rack_labels, requests

PATIENCE = 30
QUIET = 2
SCHEDULER = "kai-scheduler"
POD_GROUPS = "scheduling.run.ai/v2alpha2", "PodGroup"
QUEUES = "scheduling.run.ai/v2", "Queue"
TOPOLOGIES = "kai.scheduler/v1alpha1", "Topology"
IN_RACK = {"kai.scheduler/topology": "net", "kai.scheduler/topology-required-placement": RACK}

pytestmark = pytest.mark.usefixtures("observer")


@pytest.fixture
def kai(cluster, replicas):
    """One replica that takes KAI's pods, a network, and two queues below one parent."""
    cluster.apply([{"apiVersion": TOPOLOGIES[0], "kind": TOPOLOGIES[1], "metadata": {"name": "net"},
                    "spec": {"levels": [{"nodeLabel": BLOCK}, {"nodeLabel": RACK}, {"nodeLabel": "kubernetes.io/hostname"}]}}])
    made = [queue("department"), queue("team-a", parent="department", gpu=16), queue("team-b", parent="department", gpu=16)]
    cluster.apply(made)
    yield replicas.start("--scheduler-names", f"gantree,koord-scheduler,{SCHEDULER}")
    for one in reversed(made):
        cluster.delete(*QUEUES, one["metadata"]["name"])
    cluster.delete(*TOPOLOGIES, "net")


def queue(name, parent=None, gpu=-1, limit=-1):
    unlimited = {"quota": -1, "limit": -1, "overQuotaWeight": 1}
    spec = {"resources": {"gpu": {"quota": gpu, "limit": limit, "overQuotaWeight": 1}, "cpu": unlimited, "memory": unlimited}}
    if parent:
        spec["parentQueue"] = parent
    return {"apiVersion": QUEUES[0], "kind": QUEUES[1], "metadata": {"name": name}, "spec": spec}


def kai_job(name, pods, queue="team-a", annotations=None, gpu=1, minimum=None):
    made = job(name, pods, scheduler=SCHEDULER, asks=requests(gpu=gpu))
    made["metadata"]["labels"] = {"kai.scheduler/queue": queue}
    made["metadata"]["annotations"] = {**(annotations or {}), "kai.scheduler/batch-min-member": str(minimum or pods)}
    return made


def runs(cluster, namespace, name, pods):
    labels = f"batch.kubernetes.io/job-name={name}"
    cluster.wait_for(lambda: len(cluster.running(namespace, labels)) == pods, PATIENCE,
                     lambda: f"{pods} pods of {name} to run; {[(p['metadata'].get('annotations'), p['status']) for p in cluster.pods(namespace, labels)]}")
    return cluster.pods(namespace, labels)


def group_of(cluster, namespace, owner):
    found = [g for g in cluster.list(*POD_GROUPS, namespace)
             if any(o["name"] == owner for o in g["metadata"].get("ownerReferences", []))]
    assert len(found) <= 1, found
    return found[0] if found else None


def told(cluster, namespace, owner):
    def says():
        group = group_of(cluster, namespace, owner)
        conditions = (group or {}).get("status", {}).get("schedulingConditions", [])
        return conditions[0] if conditions else None
    return cluster.wait_for(says, PATIENCE, f"the PodGroup of {owner} to say why it waits")


def racks_of(cluster, pods):
    nodes = {node["metadata"]["name"]: node["metadata"]["labels"][RACK] for node in cluster.list("v1", "Node")}
    return {nodes[pod["spec"]["nodeName"]] for pod in pods}


def test_a_job_for_kai_is_grouped_and_runs_whole_in_one_rack(cluster, namespace, kai):
    cluster.make_nodes(4, labels=rack_labels(nodes_in_rack=2))
    cluster.create(kai_job("train", 16, annotations=IN_RACK), namespace)
    pods = runs(cluster, namespace, "train", 16)
    assert len(racks_of(cluster, pods)) == 1
    group = group_of(cluster, namespace, "train")
    assert group["spec"]["minMember"] == 16 and group["spec"]["queue"] == "team-a"
    assert group["spec"]["topologyConstraint"]["requiredTopologyLevel"] == RACK
    assert {p["metadata"]["annotations"]["pod-group-name"] for p in pods} == {group["metadata"]["name"]}


def test_pods_know_their_rank_and_their_domain(cluster, namespace, kai):
    cluster.make_nodes(4, labels=rack_labels(nodes_in_rack=2))
    cluster.create(kai_job("train", 16, annotations=IN_RACK), namespace)
    pods = runs(cluster, namespace, "train", 16)
    hints = {int(p["metadata"]["annotations"]["gantree.dev/rank"]): p for p in pods}
    assert sorted(hints) == list(range(16))
    for pod in pods:
        annotations = pod["metadata"]["annotations"]
        assert annotations["gantree.dev/topology-levels"] == f"{BLOCK},{RACK},kubernetes.io/hostname"
        assert annotations["gantree.dev/topology-domain"].split(",")[-1] == pod["spec"]["nodeName"]
    assert len({hints[rank]["spec"]["nodeName"] for rank in range(8)}) == 1


def test_a_gang_that_no_rack_holds_waits_and_its_pod_group_says_why(cluster, namespace, kai):
    cluster.make_nodes(4, labels=rack_labels(nodes_in_rack=2))
    cluster.create(kai_job("large", 17, annotations=IN_RACK), namespace)
    condition = told(cluster, namespace, "large")
    assert condition["type"] == "UnschedulableOnNodePool" and "16 of 17" in condition["message"], condition
    cluster.stays(lambda: not cluster.bound(namespace), QUIET, "nothing is bound")


def test_a_queue_takes_back_its_quota_and_the_whole_gang_goes(cluster, namespace, kai):
    cluster.make_nodes(4)
    for name in ["one", "two"]:
        cluster.create(kai_job(name, 16, queue="team-a"), namespace)
        runs(cluster, namespace, name, 16)
    cluster.create(kai_job("own", 16, queue="team-b"), namespace)
    runs(cluster, namespace, "own", 16)
    left = [name for name in ["one", "two"] if len(cluster.running(namespace, f"batch.kubernetes.io/job-name={name}")) == 16]
    assert len(left) == 1, left
    cluster.wait_for(lambda: cluster.get(*QUEUES, "department").get("status", {}).get("allocated", {}).get("nvidia.com/gpu") == "32",
                     PATIENCE, lambda: f"the queue to tell; {cluster.get(*QUEUES, 'department').get('status')}")


def priority(manifest, name):
    manifest["metadata"]["labels"]["priorityClassName"] = name
    return manifest


def test_an_elastic_gang_loses_its_surplus_first_and_goes_on(cluster, namespace, kai):
    cluster.make_nodes(2)
    made = kai_job("elastic", 16, minimum=8)
    made["spec"]["backoffLimit"] = 100  # pods that are evicted count as failed
    cluster.create(made, namespace)
    before = {p["metadata"]["name"] for p in runs(cluster, namespace, "elastic", 16)}
    cluster.create(priority(kai_job("urgent", 4), "build-preemptible"), namespace)
    runs(cluster, namespace, "urgent", 4)
    elastic = "batch.kubernetes.io/job-name=elastic"
    assert len(cluster.running(namespace, elastic)) == 12
    cluster.stays(lambda: len(cluster.running(namespace, elastic)) == 12, QUIET, "the rest of it goes on")
    kept = set(cluster.running(namespace, elastic))
    assert kept < before, "those that run ran before"
    cluster.create(priority(kai_job("more", 8), "build-preemptible"), namespace)
    runs(cluster, namespace, "more", 8)
    cluster.stays(lambda: not cluster.running(namespace, elastic), QUIET, "below its minimum nothing of it runs")


def test_a_gang_is_not_preempted_before_it_has_run_for_so_long(cluster, namespace, kai):
    cluster.make_nodes(1)
    above = queue("department")
    above["spec"]["preemptMinRuntime"] = "12s"
    cluster.apply([above])
    cluster.create(kai_job("low", 8), namespace)
    runs(cluster, namespace, "low", 8)
    cluster.create(priority(kai_job("urgent", 8), "build-preemptible"), namespace)
    assert "Preempting" not in str(told(cluster, namespace, "urgent"))
    cluster.stays(lambda: len(cluster.running(namespace, "batch.kubernetes.io/job-name=low")) == 8, 5, "nobody is evicted as yet")
    runs(cluster, namespace, "urgent", 8)


def test_nobody_is_evicted_for_a_gang_before_its_delay_is_over(cluster, namespace, kai):
    cluster.make_nodes(1)
    cluster.create(kai_job("low", 8), namespace)
    runs(cluster, namespace, "low", 8)
    cluster.create(priority(kai_job("patient", 8, annotations={"kai.scheduler/preemption-delay": "10s"}), "build-preemptible"), namespace)
    condition = told(cluster, namespace, "patient")
    assert condition["reasons"][0]["reason"] == "PreemptionDelayNotElapsed", condition
    assert "it evicts nobody before" in condition["message"], condition
    cluster.stays(lambda: len(cluster.running(namespace, "batch.kubernetes.io/job-name=low")) == 8, 3, "nobody is evicted as yet")
    runs(cluster, namespace, "patient", 8)


def test_a_limit_is_never_exceeded(cluster, namespace, kai):
    cluster.make_nodes(4)
    cluster.apply([queue("team-a", parent="department", gpu=8, limit=8)])
    cluster.create(kai_job("fits", 8), namespace)
    runs(cluster, namespace, "fits", 8)
    cluster.create(kai_job("more", 1), namespace)
    assert told(cluster, namespace, "more")["reasons"][0]["reason"] == "OverLimit"
    cluster.stays(lambda: len(cluster.bound(namespace)) == 8, QUIET, "no more than the limit is bound")
    cluster.delete("batch/v1", "Job", "fits", namespace, propagationPolicy="Background")
    runs(cluster, namespace, "more", 1)


def test_a_scheduler_that_is_killed_goes_on_where_it_was(cluster, namespace, kai, replicas):
    cluster.make_nodes(4, labels=rack_labels(nodes_in_rack=2))
    cluster.create(kai_job("first", 8, annotations=IN_RACK), namespace)
    kai.kill()
    replicas.start("--scheduler-names", f"gantree,koord-scheduler,{SCHEDULER}")
    pods = runs(cluster, namespace, "first", 8)
    assert len(racks_of(cluster, pods)) == 1
    assert len(cluster.list(*POD_GROUPS, namespace)) == 1
