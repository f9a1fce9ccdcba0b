#!/usr/bin/env python3
"""Files far larger than any sane manifest: an answer or one sentence, in bounded time, never a crash."""
import json
import resource
import subprocess
import unittest

from cli import BINARY, CliTest, node

SIZE = 200 * 1000 * 1000
SECONDS = 60
MEMORY = 6 * 1024 ** 3


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


class HeavyInput(CliTest):
    def repeated(self, name, head, piece, tail=b"", size=SIZE):
        """A file of that size: the head, the piece again and again, the tail."""
        path = self.folder / name
        block = piece * max(1, 1000000 // len(piece))
        with path.open("wb") as out:
            out.write(head)
            while out.tell() < size:
                out.write(block)
            out.write(tail)
        return path

    def answer(self, path):
        done = subprocess.run([BINARY, "plan", "-f", str(path), "-o", "json"], capture_output=True, text=True,
                              timeout=SECONDS, preexec_fn=limit_memory)
        if done.returncode == 1:
            self.assert_refused(done, path)
        else:
            self.assertIn(done.returncode, (0, 2), done.stderr[:500])
            json.loads(done.stdout)
        return done.returncode

    def test_a_dump_of_200_megabytes_in_json_is_planned(self):
        pod = b',{"apiVersion":"v1","kind":"Event","metadata":{"name":"e","namespace":"default"},"message":"' + b"x" * 3000 + b'"}\n'
        path = self.repeated("dump.json", b'{"apiVersion":"v1","kind":"List","items":[' + json.dumps(node("n1")).encode(), pod, b"]}")
        self.assertEqual(self.answer(path), 0)

    def test_200_megabytes_of_open_brackets(self):
        self.assertEqual(self.answer(self.repeated("brackets.yaml", b"", b"[")), 1)

    def test_200_megabytes_of_one_word(self):
        self.assertEqual(self.answer(self.repeated("word.yaml", b"kind: ", b"a")), 1)

    def test_200_megabytes_of_one_json_string(self):
        self.assertEqual(self.answer(self.repeated("string.json", b'{"kind": "', b"a", b'"}')), 1)

    def test_200_megabytes_of_zeros(self):
        self.assertEqual(self.answer(self.repeated("zeros.yaml", b"", b"\0")), 1)

    def test_200_megabytes_of_empty_lines(self):
        self.assertIn(self.answer(self.repeated("lines.yaml", b"", b"\n")), (0, 1))

    def test_100_megabytes_of_small_yaml_values(self):
        self.assertEqual(self.answer(self.repeated("values.yaml", b"kind: List\n", b"- a: 1\n", size=SIZE // 2)), 1)

    def test_50_megabytes_of_empty_documents(self):
        self.assertIn(self.answer(self.repeated("documents.yaml", b"", b"---\n", size=SIZE // 4)), (0, 1))


if __name__ == "__main__":
    unittest.main()
