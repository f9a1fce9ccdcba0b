"""The Helm chart, by the real Helm: what it renders, that the API server takes it, and that it goes in and out."""
import json
import os
import pathlib
import subprocess

import pytest
import yaml

from harness.gantree import installation

ROOT = pathlib.Path(__file__).parents[2]
CHART = ROOT / "deploy" / "chart" / "gantree"
VARIANTS = {
    "defaults": [],
    "no webhook": ["webhook.enabled=false"],
    "beside Kueue": ["webhook.jobs.enabled=false"],
    "a certificate that is given": ["webhook.certificate.existingSecret=mine", "webhook.certificate.caBundle=PEM"],
    "one replica": ["replicas=1"],
    "everything said": ["image.repository=registry.example.com/gantree", "image.tag=v2", "nodeSelector.role=control",
                        "tolerations[0].operator=Exists", "extraArgs[0]=--drain=20s", "podLabels.team=platform",
                        "topologySpreadConstraints[0].maxSkew=1", "topologySpreadConstraints[0].topologyKey=zone",
                        "topologySpreadConstraints[0].whenUnsatisfiable=ScheduleAnyway", "webhook.failurePolicy=Fail"],
}


# Building Helm takes minutes the first time.
pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module")
def helm(tmp_path_factory):
    """Runs Helm, built once like the control plane; returns its standard output."""
    built = subprocess.run([ROOT / "test" / "e2e" / "helm" / "build"], stdout=subprocess.PIPE, text=True, check=True)
    program = built.stdout.strip().splitlines()[-1]
    home = tmp_path_factory.mktemp("helm")
    own = {f"HELM_{name}_HOME": str(home / name.lower()) for name in ("CACHE", "CONFIG", "DATA")}

    def run(*arguments):
        done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=120, env=os.environ | own)
        assert done.returncode == 0, done.stderr
        return done.stdout
    run.program = program
    return run


def settings(variant, authority):
    return [word for setting in VARIANTS[variant] for word in ("--set", setting.replace("PEM", authority))]


def rendered(helm, namespace, variant, release="gantree", authority="PEM"):
    text = helm("template", release, CHART, "--namespace", namespace, *settings(variant, authority))
    return [o for o in yaml.safe_load_all(text) if o]


def test_the_chart_has_no_lint(helm):
    helm("lint", "--strict", CHART)


def test_the_manifest_is_what_the_chart_makes(helm):
    made = subprocess.run([ROOT / "scripts" / "render-manifest", "-"], capture_output=True, text=True, check=True,
                          env=os.environ | {"HELM": helm.program})
    assert made.stdout == (ROOT / "deploy" / "gantree.yaml").read_text()


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_api_server_takes_it(cluster, namespace, helm, variant):
    objects = rendered(helm, namespace, variant, release="trial", authority=cluster.authority.certificate.read_text())
    printed = cluster.kubectl("apply", "--server-side", "--dry-run=server", "--validate=strict", "--force-conflicts", "-f", "-",
                              input=yaml.safe_dump_all(objects))
    assert len(printed.splitlines()) == len(objects)


def test_without_a_webhook_there_is_nothing_of_it(helm):
    objects = rendered(helm, "n", "no webhook")
    assert not [o for o in objects if o["kind"] == "Secret" or o["kind"].endswith("WebhookConfiguration")]
    rest = yaml.safe_dump_all(o for o in objects if o["kind"] in ("Deployment", "ClusterRole", "Role", "CustomResourceDefinition"))
    assert "gantree-webhook" not in rest and "--webhook" not in rest
    assert "customresourcedefinitions" not in rest


def test_beside_kueue_jobs_are_left_alone(helm):
    objects = rendered(helm, "n", "beside Kueue")
    assert not [o for o in objects if o["kind"] == "MutatingWebhookConfiguration"]
    text = yaml.safe_dump_all(objects)
    assert "jobs.gantree.dev" not in text
    assert "clusterqueues.gantree.dev" not in text and "localqueues.gantree.dev" not in text


def test_a_given_certificate_needs_no_right_to_secrets(helm):
    objects = rendered(helm, "n", "a certificate that is given")
    assert "secrets" not in yaml.safe_dump_all(o for o in objects if o["kind"].endswith("Role"))
    assert "--webhook-cert-dir=/certificate" in yaml.safe_dump_all(objects)


def test_it_is_installed_and_taken_away_but_the_definitions_stay(cluster, namespace, installed, helm):
    access = ["--kubeconfig", cluster.kubeconfig, "--namespace", namespace]
    # The definitions are there already, and somebody else's.
    helm("install", "trial", CHART, *access, "--set", "crds.install=false", "--set", "priorityClassName=")
    assert cluster.get("apps/v1", "Deployment", "trial-gantree", namespace)["spec"]["replicas"] == 2
    helm("upgrade", "trial", CHART, *access, "--set", "crds.install=false", "--set", "priorityClassName=", "--set", "replicas=3")
    assert cluster.get("apps/v1", "Deployment", "trial-gantree", namespace)["spec"]["replicas"] == 3
    assert json.loads(helm("list", *access, "-o", "json"))[0]["status"] == "deployed"
    helm("uninstall", "trial", *access)
    assert cluster.get("apps/v1", "Deployment", "trial-gantree", namespace) is None
    for definition in (o for o in installation() if o["kind"] == "CustomResourceDefinition"):
        assert definition["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"
