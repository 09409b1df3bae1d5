"""The messages and services, generated from the protos of this repository when first imported."""

import atexit
import shutil
import sys
import tempfile
from importlib import import_module
from pathlib import Path

from grpc_tools import protoc

ROOT = Path(__file__).resolve().parents[4]
PROTOS = ROOT / "proto"


def _generate() -> None:
    out = tempfile.mkdtemp(prefix="parlor-stubs-")
    atexit.register(shutil.rmtree, out, ignore_errors=True)
    files = sorted(str(path.relative_to(PROTOS)) for path in PROTOS.rglob("*.proto"))
    well_known = Path(protoc.__file__).parent / "_proto"
    arguments = ["protoc", f"-I{PROTOS}", f"-I{well_known}"]
    arguments += [f"--python_out={out}", f"--grpc_python_out={out}", *files]
    if protoc.main(arguments) != 0:
        raise RuntimeError("the protos cannot be compiled")
    sys.path.insert(0, out)


_generate()

catalog = import_module("parlor.v1.catalog_pb2")
games = import_module("parlor.v1.games_pb2")
matches = import_module("parlor.v1.matches_pb2")
neon = import_module("parlor.v1.neon_pb2")
CatalogStub = import_module("parlor.v1.catalog_pb2_grpc").CatalogServiceStub
MatchStub = import_module("parlor.v1.matches_pb2_grpc").MatchServiceStub
