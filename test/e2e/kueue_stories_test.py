"""The user stories of Kueue's topology proposal, as examples/kueue has them: applied as they are, and looked at where the pods are."""
import collections
import json
import pathlib
import subprocess

import pytest

from harness import operators
from harness.cluster import NODES_OF_TESTS, SIMULATED
from harness.gantree import binary
from harness.queues import BLOCK, HOST, RACK, Queues

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"
INDEX, PART = "batch.kubernetes.io/job-completion-index", "jobset.sigs.k8s.io/job-index"
# Two blocks of four racks of four hosts of eight GPUs.
CLUSTER = [EXAMPLES / "cluster.py", "--blocks", "2", "--racks", "4", "--hosts", "4", "--busy", "0", "--trouble", "0", "-o", "json"]


@pytest.fixture(scope="module")
def nodes():
    printed = subprocess.run(CLUSTER, capture_output=True, text=True, check=True, timeout=60)
    return [item for item in json.loads(printed.stdout)["items"] if item["kind"] == "Node"]


@pytest.fixture(scope="module")
def stories(whole_cluster, shared_gantree, nodes):
    """The cluster that the examples are written for, and its queues as examples/queues.yaml sets them up."""
    for node in nodes:
        metadata = node["metadata"] | {"annotations": SIMULATED}
        metadata["labels"] = metadata["labels"] | {NODES_OF_TESTS: "true"}
        whole_cluster.create(node | {"metadata": metadata})
    whole_cluster.kubectl("apply", "-f", EXAMPLES / "queues.yaml")
    yield Queues(whole_cluster, "team-research")
    # Its namespace takes some of it along.
    whole_cluster.kubectl("delete", "--wait=false", "--ignore-not-found", "-f", EXAMPLES / "queues.yaml")
    whole_cluster.wait_for(lambda: not whole_cluster.get("v1", "Namespace", "team-research"), 60, "the namespace of the examples to go")


class Story:
    """An example that was applied and runs: its pods with what they asked for and where they are."""

    def __init__(self, queues, name, pods):
        self.name = name
        self.workload = queues.admitted(name)
        self.pods = queues.running(name, pods)
        self.given = queues.check_assignment(name, self.pods)
        self._nodes = queues.labels_of_nodes()

    def values(self, level, pods=None):
        """The domains of a level in which the pods are, blocks' names before those of racks."""
        labels = [self._nodes[pod["spec"]["nodeName"]] for pod in (self.pods if pods is None else pods)]
        return {(one[BLOCK], one[RACK], one[HOST])[:(BLOCK, RACK, HOST).index(level) + 1] for one in labels}

    def by(self, *labels):
        """Pods by the values of these labels."""
        groups = collections.defaultdict(list)
        for pod in self.pods:
            groups[tuple(pod["metadata"]["labels"][label] for label in labels)].append(pod)
        return groups

    def hosts_in_order(self, index=INDEX, pods=None):
        """The host of each pod, and its rack, in the order of the index that this label tells."""
        ranked = sorted(self.pods if pods is None else pods, key=lambda pod: int(pod["metadata"]["labels"][index]))
        return [self.values(HOST, [pod]).pop() for pod in ranked]


def clear(stories, path):
    stories.cluster.kubectl("delete", "--wait=false", "--ignore-not-found", "-f", path)
    stories.cluster.request("DELETE", stories.cluster.path("v1", "Pod", stories.namespace), query=[("gracePeriodSeconds", "0")])
    stories.wait(lambda: not stories.cluster.pods(stories.namespace), "the pods to go")


@pytest.fixture
def tell(stories, request):
    """Applies an example with kubectl and waits until so many pods run; it is deleted after the test."""
    def apply(file, pods, name=None):
        path = EXAMPLES / "kueue" / file
        stories.cluster.kubectl("apply", "-f", path)
        request.addfinalizer(lambda: clear(stories, path))
        return Story(stories, name or f"story-{file.split('-')[0]}", pods)
    return apply


def test_story_1a_all_pods_of_a_job_are_in_one_rack(tell):
    story = tell("1a-required-rack.yaml", 10)
    assert len(story.values(RACK)) == 1 and len(story.values(HOST)) == 3
    assert [count for _, count in story.given["main"]] == [4, 4, 2]


def test_story_1b_a_job_too_large_for_a_rack_is_in_one_block(tell):
    story = tell("1b-preferred-rack.yaml", 20)
    assert len(story.values(RACK)) == 2 and len(story.values(BLOCK)) == 1


def test_story_2_every_replica_of_a_job_set_is_in_a_rack_of_its_own(tell):
    story = tell("2-replica-per-rack.yaml", 6)
    racks = [story.values(RACK, pods) for pods in story.by(PART).values()]
    assert len(racks) == 2 and all(len(rack) == 1 for rack in racks) and racks[0] != racks[1]


