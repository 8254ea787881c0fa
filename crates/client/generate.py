#!/usr/bin/env python3
"""Writes src/generated from docs/openapi.json: types and operations, a file for each surface. Needs rustfmt.

usage: generate.py [--check]    With --check nothing is written; a difference is an error.
"""

import collections
import json
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = HERE / "src/generated"
API = json.loads((HERE / "../../docs/openapi.json").read_text())
SCHEMAS = API["components"]["schemas"]
# Tags of the platform surface. The client surface is complete.
PLATFORM = {"Catalog", "Orders", "Stock", "Staff login and current user"}
# POST operations that change nothing begin with these verbs.
READING = {"Calculate", "Check", "Introspect", "Search"}
WRITES_IN_SPITE = {"counterparty_check_out_subscriptions", "counterparty_sync_payment_method_change"}
BY_HAND = {"Money", "NextAction", "Secret"}
# Secrets that the description declares as text: by field, and by type and field.
SECRET_FIELDS = {"client_nonce", "init_data", "redeem_token", "session_token"}
SECRETS = {("AccessTokenRecord", "value"), ("ContactHash", "hash")}
KEYWORDS = {"type", "match", "ref", "move", "use", "in", "where", "loop", "self", "box"}
HEAD = "// Written by generate.py from docs/openapi.json.\n\n"
# Data of records that are listed by page, under the name of the resource.
COUNTED = re.compile(r"^(\w+)Count$")
MONEY_NAME = re.compile(r"(^|_)(price|amount|total|amount_due)$")
WORDS = re.compile(r"^`[a-z_]+`(?:,\s`[a-z_]+`)*\s(?:or|and)\s`[a-z_]+`(?=\.|$)")


def snake(name: str) -> str:
    name = re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name.replace("[]", "")).lower()
    return f"r#{name}" if name in KEYWORDS else name


