# SPDX-License-Identifier: Apache-2.0
"""What `etprof mcp` may touch: paths lie in the allowed folders, links followed; nothing else becomes a path. Each
refusal is a result that a model can read, and none starts a verb.

usage: test_folders.py ETPROF FAKE_RUNNER"""
import os
import pathlib
import shutil

import sessions
from checks import expect, finish
from sessions import MODEL, NEWEST, OLDEST, connected, measure, text_of

HERE_TOO = ("inside/run:linux_sme2_off", "inside/run:linux_sme2_on")


def prepare():
    pathlib.Path("inside").mkdir()
    shutil.move("run", "inside/run")
    shutil.copytree("inside/run", "run")
    pathlib.Path("inside/m.pte").write_bytes(MODEL)
    pathlib.Path("outside.etrecord").write_bytes(b"PK")
    os.symlink(os.path.realpath("outside.etrecord"), "inside/m.etrecord")
    os.symlink(os.path.realpath("run"), "inside/link")
    os.symlink(os.path.realpath(".") + "/made", "inside/nothing")  # who makes it would make what it leads to
    os.mkfifo("inside/fifo.etdump")
    pathlib.Path("drop it").write_text("")


async def refused(client, tool, arguments, *says):
    result = await client.call_tool(tool, arguments)
    expect(result.is_error and all(word in text_of(result) for word in says), tool, arguments, text_of(result)[:300])


async def paths(client):
    claim = await client.call_tool("verify_claim", {"claims": ["speedup >= 1"], "run": "inside/run"})
    expect(not claim.is_error, text_of(claim))
    for path in ("run", "inside/../run", "inside/link", "/etc/passwd", "inside/run/../../run", "/", "../run",
                 "/dev/zero", "inside/new/../../x", "inside/link:linux_sme2_on", "inside/..:run", "inside:x",
                 "inside/nothing", "/dev/stdin", "/proc/self/environ", "inside/fifo.etdump", "inside/absent"):
        await refused(client, "report", {"run": path})
        await refused(client, "compare", {"a": path, "b": "inside/run"})
    await refused(client, "report", {"run": "run"}, "lies outside", os.path.realpath("inside"))
    await refused(client, "inspect", {"file": "/dev/null"}, "lies outside")
    await refused(client, "inspect", {"file": "inside/fifo.etdump"}, "neither a file nor a folder")
    await refused(client, "report", {"run": "inside/absent"}, "no such file or folder")
    arms = await client.call_tool("compare", {"a": HERE_TOO[0], "b": HERE_TOO[1]})
    # The fake runner's recordings are none: it is the verb that says so.
    expect("ETDump" in text_of(arms), "an arm of a run is no other path", text_of(arms)[:300])
    # What lies beside a program is read without being told, and judged as it is.
    await refused(client, "measure", {"models": ["inside/m.pte"], "out": "inside/never"}, "m.etrecord (a link to")
    await refused(client, "inspect", {"file": "inside/m.pte"}, "m.etrecord")
    for out in ("never", "inside/nothing", "inside/absent/never", "inside/..", "/never"):
        await refused(client, "measure", {"models": ["inside/run/manifest.json"], "out": out})
    expect(not os.path.exists("inside/never") and not os.path.exists("made"), "nothing was measured")
    for uri in (f"etprof://run{os.path.realpath('run')}", "etprof://run/etc%2Fpasswd", "etprof://run/etc%00",
                "file:///etc/passwd", "etprof://run", "etprof://result/1"):
        try:
            await client.read_resource(uri)
            expect(False, uri, "was read")
        except Exception as problem:  # the client's own class of errors of the protocol
            expect("lies outside" in str(problem) or "no " in str(problem), uri, problem)


async def members(client):
    """What a verb reads or writes without being told: beside any program, within a folder, under an arm's name."""
    outside, inside = os.path.realpath("kept"), os.path.realpath("inside")
    pathlib.Path("kept").mkdir()
    shutil.copytree("run", "kept/run")
    os.symlink(f"{outside}/run", "inside/run:linux_sme2_off")  # "inside/run" and ":linux_sme2_off" are judged apart
    for arm in ("inside/run/:linux_sme2_off", "inside/./run/.:linux_sme2_off"):
        await refused(client, "compare", {"a": arm, "b": HERE_TOO[1]}, "lies outside")
    os.unlink("inside/run:linux_sme2_off")
    for name, link in (("a/m.bin", "a/m.bin.etrecord"), ("b/m.bin", "b/m.etrecord"), ("c/m.pte", "c/export.json"),
                       ("d/m.pte", "d/m.pte.inputs/forward/0.bin"), ("e/m.pte", "e/m.pte.inputs/forward"),
                       ("f/m.pte", "f/there/forward/0.bin")):
        for path in (name, link):
            pathlib.Path("inside", path).parent.mkdir(parents=True, exist_ok=True)
        pathlib.Path("inside", name).write_bytes(MODEL)
        if name == "f/m.pte":
            os.symlink("there", "inside/f/m.pte.inputs")
        os.symlink(outside, f"inside/{link}")
        await refused(client, "measure", {"models": [f"inside/{name}"], "out": "inside/never"}, "(a link to", "outside")
    for folder in ("dumps", "dumps/below"):
        os.makedirs(f"inside/{folder}")
        os.symlink(f"{outside}/run/samples.csv", f"inside/{folder}/a.etdump")
        await refused(client, "report", {"run": "inside/dumps"}, "(a link to", "outside")
        os.unlink(f"inside/{folder}/a.etdump")
    # Where nobody names a folder, a session goes into out_MODEL, or beside the artifacts of a program.
    os.makedirs("inside/out_m/artifacts")
    pathlib.Path("inside/out_m/artifacts/m.pte").write_bytes(MODEL)
    os.symlink(outside, "inside/out_m/runs")
    os.symlink(outside, "inside/out_toy")
    await refused(client, "export", {"model": "toy_cnn"}, "out_toy", "outside")
    await refused(client, "measure", {"models": ["inside/out_m/artifacts/m.pte"]}, "out_m/runs", "outside")
    expect(os.listdir(outside) == ["run"] and not os.path.exists("inside/never"), "nothing was measured")
    pathlib.Path("inside/plain.pte").write_bytes(MODEL)
    shutil.copy("fake_runner", "inside")
    at_work = await client.call_tool("measure", {
        "models": ["inside/plain.pte"], "levels": ["sme2", "neon"], "blocks": 1, "iterations": 2, "warmup": 1,
        "runner": "inside/fake_runner"})
    expect(not at_work.is_error and os.path.isdir(f"{inside}/out_plain/runs") and not os.path.exists("out_plain"),
           "it works in an allowed folder", text_of(at_work)[:300])
    shutil.rmtree("inside/out_plain")