def test_story_3_workers_are_in_a_rack_and_the_whole_workload_in_a_block(tell):
    story = tell("3-workers-in-a-rack-all-in-a-block.yaml", 12)
    workers = story.by("jobset.sigs.k8s.io/replicatedjob-name")[("workers",)]
    assert len(workers) == 8 and len(story.values(RACK, workers)) == 1
    assert len(story.values(BLOCK)) == 1


def test_story_4_consecutive_ranks_are_close_together(tell):
    story = tell("4-ranks.yaml", 12)
    hosts = story.hosts_in_order()
    assert all(hosts[rank] == hosts[rank + 1] for rank in range(0, 12, 2)), hosts
    assert len({host[:2] for host in hosts[:8]}) == 1 and len({host[:2] for host in hosts[8:]}) == 1, hosts


def test_story_5_a_replicated_job_is_in_a_block_and_each_job_on_a_host(tell):
    story = tell("5-block-and-host.yaml", 8)
    hosts = [story.values(HOST, pods) for pods in story.by(PART).values()]
    assert len(hosts) == 4 and all(len(host) == 1 for host in hosts)
    assert len(story.values(HOST)) == 4 and len(story.values(BLOCK)) == 1


def test_story_6_a_leader_and_its_workers_are_in_one_rack(tell, stories):
    first = tell("6-leader-and-workers.yaml", 4, "leaderworkerset-story-6-0")
    second = Story(stories, "leaderworkerset-story-6-1", 4)
    for replica in (first, second):
        assert len(replica.values(RACK)) == 1


def test_story_7_a_launcher_and_its_workers_are_ranked_together(stories, tell, request):
    """There is no MPI operator here: its pods are made by hand."""
    definitions = operators.Definitions(stories.cluster, [("kubeflow.org/v2beta1", "MPIJob")])
    request.addfinalizer(definitions.remove)
    path = EXAMPLES / "kubeflow" / "7-launcher-and-workers.yaml"
    stories.cluster.kubectl("apply", "-f", path)
    request.addfinalizer(lambda: clear(stories, path))
    assert stories.cluster.get("kubeflow.org/v2beta1", "MPIJob", "story-7", stories.namespace)["spec"]["runPolicy"]["suspend"] is True
    stories.admitted("story-7")
    operators.make_pods(stories.cluster, stories.namespace, stories.wait(lambda: started(stories, "story-7"), "the job to be started"))
    story = Story(stories, "story-7", 4)
    hosts = story.hosts_in_order(operators.INDEX)
    assert hosts[0] == hosts[1] and hosts[2] == hosts[3] and len(story.values(HOST)) == 2 and len(story.values(RACK)) == 1, hosts


def started(stories, name):
    job = stories.cluster.get("kubeflow.org/v2beta1", "MPIJob", name, stories.namespace)
    return None if job["spec"]["runPolicy"]["suspend"] else job


def test_ranks_may_begin_elsewhere_than_at_0(tell):
    story = tell("index-offset.yaml", 4, "statefulset-index-offset")
    hosts = story.hosts_in_order("apps.kubernetes.io/pod-index")
    assert hosts[0] == hosts[1] and hosts[2] == hosts[3] and len(story.values(RACK)) == 1, hosts


def test_story_8_the_workers_of_a_leader_keep_their_order(tell):
    story = tell("8-ranks-of-a-leader-and-workers.yaml", 5, "leaderworkerset-story-8-0")
    index = "leaderworkerset.sigs.k8s.io/worker-index"
    workers = [pod for pod in story.pods if pod["metadata"]["labels"][index] != "0"]
    hosts = story.hosts_in_order(index, workers)
    assert hosts[0] == hosts[1] and hosts[2] == hosts[3] and len(story.values(RACK, workers)) == 1, hosts


def test_story_9_multiples_hold_at_every_layer(tell):
    story = tell("9-layers.yaml", 32)
    hosts = story.hosts_in_order()
    for size, depth in ((16, 1), (8, 2), (4, 3)):
        for first in range(0, 32, size):
            assert len({host[:depth] for host in hosts[first:first + size]}) == 1, (size, hosts)


@pytest.mark.parametrize("file", sorted(path.name for path in (EXAMPLES / "kueue").glob("*.yaml")))
def test_plan_places_what_the_cluster_would_run(file, nodes, tmp_path):
    (tmp_path / "nodes.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": nodes}))
    command = [binary(), "plan", "-f", tmp_path / "nodes.json", "-f", EXAMPLES / "queues.yaml", "-f", EXAMPLES / "kueue" / file, "-o", "json"]
    planned = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert planned.returncode == 0, planned.stderr
    assert {gang["state"] for gang in json.loads(planned.stdout)["gangs"]} == {"Placed"}
