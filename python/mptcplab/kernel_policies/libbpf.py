"""The library libbpf, as far as congestion controllers need it: loading objects and listing links.

Owns the calls into C and the messages of the library. A controller is loaded as a link. The kernel keeps the controller
as long as a process or a pin in the BPF file system holds the link. So nothing remains after a process is killed.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

BPF_F_LINK = 1 << 13
"""Flag of a struct_ops map that takes effect when a link to it is created (include/uapi/linux/bpf.h, Linux 6.4)."""
BPF_STRUCT_OPS = 44
"""The attach type of a struct_ops link (enum bpf_attach_type)."""
BPF_CGROUP_SOCK_OPS = 3
"""The attach type of a link from a program to the sockets of a cgroup."""
BPF_LINK_TYPE_STRUCT_OPS = 9
"""The link type of a struct_ops link (enum bpf_link_type)."""
CHOOSER = b"choose"
"""The BPF program that sets the controller of a cgroup's subflows."""
LINKS_SINCE = 2
"""The minor version of libbpf 1 from which the library itself creates the struct_ops link."""
_SAID = 1 << 20
"""Maximum bytes of one message, such as the log of a verifier."""


class Refused(OSError):
    """A failed call; `message` is the output of the library."""

    def __init__(self, number: int, message: str) -> None:
        """Takes the error number."""
        super().__init__(number, os.strerror(number))
        self.message = message


class NoLibrary(RuntimeError):
    """libbpf is not installed."""


@dataclass(frozen=True)
class Link:
    """The link of a loaded controller."""

    number: int
    name: str
    """The name of the linked map, which equals the name of the controller."""


_PRINT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)


