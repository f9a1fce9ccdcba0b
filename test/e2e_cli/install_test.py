"""`install` and `doctor`, as far as they need no cluster."""
import subprocess
import unittest

import yaml

from cli import BINARY, ROOT, CliTest, gantree


class DryRun(CliTest):
    def objects(self, *arguments):
        done = gantree("install", "--dry-run", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return list(yaml.safe_load_all(done.stdout))

    def test_it_prints_the_manifest(self):
        written = {(o["kind"], o["metadata"]["name"]): o for o in yaml.safe_load_all((ROOT / "deploy" / "gantree.yaml").read_text())}
        printed = {(o["kind"], o["metadata"]["name"]): o for o in self.objects()}
        self.assertEqual(printed, written)

    def test_what_others_need_comes_first(self):
        kinds = [o["kind"] for o in self.objects()]
        self.assertEqual(kinds[0], "Namespace")
        self.assertLess(kinds.index("CustomResourceDefinition"), kinds.index("Deployment"))
        self.assertEqual(kinds[-1], "ValidatingWebhookConfiguration")

    def test_options_are_followed(self):
        objects = self.objects("--namespace", "elsewhere", "--image", "registry.example.com/g:2", "--replicas", "3",
                               "--scheduler-names", "a,b", "--skip-definitions")
        self.assertNotIn("gantree-system", yaml.safe_dump_all(objects))
        self.assertNotIn("CustomResourceDefinition", [o["kind"] for o in objects])
        deployment = next(o for o in objects if o["kind"] == "Deployment")
        container = deployment["spec"]["template"]["spec"]["containers"][0]
        self.assertEqual(deployment["spec"]["replicas"], 3)
        self.assertEqual(container["image"], "registry.example.com/g:2")
        self.assertIn("--scheduler-names=a,b", container["args"])

    def test_run_understands_the_arguments_of_the_container(self):
        deployment = next(o for o in self.objects() if o["kind"] == "Deployment")
        arguments = deployment["spec"]["template"]["spec"]["containers"][0]["args"]
        done = gantree(*arguments, "--kubeconfig", self.folder / "none")
        self.assertEqual(done.returncode, 1)
        self.assertIn("none: No such file", done.stderr)

    def test_the_container_is_locked_down(self):
        deployment = next(o for o in self.objects() if o["kind"] == "Deployment")
        pod = deployment["spec"]["template"]["spec"]
        self.assertTrue(pod["securityContext"]["runAsNonRoot"])
        self.assertEqual(pod["securityContext"]["seccompProfile"]["type"], "RuntimeDefault")
        for container in pod["containers"]:
            self.assertTrue(container["securityContext"]["readOnlyRootFilesystem"])
            self.assertFalse(container["securityContext"]["allowPrivilegeEscalation"])
            self.assertEqual(container["securityContext"]["capabilities"]["drop"], ["ALL"])
            self.assertIn("livenessProbe", container)
            self.assertIn("readinessProbe", container)


class Image(CliTest):
    def test_what_goes_into_the_image_is_enough_to_run(self):
        subprocess.run([ROOT / "deploy" / "collect-runtime", BINARY, self.folder], check=True, timeout=60)
        loader = next(self.folder.glob("lib*/ld-linux*"))
        libraries = ":".join(str(path) for path in self.folder.glob("**/*-linux-gnu"))
        done = subprocess.run([loader, "--inhibit-cache", "--library-path", libraries, "--list", self.folder / "usr/bin/gantree"],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        outside = [line for line in done.stdout.splitlines() if "=> /" in line and str(self.folder) not in line]
        self.assertEqual(outside, [])


class NoCluster(CliTest):
    def test_each_says_in_one_line_that_there_is_no_kubeconfig(self):
        for command in ("install", "uninstall", "doctor"):
            with self.subTest(command):
                done = gantree(command, "--kubeconfig", self.folder / "none")
                self.assertEqual(done.returncode, 1)
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertIn("none", done.stderr)

    def test_the_doctor_tells_that_nobody_answers(self):
        config = self.write("config", yaml.safe_dump({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:9"}}], "users": [{"name": "u", "user": {}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}))
        done = gantree("doctor", "--kubeconfig", config)
        self.assertEqual(done.returncode, 1)
        self.assertIn("does not answer", done.stdout)


if __name__ == "__main__":
    unittest.main()