def pascal(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[^A-Za-z0-9]+", name))


def doc(text: str | None, indent: str = "") -> list[str]:
    """Doc comment of a description. Brackets are texts there, not links or tags."""
    lines = []
    # Lines of a paragraph are one; lists and tables stay.
    for paragraph in re.sub(r"(?<!\n)\n(?![\n|*-])", " ", text or "").split("\n"):
        # Every second piece is code.
        pieces = re.split(r"(`[^`]*`)", paragraph)
        plain = "".join(p if p.startswith("`") else re.sub(r"([\[\]<>])", r"\\\1", p) for p in pieces)
        line, hanging = "", "  " if plain.startswith("- ") else ""
        for word in plain.split():
            if line and len(indent) + len(line) + len(word) > 114:
                lines.append(line)
                line = hanging + word
            else:
                line = f"{line} {word}" if line else word
        lines.append(line)
    while lines and not lines[-1]:
        lines.pop()
    return [f"{indent}/// {line}".rstrip() for line in lines]


def operations():
    for path, item in API["paths"].items():
        for method, operation in item.items():
            client = path.startswith("/api/counterparty/") or path == "/api/counterparty"
            if client or operation["tags"][0] in PLATFORM:
                if "multipart/form-data" not in operation.get("requestBody", {}).get("content", {}):
                    yield Operation(method, path, operation, client)


class Operation:
    def __init__(self, method, path, declared, client):
        self.method, self.path, self.declared, self.client = method, path, declared, client
        self.id = declared["operationId"]
        self.name = self.id.removeprefix("counterparty_")
        found = [parameter for parameter in declared.get("parameters", []) if "in" in parameter]
        self.in_path = [parameter for parameter in found if parameter["in"] == "path"]
        self.in_query = [parameter for parameter in found if parameter["in"] == "query"]
        content = declared.get("requestBody", {}).get("content", {})
        self.body = next(iter(content.values()))["schema"] if content else None
        self.form = "application/x-www-form-urlencoded" in content
        answers = [answer for status, answer in declared["responses"].items() if status.startswith("2")]
        contents = [content for answer in answers for content in answer.get("content", {}).items()]
        self.file = any(kind != "application/json" for kind, _ in contents)
        self.answer = None if self.file or not contents else contents[0][1]["schema"]
        verb = declared["summary"].split(" ")[0]
        self.reads = method == "get" or (method == "post" and verb in READING and self.id not in WRITES_IN_SPITE)

    def query_type(self):
        if not self.in_query:
            return None
        if {parameter["name"] for parameter in self.in_query} == {"page", "per_page"}:
            return "PageQuery"
        return pascal(self.name if self.client else f"staff_{self.name}") + "Query"


def references(schema, found: set):
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key == "$ref":
                found.add(value.split("/")[-1])
            elif key not in ("example", "examples"):
                references(value, found)
    elif isinstance(schema, list):
        for value in schema:
            references(value, found)


def reached(schema) -> set:
    found: set = set()
    references(schema, found)
    waiting = list(found)
    while waiting:
        more: set = set()
        name = waiting.pop()
        # Of a schema that is extended, the properties are copied.
        references(merged(name) if "allOf" in SCHEMAS[name] else SCHEMAS[name], more)
        waiting += more - found
        found |= more
    return found


def merged(name: str) -> dict:
    """Properties of a schema and of those it extends."""
    schema = SCHEMAS[name]
    whole = {"properties": dict(schema.get("properties", {})), "required": list(schema.get("required", []))}
    for part in schema.get("allOf", []):
        part = merged(part["$ref"].split("/")[-1]) if "$ref" in part else part
        whole["properties"] |= part.get("properties", {})
        whole["required"] += part.get("required", [])
    return whole


class Types:
    """Rust of schemas."""

    def __init__(self):
        self.sent, self.received, self.patches, self.files = set(), set(), set(), collections.defaultdict(set)
        self.enums: dict[str, list[str]] = {}
        for operation in OPERATIONS:
            sent = reached(operation.body or {}) | reached([p["schema"] for p in operation.in_query])
            received = reached(operation.answer or {})
            self.sent |= sent
            self.received |= received
            for name in sent | received:
                self.files[name].add(file_name(operation))
            if operation.body and operation.method in ("put", "patch") and "$ref" in operation.body:
                self.patches.add(operation.body["$ref"].split("/")[-1])
        self.structs = {name for name in self.files if self.is_struct(name)}
        self.default = set()
        while True:
            more = {name for name in self.structs & self.sent if name not in self.default and self.has_default(name)}
            if not more:
                break
            self.default |= more

    def is_struct(self, name):
        return name not in BY_HAND and ("properties" in SCHEMAS[name] or "allOf" in SCHEMAS[name])

    def has_default(self, name):
        whole = merged(name)
        kinds = (self.type(whole["properties"][key], key, name) for key in whole["required"])
        return all(self.plain(kind) or kind in self.default for kind in kinds)

    @staticmethod
    def plain(kind):
        return kind in ("i64", "bool", "String", "Money", "Secret", "Value") or kind.startswith(("Vec<", "Option<", "BTreeMap<"))

    def type(self, schema: dict, key: str, owner: str) -> str:
        """Rust type of a property, without regard to its presence. `null` makes it an option."""
        kinds = schema.get("type")
        if isinstance(kinds, list):
            kind = next(kind for kind in kinds if kind != "null")
            return f"Option<{self.type({**schema, 'type': kind}, key, owner)}>"
        if "oneOf" in schema or "anyOf" in schema:
            choices = schema.get("oneOf") or schema["anyOf"]
            real = [choice for choice in choices if choice.get("type") != "null"]
            if len(real) != 1:
                return "Value"
            inner = self.type(real[0], key, owner)
            return f"Option<{inner}>" if len(real) < len(choices) else inner
        if "$ref" in schema:
            name = schema["$ref"].split("/")[-1]
            target = SCHEMAS[name]
            return name if name in BY_HAND or self.is_struct(name) or self.is_enum(target) else self.type(target, key, name)
        return self.simple(schema, key, owner)

    def simple(self, schema, key, owner):
        kind, description = schema.get("type"), schema.get("description", "")
        if kind == "string" and self.is_enum(schema):
            return self.enum(f"{re.sub('(Record|Query)$', '', owner)}{pascal(key)}", schema["enum"])
        if kind == "string" and (key in SECRET_FIELDS or (owner, key) in SECRETS):
            return "Secret"
        if kind == "string":
            dated = {"date-time": "DateTime<Utc>", "date": "NaiveDate", "uuid": "Uuid"}.get(schema.get("format"))
            if dated or self.is_money(schema, key):
                return dated or "Money"
            if WORDS.match(description):
                words = re.findall(r"`([a-z_]+)`", WORDS.match(description)[0])
                return self.enum(f"{re.sub('(Record|Query)$', '', owner)}{pascal(key)}", words)
            return "String"
        if kind == "number":
            return "Money" if MONEY_NAME.search(key) or key.startswith("price_") else "f64"
        if kind == "array":
            return f"Vec<{self.type(schema['items'], key, owner)}>"
        if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
            return f"BTreeMap<String, {self.type(schema['additionalProperties'], key, owner)}>"
        return {"integer": "i64", "boolean": "bool"}.get(kind, "Value")

    @staticmethod
    def is_enum(schema):
        return schema.get("type") == "string" and "enum" in schema

    @staticmethod
    def is_money(schema, key):
        description = schema.get("description", "")
        if "egrees" in description or "percent" in description:
            return False
        decimal = "decimal string" in description.lower() or schema.get("pattern", "").endswith(r"\.\d{2}$")
        return decimal or bool(MONEY_NAME.search(key))

    def enum(self, name, words):
        known = self.enums.setdefault(name, words)
        assert known == words, f"{name} has two sets of words"
        return name

    def field(self, key, schema, owner, required, sent):
        kind = self.type(schema, key, owner)
        nested = schema
        for choice in schema.get("oneOf", []):
            nested = schema if "description" in schema else choice if "description" in choice else nested
        lines = doc(nested.get("description"), "    ")
        attributes = []
        name = snake(key)
        if name.removeprefix("r#") != key:
            attributes.append(f'rename = "{key}"')
        if not required and sent:
            if owner in self.patches and kind.startswith("Option<"):
                kind = "Patch<" + kind.removeprefix("Option<")
                attributes.append('skip_serializing_if = "Patch::is_keep"')
            else:
                kind = kind if kind.startswith("Option<") else f"Option<{kind}>"
                attributes.append('skip_serializing_if = "Option::is_none"')
        elif not required and not kind.startswith("Option<"):
            kind = f"Option<{kind}>"
        if attributes:
            lines.append(f"    #[serde({', '.join(attributes)})]")
        return lines + [f"    pub {name}: {kind},"]

    def struct(self, name):
        whole = merged(name)
        sent, received = name in self.sent, name in self.received
        derives = ["Debug", "Clone", "PartialEq"] + ["Default"] * (name in self.default) + ["Serialize"]
        lines = doc(SCHEMAS[name].get("description") or spoken(name))
        lines += [f"#[derive({', '.join(derives + ['Deserialize'] * received)})]"]
        lines += ["#[non_exhaustive]"] * (not sent) + [f"pub struct {name} {{"]
        for key, schema in whole["properties"].items():
            lines += self.field(key, schema, name, key in whole["required"], sent)
        extra = SCHEMAS[name].get("additionalProperties")
        if extra:
            kind = self.type(extra, "rows", name)
            lines += ["    /// Further fields by name.", "    #[serde(flatten)]", f"    pub rows: BTreeMap<String, {kind}>,"]
        return lines + ["}", ""]

    def words(self, name, words, description):
        lines = ["words! {"] + doc(description or spoken(name), "    ") + [f"    pub enum {name} {{"]
        return lines + [f'        {pascal(word)} = "{word}",' for word in words] + ["    }", "}", ""]

    def query(self, operation):
        name = operation.query_type()
        lines = doc(f"Query of `{operation.name}`.")
        lines += ["#[derive(Debug, Clone, PartialEq, Default, Serialize)]", f"pub struct {name} {{"]
        for parameter in operation.in_query:
            schema = {"description": parameter.get("description", ""), **parameter["schema"]}
            schema["description"] = parameter.get("description", "")
            lines += self.query_field(parameter["name"], schema, name)
        return lines + ["}", ""] + self.turned(operation, name)

    def query_field(self, key, schema, name):
        kind = self.type({k: v for k, v in schema.items() if k != "oneOf"}, key.replace("[]", ""), name)
        attributes = [f'rename = "{key}"'] if "[]" in key or snake(key) != key else []
        skip = "Vec::is_empty" if kind.startswith("Vec<") else "Option::is_none"
        attributes.append(f'skip_serializing_if = "{skip}"')
        kind = kind if kind.startswith("Vec<") else f"Option<{kind}>"
        return doc(schema["description"], "    ") + [f"    #[serde({', '.join(attributes)})]", f"    pub {snake(key)}: {kind},"]

    @staticmethod
    def turned(operation, name):
        if "page" not in {parameter["name"] for parameter in operation.in_query} or not page(operation.answer):
            return []
        body = ["    fn set_page(&mut self, page: i64) {", "        self.page = Some(page);", "    }"]
        return [f"impl Numbered for {name} {{"] + body + ["}", ""]


def spoken(name: str) -> str:
    words = re.findall(r"[A-Z][a-z0-9]*", name)
    return " ".join([words[0]] + [word.lower() for word in words[1:]]) + "."


def page(answer):
    """Item type of a page, expression of the items, expression of their number."""
    if not answer or "$ref" not in answer:
        return None
    return page_of(answer["$ref"].split("/")[-1])


def page_of(name):
    own = SCHEMAS[name].get("properties", {})
    if "data" in own and "total" in own:
        return own["data"]["items"]["$ref"].split("/")[-1], "self.data", "self.total"
    if name == "TableAnswer":
        return "Value", "self.rows.into_values().flatten().collect()", "self.pagination.total"
    lists = [key for key, schema in own.items() if schema.get("type") == "array" and "$ref" in schema["items"]]
    total = [f"self.{snake(key)}" for key in own if COUNTED.match(key)]
    total += ["self.pagination.total"] * ("pagination" in own)
    if len(lists) == 1 and total:
        return own[lists[0]]["items"]["$ref"].split("/")[-1], f"self.{snake(lists[0])}", total[0]
    for key, schema in own.items():
        inner = page_of(schema["$ref"].split("/")[-1]) if "$ref" in schema else None
        if inner:
            return inner[0], inner[1].replace("self.", f"self.{snake(key)}."), inner[2].replace("self.", f"self.{snake(key)}.")
    return None


def paged(name):
    item, items, total = page_of(name)
    return [
        f"impl Page for {name} {{",
        f"    type Item = {item};",
        "",
        "    fn total(&self) -> i64 {",
        f"        {total}",
        "    }",
        "",
        f"    fn into_items(self) -> Vec<{item}> {{",
        f"        {items}",
        "    }",
        "}",
        "",
    ]


def method(operation) -> list[str]:
    lines = doc(operation.declared["summary"] + ".", "    ")
    if operation.declared.get("description"):
        lines += ["    ///"] + doc(operation.declared["description"], "    ")
    lines += ["    ///", f"    /// `{operation.method.upper()} {operation.path}`"]
    arguments, path = ["&self"], operation.path
    for parameter in operation.in_path:
        name, text = snake(parameter["name"]), parameter["schema"].get("type") == "string"
        arguments.append(f"{name}: {'&str' if text else 'i64'}")
        path = path.replace(f"{{{parameter['name']}}}", "{}" if text else f"{{{name}}}", 1)
    texts = [f"segment({snake(p['name'])})" for p in operation.in_path if p["schema"].get("type") == "string"]
    written = f"&format!({', '.join([json.dumps(path)] + texts)})" if operation.in_path else json.dumps(path)
    turbofish = "::<Value>" if operation.file else ""
    call = f"self.call{turbofish}(Method::{operation.method.upper()}, {written})"
    if operation.body is not None:
        kind = TYPES.type(operation.body, "body", pascal(operation.name))
        arguments.append(f"body: &{kind}")
        call += ".form(body)" if operation.form else ".json(body)"
    if operation.query_type():
        arguments.append(f"query: &{operation.query_type()}")
        call += ".query(query)"
    if operation.method == "post" and operation.reads:
        call += ".reads()"
    if {"backend": []} in operation.declared.get("security", []):
        call += ".by_backend()"
    call += ".file()" if operation.file else ""
    answer = "Vec<u8>" if operation.file else TYPES.type(operation.answer, "answer", operation.name) if operation.answer else "Value"
    lines += [f"    pub fn {snake(operation.name)}({', '.join(arguments)}) -> Call<{answer}> {{", f"        {call}", "    }", ""]
    if operation.method == "get" and "page" in {p["name"] for p in operation.in_query} and page(operation.answer):
        lines += pages(operation, arguments)
    return lines


def pages(operation, arguments) -> list[str]:
    query, answer = operation.query_type(), operation.answer["$ref"].split("/")[-1]
    own = [snake(parameter["name"]) for parameter in operation.in_path]
    assert all(parameter["schema"].get("type") == "integer" for parameter in operation.in_path)
    given = [argument if not argument.startswith("query:") else f"query: {query}" for argument in arguments]
    call = f"surface.{snake(operation.name)}({', '.join(own + ['query'])})"
    return [
        f"    /// Reads [`{operation.name}`](Self::{operation.name}) page by page, from the first page.",
        f"    pub fn {operation.name}_pages({', '.join(given)}) -> Pages<{query}, {answer}> {{",
        "        let surface = self.clone();",
        f"        Pages::new(query, move |query| {call})",
        "    }",
        "",
    ]


def surface(name, methods):
    return [f"impl {name} {{"] + [line for lines in methods for line in lines][:-1] + ["}", ""]


def head(lines) -> str:
    text = "\n".join(line for line in lines if not line.lstrip().startswith("//"))
    uses = []
    dates = [name for name in ("DateTime", "NaiveDate", "Utc") if re.search(rf"\b{name}\b", text)]
    core = [
        name
        for name in ("Call", "ClientSurface", "Method", "Money", "NextAction", "Numbered", "Page", "Pages", "Patch", "PlatformSurface", "Secret", "segment")
        if re.search(rf"\b{name}\b", text)
    ]
    uses += ["use std::collections::BTreeMap;", ""] * ("BTreeMap<" in text)
    uses += [f"use chrono::{{{', '.join(dates)}}};"] * bool(dates)
    serde = [name for name in ("Deserialize", "Serialize") if re.search(rf"\b{name}\b", text)]
    uses += [f"use serde::{{{', '.join(serde)}}};"] * bool(serde)
    uses += ["use serde_json::Value;"] * bool(re.search(r"\bValue\b", text))
    uses += ["use uuid::Uuid;"] * bool(re.search(r"\bUuid\b", text))
    uses += ["", "use super::*;"]
    uses += [f"use crate::{{{', '.join(core)}}};"] * bool(core)
    return HEAD + "\n".join(uses) + "\n\n" + "\n".join(lines)


def file_name(operation) -> str:
    return "client" if operation.client else "platform"


def sources() -> dict[str, str]:
    blocks, calls = collections.defaultdict(list), collections.defaultdict(list)
    owner = lambda name: next(iter(TYPES.files[name])) if len(TYPES.files[name]) == 1 else "common"
    queries = {}
    for operation in OPERATIONS:
        kind = operation.query_type()
        if kind and kind not in queries:
            queries[kind] = operation
        calls[file_name(operation)].append(operation)
    enum_files = {}
    for name in sorted(TYPES.structs):
        before = set(TYPES.enums)
        block = TYPES.struct(name)
        for made in set(TYPES.enums) - before:
            enum_files[made] = owner(name)
        blocks[owner(name)].append((name, block))
    for name in sorted(TYPES.files):
        if name not in BY_HAND and TYPES.is_enum(SCHEMAS[name]):
            blocks[owner(name)].append((name, TYPES.words(name, SCHEMAS[name]["enum"], SCHEMAS[name].get("description"))))
    for name, operation in queries.items():
        before = set(TYPES.enums)
        target = "common" if name == "PageQuery" else file_name(operation)
        block = TYPES.query(operation) if name != "PageQuery" else shared_query(operation)
        for made in set(TYPES.enums) - before:
            enum_files[made] = target
        blocks[target].append((name, block))
    for name, words in TYPES.enums.items():
        blocks[enum_files.get(name, "common")].append((name, TYPES.words(name, words, None)))
    listed = {op.answer["$ref"].split("/")[-1] for op in OPERATIONS if op.method == "get" and page(op.answer)
              and "page" in {p["name"] for p in op.in_query}}
    for name in sorted(listed):
        blocks[owner(name)].append((name + " ", paged(name)))
    files = {}
    for name in sorted(blocks):
        lines = []
        if name in calls:
            lines += surface(f"{name.title()}Surface", [method(operation) for operation in calls[name]])
        lines += [line for _, block in sorted(blocks[name]) for line in block]
        files[name] = head(lines)
    modules = [f"mod {name};" for name in files] + [""] + [f"pub use self::{name}::*;" for name in files]
    files["mod"] = HEAD + "//! Types and operations of the API.\n\n" + "\n".join(modules) + "\n"
    return {f"{name}.rs": formatted(text) for name, text in files.items()}


def shared_query(operation):
    lines = TYPES.query(operation)
    lines[0] = "/// Query of a list that has no filters."
    return lines


def formatted(text: str) -> str:
    command = ["rustfmt", "--edition", "2024", "--config-path", str(HERE / "../..")]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


OPERATIONS = list(operations())
TYPES = Types()


def main() -> int:
    wanted = sources()
    there = {path.name: path.read_text() for path in TARGET.glob("*.rs")}
    if "--check" in sys.argv:
        wrong = sorted(name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name))
        if wrong:
            print(f"src/generated is not what docs/openapi.json says: {', '.join(wrong)}. Run crates/client/generate.py")
        return 1 if wrong else 0
    for name in there.keys() - wanted.keys():
        (TARGET / name).unlink()
    for name, text in wanted.items():
        (TARGET / name).write_text(text)
    print(f"{len(OPERATIONS)} operations, {sum(text.count(chr(10)) for text in wanted.values())} lines in {len(wanted)} files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
