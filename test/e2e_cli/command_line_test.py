#!/usr/bin/env python3
"""Flags, files, standard input, output formats and exit codes."""
import json
import os
import unittest
import xml.etree.ElementTree as xml

import yaml

from cli import BLOCK, HOST, KUEUE, RACK, CliTest, cases, domains, gantree, job, node, queues

CLUSTER = [*queues(), *(node(f"{b}-{r}-{h}", b, r) for b in ("b1", "b2") for r in ("r1", "r2") for h in (1, 2))]
FITS = job("fits", 4, topology={"required": RACK})
TOO_LARGE = job("too-large", 17, topology={"required": RACK})
INVALID = job("invalid", 4, topology={"required": "no.such/level"})


def as_list(objects, **fields):
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects, **fields})


def as_documents(objects):
    return "".join("---\n" + yaml.safe_dump(item) for item in objects)


USAGE = {
    "no command": (),
    "an unknown command": ("plam",),
    "no file": ("plan",),
    "an option without its value": ("plan", "-f"),
    "an unknown option": ("plan", "--quickly", "-f", "-"),
    "an unknown format": ("plan", "-f", "-", "-o", "pdf"),
    "a stray word": ("plan", "-f", "-", "please"),
    "a tree of no file": ("tree",),
}


@cases({name: (row,) for name, row in USAGE.items()})
class Usage(CliTest):
    def check(self, arguments):
        done = gantree(*arguments)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertNotEqual(done.stderr.strip(), "")


UNKNOWN = {
    "an option that is nearly one": (("up", "--genrate", "demo"), "there is no option --genrate; did you mean --generate?"),
    "the same with its value": (("up", "--genrate=demo"), "there is no option --genrate; did you mean --generate?"),
    "an option of a command within a command": (("node", "add", "--lik", "a"), "there is no option --lik; did you mean --like?"),
    "an option that is like no other": (("plan", "-f", "-", "--quickly"), "there is no option --quickly"),
    "a word": (("plan", "-f", "-", "please"), '"please" is not expected here'),
}


@cases(UNKNOWN)
class Unknown(CliTest):
    def check(self, arguments, sentence):
        done = gantree(*arguments)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(done.stderr.splitlines()[0], "gantree: " + sentence)


class Help(CliTest):
    def test_help_and_version_are_answers(self):
        for arguments in (("--help",), ("plan", "--help"), ("tree", "--help"), ("--version",)):
            with self.subTest(arguments):
                done = gantree(*arguments)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertNotEqual(done.stdout.strip(), "")
                self.assertEqual(done.stderr, "")


class ExitCodes(CliTest):
    def exit_code(self, *jobs, output="json"):
        path = self.write("all.json", as_list([*CLUSTER, *jobs]))
        return gantree("plan", "-f", path, "-o", output).returncode

    def test_zero_where_all_is_placed(self):
        self.assertEqual(self.exit_code(FITS), 0)

    def test_zero_where_nothing_was_asked(self):
        self.assertEqual(self.exit_code(), 0)

    def test_two_where_something_waits(self):
        self.assertEqual(self.exit_code(FITS, TOO_LARGE), 2)

    def test_two_where_something_is_rejected(self):
        self.assertEqual(self.exit_code(FITS, INVALID), 2)

    def test_the_format_does_not_change_the_code(self):
        for output in ("text", "json", "yaml", "svg"):
            with self.subTest(output):
                self.assertEqual(self.exit_code(FITS, TOO_LARGE, output=output), 2)
                self.assertEqual(self.exit_code(FITS, output=output), 0)


