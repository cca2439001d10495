# SPDX-License-Identifier: Apache-2.0
"""`etprof mcp` by the official client, a session with each tool at the newest and the oldest protocol it speaks: what
the verb prints stands in structuredContent, fits its outputSchema (the client checks it) and is never cut.

usage: test_tools.py ETPROF FAKE_RUNNER"""
import json
import pathlib
import re
import shutil
import tarfile

import sessions
from checks import execute, expect, finish
from sessions import ETPROF, NEWEST, OLDEST, SOURCE, answer_of, connected, measure, text_of

TOOLS = {"measure", "compare", "explain", "report", "whatif", "gate", "inspect", "export", "devices", "verify_claim"}
PROGRAM = SOURCE / "tests/data/mixed_xnnpack_fp32.pte"


def direct(*words):
    done = execute(ETPROF, *words, "--format", "json")
    return json.loads(done.stdout)


async def listed(client):
    tools = {t.name: t for t in (await client.list_tools()).tools}
    expect(set(tools) == TOOLS, set(tools))
    for tool in tools.values():
        schema = tool.input_schema
        expect(schema["additionalProperties"] is False and set(schema["required"]) <= set(schema["properties"]),
               tool.name, schema)
        if client.protocol_version == NEWEST:
            answer = tool.output_schema["properties"]["answer"]
            named = [a["properties"]["schema"]["const"] for a in answer.get("anyOf", [answer])]
            expect(named and all(re.fullmatch(r"etprof\.[a-z_]+/1", n) for n in named), tool.name, named)
            expect(all(len(a["properties"]) > 1 for a in answer.get("anyOf", [answer])), tool.name, "members")
    prompts = {p.name: p for p in (await client.list_prompts()).prompts}
    expect(len(prompts) == 12 and all(p.description for p in prompts.values()), "the playbooks", set(prompts))
    prompt = await client.get_prompt("04_run_profiling")
    expect(text_of(prompt.messages[0] and type("m", (), {"content": [prompt.messages[0].content]})) ==
           (SOURCE / "agent_skill_ml_profiling/04_run_profiling.md").read_text(), "the playbook's text")
    expect(client.instructions and "verify_claim" in client.instructions, client.instructions)


async def measured(client):
    told = []

    async def progress(done, total, message):
        told.append((done, total, message))

    result = await measure(client, "run", progress)
    expect(not result.is_error, result)
    expect(len(told) > 5 and all(total >= done for done, total, _ in told), "progress with a total", told[:3])
    steps = [done for done, _, _ in told]
    expect(steps == sorted(set(steps)), "progress only grows", steps)
    document = json.loads(text_of(result))["answer"]
    expect(abs(document["comparisons"][0]["speedup"]["estimate"] - 3) < 0.01, document["comparisons"])
    if client.protocol_version == NEWEST:
        expect(answer_of(result) == document, "the text is the same document")
        expect("run" in result.structured_content["notes"], "where the folder is", result.structured_content["notes"])


async def asked(client):
    """The tools that read: each answer is the verb's own document."""
    whole = direct("analyze", "real")
    operator, arms = whole["operators"][0]["id"], [arm["name"] for arm in whole["arms"]]
    for tool, arguments, words in (
            ("report", {"run": "run"}, ("analyze", "run")),
            ("report", {"run": "real", "baseline": arms[0]}, ("analyze", "real", "--baseline", arms[0])),
            ("compare", {"a": f"real:{arms[0]}", "b": f"real:{arms[1]}"},
             ("compare", f"real:{arms[0]}", f"real:{arms[1]}")),
            ("explain", {"id": operator, "run": "real"}, ("explain", operator, "real")),
            ("whatif", {"run": "real", "changes": [f"drop {operator}", f"scale {operator} 2"]},
             ("whatif", "real", f"drop {operator}", f"scale {operator} 2")),
            ("gate", {"run": "run", "rules": ["speedup >= 2.9", "noise <= 20 %"]},
             ("gate", "run", "speedup >= 2.9", "noise <= 20 %")),
            ("inspect", {"file": str(pathlib.Path("program.pte"))}, ("inspect", "program.pte")),
            ("inspect", {"file": "program.pte", "diff": "program.pte"},
             ("inspect", "program.pte", "--diff", "program.pte")),
            ("devices", {}, ("doctor", "devices"))):
        result = await client.call_tool(tool, arguments)
        expect(not result.is_error, tool, arguments, text_of(result)[:300])
        found = json.loads(text_of(result))
        whole = direct(*words)
        for name, value in found["answer"].items():
            cut = any(re.split(r"[.\[]", path)[0] == name for path in found["left_out"])
            # The folder is named as it was judged: absolute.
            bare = [json.dumps(text).replace(f"{pathlib.Path.cwd().resolve()}/", "") for text in (value, whole[name])]
            expect(cut or bare[0] == bare[1], tool, name, "is not the verb's", bare[0][:200], bare[1][:200])


