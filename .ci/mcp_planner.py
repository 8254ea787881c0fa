"""Ten daily tasks through tools alone, by a planner that knows only what the service returns.

usage: mcp_planner.py KONTOR    KONTOR is the binary; mcp of .ci/peers.txt must be installed.

A task is a list of sentences, as a user would write them: what to do, and after a colon the values. The planner has no names of
tools and endpoints, and of arguments only `csv` and the two that the skill explains. It takes its rules from the skill, to which
llms.txt leads. It chooses a tool by the words of names and descriptions, and fills arguments by their schemas: from the
sentence, from dictionaries and from earlier results. The owner approves calls that need it, through the API. That API, not the
agent, shows if a task is done.
"""

import asyncio
import csv
import io
import json
import math
import re
import sys
from collections.abc import Set
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

from mcp import MCPError

from mcp_session import Refused, Shop, connected, demo

SECONDS = 120
# Words that say nothing about a tool.
FILLERS = set("a an and are as at by for from in is it its of on one or that the their them then to with".split())
CLAUSE = re.compile(r' *([A-Za-z][A-Za-z ]*?) ("[^"]*"|true|false|by \d+ percent|\d{4}-\d\d-\d\d|\d+(?:\.\d+)?)(?:,|\.?$)')


class Failure(Exception):
    """The planner cannot go on, or a task is not done."""


def require(holds: object, text: str) -> None:
    if not holds:
        raise Failure(text)


def stem(word: str) -> str:
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us")) else word


def stems(text: str, without: Set[str] = frozenset()) -> set[str]:
    return {stem(word) for word in re.findall(r"[a-z]+", text.lower()) if word not in without}


def words(text: str) -> set[str]:
    return stems(text, FILLERS)


def own_words(argument: str) -> set[str]:
    """The words of an argument that a user would say: `status` of `status_id`."""
    return stems(argument, {"id", "is"})


def kinds(schema: dict) -> list[str]:
    kind = schema.get("type", [])
    return kind if isinstance(kind, list) else [kind]


def found_in(record: dict, name: str):
    """A field of a record, or of a record in it. A record is shown by its name."""
    if name in record:
        value = record[name]
        return value.get("name") if isinstance(value, dict) else value
    inner = (found_in(value, name) for value in record.values() if isinstance(value, dict))
    return next((value for value in inner if value is not None), None)


class Tool:
    """Tool of the list, with its words."""

    def __init__(self, listed):
        self.name, self.about = listed.name, listed.description
        self.arguments, self.required = listed.input_schema["properties"], listed.input_schema.get("required", [])
        self.is_read = bool(listed.annotations and listed.annotations.read_only_hint)
        # A word of the name says more than one of the description.
        self.words = [(3, words(listed.name)), (1, words(listed.description))]

    def all_words(self) -> set[str]:
        return set().union(*(found for _, found in self.words))

    def named(self, name: str) -> str | None:
        """The argument that a clause names: by its own words, or else by the words of one description."""
        said = stems(name)
        own = [one for one in self.arguments if own_words(one) and own_words(one) <= said]
        if own:
            return max(own, key=lambda one: len(own_words(one)))
        described = [one for one, schema in self.arguments.items() if said <= stems(schema.get("description", ""))]
        return described[0] if len(described) == 1 else None

    def takes(self, name: str, value: str) -> bool:
        return "csv" in self.arguments if value.startswith("by ") else self.named(name) is not None