class Files(CliTest):
    """However the same objects come in, the same answer comes out."""

    def setUp(self):
        super().setUp()
        self.objects = [*CLUSTER, FITS, TOO_LARGE]
        path = self.write("whole.json", as_list(self.objects))
        self.expected = gantree("plan", "-f", path, "-o", "json").stdout
        self.assertIn("too-large", self.expected)
        path.unlink()

    def assert_same(self, *arguments, stdin=""):
        done = gantree("plan", "-o", "json", *arguments, stdin=stdin)
        self.assertEqual(done.stderr, "")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stdout, self.expected)

    def test_yaml_documents(self):
        self.assert_same("-f", self.write("all.yaml", as_documents(self.objects)))

    def test_json_documents_one_after_the_other(self):
        self.assert_same("-f", self.write("all.json", "\n".join(map(json.dumps, self.objects))))

    def test_json_documents_between_yaml_separators(self):
        self.assert_same("-f", self.write("all.yaml", "\n---\n".join(map(json.dumps, self.objects)) + "\n---\n"))

    def test_json_and_yaml_documents_in_one_file(self):
        half = len(self.objects) // 2
        text = as_documents(self.objects[:half]) + "---\n" + json.dumps(self.objects[half], indent=2) + "\n"
        self.assert_same("-f", self.write("all.yaml", text + as_documents(self.objects[half + 1:])))

    def test_a_yaml_list(self):
        self.assert_same("-f", self.write("all.yaml", yaml.safe_dump(json.loads(as_list(self.objects)))))

    def test_lists_of_one_kind(self):
        nodes = [item for item in self.objects if item["kind"] == "Node"]
        jobs = [item for item in self.objects if item["kind"] == "Job"]
        rest = [item for item in self.objects if item["kind"] not in ("Node", "Job")]
        bare = [{key: value for key, value in item.items() if key not in ("kind", "apiVersion")} for item in nodes]
        self.write("nodes.json", json.dumps({"apiVersion": "v1", "kind": "NodeList", "metadata": {"resourceVersion": "7"}, "items": bare}))
        self.write("jobs.json", json.dumps({"apiVersion": "batch/v1", "kind": "JobList", "items": jobs}))
        self.write("rest.json", as_list(rest))
        self.assert_same("-f", self.folder)

    def test_a_list_within_a_list(self):
        self.assert_same("-f", self.write("all.json", as_list([json.loads(as_list(self.objects))])))

    def test_standard_input(self):
        self.assert_same("-f", "-", stdin=as_documents(self.objects))

    def test_standard_input_beside_a_file(self):
        path = self.write("cluster.yaml", as_documents(CLUSTER))
        self.assert_same("-f", path, "-f", "-", stdin=as_documents([FITS, TOO_LARGE]))

    def test_several_files_in_any_order(self):
        a = self.write("a.yaml", as_documents([FITS]))
        b = self.write("b.yaml", as_documents(CLUSTER))
        c = self.write("c.json", json.dumps(TOO_LARGE))
        self.assert_same("-f", a, "-f", b, "-f", c)
        self.assert_same("-f", c, "-f", b, "-f", a)

    def test_a_folder_with_folders_and_other_files(self):
        self.write("jobs/deep/a.yaml", as_documents([FITS]))
        self.write("jobs/b.yml", as_documents([TOO_LARGE]))
        self.write("cluster.json", as_list(CLUSTER))
        self.write("README.md", "# Not a manifest: [\n")
        self.write(".hidden.yaml.swp", b"\0\1\2")
        self.assert_same("-f", self.folder)

    def test_the_order_of_the_objects_does_not_matter(self):
        for step in (3, 5, 7):
            order = sorted(range(len(self.objects)), key=lambda i: (i * step % len(self.objects), i))
            self.assert_same("-f", self.write("all.yaml", as_documents([self.objects[i] for i in order])))

    def test_other_kinds_are_passed_over(self):
        others = [{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}},
                  {"apiVersion": "example.com/v1", "kind": "Node", "metadata": {"name": "not-ours"}, "spec": 5}]
        self.assert_same("-f", self.write("all.yaml", as_documents([*others, *self.objects])))

    def test_comments_and_empty_documents_are_passed_over(self):
        text = "# a comment\n---\n---\n# more\n" + as_documents(self.objects) + "---\n---\nnull\n...\n"
        self.assert_same("-f", self.write("all.yaml", text))

    def test_windows_line_ends_and_a_byte_order_mark(self):
        text = as_documents(self.objects).replace("\n", "\r\n")
        self.assert_same("-f", self.write("all.yaml", b"\xef\xbb\xbf" + text.encode()))

    def test_a_link_to_a_file(self):
        target = self.write("target/all.yaml", as_documents(self.objects))
        link = self.folder / "link.yaml"
        os.symlink(target, link)
        self.assert_same("-f", link)

    def test_kueue_v1beta1_and_v1beta2_alike(self):
        old = [{**item, "apiVersion": KUEUE + "v1beta1"} if item["apiVersion"].startswith(KUEUE) else item for item in self.objects]
        self.assert_same("-f", self.write("all.yaml", as_documents(old)))

    def test_anchors_that_only_save_typing(self):
        text = as_documents(CLUSTER) + ("---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: fits, namespace: default, "
                                        "labels: {kueue.x-k8s.io/queue-name: queue}}\nspec:\n  parallelism: &count 4\n  completions: *count\n"
                                        "  template:\n    metadata: {annotations: {" + KUEUE + "podset-required-topology: " + RACK + "}}\n"
                                        "    spec: {containers: [{name: c, resources: {requests: {nvidia.com/gpu: 1}}}]}\n")
        self.assert_same("-f", self.write("all.yaml", text + as_documents([TOO_LARGE])))


