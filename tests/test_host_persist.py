"""`mptcplab host setup --persist`: its files restore the set-up at a boot, and `--undo` removes exactly them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from emulated import cannot
from mptcplab.host import boot_files, persistence
from mptcplab.host.setup_steps import CannotChange
from two_hosts import Hosts, hosts, joined

__all__ = ["hosts"]

NETWORKD = Path("/lib/systemd/systemd-networkd")
GATEWAY = ("--gateway", "eth2=10.0.2.2")
STATIC = "[Match]\nName={name}\n[Network]\nLinkLocalAddressing=no\nIPv6AcceptRA=no\nAddress=10.0.{at}.1/24\n"


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A root directory that systemd has booted."""
    made = tmp_path / "root"
    (made / "run/systemd/system").mkdir(parents=True)
    (made / "etc").mkdir()
    yield made
    assert not list(made.rglob(".*")), "no partial file is left"


def number(on: Hosts, device: str) -> int:
    """The index of an interface."""
    return int(json.loads(on.client.ip(f"-j link show {device}"))[0]["ifindex"])


def managed_by(on: Hosts, root: Path, program: str) -> None:
    """Writes the state of the program that manages both interfaces."""
    for at in (1, 2):
        index = number(on, f"eth{at}")
        if program == "networkd":
            file = root / f"run/systemd/netif/links/{index}"
            text = f"ADMIN_STATE=configured\nNETWORK_FILE=/etc/systemd/network/{at}0-eth{at}.network\n"
        else:
            file = root / f"run/NetworkManager/devices/{index}"
            # As NetworkManager 1.42 writes it.
            text = "[device]\nmanaged=true\nconnection-uuid=11111111-1111-1111-1111-111111111111\nnm-owned=false\n"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def files(root: Path) -> set[str]:
    """The files and links below /etc."""
    return {f"/{one.relative_to(root)}" for one in (root / "etc").rglob("*") if one.is_symlink() or one.is_file()}


