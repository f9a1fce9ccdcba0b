"""Somebody who watches the cluster and trusts nobody: are the promises kept at every moment?

It sees pods and nodes through the API alone, and holds against what it sees:
  - no node's allocatable is exceeded by what the pods bound to it request, as long as they have not ended;
  - a pod that has a node keeps it;
  - a pod's node exists;
  - a gang has all of its minimum bound or nothing, but for a moment.
"""
import collections
import time

from harness.quantities import milli
from harness.watch import Watch

GANG_LABEL = "pod-group.scheduling.sigs.k8s.io"


class Observer:
    """Watches from construction to `stop`. `moment` is how long a gang may be bound in part."""

    def __init__(self, cluster, moment=10.0):
        self._moment = moment
        self._allocatable = {}                             # node: {resource: milli}, of every node ever seen
        self._used = collections.defaultdict(collections.Counter)
        self._pods = {}                                    # uid: (key, node, request, counted, gang)
        self._minimum = {}                                 # (namespace, gang): minMember
        self._bound = collections.defaultdict(set)         # (namespace, gang): uids that were ever bound
        self._members = collections.defaultdict(set)       # (namespace, gang): uids there are
        self._partial_since = {}
        self._homeless = []                                # (pod, node) whose node had not been seen yet
        self.broken = []
        self.bindings = 0
        self._watch = Watch(cluster, [("/api/v1/nodes", self._node), ("/apis/scheduling.sigs.k8s.io/v1alpha1/podgroups", self._pod_group),
                                      ("/api/v1/pods", self._pod)], after=self._look_at_gangs)

    def check(self):
        """Asserts that nothing was broken so far, and that no gang is bound in part for longer than a moment."""
        with self._watch.lock:
            self._look_at_gangs()
            homeless = [f"{pod} is on {node}, which does not exist" for pod, node in self._homeless if node not in self._allocatable]
            broken = self.broken + homeless
        assert not broken, f"{len(broken)} promises broken, as in: " + "; ".join(broken[:5])

    def partly_bound(self):
        """The gangs that are bound in part right now."""
        with self._watch.lock:
            return dict(self._partial_since)

    def stop(self):
        self._watch.stop()

    # --- what each object means ---

    def _node(self, kind, node):
        name = node["metadata"]["name"]
        known = name in self._allocatable
        self._allocatable[name] = {resource: milli(amount) for resource, amount in node["status"].get("allocatable", {}).items()}
        if not known and name in self._used:
            self._check_node("a pod that was there before the node was seen", name)

    def _pod_group(self, kind, group):
        self._minimum[group["metadata"]["namespace"], group["metadata"]["name"]] = group["spec"].get("minMember", 0)

    def _pod(self, kind, pod):
        uid, node = pod["metadata"]["uid"], pod["spec"].get("nodeName")
        key = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        known = self._pods.get(uid)
        if known and known["node"] and node != known["node"] and kind != "DELETED":
            self.broken.append(f"{key} moved from {known['node']} to {node}")
        counted = bool(node) and kind != "DELETED" and pod["status"].get("phase") not in ("Succeeded", "Failed")
        now = {"node": node, "counted": counted, "request": request_of(pod) if known is None else known["request"]}
        if known and known["counted"]:
            self._used[known["node"]].subtract(known["request"])
        if counted:
            self._used[node].update(now["request"])
            if not (known and known["node"]):
                self.bindings += 1
                self._check_node(key, node)
        self._pods[uid] = now
        self._join_gang(kind, pod, uid, node)
        if kind == "DELETED":
            del self._pods[uid]

    def _check_node(self, key, node):
        if node not in self._allocatable:
            self._homeless.append((key, node))
            return
        for resource, used in self._used[node].items():
            room = self._allocatable[node].get(resource, 0)
            if used > room:
                self.broken.append(f"{node} has {room / 1000:g} {resource} and {used / 1000:g} are used since {key} came")

    def _join_gang(self, kind, pod, uid, node):
        gang = pod["metadata"].get("labels", {}).get(GANG_LABEL)
        if gang is None:
            return
        name = pod["metadata"]["namespace"], gang
        (self._members[name].discard if kind == "DELETED" else self._members[name].add)(uid)
        if node:
            self._bound[name].add(uid)
        if not self._members[name]:
            self._bound.pop(name, None)
            self._members.pop(name)
            self._partial_since.pop(name, None)

    def _look_at_gangs(self):
        now = time.monotonic()
        for name, bound in self._bound.items():
            if 0 < len(bound) < self._minimum.get(name, 0):
                since = self._partial_since.setdefault(name, now)
                if now - since > self._moment:
                    self.broken.append(f"{len(bound)} of {self._minimum[name]} pods of {'/'.join(name)} are bound for {now - since:.1f} s")
                    self._partial_since[name] = now
            else:
                self._partial_since.pop(name, None)


def request_of(pod):
    """What a pod takes of its node, in thousandths: its containers together or the greediest start-up container, and one pod."""
    spec = pod["spec"]
    main, first = collections.Counter({"pods": 1000}), collections.Counter()
    for container in spec["containers"]:
        main.update(_requests(container))
    for container in spec.get("initContainers", []):
        if container.get("restartPolicy") == "Always":
            main.update(_requests(container))
        else:
            first |= collections.Counter(_requests(container))
    return main | first


def _requests(container):
    return {resource: milli(amount) for resource, amount in container.get("resources", {}).get("requests", {}).items()}
