"""What tools say that know Kubernetes, Docker and YAML."""

import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

import rendered
from rendered import ROOT, Overlay

HERE = Path(__file__).parent
# The oldest that all we use is in, and the newest that there is.
VERSIONS = ("1.30", "1.37")


def run(tool: str, *arguments: str | Path, cwd: Path = ROOT) -> str:
    """Runs a tool of this environment, which must be content, and gives what it says."""
    path = Path(sysconfig.get_path("scripts")) / tool
    command = [path if path.exists() else tool, *arguments]
    done = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def manifests(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """All overlays, in files."""
    folder = tmp_path_factory.mktemp("manifests")
    files = {name: folder / f"{name}.yaml" for name in rendered.OVERLAYS}
    for name, path in files.items():
        path.write_text(rendered.text(name))
    return files


@pytest.mark.parametrize("version", VERSIONS)
def test_manifests_fit_the_schemas_of_kubernetes(
    overlay: Overlay, manifests: dict[str, Path], version: str
) -> None:
    said = run("kubernetes-validate", "-k", version, "--strict", manifests[overlay.name])
    # Kinds that it does not know it only warns of.
    unknown = set(re.findall(r"find schema for kind (\w+)", said))
    assert unknown <= set(rendered.FOREIGN), unknown
    assert said.count(" passed for ") + said.count("find schema") == len(overlay.objects)


def test_what_the_validators_do_not_know_has_its_form(overlay: Overlay) -> None:
    for kind, (version, needed, more) in rendered.FOREIGN.items():
        for thing in overlay.all(kind):
            assert thing["apiVersion"] == version
            assert needed <= set(thing["spec"]) <= needed | more, thing["metadata"]["name"]


def test_a_mistake_in_a_manifest_is_found(manifests: dict[str, Path], tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yaml"
    text = manifests["dev"].read_text()
    wrong.write_text(text.replace("minReadySeconds:", "minReadySecs:"))
    with pytest.raises(AssertionError, match="minReadySecs"):
        run("kubernetes-validate", "-k", VERSIONS[-1], "--strict", wrong)


def test_checkov_finds_nothing_in_manifests(manifests: dict[str, Path]) -> None:
    files = [word for path in manifests.values() for word in ("--file", path)]
    run("checkov", "--config-file", HERE / "checkov.yaml", *files)


def test_checkov_finds_a_pod_that_may_do_too_much(
    manifests: dict[str, Path], tmp_path: Path
) -> None:
    loose = tmp_path / "loose.yaml"
    text = manifests["dev"].read_text()
    loose.write_text(text.replace("readOnlyRootFilesystem: true", "privileged: true"))
    with pytest.raises(AssertionError, match="CKV_K8S_16"):
        run("checkov", "--config-file", HERE / "checkov.yaml", "--file", loose)


def test_hadolint_finds_nothing_in_the_dockerfile() -> None:
    run("hadolint", "deploy/docker/Dockerfile")


def test_yamllint_finds_nothing_in_manifests() -> None:
    run("yamllint", "--strict", "--config-file", HERE / "yamllint.yaml", "deploy", HERE)


def test_shellcheck_finds_nothing_in_scripts() -> None:
    shells = (b"#!/usr/bin/env bash\n", b"#!/bin/sh\n")
    scripts = [
        path
        for folder in ("deploy", "tests/image")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.read_bytes().startswith(shells)
    ]
    assert len(scripts) >= 10
    run("shellcheck", "--external-sources", "--source-path=SCRIPTDIR", *scripts)


def test_the_context_of_the_image_has_all_that_cargo_needs(tmp_path: Path) -> None:
    lines = (ROOT / "deploy/docker/Dockerfile.dockerignore").read_text().splitlines()
    names = [line.removeprefix("!") for line in lines if line.startswith("!")]
    assert "*" in lines
    for name in names:
        source, target = ROOT / name, tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, target)
    run("cargo", "metadata", "--locked", "--offline", "--format-version=1", cwd=tmp_path)