class MissingFiles(CliTest):
    def test_a_file_that_is_not_there(self):
        done = gantree("plan", "-f", self.folder / "nowhere.yaml")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"\A[^\n]*nowhere\.yaml[^\n]*\n\Z")

    def test_a_folder_without_manifests(self):
        done = gantree("plan", "-f", self.folder)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"\A[^\n]+\n\Z")

    def test_an_empty_file_asks_for_nothing(self):
        done = gantree("plan", "-f", self.write("empty.yaml", ""), "-o", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["gangs"], [])

    def test_a_folder_that_links_to_itself_ends(self):
        self.write("all.yaml", as_documents([*CLUSTER, FITS]))
        os.symlink(self.folder, self.folder / "again")
        self.assertIn(gantree("plan", "-f", self.folder).returncode, (0, 1))


class Output(CliTest):
    def output(self, form, *jobs):
        path = self.write("all.json", as_list([*CLUSTER, *jobs]))
        done = gantree("plan", "-f", path, "-o", form)
        self.assertEqual(done.stderr, "")
        return done.stdout

    def test_json_has_the_agreed_shape(self):
        answer = json.loads(self.output("json", FITS, TOO_LARGE, INVALID))
        self.assertEqual(sorted(answer), ["evictions", "gangs"])
        self.assertEqual(answer["evictions"], [])
        gangs = {gang["name"]: gang for gang in answer["gangs"]}
        self.assertEqual(gangs["fits"], {
            "namespace": "default", "name": "fits", "kind": "Job", "dialect": "kueue", "state": "Placed",
            "podSets": [{"name": "main", "count": 4, "topologyAssignment": {
                "levels": [BLOCK, RACK, HOST], "domains": [{"values": ["b1", "r1", "b1-r1-1"], "count": 4}]}}]})
        for name, state, reason, count in (("too-large", "Waiting", "TopologyTooLarge", 17), ("invalid", "Rejected", "InvalidRequest", 4)):
            gang = gangs[name]
            message = gang.pop("message")
            self.assertGreater(len(message), 10)
            self.assertEqual(gang, {"namespace": "default", "name": name, "kind": "Job", "dialect": "kueue", "state": state,
                                    "reason": reason, "podSets": [{"name": "main", "count": count}]})

    def test_yaml_says_the_same_as_json(self):
        self.assertEqual(yaml.safe_load(self.output("yaml", FITS, TOO_LARGE, INVALID)),
                         json.loads(self.output("json", FITS, TOO_LARGE, INVALID)))

    def test_text_is_the_default_and_names_every_gang_and_reason(self):
        path = self.write("all.json", as_list([*CLUSTER, FITS, TOO_LARGE, INVALID]))
        text = gantree("plan", "-f", path).stdout
        self.assertEqual(text, self.output("text", FITS, TOO_LARGE, INVALID))
        for word in ("fits", "too-large", "invalid", "TopologyTooLarge", "InvalidRequest", "b1"):
            self.assertIn(word, text)

    def test_text_for_a_pipe_has_no_colours(self):
        self.assertNotIn("\x1b", self.output("text", FITS, TOO_LARGE))

    def test_svg_is_a_picture_that_names_the_gang(self):
        picture = xml.fromstring(self.output("svg", FITS))
        self.assertTrue(picture.tag.endswith("}svg"), picture.tag)
        self.assertIn("fits", "".join(picture.itertext()))

    def test_svg_survives_names_that_are_markup(self):
        odd = node("odd", "<b>&\"'", "]]>")
        path = self.write("all.json", as_list([*CLUSTER, odd, FITS]))
        xml.fromstring(gantree("plan", "-f", path, "-o", "svg").stdout)

    def test_json_survives_names_that_need_escaping(self):
        odd = node("odd", 'b"\\\n\t\u2028é', "r")
        alone = job("alone", 1, topology={"required": RACK}, pod={"nodeSelector": {HOST: "odd"}})
        path = self.write("all.json", as_list([*queues(), odd, alone]))
        answer = json.loads(gantree("plan", "-f", path, "-o", "json").stdout)
        self.assertEqual(domains(answer["gangs"][0]), [('b"\\\n\t\u2028é/r/odd', 1)])
        self.assertEqual(yaml.safe_load(gantree("plan", "-f", path, "-o", "yaml").stdout), answer)


class Tree(CliTest):
    def test_tree_shows_the_domains(self):
        path = self.write("all.json", as_list([*CLUSTER, FITS]))
        done = gantree("tree", "-f", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        for word in ("b1", "b2", "r1", "r2"):
            self.assertIn(word, done.stdout)


if __name__ == "__main__":
    unittest.main()
