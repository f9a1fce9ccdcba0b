"""The embedded cluster and the real one are asked the same, and answer the same but for what is listed.

The questions are the lists of `api/`; what differs is in `api/differences.yaml`, and the documentation shows the same table. Controllers are at
work on both, and what they write may be seen sooner on the one than on the other: so only what is found twice, the second time on fresh clusters, counts.
"""
import concurrent.futures
import pathlib
import re
import subprocess

import pytest
import yaml

import client_calls
from harness.answers import Asker, EmbeddedServer, RealServer
from harness.certificates import Authority
from harness.comparison import compared, told
from harness.reviewer import Reviewer

HERE = pathlib.Path(__file__).parent
DOCUMENT = HERE.parents[1] / "docs" / "api-server.md"
KNOWN = yaml.safe_load((HERE / "api" / "differences.yaml").read_text())
LISTS = sorted(file.stem for file in (HERE / "api").glob("*.yaml") if file.stem != "differences")
ROOM = {"cpu": "8", "memory": "32Gi", "pods": "110"}
NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"annotations": {"kwok.x-k8s.io/node": "fake"}}, "status": {"allocatable": ROOM, "capacity": ROOM}}
# Tokens are mounted by the real server alone: one step shows it, and the others are spared it.
BEFORE = [
    {"name": "before: a namespace", "request": "POST /api/v1/namespaces", "body": {"metadata": {"name": "${ns}"}}},
    {"name": "before: a service account", "request": "GET serviceaccounts/default", "until": {"code": 200}},
    {"name": "before: no token", "request": "PATCH serviceaccounts/default", "type": "merge", "body": {"automountServiceAccountToken": False}},
]


class Pair:
    """Both clusters, asked at the same time."""

    def __init__(self, built, folder):
        self._kubectl = built / "bin" / "kubectl"
        self._authority = Authority(folder)
        self._clusters = [EmbeddedServer()]
        self._reviewers = []
        try:
            self._clusters.append(RealServer(built))
            for cluster in self._clusters:
                cluster.wait_until_ready()
                self._reviewers.append(Reviewer(self._authority))
            self.answers("default", [{"name": f"node {name}", "request": "POST nodes", "body": {**NODE, "metadata": {
                **NODE["metadata"], "name": name, "labels": {"kubernetes.io/hostname": name}}}} for name in ("n1", "n2")] + [
                {"name": "ready", "kubectl": "wait node n1 n2 --for=condition=Ready --timeout=30s"}])
        except BaseException:
            self.stop()
            raise

    def both(self, work):
        """The results of work(cluster, reviewer) for the embedded and the real one."""
        with concurrent.futures.ThreadPoolExecutor(2) as threads:
            return list(threads.map(work, self._clusters, self._reviewers))

    def answers(self, namespace, steps):
        """([embedded answer, ...], [real answer, ...])"""
        def ask(cluster, reviewer):
            asker = Asker(cluster, self._kubectl, namespace, reviewer)
            return [asker.ask(step) for step in steps]
        return self.both(ask)

    def logs(self):
        return {name: text for cluster in self._clusters for name, text in cluster.logs().items()}

    def stop(self):
        for reviewer in self._reviewers:
            reviewer.stop()
        for cluster in reversed(self._clusters):
            cluster.stop()


def start_pair(folder):
    built = subprocess.run([HERE / "control_plane" / "build"], stdout=subprocess.PIPE, text=True, check=True)
    return Pair(pathlib.Path(built.stdout.strip().splitlines()[-1]), folder)


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    pair = start_pair(tmp_path_factory.mktemp("authority"))
    yield pair
    pair.stop()


def judged(where, found):
    """{place: sentence} for what differs and is not listed, and for what is listed and does not differ. `found` is [(step, difference)]."""
    listed = [(seen["step"], seen["at"], known["what"]) for known in KNOWN for seen in known["seen"] if seen["in"] == where]
    used = set()
    wrong = {}
    for step, difference in found:
        matches = {entry for entry in listed if re.fullmatch(entry[0], step) and re.fullmatch(entry[1], difference[0])}
        used |= matches
        if not matches:
            wrong[step, difference[0]] = f"{step}: {told(difference)}"
    for step, path, what in listed:
        if (step, path, what) not in used:
            wrong["listed", step, path] = f"listed ({what}), but the same: {step} at {path}"
    return wrong


def check(pair, folder, where, find):
    """Fails for what is wrong by find(pair) -> [(step, difference)], twice."""
    wrong = judged(where, find(pair))
    if wrong:
        again = start_pair(folder)
        try:
            second = judged(where, find(again))
        finally:
            again.stop()
        wrong = {place: sentence for place, sentence in second.items() if place in wrong}
    assert not wrong, "\n".join([f"{len(wrong)} differences", *wrong.values()])


@pytest.mark.parametrize("name", LISTS)
def test_answers_are_those_of_the_real_server(pair, tmp_path, name):
    questions = yaml.safe_load((HERE / "api" / f"{name}.yaml").read_text())
    steps = questions["steps"]
    names = [step["name"] for step in steps]
    assert len(set(names)) == len(names), "two steps have one name"

    def find(clusters):
        ours, theirs = clusters.answers(f"api-{name}", BEFORE + steps)
        return [(step["name"], difference) for step, mine, other in zip(BEFORE + steps, ours, theirs)
                for difference in compared(mine, other, questions.get("leave"))]
    check(pair, tmp_path, name, find)


def test_the_python_client_sees_the_same(pair, tmp_path):
    def find(clusters):
        ours, theirs = clusters.both(lambda cluster, _: client_calls.results(cluster.kubeconfig))
        assert ours.keys() == theirs.keys()
        return [(name, difference) for name in ours for difference in compared(ours[name], theirs[name])]
    check(pair, tmp_path, "client", find)


def test_the_documentation_lists_the_differences_that_the_tests_know():
    documented = [[cell.strip() for cell in line.strip("| \n").split(" | ")] for line in DOCUMENT.read_text().split("## Different")[1].splitlines()
                  if line.startswith("|")][2:]
    assert documented == [[known["what"], known["here"], known["there"]] for known in KNOWN]
