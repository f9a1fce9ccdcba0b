#!/usr/bin/env python3
"""The pictures: `plan` as text and SVG, and `tree`, as they come out of the binary."""
import json
import os
import pty
import re
import subprocess
import unittest
import unittest.mock
import xml.etree.ElementTree as xml

import yaml

from cli import BINARY, BLOCK, HOST, RACK, CliTest, cases, gantree, job, node, pod, queues

SVG = "{http://www.w3.org/2000/svg}"
CLUSTER = [*queues(), *(node(f"{b}-{r}-{h}", b, r) for b in ("b1", "b2") for r in ("r1", "r2") for h in (1, 2)),
           pod("old", "b1-r1-1", 2)]


def environment(**variables):
    """The environment of the test without what changes pictures, and with these."""
    clean = {key: value for key, value in os.environ.items()
             if key not in ("LANG", "LC_ALL", "LC_CTYPE", "COLUMNS", "NO_COLOR", "TERM")}
    return unittest.mock.patch.dict(os.environ, {**clean, **variables}, clear=True)


def on_terminal(*arguments):
    """What the binary writes to a terminal."""
    master, slave = pty.openpty()
    with subprocess.Popen([BINARY, *map(str, arguments)], stdout=slave, stdin=subprocess.DEVNULL) as process:
        os.close(slave)
        out = b""
        while True:
            try:
                piece = os.read(master, 65536)
            except OSError:  # the terminal is gone with its last writer
                break
            if not piece:
                break
            out += piece
    os.close(master)
    assert process.returncode in (0, 2)
    return out.decode().replace("\r\n", "\n")


class PictureTest(CliTest):
    def cluster(self, *jobs):
        return self.write("all.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": [*CLUSTER, *jobs]}))


class Text(PictureTest):
    def setUp(self):
        super().setUp()
        self.path = self.cluster(job("train", 3, 4, topology={"required": RACK}), job("big", 3, 8, topology={"required": RACK}))

    def test_draws_the_tree_and_lists_the_gangs(self):
        with environment(LANG="C.UTF-8", COLUMNS="80"):
            done = gantree("plan", "-f", self.path)
        self.assertEqual(done.returncode, 2, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], "topology default  block › rack › host")
        self.assertEqual(lines[1], "8 hosts, 64 nvidia.com/gpu: 2 in use before, 12 placed now, 50 free")
        self.assertIn("  r1  ▒▒AAAA·· AAAAAAAA", done.stdout)
        self.assertIn("b2    2 racks, 4 hosts, all free", done.stdout)
        self.assertRegex(done.stdout, r"\nA  default/train +Job +3 +12  b1/r1: 2 hosts\n")
        self.assertRegex(done.stdout, r"\n   default/big +Job +3  TopologyTooLarge\n")
        self.assertEqual(lines[-1], "1 placed, 1 waiting, 0 rejected")

    def test_is_ascii_where_the_locale_is_not_utf8(self):
        for locale in ({}, {"LANG": "C"}, {"LANG": "en_US.UTF-8", "LC_ALL": "POSIX"}):
            with self.subTest(locale), environment(**locale):
                text = gantree("plan", "-f", self.path).stdout
                self.assertTrue(text.isascii(), text)
                self.assertIn("##AAAA..", text)

    def test_fits_the_width(self):
        for width in (50, 72, 100):
            with self.subTest(width), environment(LANG="C.UTF-8", COLUMNS=str(width)):
                text = gantree("plan", "-f", self.path).stdout
                self.assertLessEqual(max(map(len, text.splitlines())), width, text)

    def test_a_nonsense_width_is_no_width(self):
        with environment():
            expected = gantree("plan", "-f", self.path).stdout
        for columns in ("", "0", "-5", "wide", "99999999999999999999", "80x"):
            with self.subTest(columns), environment(COLUMNS=columns):
                self.assertEqual(gantree("plan", "-f", self.path).stdout, expected)

    def test_colours_only_where_wanted(self):
        pipe = lambda *more: gantree("plan", "-f", self.path, *more).stdout
        with environment(LANG="C.UTF-8", TERM="xterm-256color"):
            self.assertNotIn("\x1b", pipe())
            self.assertIn("\x1b[", pipe("--color", "always"))
            self.assertIn("\x1b[", on_terminal("plan", "-f", self.path))
            self.assertNotIn("\x1b", on_terminal("plan", "-f", self.path, "--color", "never"))
            plain = re.sub("\x1b\\[[0-9;]*m", "", pipe("--color", "always"))
            self.assertEqual([line.rstrip() for line in plain.splitlines()], pipe().splitlines())
        with environment(TERM="xterm-256color", NO_COLOR="1"):
            self.assertNotIn("\x1b", on_terminal("plan", "-f", self.path))
        with environment(TERM="dumb"):
            self.assertNotIn("\x1b", on_terminal("plan", "-f", self.path))

    def test_a_wrong_colour_is_a_usage_error(self):
        self.assertEqual(gantree("plan", "-f", self.path, "--color", "green").returncode, 1)


