"""Queues with a network of their own, and jobs that wait in them."""
import collections
import datetime
import time

from harness.objects import job, job_set
from harness.watch import Watch

KUEUE = "kueue.x-k8s.io"
API = f"{KUEUE}/v1beta2"
QUEUE_NAME = f"{KUEUE}/queue-name"
GATE = f"{KUEUE}/topology"
REQUIRED, PREFERRED = f"{KUEUE}/podset-required-topology", f"{KUEUE}/podset-preferred-topology"
BLOCK, RACK, HOST = "cloud.provider.com/topology-block", "cloud.provider.com/topology-rack", "kubernetes.io/hostname"
POOL = "gantree.dev/pool"
PATIENCE = 30


def domains(assignment):
    """[(values, count)] of a topologyAssignment, from its compact form."""
    found = []
    for part in assignment["slices"]:
        columns = []
        for level in part["valuesPerLevel"]:
            if "universal" in level:
                columns.append([level["universal"]] * part["domainCount"])
            else:
                one = level["individual"]
                columns.append([one.get("prefix", "") + root + one.get("suffix", "") for root in one["roots"]])
        counts = part["podCounts"]
        counts = [counts["universal"]] * part["domainCount"] if "universal" in counts else counts["individual"]
        assert all(len(column) == part["domainCount"] for column in [*columns, counts]), part
        found += list(zip(zip(*columns), counts))
    return found


def counted(assignment):
    """{values: count} of a topologyAssignment; a domain may come several times."""
    counts = collections.Counter()
    for values, count in domains(assignment):
        counts[values] += count
    return counts


def assigned(workload, pod_set=None):
    """[(values, count)] that an admitted Workload gives a pod set; the only one where it is not named."""
    sets = [s for s in workload["status"]["admission"]["podSetAssignments"] if pod_set in (None, s["name"])]
    assert len(sets) == 1, sets
    return domains(sets[0]["topologyAssignment"])


def condition(workload, kind):
    return next((c for c in workload.get("status", {}).get("conditions", []) if c["type"] == kind), {"status": "Unknown"})


def holds(workload, kind):
    return condition(workload, kind)["status"] == "True"


def gates(pod):
    return [gate["name"] for gate in pod["spec"].get("schedulingGates", [])]


class Queues:
    """What every place with queues has: jobs, their Workloads, their pods and where those are."""

    def __init__(self, cluster, namespace):
        self.cluster, self.namespace = cluster, namespace

    def workload(self, name):
        """The Workload of the job, or of the group of pods, with this name, or None."""
        for one in self.cluster.list(API, "Workload", self.namespace):
            if one["metadata"]["name"] == name or any(owner["name"] == name for owner in one["metadata"].get("ownerReferences", [])):
                return one
        return None

    def wait(self, predicate, what, patience=PATIENCE):
        return self.cluster.wait_for(predicate, patience, what)

    def told(self, name, kind, status="True", reason=None, message=""):
        """Waits until the job's Workload has that condition; the Workload."""
        def found():
            workload = self.workload(name)
            one = condition(workload, kind) if workload else {}
            right = one.get("status") == status and reason in (None, one.get("reason")) and message in one.get("message", "")
            return workload if right else None
        return self.wait(found, lambda: f"{kind}={status} {reason or ''} of {name}; it has {(self.workload(name) or {}).get('status')}")

    def admitted(self, name):
        return self.told(name, "Admitted")

    def pods(self, name):
        """The pods of the job, or of the group, with this name that are not being deleted."""
        marks = ("job-name", "jobset.sigs.k8s.io/jobset-name", "training.kubeflow.org/job-name", f"{KUEUE}/pod-group-name")
        return [pod for pod in self.cluster.pods(self.namespace)
                if name in [pod["metadata"].get("labels", {}).get(mark) for mark in marks]
                and not pod["metadata"].get("deletionTimestamp")]

    def running(self, name, count, patience=PATIENCE):
        """Waits until so many pods of a job run; them."""
        def run():
            pods = [pod for pod in self.pods(name) if pod["status"]["phase"] == "Running"]
            return (pods or True) if len(pods) == count else None
        return self.wait(run, lambda: f"{count} pods of {name} to run; {[(p['status']['phase'], gates(p)) for p in self.pods(name)][:5]}, "
                                      f"{(self.workload(name) or {}).get('status')}", patience)

    def labels_of_nodes(self):
        return {node["metadata"]["name"]: node["metadata"]["labels"] for node in self.cluster.list("v1", "Node")}

    def check_assignment(self, name, pods):
        """The pods are where their Workload says, in numbers and by their selectors; by pod set, as [(values, count)]."""
        nodes, workload = self.labels_of_nodes(), self.workload(name)
        given = {}
        for one in workload["status"]["admission"]["podSetAssignments"]:
            assignment = one["topologyAssignment"]
            here = collections.Counter()
            for pod in [pod for pod in pods if pod["metadata"]["labels"][f"{KUEUE}/podset"] == one["name"]]:
                where = tuple(nodes[pod["spec"]["nodeName"]][level] for level in assignment["levels"])
                assert tuple(pod["spec"]["nodeSelector"][level] for level in assignment["levels"]) == where
                assert pod["metadata"]["annotations"][f"{KUEUE}/workload"] == workload["metadata"]["name"]
                assert GATE not in gates(pod)
                here[where] += 1
            given[one["name"]] = domains(assignment)
            assert one["count"] == sum(here.values())
            assert here == counted(assignment), f"{here} against {given[one['name']]}"
        return given

    def events(self, workload):
        return {(event["reason"], event["message"]) for event in self.cluster.events(self.namespace, workload["metadata"]["name"])}


