"""A server with one model file that can be told to misbehave."""

import hashlib
import http.server
import time

from reasoningbank_langgraph.local.model_files import ModelFile

CONTENT = b"GGUF" + bytes(range(256)) * 1024
ENTRY = ModelFile(
    name="Tiny-1",
    repository="someone/Tiny-1-GGUF",
    revision="abc",
    file="Tiny-1-Q8_0.gguf",
    size=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    note="for tests",
)


class Hub(http.server.ThreadingHTTPServer):
    """Serves CONTENT at ENTRY's address; the attributes say how badly."""

    content = CONTENT
    ranges = True
    cut_at = None
    pause = 0.0
    redirect = False
    status = None

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests = []
        self.address = f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request, client_address):
        """A client that gave up is part of the tests."""


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        hub, wanted = self.server, self.headers.get("Range")
        hub.requests.append(dict(self.headers))
        if hub.status or self.path not in ("/someone/Tiny-1-GGUF/resolve/abc/Tiny-1-Q8_0.gguf", "/elsewhere"):
            self.send_error(hub.status or 404)
        elif hub.redirect and self.path != "/elsewhere":
            self.send_response(302)
            self.send_header("Location", f"{hub.address}/elsewhere")
            self.end_headers()
        else:
            self._send(hub, wanted)

    def _send(self, hub, wanted):
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and hub.ranges else 0
        body = hub.content[start:]
        sent = body if hub.cut_at is None else body[: max(0, hub.cut_at - start)]
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(hub.content) - 1}/{len(hub.content)}")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        for block in (sent[i : i + 65536] for i in range(0, len(sent), 65536)):
            self.wfile.write(block)
            time.sleep(hub.pause)

    def log_message(self, *args):
        pass