class Large(PictureTest):
    def setUp(self):
        super().setUp()
        nodes = [node(f"n{b}-{r}-{h}", f"b{b}", f"r{r}") for b in range(10) for r in range(16) for h in range(32)]
        jobs = [job(f"train-{i}", 24, 8, topology={"required": RACK}) for i in range(100)]
        self.path = self.write("large.json", json.dumps({"kind": "List", "apiVersion": "v1", "items": [*queues(), *nodes, *jobs]}))

    def test_text_stays_short(self):
        with environment():
            text = gantree("plan", "-f", self.path).stdout
        tree = text.split("\nPlaced")[0]
        self.assertLess(len(tree.splitlines()), 300)
        self.assertIn("100 placed", text)

    def test_svg_stays_small_and_valid(self):
        picture = gantree("plan", "-f", self.path, "-o", "svg").stdout
        self.assertLess(len(picture), 2_000_000)
        xml.fromstring(picture)


class Svg(PictureTest):
    def test_every_host_has_a_tooltip_and_every_gang_its_letter(self):
        path = self.cluster(job("train", 3, 4, topology={"required": RACK}), job("serve", 1, 1))
        picture = xml.fromstring(gantree("plan", "-f", path, "-o", "svg").stdout)
        titles = [title.text for title in picture.iter(SVG + "title")]
        self.assertIn("b1-r1-1: 1 of 8 gpu free, 2 in use before, A default/serve: 1 pod, 1 gpu, B default/train: 1 pod, 4 gpu", titles)
        for b in ("b1", "b2"):
            for r in ("r1", "r2"):
                for h in (1, 2):
                    self.assertTrue(any(title.startswith(f"{b}-{r}-{h}: ") for title in titles))
        letters = {text.text for text in picture.iter(SVG + "text") if text.get("class", "").startswith("l ")}
        self.assertEqual(letters, {"A", "B"})
        self.assertEqual(picture.find(SVG + "title").text, "Plan: 2 placed, 0 waiting, 0 rejected")

    def test_needs_nothing_from_elsewhere(self):
        text = gantree("plan", "-f", self.cluster(), "-o", "svg").stdout
        for word in ("href", "<script", "@import", "url(http", "<image"):
            self.assertNotIn(word, text)


