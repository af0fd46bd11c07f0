"""Members of etcd, with the settings that Config/cluster gives to operators."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time

from daemon import Skipped
from worker import Violation

# Where Debian installs etcd, or another one to test.
ETCD = os.environ.get("REACTORD_ETCD") or "/usr/bin/etcd"
ETCDCTL = shutil.which("etcdctl")
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
    """`count` members in one directory, whose clients use Unix sockets.

    With a network, each member runs on its machine there and has the others' addresses. Without
    one, the members speak to each other over Unix sockets. Each member's data are in its own one of
    the directories `places`, if there are any.
    """

    FILLER = "filler-"

    def __init__(self, home, network=None, places=None, count=3):
        if not os.access(ETCD, os.X_OK):
            if os.environ.get("REACTORD_ETCD"):
                raise Violation(f"REACTORD_ETCD: {ETCD} is not executable")
            raise Skipped(f"there is no {ETCD}: Debian's package etcd-server has it")
        self.home = os.path.join(home, "etcd")
        os.makedirs(self.home, mode=0o700)
        self.network, self.numbers = network, range(count)
        # The bytes at which a member is full from its next start on; None: as operators have it.
        self.quota = None
        self.data = (
            [os.path.join(place, "etcd") for place in places] if places
            else [f"data-{member}" for member in self.numbers])
        self.processes = [None] * count

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
            "initial-cluster": ",".join(
                f"m{other}={self.peer(other)}" for other in self.numbers),
            "initial-cluster-token": "torture",
            **({"quota-backend-bytes": self.quota} if self.quota else {}),
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
        deadline = time.monotonic() + 120
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
        claims = [member for member in self.numbers
                  if self.metrics(member, "etcd_server_is_leader") == [1]]
        return claims[0] if len(claims) == 1 else None

    # The operator's program

    def tool(self, *arguments, text=""):
        """Runs `etcdctl`, and again while the members elect a leader; returns what it printed.

        None if the members are full.
        """
        deadline = time.monotonic() + 60
        while True:
            run = subprocess.run(
                [ETCDCTL, "--endpoints", f"unix://{self.socket(0)}", *arguments], input=text,
                env={**os.environ, "ETCDCTL_API": "3"}, capture_output=True, text=True, timeout=60)
            if run.returncode == 0:
                return run.stdout
            if "database space exceeded" in run.stderr:
                return None
            if time.monotonic() > deadline:
                raise Violation(f"etcdctl {arguments}: {run.stdout}{run.stderr}")
            time.sleep(0.1)

    def size(self, seconds=120):
        """Bytes of the largest file of a member."""
        deadline = time.monotonic() + seconds
        while not all(sizes := [self.metrics(member, "etcd_mvcc_db_total_size_in_bytes")
                                for member in self.numbers]):
            if time.monotonic() > deadline:
                raise Violation(f"not all members show their size: {sizes}")
            time.sleep(0.05)
        return int(max(size[0] for size in sizes))

    def fill(self):
        """Stores values until the members are full and refuse every change."""
        value = "v" * (1 << 20)
        for number in range(self.quota >> 20):
            if self.tool("put", f"{self.FILLER}{number}", text=value) is None:
                return
        raise Violation(f"{self.quota} bytes of values do not fill the members")

    def end_alarm(self):
        """Lets the members accept changes again, and removes what filled them."""
        for words in (["alarm", "disarm"], ["del", "--prefix", self.FILLER]):
            if self.tool(*words) is None:
                raise Violation(f"the members are full again: {words}")

    def close(self):
        for process in self.processes:
            if process is not None and process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
                process.wait()
