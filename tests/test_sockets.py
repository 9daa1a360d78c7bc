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


STATES = """
import errno, http.server, os, select, socket, threading, time
from mptcplab.live.driver import Driver, Interface
from mptcplab.live.sockets import replaced_sockets, socket_class

far_driver = Driver([Interface("b1", "10.88.11.2"), Interface("b2", "10.88.12.2")])
near_driver = Driver([Interface("a1", "10.88.1.2"), Interface("a2", "10.88.2.2")])
Near, Far = socket_class(near_driver), socket_class(far_driver)

def number(act, *arguments):
    try:
        act(*arguments)
    except OSError as error:
        return errno.errorcode[error.errno]
    return None

def pair(listener):
    client = Near(socket.AF_INET)
    client.settimeout(10)
    client.connect(listener.getsockname())
    return client, listener.accept()[0]

def resources():
    return len(os.listdir("/proc/self/fd")), threading.active_count()

listener = Far(socket.AF_INET)
listener.bind(("10.88.11.2", 0))
assert listener.getsockname()[1] > 0, "bind reserves a port"
listener.listen(2)
port = listener.getsockname()[1]
before = resources()

# Errors have the numbers of the kernel.
other = Far(socket.AF_INET)
assert number(other.bind, ("10.88.11.2", port)) == "EADDRINUSE"
assert number(other.bind, ("192.0.2.9", 80)) == "EADDRNOTAVAIL"
other.close()
del other
client = Near(socket.AF_INET)
assert number(client.recv, 1) == number(client.sendall, b"x") == number(client.getpeername) == "ENOTCONN"
assert number(client.connect, ("127.0.0.1", 80)) == "ENETUNREACH"
assert number(client.connect, ("10.88.11.2", 9)) == "ECONNREFUSED"
client.close()

# A connected socket cannot be connected again.
client, server = pair(listener)
assert number(client.connect, listener.getsockname()) == "EISCONN"
client.sendall(b"still the first")
assert server.recv(100) == b"still the first"
client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
assert client.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1
server.close()
assert client.recv(1) == b""
client.close()

# A connection without blocking becomes writable, with its names or its error.
for target, result in ((listener.getsockname(), 0), (("10.88.11.2", 9), errno.ECONNREFUSED)):
    client = Near(socket.AF_INET)
    client.setblocking(False)
    assert client.connect_ex(target) == errno.EINPROGRESS
    assert client.connect_ex(target) in (errno.EALREADY, errno.EISCONN)
    assert select.select([], [client], [], 10)[1] == [client]
    assert client.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == result
    if not result:
        assert client.getpeername() == target and client.getsockname()[1] > 0
        listener.accept()[0].close()
    client.close()

# Nothing is left, also of a client whose peer stays open.
servers = []
for _ in range(20):
    client, server = pair(listener)
    servers.append(server)
    client.close()
for server in servers:
    server.close()
limit = time.monotonic() + 20
while resources() > before and time.monotonic() < limit:
    time.sleep(0.1)
assert resources() <= before, (resources(), before)

# The end of a listener resets connections that were not accepted, and frees the port at once.
waiting = Near(socket.AF_INET)
waiting.settimeout(10)
waiting.connect(listener.getsockname())
time.sleep(0.3)
listener.close()
assert number(waiting.recv, 1) == "ECONNRESET"
again = Far(socket.AF_INET)
again.bind(("10.88.11.2", port))
again.listen()

# Servers at all addresses of both IP versions share a listener, and port 0 is known at once.
with replaced_sockets(far_driver):
    both = [socket.socket(family) for family in (socket.AF_INET6, socket.AF_INET)]
    for one, host in zip(both, ("::", "0.0.0.0")):
        one.bind((host, 7200))
        one.listen()
    web = http.server.HTTPServer(("10.88.11.2", 0), http.server.BaseHTTPRequestHandler)
    assert web.server_port > 0

# A driver that stops ends the servers with an error, slowly enough for a loop.
far_driver.stop()
time.sleep(0.2)
start = time.monotonic()
assert number(again.accept) == number(again.accept) == "ENOBUFS"
assert time.monotonic() - start > 0.09
near_driver.stop()
print("all")
"""


def test_states_errors_and_leftovers_are_those_of_sockets(namespace: Namespace, tmp_path: Path) -> None:
    (tmp_path / "states.py").write_text(STATES)
    assert namespace.run(sys.executable, tmp_path / "states.py").stdout == b"all\n"