class Tree(PictureTest):
    def tree(self, *arguments):
        done = gantree("tree", "-f", self.cluster(), *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_shows_domains_and_the_largest_gang(self):
        with environment():
            text = self.tree()
        self.assertRegex(text, r"\nin one rack +16  b1/r2 +16 +2  b1/r2\n")
        self.assertRegex(text, r"\nin one host +8  b1/r1/b1-r1-2 +8 +1  b1/r1/b1-r1-2\n")
        self.assertRegex(text, r"\nb1 +4 +4 +3 +32 +2 +30  \S{10} +30\n")
        self.assertRegex(text, r"\n  r1 +2 +2 +1 +16 +2 +14  \S{10} +14\n")
        self.assertNotIn("\n    b1-r1-1", text)

    def test_lists_as_deep_as_asked(self):
        self.assertIn("\n    b1-r1-1 ", self.tree("--hosts"))
        self.assertIn("\n    b1-r1-1 ", self.tree("--depth", "3"))
        self.assertIn("\n    b1-r1-1 ", self.tree("--level", HOST))
        self.assertNotIn("\n  r1 ", self.tree("--depth", "1"))
        self.assertNotIn("\n  r1 ", self.tree("--level", "block"))
        self.assertIn("\n  r1 ", self.tree("--level", RACK))

    def test_counts_pods_of_the_shape_asked_for(self):
        answer = json.loads(self.tree("--request", "nvidia.com/gpu=4,cpu=20", "-o", "json"))["topologies"][0]
        self.assertEqual(answer["request"], {"cpu": "20", "nvidia.com/gpu": "4"})
        self.assertEqual(answer["pods"], 15)
        self.assertEqual([level["pods"] for level in answer["largest"]], [15, 8, 4, 2])
        self.assertEqual([level.get("level") for level in answer["largest"]], [None, BLOCK, RACK, HOST])
        self.assertEqual(answer["domains"][0]["values"], ["b1"])
        self.assertEqual(answer["domains"][0]["domains"][0]["resources"], {"nvidia.com/gpu": {"total": "16", "used": "2", "free": "14"}})

    def test_yaml_says_the_same_as_json(self):
        self.assertEqual(yaml.safe_load(self.tree("-o", "yaml", "--hosts")), json.loads(self.tree("-o", "json", "--hosts")))

    def test_a_network_of_several_names_is_drawn_once(self):
        fabric = {**CLUSTER[0], "metadata": {"name": "gpu-fabric"}}
        coarse = {**CLUSTER[0], "metadata": {"name": "coarse"}, "spec": {"levels": [{"nodeLabel": BLOCK}]}}
        path = self.cluster(fabric, coarse)
        with environment():
            text = gantree("tree", "-f", path).stdout
        self.assertEqual(re.findall(r"(?m)^topology (.+?)  ", text), ["default, gpu-fabric", "coarse"])
        self.assertIn("topology gpu-fabric  ", gantree("tree", "-f", path, "--topology", "gpu-fabric").stdout)
        values = json.loads(gantree("tree", "-f", path, "-o", "json").stdout)["topologies"]
        self.assertEqual([each["topology"] for each in values], ["default", "gpu-fabric", "coarse"])

    def test_needs_no_topology_object(self):
        path = self.write("nodes.json", json.dumps({"kind": "List", "apiVersion": "v1", "items": CLUSTER[4:]}))
        done = gantree("tree", "-f", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("in one host", done.stdout)
        self.assertIn("--levels", done.stderr)
        done = gantree("tree", "-f", path, "--levels", f"{BLOCK},{RACK},{HOST}")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("in one rack", done.stdout)


WRONG = {
    "an unknown topology": (("--topology", "nope"), "nope"),
    "an unknown level": (("--level", "row"), "row"),
    "an unknown resource": (("--request", "example.com/tpu=1"), "example.com/tpu"),
    "a request without an amount": (("--request", "cpu"), "cpu"),
    "a request of nothing": (("--request", "cpu=0"), "cpu"),
    "a request that is no quantity": (("--request", "cpu=many"), "many"),
    "a negative request": (("--request", "cpu=-1"), "cpu"),
}


@cases(WRONG)
class WrongQuestions(PictureTest):
    def check(self, arguments, word):
        done = gantree("tree", "-f", self.cluster(), *arguments)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(word, done.stderr)


if __name__ == "__main__":
    unittest.main()
