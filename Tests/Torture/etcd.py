"""Three members of etcd, with the settings that Config/cluster gives to operators."""

import json
import os
import re
import signal
import socket
import subprocess
import time

from daemon import Skipped
from worker import Violation

ETCD = "/usr/bin/etcd"
SETTINGS = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "..", "..", "Config", "cluster", "etcd.conf.yml")
PORT = 2380
# How etcd calls in its log what its file calls otherwise.
SHOWN_AS = {"experimental-initial-corrupt-check": "initial-corrupt-check"}
# What etcd does not show in its first line, and what it reads only without data.
HIDDEN = {"logger", "log-outputs", "log-level"}
INITIAL = {"initial-cluster", "initial-cluster-token", "initial-cluster-state"}


def settings(replaced):
    """The operators' file with other values for some of its fields, each of which it must have."""
    lines = []
    missing = set(replaced)
    with open(SETTINGS) as file:
        for line in file:
            field = re.match(r"([a-z0-9-]+): ", line)
            if field and field[1] in replaced:
                line = f"{field[1]}: {replaced[field[1]]}\n"
                missing.discard(field[1])
            lines.append(line)
    if missing:
        raise Violation(f"{SETTINGS} has no {sorted(missing)}")
    return "".join(lines)


def fields(text):
    """The fields and values of settings, which are one a line."""
    return dict(re.findall(r"^([a-z0-9-]+): (.*)$", text, re.MULTILINE))


class Etcd:
    """Three members in one directory, whose clients use Unix sockets.

    With a network, each member runs on its machine there and has the others' addresses. Without
    one, the members speak to each other over Unix sockets. Each member's data are in its own one of
    the directories `places`, if there are any.
    """

    def __init__(self, home, network=None, places=None):
        if not os.access(ETCD, os.X_OK):
            raise Skipped(f"there is no {ETCD}: Debian's package etcd-server has it")
        self.home = os.path.join(home, "etcd")
        os.makedirs(self.home, mode=0o700)
        self.network = network
        self.data = (
            [os.path.join(place, "etcd") for place in places] if places
            else [f"data-{member}" for member in range(3)])
        self.processes = [None] * 3

    def socket(self, member):
        return os.path.join(self.home, f"client-{member}:1")

    def peer(self, member):
        if self.network is None:
            return f"unix://peer-{member}:1"
        return f"http://{self.network.address(member)}:{PORT}"

    def start(self, member):
        for kind in ("client", "peer"):
            # etcd does not start where the socket of its last run is left.
            path = os.path.join(self.home, f"{kind}-{member}:1")
            if os.path.exists(path):
                os.remove(path)
        peer, client = self.peer(member), f"unix://client-{member}:1"
        text = settings({
            "name": f"m{member}", "data-dir": self.data[member],
            "listen-client-urls": client, "advertise-client-urls": client,
            "listen-peer-urls": peer, "initial-advertise-peer-urls": peer,
            "initial-cluster": ",".join(f"m{other}={self.peer(other)}" for other in range(3)),
            "initial-cluster-token": "torture",
        })
        with open(os.path.join(self.home, f"{member}.yml"), "w") as file:
            file.write(text)
        path = os.path.join(self.home, f"log-{member}")
        with open(path, "ab") as log:
            size = log.tell()
            self.processes[member] = subprocess.Popen(
                [*(self.network.enter(member) if self.network else []),
                 ETCD, "--config-file", f"{member}.yml"],
                cwd=self.home, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True)
        self.check_settings(member, text, path, size)

    def check_settings(self, member, text, path, size):
        """etcd ignores fields that it does not know, and shows what it uses in its log."""
        deadline = time.monotonic() + 20
        while True:
            with open(path, "rb") as log:
                log.seek(size)
                lines = [line for line in log.read().splitlines(True)
                         if b'"starting an etcd server"' in line and line.endswith(b"\n")]
            if lines:
                break
            if self.processes[member].poll() is not None or time.monotonic() > deadline:
                raise Violation(f"member {member} of etcd does not start: {self.tail(member)}")
            time.sleep(0.005)
        shown = json.loads(lines[0])
        for name, value in fields(text).items():
            used = shown.get(SHOWN_AS.get(name, name))
            if name.endswith("-urls"):
                value = [value]
            elif name in ("heartbeat-interval", "election-timeout"):
                value += "ms"
            elif value in ("true", "false"):
                value = value == "true"
            elif value.isdigit():
                value = int(value)
            if name in HIDDEN or name in INITIAL and shown["member-initialized"]:
                continue
            if used != value:
                raise Violation(f"etcd ignores {name}: {value} of {SETTINGS}: it uses {used}")

    def signal(self, member, number):
        self.processes[member].send_signal(number)

    def kill(self, member):
        self.processes[member].kill()
        self.processes[member].wait()

    def tail(self, member, count=1_500):
        with open(os.path.join(self.home, f"log-{member}"), "rb") as file:
            return file.read()[-count:].decode(errors="replace")

    # What the members say of themselves

    def metrics(self, member, *names):
        """The values of metrics; None if the member does not answer within half a second."""
        client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        client.settimeout(0.5)
        text = bytearray()
        try:
            client.connect(self.socket(member))
            client.sendall(b"GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n")
            while piece := client.recv(1 << 18):
                text += piece
        except OSError:
            return None
        finally:
            client.close()
        found = [re.search(rf"^{name} (\S+)$", text.decode(), re.MULTILINE) for name in names]
        return [float(match[1]) for match in found] if all(found) else None

    def leader(self):
        """The member that leads the others, by its own account.

        None during an election, and while a member that was cut off still claims it beside another.
        """
        claims = [member for member in range(3)
                  if self.metrics(member, "etcd_server_is_leader") == [1]]
        return claims[0] if len(claims) == 1 else None

    def close(self):
        for process in self.processes:
            if process is not None and process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
                process.wait()