def persist(on: Hosts, root: Path, *words: str) -> str:
    done = on.host("setup", "--apply", "--persist", "--root", str(root), *GATEWAY, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def in_namespace(on: Hosts, *command: str | Path) -> None:
    done = subprocess.run(on.client.command(*command), capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def sources_leave(on: Hosts) -> bool:
    """Whether packets from both addresses leave by their own interface, also without a bound socket."""
    return all(f"dev eth{at}" in on.client.ip(f"route get 192.0.2.1 from 10.0.{at}.1") for at in (1, 2))


def endpoints(on: Hosts) -> dict[str, str]:
    shown = json.loads(on.client.ip("-j mptcp endpoint show"))
    return {one["address"]: one["dev"] for one in shown}


def test_an_unmanaged_host_is_set_up_by_the_unit(hosts: Hosts, root: Path) -> None:
    assert "wrote" in persist(hosts, root)
    assert files(root) == {
        boot_files.SYSCTLS, boot_files.UNIT, boot_files.ENABLED, boot_files.SCRIPT, persistence.LIST,
    }  # fmt: skip
    assert (root / boot_files.ENABLED.lstrip("/")).readlink() == Path(boot_files.UNIT)
    script = root / boot_files.SCRIPT.lstrip("/")
    assert f"ExecStart=/bin/sh {boot_files.SCRIPT}\n" in (root / boot_files.UNIT.lstrip("/")).read_text()
    with joined() as after:
        assert set(after.check()) & {"no-endpoint", "no-second-path"}
        in_namespace(after, "sh", script)
        assert endpoints(after) == {"10.0.1.1": "eth1", "10.0.2.1": "eth2"}
        assert after.check() == {}
        assert sources_leave(after)
        before = after.state()
        subprocess.run(after.client.command("sh", script), capture_output=True, timeout=60, check=True)
        assert after.state() == before, "the script may run twice"


def test_networkmanager_gets_flags_and_a_dispatcher_script(hosts: Hosts, root: Path) -> None:
    managed_by(hosts, root, "NetworkManager")
    persist(hosts, root, "--backup", "eth2", "eth1", "eth2")
    flags = (root / boot_files.NM_FLAGS.lstrip("/")).read_text()
    # 2 is enabled, 32 is subflow, 64 is backup, and 8 permits an interface without a default route.
    assert "[connection-mptcplab-eth1]\nmatch-device=interface-name:eth1\nconnection.mptcp-flags=34\n" in flags
    assert "[connection-mptcplab-eth2]\nmatch-device=interface-name:eth2\nconnection.mptcp-flags=106\n" in flags
    script = root / boot_files.NM_SCRIPT.lstrip("/")
    assert script.stat().st_mode & 0o777 == 0o755, "NetworkManager ignores scripts that others may write"
    assert "endpoint eth" not in (root / boot_files.SCRIPT.lstrip("/")).read_text()
    with joined() as after:
        in_namespace(after, "sh", root / boot_files.SCRIPT.lstrip("/"))
        for device in ("eth1", "eth2", "lo"):
            in_namespace(after, script, device, "up")
        after.client.batch([f"mptcp endpoint add 10.0.{at}.1 dev eth{at} subflow" for at in (1, 2)])
        assert after.check() == {}
        in_namespace(after, script, "eth2", "dhcp4-change")
        assert after.check() == {}
        assert sources_leave(after)
        rules = after.client.ip("rule")
        assert rules.count("10.0.2.1") == 1
        in_namespace(after, script, "eth2", "down")
        assert "10.0.2.1" not in after.client.ip("rule")


def test_networkd_gets_routes_and_rules(hosts: Hosts, root: Path) -> None:
    managed_by(hosts, root, "networkd")
    persist(hosts, root)
    second = (root / "etc/systemd/network/20-eth2.network.d/90-mptcplab.conf").read_text()
    assert "[Route]\nGateway=10.0.2.2\nTable=86842\n" in second
    assert "[RoutingPolicyRule]\nFrom=10.0.2.1\nTable=86842\n" in second
    assert "routes eth" not in (root / boot_files.SCRIPT.lstrip("/")).read_text()


def test_a_dhcp_address_is_not_written(hosts: Hosts, root: Path) -> None:
    managed_by(hosts, root, "networkd")
    hosts.client.ip("route replace default via 10.0.1.2 dev eth1 proto dhcp")
    persist(hosts, root)
    first = (root / "etc/systemd/network/10-eth1.network.d/90-mptcplab.conf").read_text()
    assert "[Route]\nGateway=_dhcp4\nTable=86841\n" in first
    assert "From=10.0.1.0/24\n" in first


def test_systemd_networkd_applies_the_files(hosts: Hosts, root: Path) -> None:
    """The real program reads the drop-ins, in a namespace with its own /etc/systemd/network and /run."""
    if not NETWORKD.exists():
        cannot(f"{NETWORKD} is not installed")
    managed_by(hosts, root, "networkd")
    persist(hosts, root)
    shutil.rmtree(root / "run/systemd/netif")
    folder = root / "etc/systemd/network"
    for at, more in ((1, "Gateway=10.0.1.2\n"), (2, "")):
        (folder / f"{at}0-eth{at}.network").write_text(STATIC.format(name=f"eth{at}", at=at) + more)
    # A read-only /sys tells networkd that there is no udev.
    script = f"""
    mount --bind {folder} /etc/systemd/network
    mount -t tmpfs none /run
    mkdir -p /run/systemd/netif/links /run/systemd/netif/leases /run/systemd/netif/lldp
    chmod -R a+rwX /run/systemd
    mount -o remount,bind,ro /sys
    {NETWORKD} & own=$!
    for _ in $(seq 100); do
        ip rule | grep -q 'from 10.0.1.1' && ip rule | grep -q 'from 10.0.2.1' && break
        sleep 0.1
    done
    sleep 0.5
    mkdir {root}/run/systemd/netif
    cp -r /run/systemd/netif/links {root}/run/systemd/netif
    kill $own
    """
    with joined() as after:
        after.client.batch(["addr flush dev eth1", "addr flush dev eth2"])
        command = after.client.command("unshare", "-m", "sh", "-c", script)
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert "10.0.2.1" in after.client.ip("rule"), done.stderr
        state = (root / f"run/systemd/netif/links/{number(after, 'eth2')}").read_text().splitlines()
        assert "ADMIN_STATE=configured" in state
        assert "NETWORK_FILE=/etc/systemd/network/20-eth2.network" in state
        in_namespace(after, "sh", root / boot_files.SCRIPT.lstrip("/"))
        assert after.check() == {}
        assert sources_leave(after)


def test_the_sysctls_are_those_of_sysctl_d(hosts: Hosts, root: Path) -> None:
    hosts.client.ip("link add eth1.7 type veth peer name far7")
    hosts.client.batch(["addr add 10.0.7.1/24 dev eth1.7", "link set eth1.7 up", "link set far7 up"])
    hosts.client.sysctl("net.ipv4.conf.all.rp_filter", "1")
    done = hosts.host(
        "setup", "--apply", "--persist", "--root", str(root), "eth1", "eth1.7", "--gateway", "eth1.7=10.0.7.2"
    )
    assert done.returncode == 0, done.stderr
    text = (root / boot_files.SYSCTLS.lstrip("/")).read_text()
    assert "net/mptcp/enabled = 1\n" in text
    assert "net/ipv4/conf/eth1.7/rp_filter = 2\n" in text
    program = Path("/lib/systemd/systemd-sysctl")
    if program.exists():
        value = hosts.client.command("cat", "/proc/sys/net/ipv4/conf/eth1.7/rp_filter")
        strict = hosts.client.command("tee", "/proc/sys/net/ipv4/conf/eth1.7/rp_filter")
        subprocess.run(strict, input=b"1", capture_output=True, check=True)
        in_namespace(hosts, program, root / boot_files.SYSCTLS.lstrip("/"))
        assert subprocess.run(value, capture_output=True, check=True).stdout == b"2\n"


def test_undo_removes_exactly_the_files(hosts: Hosts, root: Path) -> None:
    managed_by(hosts, root, "networkd")
    other = root / "etc/systemd/network/20-eth2.network.d/10-mine.conf"
    other.parent.mkdir(parents=True)
    other.write_text("[Network]\n")
    before, state = files(root), hosts.state()
    persist(hosts, root)
    done = hosts.host("setup", "--undo", "--root", str(root))
    assert done.returncode == 0, done.stderr
    assert f"rm {root}{boot_files.UNIT}" in done.stdout
    assert files(root) == before
    assert hosts.state() == state
    assert not (root / "etc/mptcplab").exists()
    assert (root / "etc").is_dir()
    assert "nothing to undo" in hosts.host("setup", "--undo", "--root", str(root)).stdout


def test_a_file_that_was_changed_later_is_kept(hosts: Hosts, root: Path) -> None:
    persist(hosts, root)
    changed = root / boot_files.SYSCTLS.lstrip("/")
    changed.write_text("net/mptcp/enabled = 0\n")
    again = hosts.host("setup", "--apply", "--persist", "--root", str(root), *GATEWAY)
    assert f"{boot_files.SYSCTLS} was changed later" in again.stderr
    done = hosts.host("setup", "--undo", "--root", str(root))
    assert f"{boot_files.SYSCTLS} was changed later" in done.stderr
    assert files(root) == {boot_files.SYSCTLS}
    assert changed.read_text() == "net/mptcp/enabled = 0\n"


def test_a_file_of_another_program_is_an_error(hosts: Hosts, root: Path) -> None:
    unit = root / boot_files.UNIT.lstrip("/")
    unit.parent.mkdir(parents=True)
    unit.write_text("[Unit]\n")
    state = hosts.state()
    done = hosts.host("setup", "--apply", "--persist", "--root", str(root), *GATEWAY)
    assert done.returncode == 1
    assert "did not write it" in done.stderr
    assert files(root) == {boot_files.UNIT}
    assert hosts.state() == state, "nothing was applied either"


def test_other_interfaces_replace_the_files(hosts: Hosts, root: Path) -> None:
    managed_by(hosts, root, "networkd")
    persist(hosts, root)
    managed_by(hosts, root, "NetworkManager")
    persist(hosts, root)
    assert not any("networkd" in one or ".network" in one for one in files(root))
    assert boot_files.NM_SCRIPT in files(root)


def test_a_dry_run_prints_the_files_and_writes_nothing(hosts: Hosts, root: Path) -> None:
    state = hosts.state()
    done = hosts.host("setup", "--dry-run", "--persist", "--root", str(root), *GATEWAY)
    assert f"{boot_files.UNIT}:\n    # Written by mptcplab" in done.stdout
    assert f"{boot_files.ENABLED} -> {boot_files.UNIT}" in done.stdout
    assert files(root) == set()
    assert hosts.state() == state
    found = json.loads(hosts.host("setup", "--dry-run", "--persist", "--root", str(root), *GATEWAY, "--json").stdout)
    assert boot_files.UNIT in found["files"]
    assert any("mptcp endpoint add" in one for one in found["commands"])


def test_a_dry_run_needs_no_systemd(hosts: Hosts, tmp_path: Path) -> None:
    done = hosts.host("setup", "--dry-run", "--persist", "--root", str(tmp_path), *GATEWAY)
    assert done.returncode == 0
    assert boot_files.UNIT in done.stdout


def test_it_excludes_undo(hosts: Hosts, tmp_path: Path) -> None:
    done = hosts.host("setup", "--undo", "--persist", "--root", str(tmp_path))
    assert done.returncode == 2
    assert "omit --persist" in done.stderr


def test_a_hostile_list_removes_nothing_else(hosts: Hosts, root: Path) -> None:
    listed = root / persistence.LIST.lstrip("/")
    listed.parent.mkdir(parents=True)
    for path in ("/etc/../home/file", "/home/file", "etc/file"):
        listed.write_text(json.dumps({"files": {path: "0" * 64}}))
        done = hosts.host("setup", "--undo", "--root", str(root))
        assert done.returncode == 1
        assert "not a file of mptcplab" in done.stderr


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """The root directory of an image."""
    (tmp_path / "image/etc/mptcplab").mkdir(parents=True)
    (tmp_path / "out").mkdir()
    return tmp_path / "image"


SYSCTL_FILE = boot_files.BootFile(boot_files.SYSCTLS, "x = 1\n")


def test_a_link_in_an_image_leads_nowhere(image: Path) -> None:
    out = image.parent / "out"
    (out / "90-mptcplab.conf").write_text("x = 1\n")
    folder = image / "etc/sysctl.d"
    folder.mkdir()
    persistence.write([SYSCTL_FILE], image)
    shutil.rmtree(folder)
    folder.symlink_to(out)
    for attack in (persistence.check, persistence.write):
        with pytest.raises(CannotChange, match=r"sysctl\.d: a symbolic link"):
            attack([SYSCTL_FILE], image)
    with pytest.raises(CannotChange, match=r"sysctl\.d: a symbolic link"):
        persistence.remove(image)
    assert (out / "90-mptcplab.conf").exists()


@pytest.mark.parametrize(
    "text",
    ['{"files": {}, "folders": 5}', '{"files": {}, "folders": null}', "[" * 100_000, "\xff", "5", None],
    ids=["number", "null", "deep", "binary", "other", "directory"],
)
def test_a_damaged_list_is_an_error(image: Path, text: str | None) -> None:
    listed = image / persistence.LIST.lstrip("/")
    if text is None:
        listed.mkdir()
    else:
        listed.write_bytes(text.encode("latin-1"))
    with pytest.raises(CannotChange, match="is not a list of files"):
        persistence.remove(image)


def test_undo_removes_only_files_that_mptcplab_writes(image: Path) -> None:
    shadow = image / "etc/shadow"
    shadow.write_text("root:x")
    rows = {"files": {"/etc/shadow": persistence._hash("root:x")}, "folders": []}
    (image / persistence.LIST.lstrip("/")).write_text(json.dumps(rows))
    with pytest.raises(CannotChange, match="/etc/shadow is not a file of mptcplab"):
        persistence.remove(image)
    assert shadow.exists()


def test_a_pipe_in_the_place_of_a_file_is_kept(image: Path) -> None:
    persistence.write([SYSCTL_FILE], image)
    file = image / boot_files.SYSCTLS.lstrip("/")
    file.unlink()
    os.mkfifo(file)
    assert persistence.remove(image) == [boot_files.SYSCTLS]


def test_a_strange_name_of_an_interface_is_an_error(hosts: Hosts, root: Path) -> None:
    hosts.client.batch(["link set eth2 name a$b"])
    done = hosts.host("setup", "--dry-run", "--persist", "--root", str(root), "--gateway", "a$b=10.0.2.2")
    assert done.returncode == 2, done.stderr
    assert "a$b: --persist supports letters" in done.stderr
