"""A real Chroma server that can be killed and started again, and a door before it that can fail and remembers."""

import contextlib
import http.client
import shutil
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


def free_port():
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listens(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


class ChromaServer:
    """`chroma run` on a folder."""

    def __init__(self, folder):
        self.folder, self.port = folder, free_port()
        self.process = None

    def start(self):
        program = shutil.which("chroma", path=str(Path(sys.executable).parent)) or "chroma"
        command = [program, "run", "--path", str(self.folder), "--host", "127.0.0.1", "--port", str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: listens(self.port))

    def kill(self):
        self.process.kill()
        self.process.wait()


class Door:
    """Forwards every request to a server, or answers it with the next failure.

    A failure is an HTTP status, "cut" (the connection ends unanswered, the server never knew), "lost" (the server did
    it, the answer is lost) or "silent" (no answer while `closed` is not set).
    """

    def __init__(self, port):
        self.behind, self.failures, self.requests = port, [], []
        self.closed = threading.Event()
        door = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                door.pass_on(self)

            do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815 - the names of http.server

            def log_message(self, *arguments):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def pass_on(self, handler):
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        self.requests.append((handler.path, dict(handler.headers)))
        failure = self.failures.pop(0) if self.failures else None
        if failure == "silent":
            self.closed.wait(60)
        if failure in ("cut", "silent"):
            handler.close_connection = True
            return
        status, answer = (failure, b"no Chroma error") if isinstance(failure, int) else self._forwarded(handler, body)
        if failure == "lost":
            handler.close_connection = True
            return
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(answer)))
        handler.send_header("Content-Type", "application/json")
        handler.end_headers()
        handler.wfile.write(answer)

    def _forwarded(self, handler, body):
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.behind, timeout=30)) as connection:
            kept = {name: value for name, value in handler.headers.items() if name.lower() != "host"}
            connection.request(handler.command, handler.path, body, kept)
            answer = connection.getresponse()
            return answer.status, answer.read()

    def close(self):
        self.closed.set()
        self.server.shutdown()
        self.server.server_close()
