#!/usr/bin/env python3
"""Serves crates/console/static at /console/ as the service does, and passes everything else to a running Kontor.

Usage: serve.py PORT KONTOR_PORT
For development and browser tests: a changed file is served at the next load, without building anything.
"""

import gzip
import hashlib
import http.client
import mimetypes
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

STATIC = Path(__file__).resolve().parents[2] / "crates/console/static"
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "font-src 'self'; frame-src blob:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
TYPES = {".js": "text/javascript; charset=utf-8", ".json": "application/json; charset=utf-8", ".css": "text/css; charset=utf-8",
         ".html": "text/html; charset=utf-8"}
HOP = {"connection", "keep-alive", "transfer-encoding", "host", "accept-encoding", "content-length"}
LENGTH = 16


def content_hash():
    digest = hashlib.sha256()
    for path in sorted(p for p in STATIC.rglob("*") if p.is_file()):
        digest.update(path.relative_to(STATIC).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:LENGTH]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    kontor_port = 8080

    def log_message(self, *_):
        pass

    def reply(self, status, body=b"", headers=()):
        self.send_response(status)
        for name, value in [*HEADERS.items(), *headers]:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def console(self):
        path = self.path.split("?")[0].removeprefix("/console/")
        now = content_hash()
        parts = path.split("/", 1)
        if len(parts) == 2 and len(parts[0]) == LENGTH and all(c in "0123456789abcdef" for c in parts[0]):
            file, cache = STATIC / parts[1], "public, max-age=31536000, immutable"
            if parts[0] != now or not file.is_file():
                return self.reply(404)
            body = file.read_bytes()
        elif "." in path.rsplit("/", 1)[-1]:
            return self.reply(404)
        else:
            file, cache = STATIC / "index.html", "no-cache"
            body = file.read_bytes().replace(b"/HASH/", f"/{now}/".encode())
        tag = f'"{now}"'
        headers = [("Cache-Control", cache), ("ETag", tag), ("Vary", "Accept-Encoding")]
        if self.headers.get("If-None-Match") == tag:
            return self.reply(304, headers=headers)
        headers.append(("Content-Type", TYPES.get(file.suffix) or mimetypes.guess_type(file.name)[0] or "text/plain; charset=utf-8"))
        if "gzip" in self.headers.get("Accept-Encoding", ""):
            body = gzip.compress(body, 9)
            headers.append(("Content-Encoding", "gzip"))
        self.reply(200, body, headers)

    def proxy(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) if length else None
        upstream = http.client.HTTPConnection("127.0.0.1", self.kontor_port, timeout=30)
        upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        upstream.putheader("Host", self.headers.get("Host", "localhost"))
        for name, value in self.headers.items():
            if name.lower() not in HOP:
                upstream.putheader(name, value)
        if body is not None or self.command in ("POST", "PUT", "PATCH"):
            upstream.putheader("Content-Length", str(length))
        upstream.endheaders(body)
        answer = upstream.getresponse()
        payload = answer.read()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in HOP:
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)
        upstream.close()

    def handle_any(self):
        if self.path == "/console":
            return self.reply(308, headers=[("Location", "/console/")])
        if self.path.startswith("/console/"):
            return self.console()
        self.proxy()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any


def main():
    port, Handler.kontor_port = int(sys.argv[1]), int(sys.argv[2])
    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


if __name__ == "__main__":
    main()
