# SPDX-License-Identifier: Apache-2.0
"""`etprof mcp` by a client of our own: a session, then everything that a client must not send.

usage: test_stdio.py ETPROF FAKE_RUNNER"""
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import phase_folders
from checks import expect, finish

ETPROF, FAKE = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
SOURCE = pathlib.Path(__file__).resolve().parents[2]
TOOLS = {"measure", "compare", "explain", "report", "whatif", "gate", "inspect", "export", "devices", "verify_claim"}
MODEL = b"\x10\0\0\0ET12base sme2 1000000\nbase neon 3000000\n"


class Client:
    def __init__(self, *options, roots=None, greet=True):
        self.server = subprocess.Popen([ETPROF, "mcp", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.next, self.noted, self.roots, self.heard = 0, [], roots, []
        if greet:
            self.said = self.ask("initialize", protocolVersion="2025-06-18", clientInfo={"name": "t", "version": "1"},
                                 capabilities={"roots": {}} if roots is not None else {})["result"]
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
            if roots is not None:
                self.ping()

    def send(self, message):
        text = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.server.stdin.write(text + b"\n")
        self.server.stdin.flush()

    def hear(self):
        """The next message that is an answer to us."""
        while True:
            line = self.server.stdout.readline()
            if not line:
                return None
            message = json.loads(line)
            if message.get("method") == "roots/list":
                self.send({"jsonrpc": "2.0", "id": message["id"], "result": {"roots": self.roots}})
            elif "method" in message:
                self.noted.append(message)
            else:
                self.heard.append(message.get("id"))
                return message

    def ask(self, method, **params):
        self.next += 1
        self.send({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params})
        while True:
            answer = self.hear()
            if answer is None or answer.get("id") == self.next:
                return answer

    def ping(self):
        return self.ask("ping") == {"jsonrpc": "2.0", "id": self.next, "result": {}}

    def call(self, name, **arguments):
        return self.ask("tools/call", name=name, arguments=arguments)

    def end(self):
        self.server.stdin.close()
        return self.server.wait(60)


def text_of(answer):
    return answer["result"]["content"][0]["text"] if "result" in answer else answer["error"]["message"]


def measure_fake(client, **others):
    return client.ask("tools/call", name="measure", _meta={"progressToken": "p1"},
                      arguments={"models": ["model.pte"], "levels": ["sme2", "neon"], "blocks": 6, "iterations": 4,
                                 "warmup": 3, "runner": "fake_runner", **others})


def handles(client):
    """A long answer piece by piece, each naming the next; the last 16 answers are kept."""
    with tarfile.open(SOURCE / "tests/data/session.tar.xz") as archive:
        archive.extractall("real")
    whole = client.call("report", run="real", format="json")["result"]
    first = more = whole["structuredContent"]["more"]
    text, pieces = whole["content"][0]["text"], 0
    while more and pieces < 1000:
        piece = client.ask("resources/read", uri=more)["result"]["contents"][0]
        text, more, pieces = text + piece["text"], piece.get("_meta", {}).get("more"), pieces + 1
    direct = subprocess.run([ETPROF, "analyze", "real", "--format", "json"], capture_output=True, text=True, check=True)
    expect(json.loads(text) == json.loads(direct.stdout) and pieces > 2, "the handles lead to the end", pieces)
    shutil.rmtree("real")
    for kept in (True, False): # 15 others, then one more
        for _ in range(15 if kept else 1):
            expect("more" in client.call("report", run="run", format="json")["result"]["structuredContent"])
        answer = client.ask("resources/read", uri=first)
        expect(("result" in answer) is kept and (kept or answer["error"]["code"] == -32002), kept, str(answer)[:80])


def a_session():
    client = Client()
    expect(client.said["protocolVersion"] == "2025-06-18" and client.said["serverInfo"]["name"] == "etprof",
           client.said)
    tools = {t["name"]: t for t in client.ask("tools/list")["result"]["tools"]}
    expect(set(tools) == TOOLS, set(tools))
    for tool in tools.values():
        schema = tool["inputSchema"]
        expect(schema["type"] == "object" and set(schema["required"]) <= set(schema["properties"]), tool["name"])
    done = measure_fake(client, out="run")
    expect(done["result"]["isError"] is False and "3.00" in text_of(done), done)
    steps = [n["params"]["progress"] for n in client.noted if n["method"] == "notifications/progress"]
    expect(len(steps) > 5 and steps == sorted(set(steps)), "progress only grows", steps)
    expect(all(n["params"]["progressToken"] == "p1" for n in client.noted), client.noted[:1])
    expect("confirmed" in text_of(client.call("verify_claim", claim="sme2 is 3.00x faster than neon", run="run")))
    expect("contradicted" in text_of(client.call("verify_claim", claim="sme2 is 2.50x faster than neon", run="run")))
    handles(client)
    client.noted.clear()
    quiet = client.call("measure", models=["model.pte"], levels=["sme2", "neon"], blocks=6, iterations=4, warmup=3,
                        runner="fake_runner", out="quiet")
    expect(quiet["result"]["isError"] is False and not client.noted, "no progress without a token", client.noted[:1])
    shutil.rmtree("quiet")
    for begin, end in (("a", ""), ("ab", ""), ("a", "b")): # one of them would be cut inside a letter of two bytes
        deep = begin + "/" + "/".join(["é" * 120] * 10) + end
        shutil.copytree("run", deep)
        cut = client.call("report", run=deep)["result"]
        expect("more" in cut["structuredContent"] and cut["content"][0]["text"].endswith("é"), begin, cut)
        shutil.rmtree(begin)
    runs = client.ask("resources/list")["result"]["resources"]
    expect([r["name"] for r in runs] == [os.path.realpath("run")], runs)
    read = client.ask("resources/read", uri=runs[0]["uri"])["result"]["contents"][0]["text"]
    expect("3.00" in read, read)
    prompts = client.ask("prompts/list")["result"]["prompts"]
    expect(any(p["name"] == "04_run_profiling" for p in prompts), prompts)
    prompt = client.ask("prompts/get", name="04_run_profiling")["result"]["messages"][0]["content"]["text"]
    expect(prompt == (SOURCE / "agent_skill_ml_profiling/04_run_profiling.md").read_text(), "the playbook's text")
    expect("yes" in text_of(client.call("gate", run="run", rules=["speedup >= 2.9"])).lower())
    no = client.call("gate", run="run", rules=["speedup >= 3.5"])["result"]
    expect(no["isError"] is False and no["structuredContent"]["exit_code"] == 1, "no is an answer", no)
    bad = client.call("inspect", file="model.pte")
    expect(bad["result"]["isError"] is True and "model.pte" in text_of(bad), bad)
    expect(client.end() == 0, "the end of the input ends it")


def phases():
    """A later phase of a session can be asked about."""
    times = {"prefill 16": {"avx2": 1000000, "sse": 3000000}, "decode @0": {"avx2": 500000, "sse": 1000000},
             "decode @32": {"avx2": 800000, "sse": 1000000}}
    phase_folders.make("phases", lambda p, level, t, m: times[p][level])
    client = Client()
    claim = {"claim": "linux_avx2_decode32 is 1.25x faster than linux_sse_decode32", "run": "phases"}
    expect("confirmed" in text_of(client.call("verify_claim", **claim, phase="decode@32")), "of its phase")
    expect("not in the data" in text_of(client.call("verify_claim", **claim)), "of the first phase")
    for tool, words in (("explain", {"id": "op1"}), ("whatif", {"changes": ["drop *"]})):
        done = client.call(tool, run="phases", phase="decode@0", **words)["result"]
        expect(done["isError"] is False, tool, done)
        done = client.call(tool, run="phases", phase="encode", **words)["result"]
        expect(done["isError"] is True and "decode@32" in done["content"][0]["text"], tool, "no such phase", done)
    shutil.copy(SOURCE / "tests/data/mixed_xnnpack_fp32.pte", "no_text.pte")
    done = client.call("measure", models=["no_text.pte"], runner="fake_runner", out="text", prefill=[16, 32], decode=4,
                       depth=[0, 8])["result"]
    expect(done["isError"] is True and "is no text decoder" in text_of({"result": done}),
           "options reach the verb", done)
    expect(client.end() == 0)


def cancelled():
    client = Client()
    client.next += 1
    running = client.next
    client.send({"jsonrpc": "2.0", "id": running, "method": "tools/call", "params": {
        "name": "measure", "_meta": {"progressToken": 9}, "arguments": {
            "models": ["slow.pte"], "levels": ["sme2", "neon"], "blocks": 500, "iterations": 4, "warmup": 3,
            "runner": "fake_runner", "out": "stopped"}}})
    expect(client.ping(), "it answers while it measures")
    client.next += 1
    waiting = client.next
    client.send({"jsonrpc": "2.0", "id": waiting, "method": "tools/call",
                 "params": {"name": "devices", "arguments": {}}})
    for busy in (running, waiting):
        client.send({"jsonrpc": "2.0", "id": busy, "method": "tools/call",
                     "params": {"name": "devices", "arguments": {}}})
        twice = client.hear()
        expect(twice["id"] == busy and twice["error"]["code"] == -32600, "an id that is at work", twice)
    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": waiting}})
    client.heard.clear()
    while sum(n["method"] == "notifications/progress" for n in client.noted) < 8:
        client.ping()
    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": running}})
    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "unknown"}})
    after = client.call("verify_claim", claim="sme2 is faster than neon", run="run")
    expect("confirmed" in text_of(after), "the next call goes on", after)
    expect(running not in client.heard and waiting not in client.heard, "what was cancelled is not answered",
           client.heard)
    manifest = json.loads(pathlib.Path("stopped/manifest.json").read_text())
    expect(manifest["state"] == "interrupted", manifest["state"])
    expect(client.end() == 0)


