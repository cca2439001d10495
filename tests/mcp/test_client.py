# SPDX-License-Identifier: Apache-2.0
"""`etprof mcp` by the official Python client (scripts/requirements/mcp.txt): measures, applies one fix, proves it.
Skipped (77) where it is not there; ETPROF_TESTS_PYTHON names a Python that has it.

usage: test_client.py ETPROF FAKE_RUNNER"""
import os
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from checks import expect, finish, in_python_with, skip

in_python_with("mcp")
try:
    import anyio
    from mcp.client.stdio import stdio_client
    from mcp.types import ListRootsResult, Root

    from mcp import ClientSession, StdioServerParameters
except ImportError as e:
    skip(f"{e}; pip install mcp, and ETPROF_TESTS_PYTHON=that python")

ETPROF, FAKE = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
TIMES = {"before": (1000000, 3000000), "after": (500000, 3000000)}


def failed(result):
    """As both generations of the client call it."""
    return result.isError if hasattr(result, "isError") else result.is_error


def facts(result):
    return result.structuredContent if hasattr(result, "structuredContent") else result.structured_content


async def session():
    told = []

    async def progress(done, total, message):
        told.append((done, total, message))

    async with stdio_client(StdioServerParameters(command=str(ETPROF), args=["mcp"])) as (read, write):
        async with ClientSession(read, write) as client:
            await client.initialize()
            names = {t.name for t in (await client.list_tools()).tools}
            expect({"measure", "verify_claim"} <= names, names)
            expect(len((await client.list_prompts()).prompts) >= 8, "the playbooks")

            async def measure(out):
                return await client.call_tool("measure", {
                    "models": ["model.pte"], "levels": ["sme2", "neon"], "blocks": 6, "iterations": 4, "warmup": 3,
                    "runner": "fake_runner", "out": out}, progress_callback=progress)

            first = await measure("before")
            expect(not failed(first) and "3.00" in first.content[0].text, first)
            expect(told and told[-1][0] <= told[-1][1], told[-1:])
            # The fix: the next program is twice as fast at sme2. That is what has to be proven.
            pathlib.Path("model.pte").write_bytes(program("after"))
            expect(not failed(await measure("after")), "measured again")
            proof = await client.call_tool("gate", {"run": "after", "against": "before"})
            expect(not failed(proof) and facts(proof)["exit_code"] == 0, proof)
            for claim, run, state in (("sme2 is 6.00x faster than neon", "after", "confirmed"),
                                      ("sme2 takes 0.50 ms", "after", "confirmed"),
                                      ("sme2 takes 0.50 ms", "before", "contradicted"),
                                      ("sme2 is 7.00x faster than neon", "after", "contradicted")):
                answer = await client.call_tool("verify_claim", {"claim": claim, "run": run})
                expect(f": {state}:" in answer.content[0].text, claim, answer.content[0].text)
            found = (await client.list_resources()).resources
            expect({pathlib.Path(r.name).name for r in found} == {"before", "after"}, found)
            read_back = await client.read_resource(found[0].uri)
            expect("faster" in read_back.contents[0].text, read_back)


async def elsewhere():
    """Started in another folder than the client's root, the first call comes before the server knows the root."""
    async def roots(_):
        return ListRootsResult(roots=[Root(uri=pathlib.Path.cwd().as_uri())])

    pathlib.Path("apart").mkdir()
    async with stdio_client(StdioServerParameters(command=str(ETPROF), args=["mcp"], cwd="apart")) as (read, write):
        async with ClientSession(read, write, list_roots_callback=roots) as client:
            await client.initialize()
            claim = {"claim": "sme2 takes 0.50 ms", "run": os.path.realpath("after")}
            answer = await client.call_tool("verify_claim", claim)
            expect(": confirmed:" in answer.content[0].text, answer)
            found = {pathlib.Path(r.name).name for r in (await client.list_resources()).resources}
            expect(found == {"before", "after"}, found)


def program(which):
    return b"\x10\0\0\0ET12base sme2 %d\nbase neon %d\n" % TIMES[which]


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    pathlib.Path("model.pte").write_bytes(program("before"))
    shutil.copy(FAKE, "fake_runner")
    anyio.run(session)
    anyio.run(elsewhere)
    os.chdir("/")
finish("measured, one fix applied, proven")
