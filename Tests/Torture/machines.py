"""Three machines as network namespaces, and a router between them that drops packets on request."""

import atexit
import contextlib
import ctypes
import os
import re
import socket
import subprocess

from daemon import Skipped
from worker import Violation

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x4000_0000
PREFIX = "rt"


class Network:
    """Namespaces with a link each to a router, which is a namespace too.

    A cut is a rule of the router: packets that come from one machine for another vanish without an
    answer, as on a line that is cut somewhere else. Connections stay open at both ends, and resume
    if the cut is healed before they give up.
    """

    def __init__(self, count=3):
        self.count = count
        self.prefix = f"{PREFIX}{os.getpid()}"
        self.router = f"{self.prefix}-router"
        self.names = [f"{self.prefix}-{number}" for number in range(count)]
        self.dropped = set()  # pairs of machines: from, to
        self.remove_old()
        atexit.register(self.close)
        try:
            self.build()
        except (OSError, subprocess.CalledProcessError) as error:
            self.close()
            reason = getattr(error, "stderr", None) or str(error)
            raise Skipped(f"this machine makes no network namespaces: {reason.strip()}")
        self.check()

    def build(self):
        for name in [self.router, *self.names]:
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
        for number, name in enumerate(self.names):
            ip("-n", self.router, "link", "add", f"to-{number}", "type", "veth", "peer", "name",
               "net", "netns", name)
            for namespace, link, address in (
                    (self.router, f"to-{number}", f"10.87.{number}.1/24"),
                    (name, "net", f"{self.address(number)}/24")):
                ip("-n", namespace, "addr", "add", address, "dev", link)
                ip("-n", namespace, "link", "set", link, "up")
            ip("-n", name, "route", "add", "default", "via", f"10.87.{number}.1")
        with self.inside(self.router), open("/proc/sys/net/ipv4/ip_forward", "w") as file:
            file.write("1")

    def address(self, number):
        return f"10.87.{number}.2"

    def enter(self, number):
        """The words before a command that runs it on a machine, in the same process."""
        return ["nsenter", f"--net=/run/netns/{self.names[number]}"]

    # Cuts

    def drop(self, source, target):
        """Loses every packet from one machine to another; the other direction stays as it is."""
        if (source, target) not in self.dropped:
            self.rule("add", source, target)
            self.dropped.add((source, target))

    def cut(self, one, other):
        self.drop(one, other)
        self.drop(other, one)

    def isolate(self, number):
        for other in range(self.count):
            if other != number:
                self.cut(number, other)

    def heal(self):
        for source, target in sorted(self.dropped):
            self.rule("del", source, target)
        self.dropped.clear()

    def rule(self, verb, source, target):
        # A route to a black hole drops packets that the router forwards, and sends no error back.
        ip("-n", self.router, "rule", verb, "iif", f"to-{source}", "to", f"10.87.{target}.0/24",
           "blackhole")

    # Whether it works

    @contextlib.contextmanager
    def inside(self, name):
        """The sockets that this thread makes within the block belong to the namespace."""
        with open("/proc/thread-self/ns/net") as home, open(f"/run/netns/{name}") as place:
            enter_namespace(place)
            try:
                yield
            finally:
                enter_namespace(home)

    def passes(self, source, target):
        """Whether a packet from one machine reaches another."""
        with self.inside(self.names[target]):
            receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with self.inside(self.names[source]):
            sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with receiver, sender:
            receiver.bind((self.address(target), 0))
            receiver.settimeout(0.2)
            # An error of the network would come back to a connected socket.
            sender.connect(receiver.getsockname())
            sender.send(b"1")
            try:
                return receiver.recv(8) == b"1"
            except TimeoutError:
                sender.send(b"2")
                return False

    def is_kept(self, pair, is_cut):
        """Whether packets pass only where they should; a busy machine may lose some."""
        return not self.passes(*pair) if is_cut else any(self.passes(*pair) for _ in range(25))

    def check(self):
        """Each cut loses what it names, without an error to the sender, and nothing else."""
        pairs = [(a, b) for a in range(self.count) for b in range(self.count) if a != b]
        for dropped in [[], [(0, 1)], [(1, 0), (1, 2), (0, 1), (2, 1)], pairs]:
            for pair in dropped:
                self.drop(*pair)
            for pair in pairs:
                if not self.is_kept(pair, pair in dropped):
                    raise Violation(f"with {dropped} dropped, {pair} is otherwise")
            self.heal()

    # The end

    def close(self):
        """Removes the namespaces. Ends no process in them."""
        for name in [*self.names, self.router]:
            if os.path.exists(f"/run/netns/{name}"):
                subprocess.run(["ip", "netns", "del", name], capture_output=True)

    def remove_old(self):
        """Removes namespaces of runs that were killed."""
        names = os.listdir("/run/netns") if os.path.isdir("/run/netns") else []
        for name in names:
            match = re.fullmatch(rf"{PREFIX}(\d+)-(router|\d)", name)
            if match and not os.path.exists(f"/proc/{match[1]}"):
                subprocess.run(["ip", "netns", "del", name], capture_output=True)


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


def enter_namespace(file):
    if LIBC.setns(file.fileno(), CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")