async def judged(client):
    """Claims are rules: yes, no and unknown are answers."""
    for claims, code, verdict in ((["speedup >= 2.9"], 0, "yes"), (["speedup <= 2.5"], 1, "no"),
                                  (["latency linux_sme2_on <= 1.1 ms", "latency linux_sme2_off >= 2.9 ms"], 0, "yes"),
                                  (["engaged macs >= 90 %"], 3, "unknown")):
        result = await client.call_tool("verify_claim", {"run": "run", "claims": claims})
        found = {"exit_code": None, "answer": {}} if result.is_error else json.loads(text_of(result))
        expect(not result.is_error and (code is None or found["exit_code"] == code), claims, text_of(result))
        expect(verdict is None or found["answer"]["verdict"] == verdict, claims, found["answer"])
    pathlib.Path("model.pte").write_bytes(b"\x10\0\0\0ET12base sme2 500000\nbase neon 3000000\n")
    expect(not (await measure(client, "after")).is_error, "measured again")
    proof = await client.call_tool("gate", {"run": "after", "against": "run"})
    expect(json.loads(text_of(proof))["exit_code"] == 0, "one fix applied, proven", text_of(proof))
    back = await client.call_tool("gate", {"run": "run", "against": "after"})
    expect(json.loads(text_of(back))["exit_code"] == 1 and not back.is_error, "no is an answer", text_of(back))


async def read(client):
    found = (await client.list_resources()).resources
    expect({pathlib.Path(r.name).name for r in found} == {"run", "after", "real"}, found)
    for resource in found:
        contents = (await client.read_resource(resource.uri)).contents[0]
        expect("× faster than" in contents.text and str(resource.uri).isascii(), contents.text[:200])
    templates = (await client.list_resource_templates()).resource_templates
    expect([t.name for t in templates] == ["run"], templates)


async def exported(client):
    """Nothing is installed by a tool: it says what is missing, how large it is, and the command."""
    try:
        import torch  # noqa: F401
    except ImportError:
        result = await client.call_tool("export", {"model": "toy_cnn"})
        expect(result.is_error and all(w in text_of(result) for w in ("GB", "--install", "PyTorch")), result)


async def large():
    """A long document becomes a smaller one, and its parts are had by their names."""
    whole = direct("analyze", "real")
    async with connected() as client:
        result = await client.call_tool("report", {"run": "real"})
        found = result.structured_content
        expect(len(text_of(result)) < 13000 < len(json.dumps(whole)) and found["left_out"], found["left_out"])
        expect(found["answer"]["comparisons"] == whole["comparisons"], "the headline stays")
        n = len(whole["operators"])
        got = []
        for at in range(0, n, 10):
            part = await client.call_tool("report", {"run": "real", "parts": [f"operators[{at}:{at + 10}]", "grade"]})
            expect(part.structured_content["left_out"] == {}, part.structured_content["left_out"])
            got += answer_of(part)["operators"]
        expect(got == whole["operators"] and n > 20, "parts lead to the end", len(got), n)
        wrong = await client.call_tool("report", {"run": "real", "parts": ["operator"]})
        expect(wrong.is_error and "operators" in text_of(wrong), "no such part", text_of(wrong))


async def main():
    for version in (NEWEST, OLDEST):
        with sessions.workspace():
            shutil.copy(PROGRAM, "program.pte")
            with tarfile.open(SOURCE / "tests/data/session.tar.xz") as archive:
                archive.extractall("real")
            async with connected(version) as client:
                for step in (listed, measured, asked, judged, read, exported):
                    await step(client)
            if version == NEWEST:
                await large()


sessions.run(main)
finish("ten tools at both ends of the protocol")