class Planner:
    """Carries out sentences with the tools of one client. It remembers the records of the current task."""

    def __init__(self, client, tools: list[Tool], skill: str, approve):
        self.client, self.tools, self.approve = client, tools, approve
        # Rules of the skill; without them the planner neither tries first, nor sends keys, nor waits.
        self.tries, self.sends_keys, self.waits = (f"`{rule}`" in skill for rule in ("dry_run", "idempotency_key", "pending_approval"))
        spoken = [word for tool in tools for word in tool.all_words()]
        self.weight = {word: math.log(len(tools) / spoken.count(word)) for word in set(spoken)}
        self.calls = 0
        self.begin()

    def begin(self) -> None:
        """Forgets the previous task."""
        self.lists, self.records, self.newest, self.results = {}, {}, None, []

    def score(self, said: set[str], tool: Tool) -> float:
        total = sum(max((factor for factor, found in tool.words if word in found), default=0) * self.weight.get(word, 0) for word in said)
        return total - sum(self.weight[word] for word in tool.words[0][1] - said)

    def choose(self, head: str, clauses: list[tuple[str, str]]) -> Tool:
        """The tool whose words fit best, of the three best one that takes the values."""
        said = words(head)
        ranked = sorted(self.tools, key=lambda tool: self.score(said, tool), reverse=True)[:3]
        fit = [tool for tool in ranked if self.score(said, tool) > 0 and all(tool.takes(*clause) for clause in clauses)]
        require(fit, f"no tool for: {head} {clauses}; the words fit {[tool.name for tool in ranked]}")
        return fit[0]

    async def step(self, sentence: str) -> None:
        head, _, rest = sentence.partition(":")
        clauses = CLAUSE.findall(rest)
        require(not CLAUSE.sub("", rest).strip(), f"values that are not understood: {rest}")
        tool = self.choose(head, clauses)
        arguments = await self.fill(tool, head, clauses)
        if not tool.is_read and "dry_run" in tool.arguments and self.tries:
            await self.call(tool, {**arguments, "dry_run": True})
        if not tool.is_read and "idempotency_key" in tool.arguments and self.sends_keys:
            arguments["idempotency_key"] = f"planner-{self.calls}"
        content = await self.call(tool, arguments)
        if pending := content.get("pending_approval"):
            require(self.waits, f"{tool.name} waits for an approval, and the skill does not say what to do")
            self.approve(pending["id"])
            content = await self.call(tool, arguments)
            require("pending_approval" not in content, f"{tool.name} still waits after its approval")
        self.remember(content)

    async def call(self, tool: Tool, arguments: dict) -> dict:
        self.calls += 1
        print(f"    {tool.name} {json.dumps(arguments, ensure_ascii=False)[:300]}")
        result = await self.client.call_tool(tool.name, arguments)
        text = result.content[0].text
        require(not result.is_error, f"{tool.name}: {text[:600]}")
        content = result.structured_content
        require(not content.get("errors"), f"{tool.name}: {content.get('errors')}")
        print(f"      {text.split(chr(10))[-1][:200]}")
        return content

    def remember(self, content: dict) -> None:
        self.results.append(content)
        for key, value in content.items():
            rows = [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, dict) and "id" in one]
            if rows:
                self.lists[key], self.records[stem(key)], self.newest = rows, rows[0], key
                for name, inner in rows[0].items():
                    if isinstance(inner, list) and inner and isinstance(inner[0], dict) and "id" in inner[0]:
                        self.lists[name], self.records[stem(name)] = inner, inner[0]

    async def fill(self, tool: Tool, head: str, clauses: list[tuple[str, str]]) -> dict:
        """The arguments of a call."""
        arguments = {}
        for name, value in clauses:
            if not value.startswith("by "):
                argument = tool.named(name)
                arguments[argument] = await self.value(tool, argument, tool.arguments[argument], value.strip('"'), name)
        # Such as: "Oldest first with order_by id_asc."
        for phrase, argument, value in re.findall(r"([A-Z][a-z ]+) with (\w+) (\w+)\.", tool.about):
            if argument in tool.arguments and words(phrase) <= words(head):
                arguments[argument] = value
        for argument, schema in tool.arguments.items():
            record = self.records.get(argument.removesuffix("_id"))
            if argument.endswith("_id") and record and argument not in arguments:
                arguments[argument] = [record["id"]] if "array" in kinds(schema) else record["id"]
        if "csv" in tool.arguments:
            arguments["csv"] = self.table(tool, dict(clauses))
        missing = [name for name in tool.required if name not in arguments]
        require(not missing, f"{tool.name} needs {missing}, and neither the sentence nor earlier results have them")
        return arguments

    async def value(self, tool: Tool, argument: str, schema: dict, text: str, name: str):
        kind = kinds(schema)
        if "array" in kind and "object" in kinds(schema["items"]):
            return [self.element(schema["items"]["properties"], text, name)]
        if "array" in kind:
            return [await self.value(tool, argument, schema["items"], text, name)]
        if "enum" in schema:
            fit = [one for one in schema["enum"] if one and one.replace("_", " ") == text]
            require(fit, f"{argument} is one of {schema['enum']}, not {text}")
            return fit[0]
        if "boolean" in kind:
            return text == "true"
        if "integer" in kind:
            return int(text) if text.isdecimal() else await self.entry(tool, argument, text)
        return text

    def element(self, fields: dict, text: str, name: str) -> dict:
        """An entry about the first record of the list that the description of its id names."""
        lists = [one for one in re.findall(r"`(\w+)`", fields["id"].get("description", "")) if one in self.lists]
        require(lists, "the description of an id names no list of an earlier result")
        counted = [field for field in fields if field != "id" and own_words(field) <= stems(name)]
        return {"id": self.lists[lists[0]][0]["id"], **{field: int(text) for field in counted}}

    async def entry(self, tool: Tool, argument: str, text: str) -> int:
        """The id of an entry by its name, in the dictionary that is called most like the tool and the argument."""
        said = words(tool.name) | own_words(argument)

        def likeness(resource) -> int:
            named = stems(str(resource.name))
            return sum(any(one.startswith(word) for one in named) for word in said)

        best = max((await self.client.list_resources()).resources, key=likeness)
        print(f"    read {best.uri}")
        read = json.loads((await self.client.read_resource(str(best.uri))).contents[0].text)
        entries = next(value for value in read.values() if isinstance(value, list))
        fit = [one["id"] for one in entries if one["name"].lower() == text.lower()]
        require(fit, f"{best.uri} has no {text}: {[one['name'] for one in entries]}")
        return fit[0]

    def table(self, tool: Tool, rules: dict[str, str]) -> str:
        """The records of the last result in the columns of the tool's example, changed by percents."""
        columns = re.search(r"`(\w+(?:,\w+)+)`", tool.about)
        require(columns and self.newest, f"{tool.name}: no example of columns, or no records for them")
        columns = columns[1].split(",")
        written = io.StringIO()
        table = csv.writer(written, lineterminator="\n")
        table.writerow(columns)
        for record in self.lists[self.newest]:
            row = {column: found_in(record, column) for column in columns}
            for column, rule in rules.items():
                row[column] = str(raised(row[column], int(rule.split()[1])))
            table.writerow([row[column] for column in columns])
        return written.getvalue()