class Pool(Queues):
    """A namespace with nodes that are its alone, the network they are in, a flavor, a ClusterQueue and a LocalQueue `main`."""

    def __init__(self, cluster):
        super().__init__(cluster, cluster.make_namespace("pool"))
        self.name = self.namespace
        self._nodes = 0
        self._teams = []

    def make_nodes(self, hosts, racks=1, block="b1", **options):
        """Racks of so many hosts, with 8 GPUs each."""
        first = self._nodes
        self._nodes += 1
        return self.cluster.make_nodes(hosts * racks, f"{self.name}-{first}", labels=lambda index: {
            POOL: self.name, BLOCK: block, RACK: f"r{first}-{index // hosts}"}, **options)

    def make_queue(self, quota=None, topology=True, levels=(BLOCK, RACK, HOST), name="main", **spec):
        """The objects of an administrator. Quota is of `nvidia.com/gpu`, or {resource: amount}."""
        quota = quota if isinstance(quota, dict) else {"cpu": "1000", "memory": "10Ti", "nvidia.com/gpu": quota or 1000}
        flavor = {"nodeLabels": {POOL: self.name}} | ({"topologyName": self.name} if topology else {})
        objects = [
            {"apiVersion": API, "kind": "ResourceFlavor", "metadata": {"name": self.name}, "spec": flavor},
            {"apiVersion": API, "kind": "ClusterQueue", "metadata": {"name": self.name},
             "spec": {"namespaceSelector": {}, "resourceGroups": [{
                 "coveredResources": list(quota),
                 "flavors": [{"name": self.name, "resources": [{"name": r, "nominalQuota": a} for r, a in quota.items()]}]}]} | spec},
            self.local_queue(name)]
        if topology:
            objects.insert(0, {"apiVersion": API, "kind": "Topology", "metadata": {"name": self.name},
                               "spec": {"levels": [{"nodeLabel": level} for level in levels]}})
        self.cluster.create_all(objects, self.namespace)

    def make_team(self, name, quota, **spec):
        """One more ClusterQueue of GPUs, with a LocalQueue of that name, in the cohort of the pool. After make_queue()."""
        team = f"{self.name}-{name}"
        self._teams.append(team)
        self.cluster.create_all([
            {"apiVersion": API, "kind": "ClusterQueue", "metadata": {"name": team},
             "spec": {"namespaceSelector": {}, "cohortName": self.name, "resourceGroups": [{
                 "coveredResources": ["cpu", "nvidia.com/gpu"],
                 "flavors": [{"name": self.name, "resources": [{"name": "cpu", "nominalQuota": "1000"}, {"name": "nvidia.com/gpu", "nominalQuota": quota}]}]}]} | spec},
            {"apiVersion": API, "kind": "LocalQueue", "metadata": {"name": name}, "spec": {"clusterQueue": team}}], self.namespace)

    def make_priority(self, name, value):
        """The name of a class of workloads with that priority."""
        full = f"{self.name}-{name}"
        self.cluster.create({"apiVersion": API, "kind": "WorkloadPriorityClass", "metadata": {"name": full}, "value": value})
        return full

    def local_queue(self, name="main"):
        return {"apiVersion": API, "kind": "LocalQueue", "metadata": {"name": name}, "spec": {"clusterQueue": self.name}}

    def submit(self, manifest, queue="main"):
        manifest["metadata"]["labels"] = manifest["metadata"].get("labels", {}) | {QUEUE_NAME: queue}
        return self.cluster.create(manifest, self.namespace)

    def submit_job(self, name, pods, annotations=None, gpu=1, queue="main", marks=None, more=None, priority=None, **spec):
        """An indexed Job; `annotations` are its pods', `marks` its own, `more` further fields of its spec, `priority` a class of workloads."""
        manifest = job(name, pods, annotations, asks={"cpu": "1", "nvidia.com/gpu": str(gpu)}, **spec)
        manifest["metadata"]["annotations"] = marks or {}
        if priority:
            manifest["metadata"]["labels"] = {f"{KUEUE}/priority-class": priority}
        manifest["spec"] |= more or {}
        return self.submit(manifest, queue)

    def submit_job_set(self, name, replicas, pods, annotations=None, gpu=1):
        return self.submit(job_set(name, replicas, pods, annotations=annotations, asks={"cpu": "1", "nvidia.com/gpu": str(gpu)}))

    def change_job(self, name, change):
        return self.cluster.merge("batch/v1", "Job", name, change, self.namespace)

    def change_workload(self, name, change):
        workload = self.workload(name)["metadata"]["name"]
        return self.cluster.merge(API, "Workload", workload, change, self.namespace)

    def delete_job(self, name):
        self.cluster.delete("batch/v1", "Job", name, self.namespace, propagationPolicy="Background")

    def remove(self):
        """The objects that are in no namespace; all else goes with the namespace."""
        for team in self._teams:
            self.cluster.delete_at_once(API, "ClusterQueue", team)
        for kind in ("ClusterQueue", "ResourceFlavor", "Topology"):
            if self.cluster.get(API, kind, self.name):
                self.cluster.delete_at_once(API, kind, self.name)


