"""Finds updates and deletes of tenant tables whose condition lacks the project, in Rust sources of the storage adapter.

The sources are read without the compiler: names are followed to the `let`, the function or the macro that defines them.
A table whose name is filled in counts as a tenant table. Conditions that a caller hands over are not seen.
"""

import os
import re

TENANT = "project_id"
TOKEN = re.compile(r'//[^\n]*|\br(#*)".*?"\1|"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)\'|[()\[\]{};]', re.DOTALL)
SQL = re.compile(r"(?<!DO )(?<!FOR )\b(?:UPDATE|DELETE FROM) (?:(\w+|\{\w*\})(?= SET\b| WHERE\b| AS\b|$)|$)")
DIESEL = re.compile(r"\bdiesel::(?:update|delete)\(")
TABLE = re.compile(r"\b(?:keyed|held_by)!\(\s*(\w+)|(\$?\w+)::table\b")
NAME = re.compile(r"(?<![.:\w])(?:self\.|Self::)?([a-z]\w*)\b(?!::)(!?\(?)")
# Methods whose arguments are values, not conditions.
VALUES = "eq|ne|eq_any|le|lt|ge|gt|find|set|returning|values|value|tuple|tuples|among"
DEPTH = 3


def end_of(source, start, of_brackets):
    """Returns the end of the brackets that were opened before this place, or of the statement."""
    depth = 0
    for found in TOKEN.finditer(source, start):
        sign = found[0]
        depth += sign in ("(", "[", "{") if of_brackets else sign == "{"
        depth -= sign in (")", "]", "}") if of_brackets else sign == "}"
        if depth < 0 or (depth == 0 and sign == ";" and not of_brackets):
            return found.start()
    return len(source)


def without_values(text):
    while found := re.search(rf"\.(?:{VALUES})\(", text):
        text = text[: found.end() - 1] + text[end_of(text, found.end(), True) + 1 :]
    return text


def condition(sql):
    """Returns the condition of a write, without subqueries."""
    inner = re.compile(r"\((?:[^()]|\(\))*\)")
    while found := inner.search(sql):
        part = "" if "SELECT " in found[0] else found[0][1:-1].replace("(", "").replace(")", "")
        sql = sql[: found.start()] + part + sql[found.end() :]
    sql = re.sub(r"\bRETURNING [\w., ]*", "", sql)
    return sql[sql.find(" WHERE") :] if " WHERE" in sql else ""


def literals(source):
    """Returns the contents of the string literals, joined."""
    found = (one[0] for one in TOKEN.finditer(source) if one[0].endswith('"'))
    return " ".join(re.sub(r"\\\n\s*", "", text[text.index('"') + 1 : text.rindex('"')]) for text in found)


class File:
    """A source, and the definitions that it uses. `macros` are those of the same folder."""

    def __init__(self, source, macros):
        self.source, self.macros = source.partition("#[cfg(test)]\nmod tests {")[0], macros

    def definition(self, name, place, call):
        """Returns the definition of a name that is used at this place."""
        begin = max((one.start() for one in re.finditer(r"\bfn \w+", self.source[:place])), default=0)
        variable = rf"\blet (?:mut )?(?:\([^()]*)?\b{name}\b[^=;]*="
        for found in reversed(list(re.finditer(variable, self.source[begin:place]))):
            end = end_of(self.source, begin + found.end(), False)
            if end < place:
                return begin + found.start(), self.source[begin + found.end() : end]
        for text in (self.source, self.macros) if call else ():
            if found := re.search(rf"\b(?:fn|macro_rules!) {name}\b[^{{;]*\{{", text):
                return found.end(), text[found.end() : end_of(text, found.end(), True)]
        return None

    def whole(self, text, place, depth=DEPTH):
        """Returns the text without values, with the definitions of its names."""
        text = without_values(text)
        for name, call in sorted(set(NAME.findall(text))) if depth else ():
            if found := self.definition(name, place, call):
                text += "\n" + self.whole(found[1], found[0], depth - 1)
        return text

    def alias(self, name):
        found = re.search(rf"\b(\w+) as {re.escape(name)}\b", self.source)
        return found[1] if found else name

    def in_diesel(self, keyed_by_tenant):
        for found in DIESEL.finditer(self.source):
            end = end_of(self.source, found.end(), True)
            rest = self.source[end : end_of(self.source, end, False)]
            target = self.whole(self.source[found.end() : end], found.start())
            text = target + self.whole(rest, found.start())
            table = TABLE.search(target)
            name = (table[1] or table[2]) if table else "?"
            by_key = self.alias(name) in keyed_by_tenant and re.search(r"\.find\b", text)
            named = rf"\bkeyed!\(\s*{re.escape(name)}\b|(?<!\w){re.escape(name)}::{TENANT}\b"
            if not by_key and not re.search(named, text):
                yield found.start(), self.alias(name), " ".join(self.source[found.end() : end].split())

    def in_sql(self):
        for token in TOKEN.finditer(self.source):
            start, text = token.start(), literals(token[0]) if token[0].endswith('"') else ""
            found = SQL.search(text)
            before = self.source[self.source.rfind(";", 0, start) + 1 : start]
            if not found or not (found[1] or before.endswith("Statement::new(")):
                continue
            end = end_of(self.source, start, False)
            whole = self.whole(before[max(map(before.rfind, "{}")) + 1 :] + self.source[start:end], start)
            if names := re.findall(r"(?<!if )\blet (?:mut )?([a-z]\w*)(?:: [^=;]*)? =", before):
                # The statement is continued where its variable is used.
                indent = re.findall(r"^( *)(?:[\w()]+ )*fn ", self.source[:start], re.MULTILINE)[-1]
                body = self.source[end : self.source.find(f"\n{indent}}}", end)]
                for use in re.finditer(rf"\b{names[-1]}\b", body):
                    whole += self.whole(body[use.start() : end_of(body, use.start(), False)], end + use.start())
            if TENANT not in condition(literals(whole)):
                yield start, found[1] or "?", text


def find(of_tenants, keyed_by_tenant, sources):
    """Returns path, line, table and beginning of each write. `sources` has the texts by their paths."""
    found = []
    for path, source in sources.items():
        folder = os.path.dirname(path)
        file = File(source, "\n".join(text for other, text in sources.items() if os.path.dirname(other) == folder))
        for place, table, text in sorted([*file.in_diesel(keyed_by_tenant), *file.in_sql()]):
            if table in of_tenants or not table[0].isalpha():
                found.append((path, source.count("\n", 0, place) + 1, table, text))
    return found
