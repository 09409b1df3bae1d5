"""The certificates that an overlay asks cert-manager for, made here with openssl."""

import subprocess
from collections.abc import Callable
from pathlib import Path

from rendered import Overlay

# Nothing but what is said on the command line.
NOTHING = "[req]\ndistinguished_name = name\n[name]\n"


def openssl(folder: Path, name: str, *options: str) -> None:
    """Makes NAME.key and NAME.crt."""
    (folder / "openssl.conf").write_text(NOTHING)
    command = ["openssl", "req", "-x509", "-config", "openssl.conf", "-subj", f"/CN={name}"]
    command += ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    command += ["-keyout", f"{name}.key", "-out", f"{name}.crt", *options]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def certified(
    overlay: Overlay, address_of: Callable[[str], str], root: Path
) -> dict[str, dict[str, str]]:
    """The secrets with all certificates, for these names and for what is in their place here."""
    folder = root / "certificates"
    folder.mkdir()
    made = {}
    for certificate in sorted(overlay.all("Certificate"), key=lambda it: "isCA" not in it["spec"]):
        name, spec = certificate["metadata"]["name"], certificate["spec"]
        if spec.get("isCA"):
            openssl(folder, name, "-addext", "basicConstraints=critical,CA:TRUE")
            continue
        authority = spec["issuerRef"]["name"]
        usages = {"server auth": "serverAuth", "client auth": "clientAuth"}
        extended = ",".join(usages[it] for it in spec["usages"] if it in usages)
        options = ["-CA", f"{authority}.crt", "-CAkey", f"{authority}.key"]
        options += ["-addext", "basicConstraints=critical,CA:FALSE"]
        options += ["-addext", f"extendedKeyUsage={extended}"]
        names = [f"DNS:{it}" for it in spec.get("dnsNames", [])]
        here = [address_of(it) for it in spec.get("dnsNames", [])]
        names += [f"IP:{it}" for it in here if it.startswith("127.")]
        if names:
            options += ["-addext", "subjectAltName=" + ",".join(names)]
        openssl(folder, name, *options)
        made[spec["secretName"]] = {
            "tls.crt": (folder / f"{name}.crt").read_text(),
            "tls.key": (folder / f"{name}.key").read_text(),
            "ca.crt": (folder / f"{authority}.crt").read_text(),
        }
    return made
