"""Programs of the standard library and aiohttp over sockets of this stack, with a path unplugged in the middle."""

from __future__ import annotations

import sys
from pathlib import Path

from namespace import Namespace, namespace

__all__ = ["namespace"]

SIZE = 30_000_000
"""Bytes of the download during which a path is unplugged."""

SERVERS = """
import asyncio, hashlib, http.server, socket, ssl, sys, threading
from pathlib import Path
from mptcplab.live.driver import Driver, Interface
from mptcplab.live.sockets import replaced_sockets

DATA = bytes(range(256)) * (%SIZE% // 256)

class Files(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(len(DATA)))
        self.end_headers()
        self.wfile.write(DATA)

    def do_POST(self):
        digest = hashlib.sha256(self.rfile.read(int(self.headers["Content-Length"]))).hexdigest().encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(digest)))
        self.end_headers()
        self.wfile.write(digest)

    def log_message(self, *_):
        pass

async def echo(reader, writer):
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()

async def web():
    from aiohttp import web
    async def hello(request):
        peer = request.transport.get_extra_info("peername")
        return web.json_response({"got": len(await request.read()), "peer": peer[0]})
    app = web.Application(client_max_size=1 << 30)
    app.router.add_post("/", hello)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "10.88.11.2", 8080).start()

async def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain("server.pem")
    server = await asyncio.start_server(echo, "10.88.11.2", 4433, ssl=context)
    plain = await asyncio.start_server(echo, "10.88.11.2", 7000)
    if "aiohttp" in sys.argv:
        await web()
    print("ready", file=sys.stderr, flush=True)
    await asyncio.Event().wait()

with Driver([Interface("b1", "10.88.11.2")]) as driver, replaced_sockets(driver):
    files = http.server.ThreadingHTTPServer(("10.88.11.2", 8000), Files)
    threading.Thread(target=files.serve_forever, daemon=True).start()
    asyncio.run(main())
"""

CLIENT = """
import sys
from mptcplab.live.driver import Driver, Interface
from mptcplab.live.sockets import replaced_sockets, socket_class

with Driver([Interface("a1", "10.88.1.2"), Interface("a2", "10.88.2.2")]) as driver, replaced_sockets(driver):
    exec(compile(open("steps.py").read(), "steps.py", "exec"))
"""


def run(namespace: Namespace, tmp_path: Path, steps: str, *options: str) -> bytes:
    """Runs the steps of a client against the servers; returns its output."""
    (tmp_path / "server.pem").write_text((Path(__file__).parent / "tls.pem").read_text())
    (tmp_path / "servers.py").write_text(SERVERS.replace("%SIZE%", str(SIZE)))
    (tmp_path / "client.py").write_text(CLIENT)
    (tmp_path / "steps.py").write_text(steps)
    with namespace.background(sys.executable, tmp_path / "servers.py", *options, says="ready"):
        return namespace.run(sys.executable, tmp_path / "client.py").stdout


def test_urllib_downloads_from_http_server_while_a_path_is_unplugged(namespace: Namespace, tmp_path: Path) -> None:
    output = run(
        namespace,
        tmp_path,
        """
import hashlib, subprocess, urllib.request
with urllib.request.urlopen("http://10.88.11.2:8000/") as answer:
    data = answer.read(1_000_000)
    subprocess.run(["ip", "link", "set", "a1", "down"], check=True)
    data += answer.read()
subprocess.run(["ip", "link", "set", "a1", "up"], check=True)
assert data == bytes(range(256)) * (len(data) // 256), "the data is damaged"
print(len(data))
request = urllib.request.Request("http://10.88.11.2:8000/", data=data)
with urllib.request.urlopen(request) as answer:
    assert answer.read().decode() == hashlib.sha256(data).hexdigest()
""",
    )
    assert int(output) == SIZE // 256 * 256


def test_tls_and_half_close_over_asyncio_and_blocking_sockets(namespace: Namespace, tmp_path: Path) -> None:
    output = run(
        namespace,
        tmp_path,
        """
import asyncio, socket, ssl
context = ssl.create_default_context(cafile="server.pem")
with socket.create_connection(("10.88.11.2", 4433), timeout=20) as bare:
    with context.wrap_socket(bare, server_hostname="10.88.11.2") as secure:
        print(secure.version())
        secure.sendall(b"hello")
        assert secure.recv(5) == b"hello"

with socket.create_connection(("10.88.11.2", 7000), timeout=20) as plain:
    assert isinstance(plain, socket.socket)
    assert plain.getpeername() == ("10.88.11.2", 7000)
    assert [path["local"] for path in plain.info()["paths"]]
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    plain.sendall(bytes(100_000))
    plain.shutdown(socket.SHUT_WR)
    assert len(plain.makefile("rb").read()) == 100_000
    for level, option in ((socket.IPPROTO_TCP, socket.TCP_KEEPIDLE), (socket.IPPROTO_IP, socket.IP_TTL)):
        try:
            plain.setsockopt(level, option, 1)
        except OSError as error:
            assert error.strerror.startswith("a socket of this stack has TCP_NODELAY")
        else:
            raise AssertionError("the option cannot be set")

async def main():
    reader, writer = await asyncio.open_connection("10.88.11.2", 4433, ssl=context)
    writer.write(bytes(1_000_000))
    assert len(await reader.readexactly(1_000_000)) == 1_000_000
    writer.close()
    await writer.wait_closed()
    many = await asyncio.gather(*(asyncio.open_connection("10.88.11.2", 7000) for _ in range(50)))
    for number, (reader, writer) in enumerate(many):
        writer.write(b"%d" % number)
        writer.write_eof()
    assert [await reader.read() for reader, _ in many] == [b"%d" % number for number in range(50)]
    try:
        await asyncio.open_connection("10.88.11.2", 9)
    except ConnectionRefusedError:
        print("refused")

asyncio.run(main())
try:
    socket.create_connection(("10.88.11.2", 9), timeout=20)
except ConnectionRefusedError:
    print("refused")
left, right = socket.socketpair()
left.sendall(b"x")
assert right.recv(1) == b"x", "other sockets are the kernel's"
""",
    )
    assert output.decode().split() == ["TLSv1.3", "refused", "refused"]


def test_aiohttp(namespace: Namespace, tmp_path: Path) -> None:
    output = run(
        namespace,
        tmp_path,
        """
import asyncio, aiohttp

async def main():
    async with aiohttp.ClientSession() as session:
        for _ in range(3):
            async with session.post("http://10.88.11.2:8080/", data=bytes(2_000_000)) as answer:
                got = await answer.json()
                assert got["peer"] == "10.88.1.2"
                print(got["got"])

asyncio.run(main())
""",
        "aiohttp",
    )
    assert output.split() == [b"2000000"] * 3
