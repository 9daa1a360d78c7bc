"""Takes the captures in this directory: two Linux hosts in namespaces speak MPTCP over a veth pair.

Needs root and a kernel with MPTCP. Prints one IP packet in hexadecimal on each line.

    python3 capture.py 0 > linux-6.18.txt            # without DSS checksums
    python3 capture.py 1 > linux-6.18-checksum.txt   # with them
"""

import ctypes
import fcntl
import os
import socket
import struct
import subprocess
import sys
import threading
import time

IPPROTO_MPTCP = 262
CLIENT, SERVER = "wire-client", "wire-server"


def run(command: str) -> None:
    subprocess.run(command.split(), check=True)


def enter(namespace: str) -> None:
    """Moves this thread into a network namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open(f"/run/netns/{namespace}") as handle:
        if libc.setns(handle.fileno(), 0):
            raise OSError(ctypes.get_errno(), "setns")


def complete_checksums(device: str) -> None:
    """Turns checksum offload off (ETHTOOL_STXCSUM), so that the kernel writes whole checksums."""
    value = ctypes.create_string_buffer(struct.pack("II", 0x17, 0))
    request = struct.pack("16sP", device.encode(), ctypes.addressof(value))
    with socket.socket() as control:
        fcntl.ioctl(control, 0x8946, request)


def sniff(packets: list[bytes]) -> None:
    enter(SERVER)
    complete_checksums("vs")
    with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3)) as device:
        device.bind(("vs", 3))
        device.settimeout(6)
        while True:
            try:
                packet = device.recv(65535)
            except TimeoutError:
                return
            if (packet[0] >> 4, packet[9]) == (4, 6) or (packet[0] >> 4, packet[6]) == (6, 6):
                packets.append(packet)


def mptcp_socket(family: int) -> socket.socket:
    return socket.socket(family, socket.SOCK_STREAM, IPPROTO_MPTCP)


def serve() -> None:
    """Two connections: the first ends in peace, the second by a fast close."""
    enter(SERVER)
    with mptcp_socket(socket.AF_INET6) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("::", 80))
        listener.listen()
        peer, _ = listener.accept()
        received = b""
        while len(received) < 11:
            received += peer.recv(100)
        peer.sendall(b"odd reply")
        time.sleep(1)
        peer.close()
        peer, _ = listener.accept()
        time.sleep(0.5)
        peer.close()  # with unread data


def connect() -> None:
    enter(CLIENT)
    complete_checksums("vc")
    with mptcp_socket(socket.AF_INET) as first:
        first.connect(("10.1.0.2", 80))
        first.sendall(b"hello")
        time.sleep(0.3)
        first.sendall(b" world")
        first.recv(100)
        run("ip mptcp endpoint change id 1 nobackup")
        time.sleep(0.2)
        run("ip mptcp endpoint delete id 1")
        time.sleep(1)
    with mptcp_socket(socket.AF_INET6) as second:
        second.connect(("fd00::2", 80))
        second.sendall(b"never read")
        time.sleep(1)


def main() -> None:
    checksum = sys.argv[1]
    for namespace in (CLIENT, SERVER):
        run(f"ip netns add {namespace}")
    try:
        run(f"ip link add vc netns {CLIENT} type veth peer name vs netns {SERVER}")
        for namespace, device, host in ((CLIENT, "vc", 1), (SERVER, "vs", 2)):
            run(f"ip -n {namespace} link set lo up")
            run(f"ip -n {namespace} link set {device} up")
            run(f"ip -n {namespace} addr add 10.1.0.{host}/24 dev {device}")
            run(f"ip -n {namespace} addr add fd00::{host}/64 dev {device} nodad")
            run(f"ip -n {namespace} mptcp limits set subflow 3 add_addr_accepted 3")
            run(f"ip netns exec {namespace} sysctl -qw net.mptcp.checksum_enabled={checksum}")
            run(f"ip netns exec {namespace} sysctl -qw net.ipv4.tcp_congestion_control=reno")
        run(f"ip -n {CLIENT} addr add 10.1.0.3/24 dev vc")
        run(f"ip -n {CLIENT} mptcp endpoint add 10.1.0.3 dev vc id 1 subflow backup")
        run(f"ip -n {SERVER} mptcp endpoint add 10.1.0.2 port 9999 signal")
        run(f"ip -n {SERVER} mptcp endpoint add fd00::2 dev vs signal")
        packets: list[bytes] = []
        steps = []
        for step in (lambda: sniff(packets), serve, connect):
            steps.append(threading.Thread(target=step))
            steps[-1].start()
            time.sleep(0.5)
        for step in steps:
            step.join()
        for packet in packets:
            print(packet.hex())
    finally:
        for namespace in (CLIENT, SERVER):
            run(f"ip netns del {namespace}")


if __name__ == "__main__":
    assert os.geteuid() == 0, "needs root"
    main()
