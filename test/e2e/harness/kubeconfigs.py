"""Kubeconfig files, as kubectl and every client reads them."""
import base64
import pathlib

import yaml


def write_kubeconfig(file, server, authority, certificate=None, token=None):
    """One cluster, one user, one context. `certificate` is a pair of files; all is written inline but the authority's file."""
    user = {}
    if certificate is not None:
        user["client-certificate-data"] = inline(certificate[0])
        user["client-key-data"] = inline(certificate[1])
    if token is not None:
        user["token"] = token
    pathlib.Path(file).write_text(yaml.safe_dump({
        "apiVersion": "v1", "kind": "Config", "current-context": "e2e", "preferences": {},
        "clusters": [{"name": "e2e", "cluster": {"server": server, "certificate-authority-data": inline(authority)}}],
        "users": [{"name": "e2e", "user": user}],
        "contexts": [{"name": "e2e", "context": {"cluster": "e2e", "user": "e2e"}}]}))
    return pathlib.Path(file)


def inline(file):
    return base64.b64encode(pathlib.Path(file).read_bytes()).decode()
