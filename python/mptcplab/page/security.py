"""Decides which requests the server of the page answers.

Owns the token, the names of the server, the headers of every response, and all bounds on clients. Never answers a
request itself. The server listens on 127.0.0.1 only, but each web page that the user visits can send requests there.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from urllib.parse import parse_qsl, urlsplit

ADDRESS = "127.0.0.1"
"""The only address on which the server listens."""
MAX_MESSAGE = 64 * 1024
"""Maximum bytes of a message of the page."""
MAX_CLIENTS = 8
"""Maximum number of pages that see a live network at once."""
MAX_CONNECTIONS = 64
"""Maximum number of TCP connections at once; further ones are reset."""
MAX_MESSAGES = 50
"""Maximum messages of a page per second; more close its connection."""
MAX_BAD = 20
"""Maximum invalid messages of a page; one more closes its connection."""
MAX_BYTES = 128 * 1024
"""Maximum bytes per second from a connection, including control frames; more reset it."""
MAX_UNREAD = 16 << 20
"""Maximum bytes that wait for a client in this process; more reset its connection."""
FRAMES = 20
"""Maximum frames per second to a page."""
SLOW = 5.0
"""Seconds after which a page that reads nothing is dropped."""
HANDSHAKE = 10.0
"""Maximum seconds from the connection to the end of its request and of a static response."""
ORIGIN_FORM = 2048
"""Maximum characters of a request target."""

_SOURCES = {
    "default-src": "'none'",
    "script-src": "'self' 'wasm-unsafe-eval'",
    "worker-src": "'self' blob:",
    # The editor of the page adds its rules as style elements.
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "connect-src": "'self' data:",
    "base-uri": "'none'",
    "form-action": "'none'",
    "frame-ancestors": "'none'",
}
"""From where the page may load anything, by directive."""

HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": "; ".join(f"{name} {sources}" for name, sources in _SOURCES.items()),
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""Headers of every response."""


class Forbidden(Exception):
    """A request that must not be answered."""

    def __init__(self, status: HTTPStatus, reason: str) -> None:
        """Keeps the status of the response, and its text."""
        super().__init__(reason)
        self.status = status


def new_token() -> str:
    """A random token of 256 bits, as text for a URL."""
    return secrets.token_urlsafe(32)


class Gate:
    """Checks requests to one server."""

    def __init__(self, port: int, token: str) -> None:
        """Accepts only the names of a server on this port, and this token."""
        self._token = token.encode()
        self._hosts = [f"{name}:{port}" for name in (ADDRESS, "localhost")]
        if port == 80:
            # Browsers omit the default port of HTTP.
            self._hosts += [ADDRESS, "localhost"]
        self._origins = [f"http://{host}" for host in self._hosts]

    def check(self, target: str, hosts: Sequence[str], origins: Sequence[str]) -> tuple[str, dict[str, str]]:
        """The path and the query of a request; raises `Forbidden` for a foreign one.

        Args:
            target: the target of the request line
            hosts: the values of all `Host` headers
            origins: the values of all `Origin` headers
        """
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            raise Forbidden(
                HTTPStatus.FORBIDDEN, f"Host: expected {self._hosts[0]} or {self._hosts[1]}; open the printed URL"
            )
        if origins and (len(origins) != 1 or origins[0].lower() not in self._origins):
            raise Forbidden(HTTPStatus.FORBIDDEN, "Origin: requests of other web pages are refused")
        if not target.startswith("/") or target.startswith("//") or len(target) > ORIGIN_FORM:
            raise Forbidden(HTTPStatus.BAD_REQUEST, "the request target must be a path")
        try:
            parts = urlsplit(target)
            pairs = parse_qsl(parts.query, keep_blank_values=True, max_num_fields=8)
        except ValueError as error:
            raise Forbidden(HTTPStatus.BAD_REQUEST, f"invalid request target: {error}") from error
        if len(dict(pairs)) != len(pairs):
            raise Forbidden(HTTPStatus.BAD_REQUEST, "the query must not repeat a name")
        return parts.path, dict(pairs)

    def check_token(self, query: Mapping[str, str]) -> None:
        """Raises `Forbidden` without the token. The time of the comparison does not depend on the given token."""
        given = query.get("token", "").encode("utf-8", "surrogateescape")
        if not hmac.compare_digest(given, self._token):
            raise Forbidden(HTTPStatus.FORBIDDEN, "token: missing or wrong; open the URL that mptcplab printed")
