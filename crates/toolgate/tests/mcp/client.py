"""Talks to a Toolgate server through the official Python client, as a user of it would.

client.py TALK      TALK is JSON: `url` and `token`, or `command` and `cwd`; `revision`; `calls` to make one after
                    another; and, if wanted: `elicits`, `endless` (a call to cancel once it has said something),
                    `config` (a file to change: what it says now, and what it says then)

Prints what it saw, as one object.
"""

import asyncio
import json
import sys

import anyio
import httpx2
import mcp.client.session as handshake
import mcp_types as types
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

TALK = json.loads(sys.argv[1])
PATIENCE = 60
SEEN = {"asked": [], "results": [], "told": []}
CHANGED = anyio.Event()


def transport():
    if "command" in TALK:
        program, *args = TALK["command"]
        return StdioServerParameters(command=program, args=args, cwd=TALK["cwd"])
    headers = {"Authorization": f"Bearer {TALK['token']}"}
    return streamable_http_client(TALK["url"], http_client=httpx2.AsyncClient(headers=headers, timeout=PATIENCE))


async def person(_context, params):
    """Says no to what is called nope, and yes to the rest."""
    SEEN["asked"].append(params.message)
    if "nope" in params.message:
        return types.ElicitResult(action="decline")
    return types.ElicitResult(action="accept", content={"decision": "Allow once"})


async def told(message):
    if isinstance(message, types.ToolListChangedNotification):
        CHANGED.set()


async def call(client, tool, arguments):
    try:
        result = await client.call_tool(tool, arguments)
    except MCPError as error:
        return {"error": error.error.model_dump(mode="json")}
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


async def cancelled(client, tool, arguments):
    with anyio.CancelScope() as scope:

        async def progress(_progress, _total, message):
            SEEN["told"].append(message)
            scope.cancel()

        await client.call_tool(tool, arguments, progress_callback=progress)


async def names(client):
    return [tool.name for tool in (await client.list_tools()).tools]


async def changed(client, path, now, then):
    """Whether the client hears of a change. It may not listen yet when the file changes: then it changes again."""

    async def wait(event):
        while not event.is_set():
            for text in (then, now):
                with open(path, "w") as file:
                    file.write(text)
                with anyio.move_on_after(5):
                    await event.wait()
                    break

    if client.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
        await wait(CHANGED)
        return
    async with client.listen(tools_list_changed=True) as subscription:
        with open(path, "w") as file:
            file.write(then)
        async for _event in subscription:
            return


async def main():
    revision = TALK["revision"]
    if revision in HANDSHAKE_PROTOCOL_VERSIONS:
        # It begins sessions with the newest revision that has them, and understands the others.
        handshake.LATEST_HANDSHAKE_VERSION, revision = revision, "legacy"
    asks = {"elicitation_callback": person} if TALK.get("elicits") else {}
    async with Client(
        transport(), mode=revision, message_handler=told, read_timeout_seconds=PATIENCE, **asks
    ) as client:
        SEEN["revision"] = client.protocol_version
        SEEN["tools"] = {
            tool.name: tool.model_dump(mode="json", by_alias=True, exclude_none=True)
            for tool in (await client.list_tools()).tools
        }
        for tool, arguments in TALK["calls"]:
            SEEN["results"].append(await call(client, tool, arguments))
        if "endless" in TALK:
            await cancelled(client, *TALK["endless"])
        if "config" in TALK:
            await changed(client, *TALK["config"])
            SEEN["left"] = await names(client)
    print(json.dumps(SEEN))


asyncio.run(main())
