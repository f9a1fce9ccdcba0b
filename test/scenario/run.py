#!/usr/bin/env python3
"""Plans every scenario and compares the answer with the golden one beside it.

  run.py GANTREE_BINARY [NAME...] [--update]

NAME.yaml holds manifests, and in its first comment why the answer must be what it is. NAME.golden.json holds what must come out:

  gang        "namespace/name": state, and the reason where it is not placed
  podSets     by name: the domains with their pods, as "value/value/...": count; absent where several answers are right
  domains     by level: how many domains the gang's pods are in (optional)
  message     fragments that the message of a gang must contain (optional)
  distance    tree edges between the two outermost hosts of the gang (optional, for topologies that end at the host)
  pods        by pod set: the names of its pods in each domain, in rank order (optional, for pods that exist)

and beside the gangs, where some are evicted:

  evictions   a list of "namespace/name for namespace/name: reason", in the order of the answer; with ", only POD POD" where
              pods above its minimum go and the rest of it stays

Where the first comment has a line "# gantree plan OPTIONS", the plan is made with these.

NAME.golden.txt, where there is one, is what another command must print, word for word. The first comment of NAME.yaml names that command in
a line of its own, as in "# gantree tree -o yaml".

Besides, for every gang: placed pods add up to the pod set's count, and consecutive ranks stay in one domain, level by level. --update
rewrites the golden answers from the program's: only after a change of their form, and read the difference.
"""
import argparse
import difflib
import json
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent


def summary(gang):
    """A gang of the program's answer in the golden form."""
    short = {"state": gang["state"]}
    if gang["state"] != "Placed":
        return {**short, "reason": gang["reason"]}
    short["podSets"] = {pod_set["name"]: {"/".join(domain["values"]): domain["count"] for domain in placed_domains(pod_set)}
                        for pod_set in gang["podSets"]}
    return short


def placed_domains(pod_set):
    return pod_set["topologyAssignment"]["domains"]


def distance(gang):
    """Tree edges between the outermost hosts: up to the lowest common domain and down again."""
    paths = [domain["values"] for pod_set in gang["podSets"] for domain in placed_domains(pod_set)]
    common = 0
    while common < len(paths[0]) and len({path[common] for path in paths}) == 1:
        common += 1
    return 2 * (len(paths[0]) - common)


def domains_used(gang):
    """By level, the domains that the gang's pods are in."""
    used = {}
    for pod_set in gang["podSets"]:
        for depth, level in enumerate(pod_set["topologyAssignment"]["levels"]):
            used.setdefault(level, set()).update(tuple(domain["values"][:depth + 1]) for domain in placed_domains(pod_set))
    return {level: len(domains) for level, domains in used.items()}


def named_pods(gang):
    return {pod_set["name"]: {"/".join(domain["values"]): domain["pods"] for domain in placed_domains(pod_set) if "pods" in domain}
            for pod_set in gang["podSets"]}


def broken_ranks(pod_set):
    """The levels at which the ranks leave a domain and come back to it."""
    paths = [domain["values"] for domain in placed_domains(pod_set)]
    for depth in range(1, len(paths[0]) + 1):
        prefixes = [tuple(path[:depth]) for path in paths]
        changes = sum(1 for before, after in zip(prefixes, prefixes[1:]) if before != after)
        if changes != len(set(prefixes)) - 1:
            yield pod_set["topologyAssignment"]["levels"][depth - 1]


def evictions(answer):
    def some(gone):
        return f", only {' '.join(gone['podsAboveMinimum'])}" if "podsAboveMinimum" in gone else ""
    return [f"{gone['namespace']}/{gone['name']} for {gone['for']}: {gone['reason']}{some(gone)}" for gone in answer["evictions"]]


