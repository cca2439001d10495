# SPDX-License-Identifier: Apache-2.0
"""`etprof mcp` by lines of our own: clients that cancel, leave or send anything. What is measured ends as by Ctrl-C.

usage: test_leaving.py ETPROF FAKE_RUNNER"""
import json
import os
import pathlib
import random
import shutil
import subprocess
import time

import sessions
from checks import execute, expect, finish, hear_signals
from sessions import ENVIRONMENT, ETPROF

hear_signals()


class Lines:
    """The handshake of before 2026, spoken by hand."""

    def __init__(self, *options):
        self.server = subprocess.Popen([ETPROF, "mcp", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, env=ENVIRONMENT)
        self.next, self.noted, self.heard = 0, [], []
        said = self.ask("initialize", protocolVersion="2025-06-18", clientInfo={"name": "t", "version": "1"},
                        capabilities={})
        expect(said["result"]["serverInfo"]["name"] == "etprof", said)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        text = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.server.stdin.write(text + b"\n")
        self.server.stdin.flush()

    def ask(self, method, **params):
        self.next += 1
        self.send({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params})
        return self.answer(self.next)

    def hear(self):
        """The next message; None: there is no more."""
        line = self.server.stdout.readline()
        message = json.loads(line) if line else None
        if message and "method" in message:
            self.noted.append(message)
        elif message:
            self.heard.append(message.get("id"))
        return message

    def answer(self, number):
        while message := self.hear():
            if "method" not in message and message.get("id") == number:
                return message
        return None

    def call(self, number, tool, **arguments):
        self.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {
            "name": tool, "_meta": {"progressToken": number}, "arguments": arguments}})

    def measure(self, number, out):
        self.call(number, "measure", models=["slow.pte"], levels=["sme2", "neon"], blocks=500, iterations=4, warmup=3,
                  runner="fake_runner", out=out)
        while len(self.noted) < 8:
            self.hear()

    def end(self):
        self.server.stdin.close()
        return self.server.wait(60)


def children():
    """Of this test's servers and their verbs: processes whose working directory is here."""
    here, found = os.path.realpath("."), []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(entry / "cwd") == here and int(entry.name) != os.getpid():
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" "))
        except OSError:
            continue
    return found


def nobody_left(how):
    deadline = time.monotonic() + 10
    while children() and time.monotonic() < deadline:
        time.sleep(0.05)
    expect(not children(), how, "left behind", children())


def cancelled():
    client = Lines()
    client.measure(100, "stopped")
    client.call(101, "devices")
    for number in (101, 100):
        client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "unknown"}})
    client.call(102, "devices")
    after = client.answer(102)
    expect(after["result"]["isError"] is False, "the next call goes on", after)
    expect(not {100, 101} & set(client.heard), "what was cancelled is not answered", client.heard)
    state = json.loads(pathlib.Path("stopped/manifest.json").read_text())["state"]
    expect(state == "interrupted" and not pathlib.Path("stopped/session.lock").exists(), state)
    expect(client.end() == 0, "the end of the input ends it")
    nobody_left("cancelled")


def left_alone():
    for how in ("the input ends", "nobody reads", "SIGTERM", "SIGKILL"):
        client = Lines()
        client.measure(7, how)
        if how == "the input ends":
            client.server.stdin.close()
        elif how == "nobody reads":
            client.server.stdout.close()
        elif how == "SIGTERM":
            client.server.terminate()
        else:
            client.server.kill()
        code = client.server.wait(60)
        expect(code == {"nobody reads": 5, "SIGKILL": -9}.get(how, 0), how, code)
        nobody_left(how)
        state = json.loads(pathlib.Path(how, "manifest.json").read_text())["state"]
        expect(state == "interrupted" and not pathlib.Path(how, "session.lock").exists(), how, state)
        shutil.rmtree(how)


def one_at_a_time():
    client = Lines()
    client.measure(1000, "waiting")
    for number in range(1001, 1019):
        client.call(number, "devices")
    full = client.answer(1017)
    expect(full["result"]["isError"] and "wait already" in full["result"]["content"][0]["text"], full)
    expect(client.end() == 0)
    nobody_left("calls that waited")


def anything():
    """Whatever comes, the server lives and answers the next request."""
    client = Lines()
    deep = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":' + b'{"a":' * 5000 + b"1" + b"}" * 5001
    for line in (b"no JSON", b"{", b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', b'{"id":1,"method":"ping"}',
                 b'{"jsonrpc":"2.0","id":1,"method":"p\xff"}', deep, b"[]", b"3", b"", b"   ",
                 b'{"jsonrpc":"2.0","id":{},"method":"ping"}', b'{"jsonrpc":"2.0","id":1,"method":"no/such"}',
                 b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}', b'{"jsonrpc":"2.0","id":7,"result":{}}',
                 b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"none","arguments":{}}}',
                 b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"report","arguments":[]}}',
                 b'{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"99"}}',
                 b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"' + b"y" * (3 << 20) + b'"}}'):
        client.send(line)
        expect(client.ask("ping") == {"jsonrpc": "2.0", "id": client.next, "result": {}}, line[:60])
    rng = random.Random(20)
    sound = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "report", "arguments": {
        "run": "nothing"}}}).encode()
    for _ in range(500):
        line = bytearray(sound)
        for _ in range(rng.randint(1, 6)):
            line[rng.randrange(len(line))] = rng.choice(b'{}[]",:\\x0\xff ae\x00')
        client.send(bytes(line).replace(b"\n", b" "))
    expect(client.ask("ping")["result"] == {}, "it lives after 500 damaged messages")
    expect(client.end() == 0)


def without_the_sdk():
    """One line says what is missing and how it comes."""
    other = {**ENVIRONMENT, "ETPROF_PYTHON": "/usr/bin/python3", "ETPROF_VENV": os.path.realpath("none")}
    done = execute(ETPROF, "mcp", stdin=subprocess.DEVNULL, timeout=60, env=other)
    lines = done.stderr.splitlines()
    if os.path.exists("/usr/bin/python3") and done.returncode != 0:
        expect(done.returncode == 5 and len(lines) == 1 and "-m pip install 'mcp" in lines[0] and
               f"-m venv {os.path.realpath('none')} &&" in lines[0], done)


with sessions.workspace():
    cancelled()
    left_alone()
    one_at_a_time()
    anything()
    without_the_sdk()
finish("cancelled, left alone, 18 kinds of wrong messages, 500 damaged ones")