def left_alone():
    """The client ends, or no longer reads, or ends the server while it measures: the session is as after Ctrl-C."""
    for how in ("the input ends", "nobody reads", "SIGTERM"):
        client = Client()
        client.send({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {
            "name": "measure", "_meta": {"progressToken": 9}, "arguments": {
                "models": ["slow.pte"], "levels": ["sme2", "neon"], "blocks": 500, "iterations": 4, "warmup": 3,
                "runner": "fake_runner", "out": how}}})
        while len(client.noted) < 8:
            client.ping()
        if how == "the input ends":
            client.server.stdin.close()
        elif how == "nobody reads":
            client.server.stdout.close()
        else:
            client.server.terminate()
        expect(client.server.wait(60) == (5 if how == "nobody reads" else 0), how)
        state = json.loads(pathlib.Path(how, "manifest.json").read_text())["state"]
        expect(state == "interrupted" and not pathlib.Path(how, "session.lock").exists(), how, state)
        shutil.rmtree(how)


def before_roots():
    """What comes before the client has named its roots waits for them."""
    here = pathlib.Path.cwd().as_uri()
    shutil.copytree("run", "50%25 é/run")
    shutil.copytree("run", "50%25 é/other")

    def early(answer, ids):
        client = Client(greet=False)
        client.ask("initialize", protocolVersion="2025-06-18", capabilities={"roots": {}})
        client.heard.clear()
        client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        for i in ids:
            client.send({"jsonrpc": "2.0", "id": i, "method": "resources/list"})
        client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "c"}})
        asked = json.loads(client.server.stdout.readline())
        expect(asked["method"] == "roots/list", asked)
        if answer:
            client.send({"jsonrpc": "2.0", "id": asked["id"], **answer})
        return client

    root = f"{here}/50%2525%20%C3%A9"
    client = early({"result": {"roots": [{"uri": root}, {"uri": f"{root}/run"}]}}, ["a", "c", "b"])
    runs = client.hear()["result"]["resources"]
    names = sorted(os.path.basename(r["name"]) for r in runs)
    expect(names == ["other", "run"], "in the client's roots, each once", runs)
    expect(client.hear()["id"] == "b" and client.ping() and "c" not in client.heard, client.heard)
    for run in runs:
        expect(run["uri"].isascii() and " " not in run["uri"], run)
        expect("3.00" in client.ask("resources/read", uri=run["uri"])["result"]["contents"][0]["text"], run)
    answer = client.call("report", run="run")
    expect("50%25 é" in answer["error"]["message"], "it says where files may lie", answer)
    expect(client.end() == 0)
    shutil.rmtree("50%25 é")
    for answer in ({"error": {"code": -32601, "message": "none"}}, None): # none: after a while without
        client = early(answer, range(40, 57))
        client.send({"jsonrpc": "2.0", "id": "p", "method": "ping"})
        full = client.hear()
        expect(full["id"] == 56 and full["error"]["code"] == -32603, "16 wait", full)
        for i in [*range(40, 56), "p"] if answer else ["p", *range(40, 56)]:
            expect(client.hear()["id"] == i, answer, i)
        expect(client.end() == 0)


