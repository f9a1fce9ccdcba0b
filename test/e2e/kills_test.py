"""`kill -9` of the embedded cluster at random moments, under load: what was acknowledged is there, and is seen once and in order.

Writers create, change and delete objects of three kinds by every kind of write, each its own objects, and remember every answer.
Watchers follow each kind, and resume where they were when the server comes back: they list once, in the beginning, and see each change after
that. GANTREE_E2E_KILLS says how often it is killed, GANTREE_E2E_SEED repeats the choices of a run that failed.
"""
import collections
import itertools
import os
import random
import threading
import time

import pytest

from harness.processes import wait_until
from harness.up import GONE, UpProcess

KILLS = int(os.environ.get("GANTREE_E2E_KILLS", "100"))
SEED = os.environ.get("GANTREE_E2E_SEED") or str(random.SystemRandom().randrange(10 ** 9))
WRITERS = 32
MOST_OBJECTS = 4  # of a writer
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "things.example.com"},
    "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
             "versions": [{"name": "v1", "served": True, "storage": True, "subresources": {"status": {}},
                           "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}]}}
PATHS = {"ConfigMap": "/api/v1/namespaces/default/configmaps", "Pod": "/api/v1/namespaces/default/pods",
         "Thing": "/apis/example.com/v1/namespaces/default/things"}
JOBS = "/apis/batch/v1/namespaces/default/jobs"
MARK = "example.com/mark"  # annotation: the write that made the object what it is


def version_of(thing):
    return int(thing["metadata"]["resourceVersion"])


def mark_of(thing):
    """The newer one: a write to the status of a custom object changes nothing else of it."""
    marks = [thing["metadata"].get("annotations", {}).get(MARK), thing.get("status", {}).get("message")]
    return max(filter(None, marks), key=lambda mark: int(mark.split("-")[1]), default=None)


def fresh(kind, name, mark):
    made = {"apiVersion": "example.com/v1" if kind == "Thing" else "v1", "kind": kind, "metadata": {"name": name, "annotations": {MARK: mark}}}
    if kind == "Pod":
        made["spec"] = {"containers": [{"name": "c", "image": "i"}], "schedulerName": "nobody"}
    return made


class Ledger:
    """What the server has said of resourceVersions, by whatever way: each stands for one change of one object."""

    def __init__(self):
        self._lock = threading.Lock()
        self._said = {}

    def note(self, version, kind, name, mark):
        with self._lock:
            known = self._said.setdefault(version, (kind, name, mark))
        assert known == (kind, name, mark), f"resourceVersion {version} stands for {known} and for {(kind, name, mark)}"


Write = collections.namedtuple("Write", "version kind name mark")
Attempt = collections.namedtuple("Attempt", "kind name mark deletes")


class Writer:
    """Its objects as the server last acknowledged them, and the one write whose answer never came."""

    def __init__(self, number, ledger):
        self._number = number
        self._ledger = ledger
        self._random = random.Random(f"{SEED}/{number}")
        self._count = itertools.count()
        self.objects = {}  # (kind, name) -> object
        self.attempt = None
        self.acknowledged = []
        self.trouble = None

    def run(self, up):
        client = up.client()
        try:
            while True:
                self._write(client)
        except GONE:
            pass
        except AssertionError as error:
            self.trouble = error
        finally:
            client.close()

    def _write(self, client):
        mark = f"{self._number}-{next(self._count)}"
        key = self._random.choice(sorted(self.objects)) if self.objects else None
        if key is None or (len(self.objects) < MOST_OBJECTS and self._random.random() < 0.3):
            kind, name = self._random.choice(sorted(PATHS)), f"w{mark}"
            self._ask(client, Attempt(kind, name, mark, False), "POST", PATHS[kind], fresh(kind, name, mark))
            return
        kind, name = key
        path = f"{PATHS[kind]}/{name}"
        annotated = {"metadata": {"annotations": {MARK: mark}}}
        how = self._random.choice(["put", "merge", "json", "apply", "status", "delete", "delete"])
        attempt = Attempt(kind, name, mark, how == "delete")
        if how == "delete":
            self._ask(client, attempt, "DELETE", path, {"gracePeriodSeconds": 0})
        elif how == "put":
            changed = {**self.objects[key], "metadata": {**self.objects[key]["metadata"], **annotated["metadata"]}}
            self._ask(client, attempt, "PUT", path, changed)
        elif how == "json":
            operation = {"op": "replace", "path": "/metadata/annotations/example.com~1mark", "value": mark}
            self._ask(client, attempt, "PATCH", path, [operation], "application/json-patch+json")
        elif how == "apply":
            wish = {"apiVersion": self.objects[key]["apiVersion"], "kind": kind, **annotated}
            self._ask(client, attempt, "PATCH", f"{path}?fieldManager=applier&force=true", wish, "application/apply-patch+yaml")
        elif how == "status" and kind != "ConfigMap":
            self._ask(client, attempt, "PATCH", f"{path}/status", {**annotated, "status": {"message": mark}}, "application/merge-patch+json")
        else:
            self._ask(client, attempt, "PATCH", path, annotated, "application/merge-patch+json")

    def _ask(self, client, attempt, method, path, body, content_type="application/json"):
        self.attempt = attempt
        status, answer = client.call(method, path, body, content_type)
        self.attempt = None
        assert status in (200, 201), f"{method} {path}: {answer}"
        key = attempt.kind, attempt.name
        if attempt.deletes:
            self.objects.pop(key)
            return
        assert mark_of(answer) == attempt.mark, f"{method} {path}: {answer}"
        self._ledger.note(version_of(answer), *key, attempt.mark)
        self.acknowledged.append(Write(version_of(answer), *key, attempt.mark))
        self.objects[key] = answer

    def compare(self, found):
        """With what the server has after it came back. What was under way may have been done or not."""
        attempt, self.attempt = self.attempt, None
        for key, known in list(self.objects.items()):
            there = found.pop(key, None)
            if attempt and key == (attempt.kind, attempt.name) and there != known:
                self._settle(key, there, attempt)
            else:
                assert there == known, f"{key} was acknowledged as {known} and is {there}"
        if attempt and (attempt.kind, attempt.name) in found:
            self._settle((attempt.kind, attempt.name), found.pop((attempt.kind, attempt.name)), attempt)

    def _settle(self, key, there, attempt):
        if attempt.deletes:
            assert there is None, f"{key} is neither as it was nor gone: {there}"
            self.objects.pop(key)
            return
        assert there is not None and mark_of(there) == attempt.mark, f"{key} is neither as it was nor as it was to be: {there}"
        self._ledger.note(version_of(there), *key, attempt.mark)
        self.objects[key] = there


class Watcher:
    """Follows one kind through all lives of the server: what it has seen makes up the state of the kind."""

    def __init__(self, kind, ledger):
        self._kind = kind
        self._ledger = ledger
        self.version = 0
        self.state = {}
        self.seen = {}  # version -> mark, of changes that were not deletions
        self.bound = {}  # uid -> node
        self.listed_at = None
        self.resumed = 0  # lives that it went on in, of those in which anything happened
        self.late = 0  # of those, how often with what had happened before it came back
        self.trouble = None

    def run(self, up):
        client = up.client(timeout=30)
        try:
            if self.version == 0:
                self._list(up)
            self._follow(client, up.revision)
        except GONE:
            pass
        except AssertionError as error:
            self.trouble = error
        finally:
            client.close()

    def _list(self, up):
        client = up.client()
        answer = client.list(PATHS[self._kind])
        client.close()
        self.version = self.listed_at = version_of(answer)
        self.state = {item["metadata"]["name"]: version_of(item) for item in answer["items"]}
        for item in answer["items"]:
            self._ledger.note(version_of(item), self._kind, item["metadata"]["name"], mark_of(item))

    def _follow(self, client, revision):
        """`revision` is what the server had when this life of it began."""
        begun = False
        for event in client.watch(f"{PATHS[self._kind]}?watch=true&resourceVersion={self.version}&allowWatchBookmarks=true&timeoutSeconds=600"):
            thing = event["object"]
            assert event["type"] != "ERROR", f"a watch of {self._kind} cannot go on from {self.version}: {thing}"
            if not begun and self.version > self.listed_at:
                self.resumed += 1
                self.late += version_of(thing) <= revision
            begun = True
            self._take(event["type"], thing)

    def _take(self, what, thing):
        assert version_of(thing) >= self.version if what == "BOOKMARK" else version_of(thing) > self.version, \
            f"{version_of(thing)} was seen after {self.version}"
        self.version = version_of(thing)
        name = thing["metadata"]["name"] if what != "BOOKMARK" else None
        if what == "DELETED":
            assert self.state.pop(name, None), f"{name} went and was not there"
            self._ledger.note(self.version, self._kind, name, "deleted")
        elif what != "BOOKMARK":
            assert (name in self.state) == (what == "MODIFIED"), f"{what} {name}"
            self.state[name] = self.version
            self.seen[self.version] = mark_of(thing)
            self._check_binding(thing)
            self._ledger.note(self.version, self._kind, name, mark_of(thing))

    def _check_binding(self, thing):
        """A pod that was bound stays where it is."""
        node = thing.get("spec", {}).get("nodeName")
        known = self.bound.setdefault(thing["metadata"]["uid"], node)
        assert known in (None, node), f"{thing['metadata']['name']} was bound to {known} and is on {node}"
        self.bound[thing["metadata"]["uid"]] = node

    def has_seen(self, write):
        return self.seen.get(write.version) == write.mark or write.version <= self.listed_at


class Life:
    """All who talk to one life of the server, each on a thread."""

    def __init__(self, up, people):
        self._people = people
        self._threads = [threading.Thread(target=one.run, args=(up,), daemon=True) for one in people]
        for thread in self._threads:
            thread.start()

    def end(self):
        for thread in self._threads:
            thread.join(30)
            assert not thread.is_alive()
        for one in self._people:
            if one.trouble:
                raise one.trouble


def listed(up):
    client = up.client()
    found = {}
    for kind, path in PATHS.items():
        answer = client.list(path)
        up.revision = version_of(answer)
        for item in answer["items"]:
            # Items of lists say what they are by the list alone, in every API server.
            item = {"apiVersion": "example.com/v1" if kind == "Thing" else "v1", "kind": kind, **item}
            found[kind, item["metadata"]["name"]] = item
    client.close()
    return found


def compare_all(up, writers):
    found = {key: item for key, item in listed(up).items() if mark_of(item)}  # the cluster has objects of its own
    for writer in writers:
        writer.compare(found)
    assert not found, f"nobody made these: {sorted(found)}"


@pytest.fixture
def make_up(tmp_path):
    made = []

    def make(*flags):
        made.append(UpProcess(tmp_path, flags))
        return made[-1]
    yield make
    for up in made:
        if up.process:
            up.process.stop()


def start_first(up):
    up.start()
    client = up.client()
    assert client.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION)[0] == 201
    for _ in range(200):
        if client.call("GET", PATHS["Thing"])[0] == 200:
            break
        time.sleep(0.02)
    client.close()


def live_and_die(up, kills, each_life=lambda up, number: None):
    """What the writers and watchers have seen of so many lives."""
    print(f"GANTREE_E2E_SEED={SEED}")
    chance = random.Random(SEED)
    ledger = Ledger()
    writers = [Writer(number, ledger) for number in range(WRITERS)]
    watchers = [Watcher(kind, ledger) for kind in PATHS]
    start_first(up)
    for number in range(kills):
        compare_all(up, writers)
        each_life(up, number)
        life = Life(up, writers + watchers)
        time.sleep(chance.uniform(0.0, 0.4))
        up.process.kill()
        life.end()
        if number % 10 == 9:  # it may also be killed while it reads what it has
            up.launch()
            time.sleep(chance.uniform(0.0, 0.4))
            up.process.kill()
        up.start()
    compare_all(up, writers)
    return writers, watchers


@pytest.mark.timeout(120 + 6 * KILLS)
def test_kills_under_load_lose_nothing_reuse_no_version_and_break_no_watch(make_up):
    up = make_up("--no-scheduler")
    writers, watchers = live_and_die(up, KILLS)
    check_watches(up, writers, watchers, KILLS)


@pytest.mark.timeout(240 + 2 * KILLS)
def test_with_the_scheduler_at_work_all_that_was_submitted_is_done_in_the_end(make_up):
    kills = max(KILLS // 5, 2)
    up = make_up("--generate", "small", "--speed", "10x")

    def submit(up, number):
        client = up.client()
        template = {"metadata": {"annotations": {"gantree.dev/run-for": "5s"}},
                    "spec": {"schedulerName": "gantree", "restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
        job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": f"job-{number}"},
               "spec": {"parallelism": 3, "completions": 3, "completionMode": "Indexed", "template": template}}
        assert client.call("POST", JOBS, job)[0] == 201
        client.close()
    writers, watchers = live_and_die(up, kills, submit)
    client = up.client()
    wait_until(lambda: all(job.get("status", {}).get("succeeded") == 3 for job in client.list(JOBS)["items"]), 60,
               lambda: f"all jobs to complete:\n{[job.get('status') for job in client.list(JOBS)['items']]}\n{up.process.tail()}")
    assert len(client.list(JOBS)["items"]) == kills
    check_watches(up, writers, watchers, kills)


def check_watches(up, writers, watchers, kills):
    now = {}
    for (kind, name), item in listed(up).items():
        now.setdefault(kind, {})[name] = version_of(item)
    followers = [threading.Thread(target=watcher.run, args=(up,), daemon=True) for watcher in watchers]
    for follower in followers:
        follower.start()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and any(watcher.state != now.get(watcher._kind, {}) for watcher in watchers):
        time.sleep(0.05)
    for watcher in watchers:
        assert not watcher.trouble, watcher.trouble
        assert watcher.state == now.get(watcher._kind, {})
    up.process.stop()
    by_kind = {watcher._kind: watcher for watcher in watchers}
    writes = [write for writer in writers for write in writer.acknowledged]
    missed = [write for write in writes if not by_kind[write.kind].has_seen(write)]
    assert not missed, f"{len(missed)} of {len(writes)} acknowledged writes were not seen by a watch, among them {missed[:3]}"
    seen, resumed, late = (sum(counts) for counts in zip(*((len(w.seen), w.resumed, w.late) for w in watchers)))
    print(f"{kills} kills, {len(writes)} acknowledged writes, {seen} seen as events, {resumed} watches resumed, {late} of them with what they had missed")
    assert len(writes) > 20 * kills, "there was hardly any load"
    assert resumed > kills, "watches hardly ever went on in the next life"
    assert late > kills // 4, "watches never had to catch up: this proves nothing"