def raised(price: str, percent: int) -> Decimal:
    return (Decimal(price) * (100 + percent) / 100).quantize(Decimal("0.01"), ROUND_HALF_UP)


class Tasks:
    """The tasks, with the records that they are about and the check of each by the owner's API."""

    def __init__(self, shop: Shop):
        self.shop, self.owner = shop, shop.owner
        self.first, self.second = shop.new_order(paid=True), shop.new_order(paid=True)
        shop.new_order(paid=False)
        self.page = shop.make("/api/pages", "page", {"title": "Delivery terms", "is_active": False})
        shop.decline(shop.subscribe())
        # In the last 30 days by the clock of the demo, which has moved.
        shop.new_order(paid=True)
        [self.unpaid] = shop.subscriptions("past_due")
        self.levels = {one["id"]: one["price"] for one in self.tea()}
        self.report = self.owner.call("GET", "/api/reports/orders")["report"]
        self.allow_imports()

    def allow_imports(self) -> None:
        """A file cannot wait for approval, so the owner allows imports of stock."""
        version = self.owner.call("GET", "/api/agent-policy")["agentPolicy"]["version"]
        rules = {"operations": [{"operation": "POST /api/inventories/upload", "rule": "allowed"}]}
        self.owner.call("PUT", "/api/agent-policy", {"version": version, "refuses_writes": False, "approvals_per_hour": 60, "retention_days": 90, "rules": rules, "agents": []})

    def approve(self, action: str) -> None:
        """The owner approves a call, with their session and password."""
        path = f"/api/agent-actions/{action}"
        asked = self.owner.call("GET", path)["agentAction"]
        require(asked["state"] == "proposed" and asked["channel"] == "mcp", f"a proposal is {asked}")
        done = self.owner.call("POST", f"{path}/approve", {"password": self.shop.password})["agentAction"]
        require(done["state"] == "executed", f"{asked['operation']} is {done['state']}: {done['result']}")
        print(f"    the owner approves {asked['operation']}")

    def tea(self) -> list[dict]:
        return self.owner.all("/api/inventories?query=tea", "inventories")

    def all(self) -> list[tuple[str, list[str], object]]:
        first_day, last_day = self.report["from"], self.report["to"]
        paid = 'Find the orders, oldest first: status "Paid"'
        return [
            ("find the oldest paid order and its needs", [paid, "Get the order with its lines and payments"], self.oldest),
            ("change the status of an order",
             [paid, 'Change the status of the order: status "In processing", comment "Packed"'], self.status),
            ("find an item by words and correct its stock",
             ['Search items: words "stoneware mug"', "Find the stock of the item",
              'Correct the stock record: quantity 41, reason "Counted"'], self.stock),
            ("raise prices by a rule",
             ['Find stock: name "tea"', "Import the new stock prices as a list: price by 10 percent"], self.prices),
            ("refund one unit of a line",
             [paid, "Get the order with its lines and payments",
              'Refund lines of the order: lines with quantity 1, reason "Dented", restock false'], self.refund),
            ("create a customer",
             ['Create a customer: company false, first name "Ida", last name "Lorenz", phone "+7 900 555-77-01"'], self.customer),
            ("create and finish a task",
             ['Create a task: title "Call the supplier", description "About the mugs"', 'Change the task: status "Done"'], self.task),
            ("write the draft of a page",
             ['Find pages: words "Delivery terms"', "Get the page",
              'Change the page: content "<p>We deliver in two days.</p>", active false'], self.draft),
            ("look at the unpaid subscription",
             ['Find subscriptions: status "past due"', "List upcoming charges of subscriptions"], self.subscription),
            ("figures of the last 30 days",
             [f'Report the sales: from {first_day}, to {last_day}, by "day"',
              f"Report the best-selling items: from {first_day}, to {last_day}"], self.figures),
        ]

    def oldest(self, planner: Planner) -> None:
        order = planner.records["order"]
        require(order["id"] == self.first, f"the oldest paid order is {self.first}, not {order['id']}")
        held = [f"{line['quantity']} x {line['nomenclature']['name']}" for line in order["reservations"] if line["state"] == "held"]
        require(held, "the order shows no goods to hand over")
        print(f"    order {order['id']} is {order['status']['name']}; hand over: {', '.join(held)}")

    def status(self, _: Planner) -> None:
        order = self.shop.order(self.first)
        require((order["status"]["id"], order["comment"]) == (3, "Packed"), f"the order is {order['status']}, {order['comment']}")

    def stock(self, planner: Planner) -> None:
        level = self.owner.call("GET", f"/api/inventories/{planner.records['inventory']['id']}")["inventory"]
        require((level["nomenclature"]["article"], level["quantity"]) == ("HOM-003", 41), f"the stock is {level}")

    def prices(self, planner: Planner) -> None:
        updated = planner.results[-1]["updated"]
        require(updated == len(self.levels), f"{updated} of {len(self.levels)} prices changed")
        now = {one["id"]: Decimal(one["price"]) for one in self.tea()}
        require(now == {level: raised(price, 10) for level, price in self.levels.items()}, f"prices {self.levels} became {now}")

    def refund(self, _: Planner) -> None:
        order = self.shop.order(self.second)
        [refund], [line] = order["refunds"], order["reservations"]
        require((refund["reason"], refund["state"], line["refunded_quantity"]) == ("Dented", "succeeded", 1), f"{refund}, {line}")

    def customer(self, planner: Planner) -> None:
        made = self.owner.call("GET", f"/api/counterparties/{planner.records['counterparty']['id']}")["counterparty"]
        require((made["first_name"], made["last_name"], made["phone_1"]) == ("Ida", "Lorenz", "79005557701"), f"the customer is {made}")

    def task(self, planner: Planner) -> None:
        task = self.owner.call("GET", f"/api/tasks/{planner.records['task']['id']}")["task"]
        require((task["title"], task["status"]["id"]) == ("Call the supplier", 3), f"the task is {task}")

    def draft(self, _: Planner) -> None:
        page = self.owner.call("GET", f"/api/pages/{self.page}")["page"]
        require("two days" in (page["content"] or "") and not page["is_active"], f"the page is {page}")

    def subscription(self, planner: Planner) -> None:
        found = planner.records["subscription"]
        require((found["id"], found["status"]) == (self.unpaid, "past_due"), f"the subscription is {found}")
        require("charges" in planner.results[-1], "the upcoming charges are listed")

    def figures(self, planner: Planner) -> None:
        sales, items = (result["report"] for result in planner.results)
        days = f"from={self.report['from']}&to={self.report['to']}"
        total = self.owner.call("GET", f"/api/reports/orders?{days}")["report"]["total"]
        require(total["orders"] > 0 and sales["total"] == total, f"the sales are {total}, not {sales['total']}")
        require(items["items"], "no item was sold in the last 30 days")


