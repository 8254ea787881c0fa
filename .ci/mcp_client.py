"""The official MCP client works with a demo, in both versions of the protocol. The client holds every result against the schema of its tool.

usage: mcp_client.py KONTOR    KONTOR is the binary; mcp of .ci/peers.txt must be installed. (A file mcp.py would hide that package.)
"""

import asyncio
import json
import sys
import urllib.error
import urllib.request
from pathlib import Path

from jsonschema import Draft202012Validator

from fuzz import ask
from mcp_session import check, connected, demo

# Mode of the client, and the version that both then speak.
MODES = {"auto": "2026-07-28", "2026-07-28": "2026-07-28", "legacy": "2025-11-25"}
PERMISSIONS = ["view-orders", "view-nomenclatures", "view-inventories", "view-tasks", "edit-tasks", "view-statistics", "view-dictionaries"]


# A call that needs `edit-orders`.
REFUND = {"name": "refund_order", "arguments": {"order_id": 1, "everything": True, "reason": "Dented", "restock": False}}


def refusal(api: str, headers: dict[str, str], method: str = "initialize", params: dict | None = None) -> tuple[int, str]:
    """Status and challenge of a call that is refused."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}).encode()
    request = urllib.request.Request(f"{api}/mcp", body, {"Content-Type": "application/json", **headers})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, ""
    except urllib.error.HTTPError as refused:
        return refused.code, refused.headers.get("WWW-Authenticate", "")


async def work(api: str, bearer: str, mode: str, version: str) -> int:
    """Uses every tool that needs no argument, and writes a task. The number of calls."""
    async with connected(api, bearer, mode) as client:
        check(client.protocol_version == version, f"{mode} speaks {version}")
        tools = (await client.list_tools()).tools
        names = {tool.name for tool in tools}
        check({"find_orders", "create_task", "get_job"} <= names and "refund_order" not in names, f"tools {sorted(names)}")
        calls = 0
        for tool in tools:
            Draft202012Validator.check_schema(tool.input_schema)
            Draft202012Validator.check_schema(tool.output_schema)
            if tool.annotations.read_only_hint and not tool.input_schema.get("required"):
                result = await client.call_tool(tool.name, {})
                check(not result.is_error and result.structured_content, f"{tool.name} answers {result}")
                calls += 1
        title = f"Call the supplier ({mode})"
        preview = await client.call_tool("create_task", {"title": title, "dry_run": True})
        check(preview.structured_content["task"]["title"] == title and "preview_hash" in preview.structured_content, f"a preview: {preview}")
        found = await client.call_tool("find_tasks", {"query": mode})
        check(title not in json.dumps(found.structured_content), f"a preview creates nothing: {found}")
        task = {"title": title, "idempotency_key": f"task-{mode}"}
        first = await client.call_tool("create_task", task)
        again = await client.call_tool("create_task", task)
        check(first.structured_content == again.structured_content, "a repeated write is carried out once")
        wrong = await client.call_tool("create_task", {"title": "", "colour": "red"})
        check(wrong.is_error and "colour" in wrong.content[0].text, f"wrong arguments are named: {wrong}")
        check((await client.list_resources()).resources, "there are resources")
        read = await client.read_resource("kontor://dictionaries/order_statuses")
        check(json.loads(read.contents[0].text), "a resource is read")
        check((await client.list_prompts()).prompts, "there are prompts")
        return calls + 5


def main() -> None:
    with demo(Path(sys.argv[1]).resolve()) as shop:
        for headers in ({}, {"Authorization": "Bearer 1|wrong"}):
            status, challenge = refusal(shop.api, headers)
            check(status == 401 and "/.well-known/oauth-protected-resource/mcp" in challenge, f"{status} {challenge}")
        check(ask(f"{shop.api}/.well-known/oauth-protected-resource/mcp")["resource"].endswith("/mcp"), "the document of RFC 9728")
        _, bearer = shop.new_agent("Client", PERMISSIONS)
        headers = {"Authorization": f"Bearer {bearer}", "MCP-Protocol-Version": "2025-11-25"}
        status, challenge = refusal(shop.api, headers, "tools/call", REFUND)
        check(status == 403 and 'error="insufficient_scope", scope="edit-orders"' in challenge, f"step-up: {status} {challenge}")
        for mode, version in MODES.items():
            calls = asyncio.run(work(shop.api, bearer, mode, version))
            print(f"{mode}: {calls} calls in version {version} fit their schemas")


if __name__ == "__main__":
    main()
