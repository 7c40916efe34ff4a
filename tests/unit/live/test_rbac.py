"""The shipped roles grant exactly what is read, and only reading."""

from pathlib import Path

import pytest
import yaml

from kubeproof.cli.main import main
from kubeproof.live.rbac import manifests
from kubeproof.live.resources import RESOURCES

ROLES = Path(__file__).parents[3] / "deploy" / "rbac"


def granted(text, kind):
    (role,) = [one for one in yaml.safe_load_all(text) if one["kind"] == kind]
    return {
        (group, resource): set(rule["verbs"])
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }


READING = {"get", "list", "watch"}


def test_the_cluster_role_grants_what_is_read_and_nothing_else():
    assert granted(manifests(), "ClusterRole") == {(one.group, one.plural): READING for one in RESOURCES}


def test_the_role_of_a_namespace_leaves_the_others_alone():
    text = manifests("shop")

    assert granted(text, "Role") == {(one.group, one.plural): READING for one in RESOURCES if one.namespaced}
    assert granted(text, "ClusterRole") == {(one.group, one.plural): READING for one in RESOURCES if not one.namespaced}


@pytest.mark.parametrize(("file", "namespace"), [("cluster.yaml", None), ("namespace.yaml", "default")])
def test_the_shipped_files_are_current(file, namespace):
    assert (ROLES / file).read_text(encoding="utf-8") == manifests(namespace)


def test_the_command_prints_them_without_a_cluster(capsys):
    assert main(["snapshot", "--rbac", "-n", "shop"]) == 0
    assert capsys.readouterr().out == manifests("shop")