async def work(shop: Shop, tasks: Tasks) -> list[str]:
    """Carries out all tasks. The failures."""
    link = re.search(r"\]\((\S*SKILL\.md)\)", shop.text("/llms.txt"))
    require(link, "llms.txt leads to a skill")
    skill = shop.text(link[1])
    _, bearer = shop.new_agent("Planner", shop.permissions())
    failures = []
    async with asyncio.timeout(SECONDS), connected(shop.api, bearer) as client:
        tools = [Tool(one) for one in (await client.list_tools()).tools]
        print(f"{len(tools)} tools")
        planner = Planner(client, tools, skill, tasks.approve)
        for name, sentences, is_done in tasks.all():
            print(f"  {name}")
            planner.begin()
            try:
                for sentence in sentences:
                    await planner.step(sentence)
                is_done(planner)
            except (Failure, MCPError, Refused, KeyError, RuntimeError, TypeError, ValueError) as failure:
                failures.append(f"{name}: {type(failure).__name__}: {failure}")
        print(f"{len(tasks.all()) - len(failures)} of {len(tasks.all())} tasks are done, in {planner.calls} calls")
    return failures


def main() -> None:
    with demo(Path(sys.argv[1]).resolve()) as shop:
        failures = asyncio.run(work(shop, Tasks(shop)))
    if failures:
        sys.exit("\n".join(failures))


if __name__ == "__main__":
    main()
