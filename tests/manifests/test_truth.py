"""The manifests against the real programs: what they set, what they ask, what they give."""

import re
import socket
import ssl
import subprocess

import pytest

from deployed import PARLOR, Deployed
from rendered import ROOT, Overlay


def test_every_variable_that_is_set_is_known_to_the_program(overlay: Overlay) -> None:
    known = set()
    for command in ([], ["probe"]):
        said = subprocess.run([PARLOR, *command, "--help"], capture_output=True, text=True)
        known |= set(re.findall(r"\[env: (PARLOR_\w+)", said.stdout))
    for text in (str(overlay.objects), (ROOT / "deploy/docker/Dockerfile").read_text()):
        found = set(re.findall(r"\bPARLOR_\w+", text))
        assert found, "there are settings"
        assert found <= known, found - known


def test_every_probe_finds_what_it_asks_for(deployed: Deployed) -> None:
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert deployed.look(deployed.overlay.container[probe]["httpGet"]["path"])
        for pod in deployed.redis:
            assert pod.probe("redis", probe), f"{probe} of {pod.name}"
            for beside in pod.spec.get("initContainers", []):
                assert probe not in beside or pod.probe(beside["name"], probe)


def test_a_match_is_played_with_the_secrets_as_they_are_made(deployed: Deployed) -> None:
    played = deployed.play("--api-key", deployed.api_key)
    assert played.returncode == 0, played.stderr
    assert deployed.play().returncode != 0, "only those with a key create matches"


def test_who_shows_no_certificate_is_not_heard_where_there_are_some(deployed: Deployed) -> None:
    if not deployed.is_encrypted:
        return
    caller = deployed.files_of("caller-mtls")

    def greeting(context: ssl.SSLContext) -> bytes:
        context.set_alpn_protocols(["h2"])
        with socket.create_connection((deployed.parlor.address, 50051)) as connection:
            with context.wrap_socket(connection, server_hostname="parlor") as encrypted:
                # Only now does a server that misses something say so.
                encrypted.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0")
                return encrypted.recv(9)

    context = ssl.create_default_context(cafile=caller / "ca.crt")
    with pytest.raises((ssl.SSLError, ConnectionError)):
        greeting(context)
    context.load_cert_chain(caller / "tls.crt", caller / "tls.key")
    assert greeting(context)


def test_instances_find_redis_to_be_what_they_are_set_to(deployed: Deployed) -> None:
    said = deployed.parlor.log("parlor").splitlines()
    kept = "what it acknowledged survives a crash and a power loss"
    assert [it for it in said if it.startswith("matches are kept: ") and kept in it]
    assert not [it for it in said if "less is kept than is asked for" in it]


def test_a_stranger_gets_nothing_from_redis(deployed: Deployed) -> None:
    for pod in deployed.redis:
        command = ["redis-cli", "-h", pod.address, *deployed.tls_of("redis-mtls"), "keys", "*"]
        assert "NOAUTH" in pod.run("redis", command).stdout
        if deployed.is_encrypted:
            command = ["redis-cli", "-h", pod.address, "ping"]
            assert "PONG" not in pod.run("redis", command).stdout, "and nobody is heard in the clear"


def test_the_probe_of_redis_may_do_nothing_else(deployed: Deployed) -> None:
    as_probe = ["--no-auth-warning", "--user", "probe", "--pass", "probe"]
    refused = [("6379", ["keys", "*"]), ("6379", ["config", "get", "*"])]
    if deployed.has_sentinels:
        refused += [("26379", ["sentinel", it, "parlor"]) for it in ("reset", "failover")]
    for pod in deployed.redis:
        for port, words in refused:
            command = ["redis-cli", "-h", pod.address, "-p", port, *as_probe]
            command += [*deployed.tls_of("redis-mtls"), *words]
            assert "NOPERM" in pod.run("redis", command).stdout, words


def test_operators_ask_redis_and_sentinels_with_their_password(deployed: Deployed) -> None:
    if not deployed.has_sentinels:
        return
    password = deployed.secrets["redis-operator"]["password"]
    for pod in deployed.redis:
        for port, words in (("6379", ["config", "get", "dir"]), ("26379", ["sentinel", "masters"])):
            command = ["sh", "/etc/redis/operate", "-p", port, *words]
            said = pod.run("redis", command, password + "\n").stdout
            assert "dir" in said or "parlor" in said, said
