#!/usr/bin/env python3
"""Text that is no manifest: exit 1 and one line that says where."""
import json
import unittest

from cli import CliTest, cases, gantree

NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n"


def laughs(levels):
    """Anchors that double at each step: a few lines that stand for 2^levels values."""
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]" for i in range(1, levels)]
    return "\n".join(lines) + "\n"


# name: text, and the line that must be named (None: any)
MALFORMED = {
    "an unclosed quote": ('kind: "Node\n', None),
    "an unclosed flow map": ("kind: Node\nmetadata: {name: n1\n", None),
    "an unclosed flow list": ("kind: Node\nspec: [1, 2\n", None),
    "a tab as indentation": ("kind: Node\nmetadata:\n\tname: n1\n", 3),
    "indentation that fits no level": ("kind: Node\nmetadata:\n    name: n1\n  labels: {}\n", 4),
    "a value and a map on one line": ("kind: Node\nmetadata: name: n1\n", 2),
    "a list item inside a map": ("kind: Node\n- name: n1\n", 2),
    "an anchor that is not there": ("kind: Node\nmetadata: *nowhere\n", 2),
    "an anchor inside itself": ("kind: Node\nmetadata: &me {name: n1, again: *me}\n", 2),
    "a directive that is not YAML": ("%FOO\n%YAML 9.9\n---\nkind: Node\n", None),
    "a reserved character": ("kind: @Node\n", 1),
    "a duplicate key at the top": (NODE + "kind: Pod\n", 4),
    "a duplicate key below": ("kind: Node\nmetadata:\n  name: n1\n  name: n2\n", 4),
    "a duplicate key in a flow map": ("kind: Node\nmetadata: {name: n1,\n  name: n2}\n", 3),
    "a duplicate key in JSON": ('{"kind": "Node",\n "metadata": {"name": "a",\n "name": "b"}}', 3),
    "a duplicate key in JSON written with an escape": ('{"kind": "Node",\n "k\\u0069nd": "Pod"}', 2),
    "a map as a key": ("? {a: b}\n: c\n", 1),
    "the second document is broken": (NODE + "---\nkind: [\n", None),
    "JSON cut off in a string": ('{"kind": "Node",\n"metadata": {"na', None),
    "JSON cut off after a colon": ('{"kind":\n', None),
    "JSON cut off in a list": ('{"kind": "List",\n"items": [{"kind": "Node"},\n', None),
    "JSON with a trailing comma": ('{"kind": "Node",\n}', None),
    "JSON with two values in a row": ('{"kind" "Node"}', 1),
    "JSON with a bad escape": ('{"kind":\n "No\\qde"}', 2),
    "JSON with half of a surrogate pair": ('{"kind":\n "No\\ud800de"}', 2),
    "JSON with a bad literal": ('{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"},\n "spec": tru}', 2),
    "JSON with a bad number": ('{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"},\n "spec": 01x}', 2),
    "JSON with a control character": ('{"kind":\n "No\u0001de"}', 2),
    "a NUL byte in YAML": (b"kind: Node\nmetadata: {name: a\0b}\n", 2),
    "a NUL byte in JSON": (b'{"kind": "Node",\n "metadata": {"name": "a\0b"}}', 2),
    "nothing but NUL bytes": (bytes(4096), 1),
    "broken UTF-8 in YAML": (b"kind: Node\nmetadata: {name: caf\xe9}\n", 2),
    "broken UTF-8 in JSON": (b'{"kind": "Node",\n "metadata": {"name": "caf\xe9"}}', 2),
    "an overlong UTF-8 sequence": (b"kind: Node\nmetadata: {name: \xc0\xaf}\n", 2),
    "a zipped file": (b"PK\x03\x04\x14\x00\x08\x08\x08\x00" + bytes(range(256)) * 16, None),
    "an ELF binary": (b"\x7fELF\x02\x01\x01" + bytes(9) + bytes(range(256)) * 16, None),
    "random bytes": (bytes((i * 7919 + i * i * 31) % 256 for i in range(10000)), None),
    "a text": ("The quick brown fox.\n", 1),
    "a number": ("42\n", 1),
    "a list of numbers": ("- 1\n- 2\n", 1),
    "a null within a list": ('{"kind": "List", "apiVersion": "v1",\n "items": [null]}', 2),
    "nesting of ten thousand flow lists": ("a: " + "[" * 10000 + "]" * 10000 + "\n", 1),
    "nesting of a hundred thousand open lists": ("[" * 100000, 1),
    "nesting of ten thousand JSON objects": ('{"a":' * 10000 + "1" + "}" * 10000, 1),
    "nesting of a thousand block maps": ("".join(" " * i + "a:\n" for i in range(1000)), None),
    "nesting of ten thousand block lists on one line": ("- " * 10000 + "x\n", 1),
    "anchors that double forty times": (laughs(40), None),
    "anchors that double in a used field": ("kind: Node\nmetadata:\n  name: n1\n  annotations:\n"
                                            + "".join("    " + line + "\n" for line in laughs(40).splitlines()), None),
    "a million openings of a map": ("{" * 1000000, None),
    "a million dashes": ("-" * 1000000, None),
    "a million question marks": ("? " * 1000000, None),
    "a million anchors": ("&a " * 1000000, None),
}


@cases(MALFORMED)
class BadText(CliTest):
    def check(self, content, line):
        path = self.write("broken.yaml", content)
        for command in ("plan", "tree"):
            with self.subTest(command):
                self.assert_refused(gantree(command, "-f", path, timeout=30), path, line)


class BrokenAmongGood(CliTest):
    def test_the_broken_file_of_many_is_named(self):
        self.write("a.yaml", NODE)
        broken = self.write("b.yaml", "kind: [\n")
        self.write("c.yaml", NODE.replace("n1", "n3"))
        self.assert_refused(gantree("plan", "-f", self.folder), broken)

    def test_a_broken_standard_input_is_named(self):
        done = gantree("plan", "-f", "-", stdin="kind: Node\nmetadata: {\n")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"\A\S+:\d+: .+\n\Z")

    def test_every_truncation_of_a_good_file_ends_in_an_answer(self):
        good = json.dumps({"apiVersion": "v1", "kind": "List", "items": [
            {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "labels": {"a": "b"}},
             "status": {"allocatable": {"cpu": "4"}, "conditions": [{"type": "Ready", "status": "True"}]}}]}, indent=1)
        for length in range(1, len(good), 7):
            path = self.write("cut.json", good[:length])
            self.assert_refused(gantree("plan", "-f", path), path)


if __name__ == "__main__":
    unittest.main()
