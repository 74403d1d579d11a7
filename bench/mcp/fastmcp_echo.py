"""The echo server that FastMCP is measured with, in its cheapest configuration."""

import socket

from fastmcp import FastMCP

mcp = FastMCP("echo")


@mcp.tool(output_schema=None)
def echo(text: str) -> str:
    """Return the text."""
    return text


listener = socket.create_server(("127.0.0.1", 0))
# asyncio sets it only on sockets that it made itself; without it an answer waits 40 ms for an acknowledgement.
listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
mcp.run(
    transport="http",
    path="/mcp",
    sockets=[listener],
    json_response=True,
    stateless_http=True,
    show_banner=False,
    log_level="error",
    uvicorn_config={"access_log": False},
)