async def no_text():
    """Names that are no text, in what the client says and in the folders, end no server."""
    os.mkdir("odd")
    shutil.copytree(b"inside/run", b"odd/\xff run")
    async with connected(NEWEST, "--root", "odd") as client:
        found = (await client.list_resources()).resources
        expect([os.path.basename(r.name) for r in found] == ["? run"], found)
        expect((await client.read_resource(found[0].uri)).contents[0].text, "read by its name")
        try:
            await client.read_resource("etprof://run/%ff")
            expect(False, "was read")
        except Exception as problem:  # the client's own class of errors of the protocol
            expect("lies outside" in str(problem), problem)
        await refused(client, "gate", {"run": "odd", "margin": 10**400}, "margin takes a number")


async def operands(client):
    """Operands that are no paths do not become one, and none becomes an option."""
    inside, here = os.path.realpath("inside/run"), os.path.realpath("run")
    for tool, key, values in (
            ("whatif", "changes", ([here, "drop *"], ["run/samples.csv"], ["run"], ["drop it"], ["drop ../*"],
                                   ["--phase=x"], ["drop *", "-o made"], ["scale * /etc/passwd"])),
            ("gate", "rules", (["run"], [here], [f"speedup >= {here}"], ["--junit=made"], ["-o", "made"],
                               ["x >= 1; ls"])),
            ("verify_claim", "claims", (["run"], ["speedup >= 1 --junit made"], ["/etc/passwd"])),
            ("explain", "id", ("..", "run", here, "-h", "op1 made", "F1\nop1", "F1/../x", "~")),
            ("report", "baseline", ("--output=made", "-omade", "../x", "a/b", ".", "a\tb"))):
        for value in values:
            await refused(client, tool, {"run": inside, key: value})
    for key, values in (("levels", (["sme2,neon"], ["--runner=x"], ["../x"], ["SME2"], "sme2")),
                        ("device", ("ssh:-oProxyCommand=x", "adb:-s", "ssh:", "usb", "qemu:/bin/sh", "local;x")),
                        ("threads", ([-1], [1.5], ["1"], [True], 4)), ("blocks", (-1, "6", 1e300, True)),
                        ("budget", ("9s", -1)), ("kernels", ("yes", 1)), ("models", ([], "inside/run", [3]))):
        for value in values:
            arguments = {"models": ["inside/run/manifest.json"], "out": "inside/never", key: value}
            await refused(client, "measure", arguments, key)
    for name in ("own.py:Model", f"{here}:Model", "./own.py:Model", "inside/model", "hf:config.json", "../model",
                 "hf:/etc/config.json", "llm:params.json", "--wheel-dir=x", ""):
        await refused(client, "export", {"model": name}, "model")
    await refused(client, "export", {"model": "toy_cnn", "outdir": "made"}, "lies outside")
    for arguments in ({}, {"run": 3}, {"run": inside, "more": 1}, {"run": ""}, {"run": "--help"}, {"run": "a\nb"},
                      {"run": [inside]}, {"run": None}, {"run": "x" * 5000}):
        await refused(client, "report", arguments, "run" if "more" not in arguments else "more")


async def main():
    with sessions.workspace():
        async with connected() as client:
            expect(not (await measure(client)).is_error, "measured")
        prepare()
        async with connected(NEWEST, "--root", "inside") as client:
            await paths(client)
            await operands(client)
            await members(client)
        await no_text()
        async with connected(OLDEST, "--root", os.path.realpath("inside")) as client:
            await paths(client)
        os.rename("run", "inside run")
        async with connected(NEWEST, "--root", "inside") as client:
            await refused(client, "report", {"run": "inside run"}, "lies outside")  # a root ends at its name's end
        async with connected(NEWEST, "--root", "inside", "--root", "inside run") as client:
            for run in ("inside/run", "inside run"):
                expect(not (await client.call_tool("report", {"run": run})).is_error, run)
            await refused(client, "report", {"run": "/etc"}, "another of the allowed folders")
            names = [os.path.basename(r.name) for r in (await client.list_resources()).resources]
            expect(names == ["run", "inside run"], names)
        async with connected(cwd="inside") as client:  # without --root: the working directory alone
            expect(not (await client.call_tool("report", {"run": "run"})).is_error, "of the working directory")
            await refused(client, "report", {"run": os.path.realpath("inside run")}, "lies outside")


sessions.run(main)
finish("paths, links, devices, and words that are none")