class Library:
    """libbpf, and its messages since the last load began."""

    def __init__(self) -> None:
        """Opens the library."""
        try:
            self._c = ctypes.CDLL("libbpf.so.1", use_errno=True)
        except OSError as error:
            raise NoLibrary("libbpf.so.1 is not installed: install libbpf1") from error
        self._libc = ctypes.CDLL(None)
        self._messages: list[str] = []
        pointer, number, text = ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p
        for name, result, takes in (
            ("libbpf_set_print", pointer, [_PRINT]),
            ("bpf_object__open_mem", pointer, [text, ctypes.c_size_t, pointer]),
            ("bpf_object__close", None, [pointer]),
            ("bpf_object__find_map_by_name", pointer, [pointer, text]),
            ("bpf_map__set_map_flags", number, [pointer, ctypes.c_uint32]),
            ("bpf_map__fd", number, [pointer]),
            ("bpf_object__load", number, [pointer]),
            ("bpf_map__attach_struct_ops", pointer, [pointer]),
            ("bpf_object__find_program_by_name", pointer, [pointer, text]),
            ("bpf_program__fd", number, [pointer]),
            ("bpf_link__fd", number, [pointer]),
            ("bpf_link__destroy", number, [pointer]),
            ("bpf_link_create", number, [number, number, number, pointer]),
            ("bpf_obj_pin", number, [number, text]),
            ("bpf_obj_get", number, [text]),
            ("bpf_link_get_next_id", number, [ctypes.c_uint32, pointer]),
            ("bpf_link_get_fd_by_id", number, [ctypes.c_uint32]),
            ("bpf_map_get_fd_by_id", number, [ctypes.c_uint32]),
            ("bpf_obj_get_info_by_fd", number, [number, pointer, pointer]),
        ):
            function = getattr(self._c, name)
            function.restype, function.argtypes = result, takes
        self._print = _PRINT(self._hear)
        self._c.libbpf_set_print(self._print)

    def _hear(self, level: int, form: bytes, values: int | None) -> int:
        # Level 2 is debug output. On x86-64 and AArch64, a va_list is passed as a pointer.
        if level < 2:
            text = ctypes.create_string_buffer(_SAID)
            self._libc.vsnprintf(text, ctypes.c_size_t(_SAID), form, ctypes.c_void_p(values))
            self._messages.append(text.value.decode(errors="replace"))
        return 0

    def _refused(self) -> Refused:
        return Refused(ctypes.get_errno() or errno.EINVAL, "".join(self._messages))

    def _done(self, result: int) -> int:
        if result < 0:
            raise self._refused()
        return result

    def load(self, program: bytes, name: str, cgroup: int | None = None) -> list[int]:
        """Loads a controller; returns the descriptors of its links. Closing them unloads it.

        With the descriptor of a `cgroup`, a second link sets the controller of the cgroup's subflows.
        """
        self._messages.clear()
        if not (made := self._c.bpf_object__open_mem(program, len(program), None)):
            raise self._refused()
        # The kernel keeps the objects that the link needs.
        with closing(_Object(self._c, made)):
            found = self._c.bpf_object__find_map_by_name(made, name.encode())
            if not found:
                raise self._refused()
            self._done(self._c.bpf_map__set_map_flags(found, BPF_F_LINK))
            self._done(self._c.bpf_object__load(made))
            links = [self._register(found)]
            if cgroup is not None:
                try:
                    chooser = self._c.bpf_program__fd(self._c.bpf_object__find_program_by_name(made, CHOOSER))
                    links.append(self._done(self._c.bpf_link_create(chooser, cgroup, BPF_CGROUP_SOCK_OPS, None)))
                except Refused:
                    os.close(links[0])
                    raise
            return links

    def _register(self, controller: int) -> int:
        # Fills the map; libbpf 1.2 and later also create the link.
        if not (attached := self._c.bpf_map__attach_struct_ops(controller)):
            raise self._refused()
        try:
            if self._c.libbpf_minor_version() >= LINKS_SINCE:
                return os.dup(self._c.bpf_link__fd(attached))
            return self._done(self._c.bpf_link_create(self._c.bpf_map__fd(controller), 0, BPF_STRUCT_OPS, None))
        finally:
            # The library has its own descriptor of the link.
            self._c.bpf_link__destroy(attached)

    def pin(self, link: int, path: Path) -> None:
        """Pins a link in the BPF file system."""
        self._done(self._c.bpf_obj_pin(link, os.fsencode(path)))

    def pinned(self, path: Path) -> Link | None:
        """The link that a pin holds; None if it is no struct_ops link."""
        descriptor = self._done(self._c.bpf_obj_get(os.fsencode(path)))
        try:
            return self._link(descriptor)
        finally:
            os.close(descriptor)

    def links(self) -> Iterator[Link]:
        """All struct_ops links of the kernel."""
        number = ctypes.c_uint32(0)
        while self._c.bpf_link_get_next_id(number.value, ctypes.byref(number)) == 0:
            descriptor = self._c.bpf_link_get_fd_by_id(number.value)
            if descriptor < 0:
                # The link was removed meanwhile.
                continue
            try:
                link = self._link(descriptor)
            finally:
                os.close(descriptor)
            if link is not None:
                yield link
        if ctypes.get_errno() not in (0, errno.ENOENT):
            raise self._refused()

    def _link(self, descriptor: int) -> Link | None:
        # struct bpf_link_info: type, id, prog_id, and for struct_ops, aligned to eight bytes, the number of the map.
        kind, number, _, _, map_number = struct.unpack("5I", self._about(descriptor, 20))
        if kind != BPF_LINK_TYPE_STRUCT_OPS:
            return None
        descriptor = self._done(self._c.bpf_map_get_fd_by_id(map_number))
        try:
            # struct bpf_map_info: six numbers, and the name.
            name = self._about(descriptor, 40)[24:]
        finally:
            os.close(descriptor)
        return Link(number, name.split(b"\0")[0].decode(errors="replace"))

    def _about(self, descriptor: int, size: int) -> bytes:
        text = ctypes.create_string_buffer(256)
        length = ctypes.c_uint32(len(text))
        self._done(self._c.bpf_obj_get_info_by_fd(descriptor, text, ctypes.byref(length)))
        return text.raw[:size]


class _Object:
    """An object of the library that can be closed."""

    def __init__(self, library: ctypes.CDLL, made: int) -> None:
        self._c, self._made = library, made

    def close(self) -> None:
        self._c.bpf_object__close(self._made)
