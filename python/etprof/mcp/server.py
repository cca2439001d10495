# SPDX-License-Identifier: Apache-2.0
"""Who answers a client? The SDK speaks the protocol (2026-07-28 without a session, and the handshake of older clients);
here its requests become verbs, one at a time, and what these print becomes answers."""
from __future__ import annotations

import json
import os
import signal
from collections.abc import AsyncIterator
from typing import Any, cast

import anyio
import mcp_types as types
from anyio.to_thread import run_sync
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

import etprof
from etprof.mcp import child, resources
from etprof.mcp.fitting import LIMIT, PARTS_LIMIT, fit, parts_of, text_of
from etprof.mcp.operands import input_schema, words_of
from etprof.mcp.places import Places
from etprof.mcp.refused import Refused
from etprof.mcp.tools import PARTS, TOOLS, Tool
from etprof.shown import printable, safe
from etprof.skills import reading

MOST_WAITING = 16
LINE_BYTES = 1 << 20
READ_S = 600.0  # of a resource
LAST_S = 30  # after a signal the server is gone by then, whatever holds it
ANSWERS = (0, 1, 3)  # exit codes: complete or yes, no, unknown
# Every client gets this with the answer to its first message: its model reads it before it knows any tool.
INSTRUCTIONS = (
    "etprof measures ExecuTorch programs and says where the time goes. Measure, read the report, explain what it "
    "names, and check every figure with verify_claim before you tell it. Answers are JSON documents "
    "(structuredContent.answer); left_out counts what did not fit, and parts asks for it. A ratio that is withheld is "
    "not to be guessed.")
_Context = Any  # mcp.server.context.ServerRequestContext, whose parameters are of no interest here


def _failed(why: str, answer: dict[str, Any] | None = None) -> types.CallToolResult:
    """An answer that the model can read and correct."""
    return types.CallToolResult(content=[types.TextContent(text=safe(why))], structured_content=answer, is_error=True)


def _document(done: child.Done) -> dict[str, Any] | None:
    try:
        found = json.loads(done.out)
    except ValueError:
        return None
    return found if isinstance(found, dict) and "schema" in found else None


def _answer(tool: Tool, done: child.Done, parts: list[str]) -> types.CallToolResult:
    document = _document(done)
    if done.overran:
        return _failed(f"{tool.name} was ended after {tool.limit_s:g} s, which is its limit; ask for less. {done.log}")
    if done.too_long or (document is None and not done.log):
        return _failed(f"{tool.name} gave no document that can be read here (exit code {done.code}); "
                       f"run etprof {tool.verb[0]} with --output FILE")
    if document is None:
        return _failed(done.log)
    small, left_out = fit(parts_of(document, parts) if parts else document, PARTS_LIMIT if parts else LIMIT)
    answer: dict[str, Any] = {"exit_code": done.code, "answer": small, "left_out": left_out}
    if tool.changes and done.log:  # of the others it is talk
        answer["notes"] = done.log
    if done.code not in ANSWERS:
        return _failed(done.log or f"exit code {done.code}", answer)
    return types.CallToolResult(content=[types.TextContent(text=text_of(answer))], structured_content=answer)


def _listed(tool: Tool) -> types.Tool:
    return types.Tool(name=tool.name, description=tool.help, input_schema=input_schema(tool.takes),
                      output_schema=tool.output_schema(),
                      annotations=types.ToolAnnotations(read_only_hint=not tool.changes, destructive_hint=False))


