# SPDX-License-Identifier: Apache-2.0
"""Sessions with `etprof mcp` by the official client, for the tests beside this."""
import contextlib
import os
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import in_python_with, new_folder, skip

in_python_with("mcp")
try:
    import anyio
    import mcp.client.session
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters
except ImportError as e:
    skip(f"{e}; pip install 'mcp>=2.3,<3', and ETPROF_TESTS_PYTHON=that python")

NEWEST, OLDEST = "2026-07-28", "2024-11-05"
SOURCE = pathlib.Path(__file__).resolve().parents[2]
ETPROF, FAKE = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
MODEL = b"\x10\0\0\0ET12base sme2 1000000\nbase neon 3000000\n"
# No environment that other tests put PyTorch into: an export would begin where its refusal is looked at.
ENVIRONMENT = {**{k: v for k, v in os.environ.items() if k != "VIRTUAL_ENV"}, "ETPROF_PYTHON": sys.executable,
               "ETPROF_VENV": str(SOURCE / "tests/mcp/none")}


@contextlib.asynccontextmanager
async def connected(version=NEWEST, *options, cwd="."):
    """VERSION of the protocol is what is spoken: the newest without a handshake, any other by asking for it."""
    server = StdioServerParameters(command=str(ETPROF), args=["mcp", *options], cwd=cwd, env=ENVIRONMENT)
    offered = mcp.client.session.LATEST_HANDSHAKE_VERSION
    mcp.client.session.LATEST_HANDSHAKE_VERSION = version  # what the client asks for; it takes no argument for it
    try:
        async with Client(server, mode="auto" if version == NEWEST else "legacy") as client:
            assert client.protocol_version == version, client.protocol_version
            yield client
    finally:
        mcp.client.session.LATEST_HANDSHAKE_VERSION = offered


def text_of(result):
    return result.content[0].text


def answer_of(result):
    return result.structured_content["answer"]


async def measure(client, out="run", progress=None, **others):
    return await client.call_tool("measure", {
        "models": ["model.pte"], "levels": ["sme2", "neon"], "blocks": 6, "iterations": 4, "warmup": 3,
        "runner": "fake_runner", "out": out, **others}, progress_callback=progress)


@contextlib.contextmanager
def workspace():
    """A working directory with a program that the fake runner measures."""
    folder = new_folder()
    os.chdir(folder)
    for name in ("model.pte", "slow.pte"):
        pathlib.Path(name).write_bytes(MODEL)
    shutil.copy(FAKE, "fake_runner")
    yield folder
    os.chdir("/")


def run(session):
    anyio.run(session)
