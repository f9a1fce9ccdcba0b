"""What of two answers must be the same, and where they are not.

Left out is what is another one each time (uids, times, versions, addresses, random endings of names), what controllers own, and the
sentences of refusals, which are each server's own. What is generated must still be there in both.
"""
import json
import re

UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
LONG_TIME = re.compile(r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d [+-]\d{4}")
ADDRESS = re.compile(r"\b\d{1,3}(\.\d{1,3}){3}\b")
# What names and hashes end with: letters and digits that spell no words.
ENDING = re.compile(r"-[bcdfghjklmnpqrstvwxz2456789]{5}\b")
HASH = re.compile(r"\b[bcdfghjklmnpqrstvwxz2456789]{8,10}\b")
VERSION = re.compile(r"(Resource Version:\s+)\d+")
AGE = re.compile(r"\b(\d+[smhd])+\b")
GENERATED = {"uid", "creationTimestamp", "resourceVersion", "continue", "deletionTimestamp", "controller-uid", "batch.kubernetes.io/controller-uid"}
CONTROLLERS = {"kube-controller-manager", "system:kube-controller-manager", "kube-scheduler", "system:kube-scheduler", "kwok", "system:kwok",
               "kube-apiserver", "gantree", "gantree-controllers", "gantree-up"}
# What tells the entries of a list apart, so that a difference is named by it and not by its place.
KEYS = ("name", "type", "groupVersion", "group", "version", "resource", "field", "manager")


def compared(ours, theirs, leave=None):
    """[(path, what is here, what is there)] of two answers. Where their codes differ, nothing else of them is worth telling."""
    if ours["code"] != theirs["code"]:
        return [(".code", _outcome(ours), _outcome(theirs))]
    kinds = [body.get("kind") if isinstance(body, dict) else None for body in (ours.get("body"), theirs.get("body"))]
    if kinds[0] != kinds[1]:
        return [(".body.kind", *kinds)]
    found = differences(comparable(ours), comparable(theirs))
    return [one for one in found if leave is None or not re.fullmatch(leave, one[0])]


def _outcome(answer):
    body = answer.get("body")
    reason = body.get("reason") if isinstance(body, dict) and body.get("kind") == "Status" else None
    return f"{answer['code']} {reason}" if reason else answer["code"]


def comparable(answer):
    """One answer of an Asker without what may differ."""
    answer = dict(answer)
    if "body" in answer:
        answer["body"] = _value(answer["body"])
    if "text" in answer:
        answer["text"] = _lines(answer["text"])
    if "errors" in answer:
        answer["errors"] = [_complaint(line) for line in _lines(answer["errors"])]
    if "warnings" in answer:
        answer["warnings"] = len(answer["warnings"])
    return answer


def _words(text):
    text = LONG_TIME.sub("TIME", TIME.sub("TIME", UID.sub("UID", text)))
    return HASH.sub("HASH", ENDING.sub("-XXXXX", ADDRESS.sub("ADDRESS", text)))


def _lines(text):
    """Columns are as wide as their longest entry, which may be a generated name."""
    lines = [re.sub(r" {2,}", "  ", AGE.sub("AGE", _words(VERSION.sub(r"\1SET", line)))).rstrip() for line in text.splitlines()]
    return [re.sub(r"-{4,}", "----", line) for line in lines if line]


def _complaint(line):
    """Of a refusal that kubectl prints, all but the server's sentence."""
    for pattern in (r"(Error from server \(\w+\))", r"(The .* is invalid)", r"(\* [\w.\[\]\"/-]+):", r"(Warning): ", r"(error: \S+ is not supported by)"):
        if found := re.match(pattern, line):
            return found.group(1)
    return line


def _value(value):
    if isinstance(value, str):
        return "AGE" if AGE.fullmatch(value) else _words(value)
    if isinstance(value, list):
        return [_value(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    if value.get("kind") == "Status" and value.get("apiVersion") == "v1":
        return _status(value)
    return {_words(key): _member(key, inner) for key, inner in value.items()}


def _member(key, value):
    if key in GENERATED:
        return "SET" if value else value
    if key.endswith("managedFields") and isinstance(value, list):  # or a path to them
        return _owners(value)
    if key == "columnDefinitions" and value:  # their descriptions are words of our own
        return [{**_value(column), "description": None} for column in value]
    if key == "userInfo":  # whoever the test is
        return sorted(value["groups"])
    return _value(value)


def _owners(entries):
    """Who owns which fields; not when, nor what controllers own."""
    kept = [{**_value(entry), "time": "SET" if entry.get("time") else None} for entry in entries if entry.get("manager") not in CONTROLLERS]
    return sorted(kept, key=lambda entry: (entry["manager"], entry["operation"], entry.get("subresource", "")))


def _status(status):
    """A refusal's sentences are its server's own."""
    status = {key: inner for key, inner in status.items() if key != "message"}
    details = dict(status.get("details") or {})
    if "uid" in details:
        details["uid"] = "SET"
    causes = {(cause.get("reason", ""), cause.get("field", "")) for cause in details.get("causes", [])}
    if causes:
        details["causes"] = sorted(f"{reason} {field}" for reason, field in causes)
    return {**status, "details": details}


def differences(ours, theirs, path=""):
    """(path, what is here, what is there) of all that differs."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted({*ours, *theirs}):
            if (key in ours) != (key in theirs):
                yield f"{path}.{key}", ours.get(key, "absent"), theirs.get(key, "absent")
            else:
                yield from differences(ours[key], theirs[key], f"{path}.{key}")
    elif isinstance(ours, list) and isinstance(theirs, list):
        yield from _list_differences(ours, theirs, path)
    elif ours != theirs or type(ours) is not type(theirs):
        yield path, ours, theirs


def _list_differences(ours, theirs, path):
    if ours == theirs:
        return
    key = _key_of(ours + theirs)
    named = [{_identity(entry, key): entry for entry in entries} for entries in (ours, theirs)]
    if key is None or len(named[0]) != len(ours) or len(named[1]) != len(theirs):
        if len(ours) != len(theirs):
            yield path, ours, theirs
            return
        for place, (mine, other) in enumerate(zip(ours, theirs)):
            yield from differences(mine, other, f"{path}[{place}]")
        return
    for name in [*named[1], *(name for name in named[0] if name not in named[1])]:
        if (name in named[0]) != (name in named[1]):
            yield f"{path}[{name}]", named[0].get(name, "absent"), named[1].get(name, "absent")
        else:
            yield from differences(named[0][name], named[1][name], f"{path}[{name}]")
    common = [[name for name in entries if name in named[0] and name in named[1]] for entries in named]
    if common[0] != common[1]:
        yield f"{path}.order", common[0], common[1]


def _key_of(entries):
    if entries and all(isinstance(entry, str) for entry in entries):
        return "itself"
    for key in KEYS:
        if entries and all(isinstance(entry, dict) and isinstance(entry.get(key), str) for entry in entries):
            return key
    return None


def _identity(entry, key):
    return entry if key == "itself" else entry[key] if key else id(entry)


def told(difference):
    path, here, there = difference
    return f"{path}: {json.dumps(here)[:300]} here, {json.dumps(there)[:300]} there"