def complaints(golden, evicted, answer):
    gangs = {f"{gang['namespace']}/{gang['name']}": gang for gang in answer["gangs"]}
    for name in sorted(golden.keys() | gangs.keys()):
        if name not in gangs or name not in golden:
            yield f"{name} is not in the {'answer' if name in golden else 'golden answer'}"
            continue
        gang, wanted = gangs[name], dict(golden[name])
        fragments, span, pods = wanted.pop("message", []), wanted.pop("distance", None), wanted.pop("pods", None)
        used = wanted.pop("domains", None)
        got = summary(gang)
        if "podSets" not in wanted and wanted["state"] == "Placed":
            got.pop("podSets", None)
        if got != wanted:
            yield f"{name}:\n    wanted {json.dumps(wanted)}\n    got    {json.dumps(got)} {gang.get('message', '')}"
            continue
        if used is not None and domains_used(gang) != used:
            yield f"{name}: in {json.dumps(domains_used(gang))} domains, wanted {json.dumps(used)}"
        yield from (f"{name}: \"{text}\" is not in the message: {gang.get('message')}" for text in fragments if text not in gang.get("message", ""))
        if gang["state"] != "Placed":
            if not gang.get("message"):
                yield f"{name}: no message"
            continue
        if span is not None and distance(gang) != span:
            yield f"{name}: distance {distance(gang)}, wanted {span}"
        if pods is not None and named_pods(gang) != pods:
            yield f"{name}: pods {json.dumps(named_pods(gang))}, wanted {json.dumps(pods)}"
        for pod_set in gang["podSets"]:
            placed = sum(domain["count"] for domain in placed_domains(pod_set))
            if placed != pod_set["count"]:
                yield f"{name}: {placed} of {pod_set['count']} pods of {pod_set['name']} are placed"
            yield from (f"{name}: the ranks of {pod_set['name']} come back to a domain of {level}" for level in broken_ranks(pod_set))
    if evictions(answer) != evicted:
        yield f"evictions:\n    wanted {json.dumps(evicted)}\n    got    {json.dumps(evictions(answer))}"


def named_command(scenario):
    """The arguments that the scenario's comment names after "gantree"."""
    for line in scenario.read_text().splitlines():
        if line.startswith("# gantree "):
            return line.split()[2:]
    raise SystemExit(f"{scenario.name}: no comment line names a command")


def run_command(binary, scenario, update):
    """What is wrong with the output of the scenario's own command, where it has one."""
    file = scenario.with_suffix(".golden.txt")
    if not file.exists():
        return []
    done = subprocess.run([binary, *named_command(scenario), "-f", scenario], capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        return [f"exit {done.returncode}: {done.stderr.strip()}"]
    if update:
        file.write_text(done.stdout)
    if done.stdout == file.read_text():
        return []
    difference = difflib.unified_diff(file.read_text().splitlines(), done.stdout.splitlines(), file.name, "printed", lineterm="")
    return ["\n    ".join(difference)]


def plan_options(scenario):
    begin = "# gantree plan "
    return next((line[len(begin):].split() for line in scenario.read_text().splitlines() if line.startswith(begin)), [])


def run(binary, scenario, update):
    done = subprocess.run([binary, "plan", "-f", scenario, "-o", "json", *plan_options(scenario)], capture_output=True, text=True, timeout=60)
    if done.returncode not in (0, 2):
        return [f"exit {done.returncode}: {done.stderr.strip()}"]
    answer = json.loads(done.stdout)
    file = scenario.with_suffix(".golden.json")
    golden = json.loads(file.read_text()) if file.exists() else {}
    evicted = golden.pop("evictions", [])
    if update:
        fresh = {f"{gang['namespace']}/{gang['name']}": summary(gang) for gang in answer["gangs"]}
        kept = {name: {key: old[key] for key in ("message", "distance", "pods", "domains") if key in old} for name, old in golden.items()}
        written = {name: {**gang, **kept.get(name, {})} for name, gang in fresh.items()}
        if answer["evictions"]:
            written["evictions"] = evictions(answer)
        file.write_text(json.dumps(written, indent=2) + "\n")
        return []
    bad = list(complaints(golden, evicted, answer))
    waits = any(gang["state"] != "Placed" for gang in golden.values())
    if done.returncode != (2 if waits else 0):
        bad.append(f"exit {done.returncode}")
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    scenarios = [path for path in sorted(FOLDER.glob("*.yaml")) if not arguments.names or path.stem in arguments.names]
    failed = 0
    for scenario in scenarios:
        bad = run(arguments.binary, scenario, arguments.update) + run_command(arguments.binary, scenario, arguments.update)
        failed += bool(bad)
        for complaint in bad:
            print(f"{scenario.stem}: {complaint}")
    print(f"{len(scenarios) - failed} passed, {failed} failed")
    sys.exit(1 if failed or not scenarios else 0)


main()