class SlotKeeper:
    """Watches the pods of a namespace: at no moment may a domain have more pods than its Workload assigns to it, those included that are on their
    way out (unless it takes no pods any more: then what was theirs is elsewhere already)."""

    def __init__(self, cluster, namespace):
        self._assigned = {}                       # (workload, pod set): (levels, Counter)
        self._ever = collections.defaultdict(collections.Counter)  # (workload, pod set): the most that a domain was assigned
        self._pods = {}                           # uid: ((workload, pod set), selector, leaving), of ungated pods that are not over
        self._created, self._ungated = {}, {}
        self._stamps, self._ungated_at = {}, {}   # by the clock on the wall
        self.broken = []
        self._watch = Watch(cluster, [(cluster.path(API, "Workload", namespace), self._workload),
                                      (cluster.path("v1", "Pod", namespace), self._pod)])

    def stop(self):
        self._watch.stop()

    def ungated(self):
        with self._watch.lock:
            return len(self._ungated)

    def seconds_gated(self):
        """How long each pod that was seen with its gate kept it."""
        with self._watch.lock:
            return [self._ungated[uid] - self._created[uid] for uid in self._ungated if uid in self._created]

    def seconds_since_creation(self):
        """The same from the moment of its creation, as the API server has it: that is told in whole seconds, so half a second is taken for the rest,
        unless the pod was seen before."""
        with self._watch.lock:
            begun = {uid: min(seen, stamp + 0.5) for uid, (seen, stamp) in self._stamps.items()}
            return [self._ungated_at[uid] - begun[uid] for uid in self._ungated_at if uid in begun]

    def check(self):
        with self._watch.lock:
            assert not self.broken, self.broken[:3]

    def _workload(self, kind, workload):
        for one in (workload.get("status", {}).get("admission") or {}).get("podSetAssignments", []):
            if "topologyAssignment" in one:
                levels = one["topologyAssignment"]["levels"]
                owner = workload["metadata"]["name"], one["name"]
                self._assigned[owner] = levels, counted(one["topologyAssignment"])
                self._ever[owner] |= self._assigned[owner][1]

    def _pod(self, kind, pod):
        uid, metadata = pod["metadata"]["uid"], pod["metadata"]
        owner = metadata.get("annotations", {}).get(f"{KUEUE}/workload"), metadata.get("labels", {}).get(f"{KUEUE}/podset")
        if kind != "DELETED" and GATE in gates(pod):
            self._created.setdefault(uid, time.monotonic())
            stamp = datetime.datetime.fromisoformat(metadata["creationTimestamp"].replace("Z", "+00:00")).timestamp()
            self._stamps.setdefault(uid, (time.time(), stamp))
            return
        self._ungated.setdefault(uid, time.monotonic())
        self._ungated_at.setdefault(uid, time.time())
        leaving = bool(metadata.get("deletionTimestamp"))
        # One that was deleted before it had a node never gets there.
        over = kind == "DELETED" or pod["status"].get("phase") in ("Succeeded", "Failed") or (leaving and not pod["spec"].get("nodeName"))
        self._pods.pop(uid, None)
        if over or owner not in self._assigned:
            return
        self._pods[uid] = (owner, pod["spec"].get("nodeSelector", {}), leaving)
        levels, most = self._assigned[owner]
        for too_many in (self._here(owner, levels, False) - most, self._here(owner, levels, True) - self._ever[owner]):
            if too_many:
                self.broken.append(f"{owner} has {dict(too_many)} too many")

    def _here(self, owner, levels, all_of_them):
        """Its pods by domain; without those that are on their way out unless all are asked for."""
        return collections.Counter(tuple(selector.get(level) for level in levels)
                                   for of, selector, leaving in self._pods.values() if of == owner and (all_of_them or not leaving))