class Host:
    """What the requests of a client share."""

    def __init__(self, program: str, places: Places) -> None:
        self._program, self._places = program, places
        self._turn, self._waiting = anyio.Lock(), 0  # two that measure at once would disturb each other's times

    async def _run(self, words: list[str], seconds: float, told: child.Told) -> child.Done:
        if self._waiting >= MOST_WAITING:
            raise Refused(f"{MOST_WAITING} calls wait already; call again when one has been answered")
        self._waiting += 1
        try:
            await self._turn.acquire()
        finally:
            self._waiting -= 1
        try:
            return await child.run([self._program, *words], self._places.work, seconds, told)
        finally:
            self._turn.release()

    async def list_tools(self, _: _Context, __: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_listed(tool) for tool in TOOLS.values()])

    async def call_tool(self, context: _Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = TOOLS.get(params.name)
        if tool is None:
            raise MCPError(code=types.INVALID_PARAMS, message=f"no tool {params.name:.60}; tools/list has them")
        given = dict(params.arguments or {})
        try:
            parts = given.pop(PARTS.name, None) if PARTS in tool.takes else None
            parts = words_of([PARTS], {PARTS.name: parts}, self._places)
            words = words_of(tool.operands, given, self._places)
            hindrance = await run_sync(tool.hindrance) if tool.hindrance else None
            if hindrance:
                return _failed(hindrance)
            done = await self._run([*tool.verb, "--format", "json", *words], tool.limit_s,
                                   context.session.report_progress)
            return await run_sync(_answer, tool, done, parts)
        except (Refused, OSError) as why:
            return _failed(str(why))

    async def list_resources(self, _: _Context, __: object) -> types.ListResourcesResult:
        found = await run_sync(resources.run_folders, self._places)
        return types.ListResourcesResult(resources=[
            types.Resource(uri=resources.uri_of(folder), name=printable(folder), mime_type="text/plain")
            for folder in found])

    async def list_templates(self, _: _Context, __: object) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=[types.ResourceTemplate(
            uri_template=f"{resources.RUN_URI}/{{+folder}}", name="run", mime_type="text/plain",
            description="What a run folder says, by its absolute path.")])

    async def read_resource(self, _: _Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        async def told(done: int, total: int, words: str) -> None:
            del done, total, words

        uri = str(params.uri)
        try:
            done = await self._run(["analyze", resources.folder_of(uri, self._places)], READ_S, told)
        except (Refused, OSError) as why:
            raise MCPError(code=types.INVALID_PARAMS, message=safe(str(why))) from why
        if done.code not in ANSWERS or done.overran or done.too_long:
            raise MCPError(code=types.INVALID_PARAMS, message=done.log or f"{uri:.200} cannot be read")
        text = done.out.decode("utf-8", "replace")
        return types.ReadResourceResult(contents=[
            types.TextResourceContents(uri=uri, mime_type="text/plain", text=text)])

    async def list_prompts(self, _: _Context, __: object) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[
            types.Prompt(name=skill.id, description=skill.description) for skill in reading.select(None, {})])

    async def get_prompt(self, _: _Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        found = [skill for skill in reading.select(None, {}) if skill.id == params.name]
        if not found:
            raise MCPError(code=types.INVALID_PARAMS, message=f"no prompt {params.name:.60}; prompts/list has them")
        message = types.PromptMessage(role="user", content=types.TextContent(text=found[0].text))
        return types.GetPromptResult(description=found[0].description, messages=[message])

    def server(self) -> Server[Any]:
        return Server("etprof", version=etprof.__version__, instructions=INSTRUCTIONS,
                      on_list_tools=self.list_tools, on_call_tool=self.call_tool,
                      on_list_resources=self.list_resources, on_list_resource_templates=self.list_templates,
                      on_read_resource=self.read_resource, on_list_prompts=self.list_prompts,
                      on_get_prompt=self.get_prompt)


class _Lines:
    """Standard input, a line each. Waiting for it can be cancelled, which a thread that reads cannot; a line that is
    too long is thrown away as it comes."""

    async def __aiter__(self) -> AsyncIterator[str]:
        line, too_long = bytearray(), False
        while chunk := await self._read():
            *whole, last = (bytes(line) + chunk).split(b"\n")
            for text in whole:
                if not too_long and len(text) <= LINE_BYTES:
                    yield text.decode("utf-8", "replace")
                too_long = False
            too_long = too_long or len(last) > LINE_BYTES
            line[:] = b"" if too_long else last

    @staticmethod
    async def _read() -> bytes:
        try:
            await anyio.wait_readable(0)
        except PermissionError:  # a file, which is always readable
            await anyio.lowlevel.checkpoint()
        return os.read(0, 65536)


async def _end_by_signal(scope: anyio.CancelScope) -> None:
    """As when the client goes: what is at work is interrupted."""
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals:
        async for _ in signals:
            signal.alarm(LAST_S)
            scope.cancel()
            return


async def serve(program: str, places: Places) -> None:
    """Until the client closes standard input, or a signal comes."""
    server = Host(program, places).server()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_end_by_signal, tasks.cancel_scope)
        async with stdio_server(stdin=cast(Any, _Lines())) as (read, write):
            await server.run(read, write, server.create_initialization_options())
        tasks.cancel_scope.cancel()
