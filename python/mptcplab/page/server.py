"""The server of the page: static files, the scenario, and a WebSocket with the frames of a live run.

Owns a thread with its own event loop, so that the program that it shows never waits for a page. Each page gets the
latest frame when it has read the previous one; frames in between are skipped, never queued. `security` has the bounds.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from mptcplab.page import messages, security
from mptcplab.page.frames import History, frame
from mptcplab.page.messages import Refused
from mptcplab.page.security import Forbidden, Gate
from mptcplab.page.static_files import File

if TYPE_CHECKING:
    from mptcplab.page.live_source import LiveSource, Moment

STEP = 1 / security.FRAMES
"""Seconds between two looks at a live run while pages are open."""
IDLE_STEP = 0.1
"""Seconds between two looks without a page."""
LAST = 1.0
"""Maximum seconds for the last frame of a run to reach the pages."""
START = 10.0
"""Maximum seconds until the server listens."""

SCENARIO, LIVE = "/scenario", "/live"
NORMAL, UNSUPPORTED, POLICY, INTERNAL, BUSY = 1000, 1003, 1008, 1011, 1013
"""Close codes (RFC 6455, section 7.4.1)."""


class CannotServe(RuntimeError):
    """The server cannot start; the message names a solution."""


class PageServer:
    """Serves the page until it is closed."""

    def __init__(
        self,
        files: Mapping[str, File],
        *,
        port: int = 0,
        scenario: Mapping[str, Any] | None = None,
        source: LiveSource | None = None,
    ) -> None:
        """Prepares a server on `port` (0: a free one).

        Args:
            files: the page, by the path of each URL
            port: TCP port on 127.0.0.1
            scenario: answer to `GET /scenario`: `toml` and `seed`
            source: connections to show over `/live`
        """
        self._files, self._port, self._scenario, self._source = files, port, scenario, source
        self._token = security.new_token()
        self._gate: Gate | None = None
        self._thread = threading.Thread(target=self._run, name="mptcplab page", daemon=True)
        self._started: threading.Event = threading.Event()
        self._problem: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end: asyncio.Event
        self._shown: _Shown | None = None

    @property
    def url(self) -> str:
        """The URL with the token, once the server listens. Its fragment tells the page that the run is live."""
        fragment = "" if self._source is None else "#live"
        return f"http://{security.ADDRESS}:{self._port}/?token={self._token}{fragment}"

    @property
    def token(self) -> str:
        """The token that `/scenario` and `/live` require."""
        return self._token

    @property
    def port(self) -> int:
        """The TCP port, once the server listens."""
        return self._port

    def start(self) -> None:
        """Listens. Raises `CannotServe`, for example if the port is in use."""
        self._thread.start()
        if not self._started.wait(START):
            raise CannotServe(f"the server of the page did not start within {START:g} s")
        if self._problem is not None:
            reason = getattr(self._problem, "strerror", None) or str(self._problem)
            raise CannotServe(
                f"cannot listen on {security.ADDRESS}:{self._port}: {reason}; choose another port, or 0 for a free one"
            ) from self._problem

    def close(self) -> None:
        """Sends the last frame to all pages, and stops. Takes at most some seconds, also with stalled pages."""
        if self._loop is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._end.set)
            self._thread.join(4 * LAST)

    def __enter__(self) -> Self:
        """Starts the server."""
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stops the server."""
        self.close()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except OSError as error:
            self._problem = error
        finally:
            self._started.set()

    async def _serve(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        server = await serve(
            self._talk,
            security.ADDRESS,
            self._port,
            process_request=self._answer,
            process_response=_secured,
            create_connection=_connection(),
            compression=None,
            server_header=None,
            open_timeout=security.HANDSHAKE,
            close_timeout=LAST,
            ping_interval=4 * security.SLOW,
            ping_timeout=4 * security.SLOW,
            max_size=security.MAX_MESSAGE,
            max_queue=4,
            logger=_silent(),
        )
        self._port = next(iter(server.sockets)).getsockname()[1]
        self._gate = Gate(self._port, self._token)
        try:
            if self._source is not None:
                self._shown = _Shown(self._source)
                await self._show_until_the_end(self._shown)
            else:
                self._started.set()
                await self._end.wait()
        finally:
            await _closed(server)

    async def _show_until_the_end(self, shown: _Shown) -> None:
        looking = asyncio.create_task(shown.look_often())
        self._started.set()
        try:
            await self._end.wait()
            looking.cancel()
            await shown.finish()
        finally:
            shown.close()

    async def _answer(self, connection: ServerConnection, request: Request) -> Response | None:
        """The response to a request; None if a WebSocket opens."""
        try:
            return await self._response(request)
        except Forbidden as error:
            return connection.respond(error.status, f"{error}\n")
        except OSError as error:
            return connection.respond(HTTPStatus.INTERNAL_SERVER_ERROR, f"{error.strerror or 'unreadable'}\n")

    async def _response(self, request: Request) -> Response | None:
        if self._gate is None:
            raise Forbidden(HTTPStatus.SERVICE_UNAVAILABLE, "the server is starting")
        host, origin = request.headers.get_all("Host"), request.headers.get_all("Origin")
        path, query = self._gate.check(request.path, host, origin)
        if path in (SCENARIO, LIVE):
            self._gate.check_token(query)
        if path == SCENARIO:
            if self._scenario is None:
                return _body(b"", "text/plain", HTTPStatus.NO_CONTENT)
            return _body(messages.written(self._scenario).encode(), "application/json")
        if path == LIVE and self._shown is not None:
            if self._shown.clients >= security.MAX_CLIENTS:
                raise Forbidden(HTTPStatus.SERVICE_UNAVAILABLE, f"at most {security.MAX_CLIENTS} pages at once")
            return None
        if path not in self._files:
            raise Forbidden(HTTPStatus.NOT_FOUND, "not found")
        file = self._files[path]
        return _body(await asyncio.to_thread(file.read), file.content_type)

    async def _talk(self, connection: ServerConnection) -> None:
        if self._shown is not None:
            await self._shown.talk(connection)


class _Shown:
    """A live run, and its pages."""

    def __init__(self, source: LiveSource) -> None:
        self._source = source
        self._history = History()
        self._moment: Moment | None = None
        self._next = asyncio.Condition()
        self._number = 0
        self._failure: str | None = None
        self.clients = 0
        # A change may wait for the kernel, and frames must not wait for the change.
        self._looks = ThreadPoolExecutor(1, "mptcplab page looks")
        self._changes = ThreadPoolExecutor(1, "mptcplab page changes")

    async def look_often(self) -> None:
        """Looks at the run until it is finished, or until a look fails."""
        while self._failure is None and not (self._moment and self._moment.finished):
            began = time.monotonic()
            await self._look()
            step = STEP if self.clients else IDLE_STEP
            await asyncio.sleep(max(STEP / 5, began + step - time.monotonic()))

    async def _look(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            moment = await loop.run_in_executor(self._looks, self._source.look)
        except Exception as error:  # noqa: BLE001
            # A page that shows an old state would mislead: report the error instead.
            self._failure = f"the state of the connections cannot be read: {error}"
        else:
            self._history.add(moment.rows)
            self._moment = moment
        async with self._next:
            self._number += 1
            self._next.notify_all()

    async def finish(self) -> None:
        """Shows the last state, and waits briefly until the pages have received it."""
        if self._failure is None:
            await self._look()
        async with self._next:
            if self._moment is not None:
                self._moment = _finished(self._moment)
            self._number += 1
            self._next.notify_all()
        until = time.monotonic() + LAST
        while self.clients and time.monotonic() < until:
            await asyncio.sleep(STEP / 5)

    def close(self) -> None:
        """Ends the threads."""
        self._looks.shutdown(wait=False, cancel_futures=True)
        self._changes.shutdown(wait=False, cancel_futures=True)

    async def talk(self, connection: ServerConnection) -> None:
        """Serves one page: frames, and answers to its actions."""
        if self.clients >= security.MAX_CLIENTS:
            # Several handshakes may have passed the check of their requests at the same time.
            await connection.close(BUSY, f"at most {security.MAX_CLIENTS} pages at once")
            return
        self.clients += 1
        showing = asyncio.create_task(self._frames(connection))
        try:
            await self._answers(connection)
        except ConnectionClosed:
            pass
        finally:
            self.clients -= 1
            showing.cancel()
            await asyncio.gather(showing, return_exceptions=True)

    async def _frames(self, connection: ServerConnection) -> None:
        try:
            loaded = await asyncio.get_running_loop().run_in_executor(self._looks, self._source.loaded)
            await _send(connection, {"type": "loaded", "loaded": loaded})
            position: int | None = None
            # The last look is shown at once, also if it failed.
            seen = self._number - 1 if self._number else 0
            while True:
                async with self._next:
                    await self._next.wait_for(lambda: self._number > seen)  # noqa: B023
                if self._failure is not None:
                    await _send(connection, {"type": "failure", "message": self._failure})
                    await connection.close(INTERNAL, "the run cannot be shown")
                    return
                # Frames before the latest one are skipped.
                seen = self._number
                if (moment := self._moment) is None:
                    continue
                rows, position, restarted = self._history.since(position)
                await _send(connection, frame(moment, rows, restarted=restarted))
                if moment.finished:
                    await connection.close(NORMAL, "the run has ended")
                    return
        except ConnectionClosed:
            pass

    async def _answers(self, connection: ServerConnection) -> None:
        bad, times = 0, deque[float](maxlen=security.MAX_MESSAGES)
        async for text in connection:
            now = time.monotonic()
            if len(times) == security.MAX_MESSAGES and now - times[0] < 1.0:
                await connection.close(POLICY, f"more than {security.MAX_MESSAGES} messages per second")
                return
            times.append(now)
            if not isinstance(text, str):
                await connection.close(UNSUPPORTED, "messages must be text")
                return
            try:
                await _send(connection, await self._done(text))
            except Refused as error:
                bad += 1
                await _send(connection, messages.refused(error))
                if bad > security.MAX_BAD:
                    await connection.close(POLICY, f"more than {security.MAX_BAD} invalid messages")
                    return

    async def _done(self, text: str) -> dict[str, Any]:
        act = messages.read(text, self._source.links)
        try:
            await asyncio.get_running_loop().run_in_executor(self._changes, self._source.change, act.change)
        except Refused as error:
            raise Refused(str(error), act.request) from error
        except Exception as error:
            raise Refused(f"the change failed: {error}", act.request) from error
        return {"type": "done", "id": act.request}


def _finished(moment: Moment) -> Moment:
    from dataclasses import replace

    return replace(moment, finished=True, rows=())


async def _send(connection: ServerConnection, message: Mapping[str, Any]) -> None:
    """Sends a message; drops a page that does not read it in time."""
    try:
        async with asyncio.timeout(security.SLOW):
            await connection.send(messages.written(message))
    except TimeoutError:
        connection.transport.abort()


async def _closed(server: Server) -> None:
    """Closes the server; connections that do not end in time are reset."""
    server.close()
    try:
        async with asyncio.timeout(2 * LAST):
            await server.wait_closed()
    except TimeoutError:
        for connection in [*server.connections]:
            connection.transport.abort()


def _body(data: bytes, content_type: str, status: HTTPStatus = HTTPStatus.OK) -> Response:
    length = str(len(data))
    headers = Headers({"Content-Type": content_type, "Content-Length": length, "Connection": "close"})
    return Response(status.value, status.phrase, headers, data)


def _secured(_connection: ServerConnection, _request: Request, response: Response) -> None:
    """Adds the security headers to each response."""
    for name, value in security.HEADERS.items():
        response.headers[name] = value


def _connection() -> type[ServerConnection]:
    """A class of connections that counts the open ones, and resets those above the bounds."""
    open_ones: set[ServerConnection] = set()

    class Bounded(ServerConnection):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            super().connection_made(transport)
            open_ones.add(self)
            self._second, self._bytes = 0, 0
            if len(open_ones) > security.MAX_CONNECTIONS:
                self.transport.abort()

        def connection_lost(self, exc: Exception | None) -> None:
            open_ones.discard(self)
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            second = int(time.monotonic())
            self._bytes = len(data) + (self._bytes if second == self._second else 0)
            self._second = second
            unread = self.transport.get_write_buffer_size()
            # Control frames are answered without the handler, so that only a bound here limits them.
            if self._bytes > security.MAX_BYTES or unread > security.MAX_UNREAD:
                self.transport.abort()
                return
            super().data_received(data)

    return Bounded


def _silent() -> logging.Logger:
    """A logger that prints nothing: requests of others must not fill the terminal."""
    logger = logging.getLogger("mptcplab.page")
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
    logger.setLevel(logging.CRITICAL)
    return logger