def outside():
    pathlib.Path("inside").mkdir()
    shutil.copytree("run", "inside/run")
    pathlib.Path("inside/m.pte").write_bytes(MODEL)
    pathlib.Path("outside.etrecord").write_bytes(b"PK")
    os.symlink(os.path.realpath("outside.etrecord"), "inside/m.etrecord")
    os.symlink(os.path.realpath("run"), "inside/link")
    os.symlink(os.path.realpath(".") + "/made", "inside/nothing") # who makes it would make what it leads to
    here = pathlib.Path.cwd().as_uri()
    for options, roots in ((("--root", "inside"), None), ((), [{"uri": f"{here}/inside"}]),
                           (("--root", "inside"), [{"uri": "file:///"}])):
        client = Client(*options, roots=roots)
        expect("confirmed" in text_of(client.call("verify_claim", claim="sme2 is faster than neon", run="inside/run")),
               options, roots)
        for path in ("run", "inside/../run", "inside/link", "/etc/passwd", "inside/run/../../run", "/", "../run",
                     "inside/new/../../x", "inside/link:linux_sme2_on", "inside/..:run", "inside:x", "inside/nothing"):
            answer = client.call("report", run=path)
            expect(answer.get("error", {}).get("code") == -32602, options, path, answer)
        arms = client.call("compare", a="inside/run:linux_sme2_off", b="inside/run:linux_sme2_on")
        expect("result" in arms, "an arm of a run is no other path", arms)
        # Operands that are no paths do not become one, and what lies beside a program is judged as it is.
        for tool, words in (("whatif", {"run": "inside/run", "changes": [os.path.realpath("run"), "drop *"]}),
                            ("whatif", {"run": "inside/run", "changes": ["run/samples.csv"]}),
                            ("gate", {"run": "inside/run", "rules": ["run"]}),
                            ("explain", {"id": "..", "run": "inside/run"}),
                            ("verify_claim", {"claim": "run", "run": "inside/run"}),
                            ("measure", {"models": ["inside/m.pte"], "out": "inside/never"}),
                            ("inspect", {"file": "inside/m.pte"})):
            answer = client.call(tool, **words)
            expect(answer.get("error", {}).get("code") == -32602, options, tool, words, answer)
        expect(not os.path.exists("inside/never"), "nothing was measured")
        answer = client.ask("resources/read", uri=f"etprof://run{os.path.realpath('run')}")
        expect("error" in answer, answer)
        client.end()
    os.rename("inside", "in side")
    os.rename("run", "in side run")
    client = Client(roots=[{"uri": f"{here}/in%20side"}])
    claim = "sme2 is faster than neon"

    def allowed(run):
        return "confirmed" in text_of(client.call("verify_claim", claim=claim, run=run))

    expect(allowed("in side/run") and not allowed("in side run/"), "a root ends at its name's end")
    client.roots = [{"uri": f"{here}/in%20side%20run"}]
    client.send({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"})
    expect(client.ping() and allowed("in side run") and not allowed("in side/run"), "other roots from now on")
    client.roots = [{"uri": "file:///"}]
    client.send({"jsonrpc": "2.0", "id": 1, "result": {"roots": client.roots}}) # the first question's, again
    expect(client.ping() and not allowed("in side/run"), "a late answer to an older question is not taken")
    client.end()
    os.rename("in side", "inside")
    os.rename("in side run", "run")
    client = Client(roots=[{"uri": "https://example.org/"}])
    expect("error" in client.call("report", run="run"), "roots that are no folders allow nothing")
    client.end()


def exporting():
    """With a Python that tells what it is started with: only names that `etprof models` lists go there, because the
    exporter runs the code of what a path names."""
    pathlib.Path("python").write_text('#!/bin/sh\nshift 2\necho "exported: $*"\nexit ${FAKE_EXIT:-0}\n')
    os.chmod("python", 0o755)
    pathlib.Path("own.py").write_text("raise SystemExit('never run')\n")
    os.environ["ETPROF_PYTHON"] = os.path.realpath("python")
    client = Client("--root", "inside")
    try:
        done = client.call("export", model="llama3.2-1B", dtype="fp16", outdir="inside/made")
        expect(done["result"]["isError"] is False, done)
        expect(text_of(done).strip() ==
               f"exported: export llama3.2-1B --dtype fp16 --outdir {os.path.realpath('inside')}/made", done)
        done = client.call("export", model="image_encoder", dtype="int8", apply=["fold-expand", "layer-norm"])
        expect(text_of(done).strip() ==
               "exported: export image_encoder --dtype int8 --apply fold-expand --apply layer-norm", "fixes", done)
        for name in ("own.py:Model", os.path.realpath("own.py") + ":Model", "./own.py:Model", "inside/model",
                     "hf:config.json", "hf:/etc/config.json", "llm:params.json", "../model"):
            answer = client.call("export", model=name)
            expect(answer.get("error", {}).get("code") == -32602, name, answer)
        answer = client.call("export", model="toy_cnn", outdir="made")
        expect(answer.get("error", {}).get("code") == -32602, "outside the root", answer)
        answer = client.call("explain", id=os.path.realpath("run"), run="inside/run")
        expect(answer.get("error", {}).get("code") == -32602, "an id is no path", answer)
        expect(client.end() == 0)
        os.environ["FAKE_EXIT"] = "5"
        client = Client()
        done = client.call("export", model="toy_cnn")
        expect(done["result"]["isError"] is True and done["result"]["structuredContent"]["exit_code"] == 5, done)
        expect(client.end() == 0)
    finally:
        del os.environ["ETPROF_PYTHON"]
        os.environ.pop("FAKE_EXIT", None)


def wrong_messages():
    for version in ("2025-03-26", "2024-11-05"):
        older = Client(greet=False)
        said = older.ask("initialize", protocolVersion=version, capabilities={})["result"]["protocolVersion"]
        expect(said == version, "an older version is spoken too", said)
        older.end()
    client = Client(greet=False)
    expect(client.ask("tools/list")["error"]["code"] == -32600, "before initialize")
    expect(client.ask("initialize")["error"]["code"] == -32602, "without a version")
    expect(client.ping(), "a ping may come first")
    said = client.ask("initialize", protocolVersion="1999-01-01", capabilities={})["result"]
    expect(said["protocolVersion"] == "2025-06-18", "an unknown version is answered with ours", said)
    expect(client.ask("initialize", protocolVersion="2025-06-18", capabilities={})["error"]["code"] == -32600, "twice")
    deep = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b'{"a":' * 5000 + b"1" + b"}" * 5001
    for line, code in (
            (b"no JSON", -32700), (b"{", -32700), (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32700),
            (b'{"jsonrpc":"2.0","id":1,"method":"p\xff"}', -32700),
            (b'{"jsonrpc":"2.0","id":1,"method":"ping\\u0000"}', -32700), (deep, -32700), (b"[]", -32600),
            (b"3", -32700),
            (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600), (b'{"id":1,"method":"ping"}', -32600),
            (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600), (b'{"jsonrpc":"2.0","id":1}', -32600),
            (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600),
            (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600),
            (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
            (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', -32602),
            (b'{"jsonrpc":"2.0","id":1,"method":"no/such"}', -32601),
            (b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}', -32602),
            (b'{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"etprof://result/99"}}', -32002),
            (b'{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"99"}}', -32602),
            (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"' + b"y" * (3 << 20) + b'"}}', -32600)):
        client.send(line)
        answer = client.hear()
        expect(answer["error"]["code"] == code and answer["error"]["message"], line[:60], answer)
    for arguments in ({}, {"run": 3}, {"run": "run", "more": 1}, {"run": ""}, {"run": "--help"}, {"run": "a\nb"},
                      {"run": ["run"]}, {"run": None}):
        answer = client.call("report", **arguments)
        expect(answer.get("error", {}).get("code") == -32602, arguments, answer)
    answer = client.call("measure", models=["model.pte"], levels=["sme2,neon"])
    expect("error" in answer, "a comma is no part of a level", answer)
    client.send(b'{"jsonrpc":"2.0","id":"x"}')
    expect(client.hear()["id"] == "x", "an error says whose it is")
    client.heard.clear()
    for line in (b"", b"   ", b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":[1]}',
                 b'{"jsonrpc":"2.0","id":7,"result":{}}', b'{"jsonrpc":"2.0","method":"notifications/x"}',
                 b'{"jsonrpc":"2.0","id":1,"result":{"roots":3}}', b'{"jsonrpc":"2.0","id":9,"error":{}}'):
        client.send(line) # nothing is due
    expect(client.ping() and client.heard == [client.next], "it lives, and says nothing else", client.heard)
    rng = random.Random(20)
    sound = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "report", "arguments": {
        "run": "nothing"}}}).encode()
    for _ in range(500):
        line = bytearray(sound)
        for _ in range(rng.randint(1, 6)):
            line[rng.randrange(len(line))] = rng.choice(b'{}[]",:\\x0\xff ae\x00')
        client.send(bytes(line).replace(b"\n", b" "))
    client.send({"jsonrpc": "2.0", "id": "last", "method": "ping"})
    answer = client.hear()
    while answer and answer.get("id") != "last":
        answer = client.hear()
    expect(answer == {"jsonrpc": "2.0", "id": "last", "result": {}}, "it lives after 500 damaged messages", answer)
    expect(client.end() == 0)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    pathlib.Path("model.pte").write_bytes(MODEL)
    pathlib.Path("slow.pte").write_bytes(MODEL)
    shutil.copy(FAKE, "fake_runner")
    a_session()
    phases()
    cancelled()
    left_alone()
    before_roots()
    outside()
    exporting()
    wrong_messages()
    os.chdir("/")
finish("a session, cancelling, roots, 20 kinds of wrong messages, 500 damaged ones")
