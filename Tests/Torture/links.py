"""The links between the daemons on a network's machines: spiped, as the units in Config run it."""

import os
import signal
import socket
import subprocess
import time

from daemon import Skipped
from worker import Violation

SPIPED = "/usr/bin/spiped"
PORT = 2382


class Links:
    """The processes of each machine.

    One accepts the other machines' links. For each other machine, one carries the link to it.

    The daemon of a machine accepts at `peer.sock` in the machine's directory. To reach another
    daemon, it connects to the socket in `peers` with the name of that one's machine.
    """

    def __init__(self, home, names, network):
        if not os.access(SPIPED, os.X_OK):
            raise Skipped(f"there is no {SPIPED}: Debian's package spiped has it")
        self.network, self.names = network, names
        self.homes = [os.path.join(home, name) for name in names]
        self.logs = os.path.join(home, "links")
        for place in [self.logs, *self.homes, *(os.path.join(one, "peers") for one in self.homes)]:
            os.makedirs(place, mode=0o700, exist_ok=True)
        self.key = os.path.join(home, "peers.key")
        with open(os.open(self.key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(os.urandom(32))
        # By the machine of the process, and the one whose daemon it leads to.
        self.processes = {}

    @property
    def machines(self):
        return range(len(self.names))

    def socket(self, machine, target):
        """Where the daemon of a machine reaches that of another, or where it accepts itself."""
        if machine == target:
            return os.path.join(self.homes[machine], "peer.sock")
        return os.path.join(self.homes[machine], "peers", self.names[target])

    def address(self, machine):
        return f"[{self.network.address(machine)}]:{PORT}"

    def words(self, machine, target):
        """The command, as in Config/systemd/reactord-spiped-*.service."""
        ends = ["-s", self.socket(machine, target), "-t", self.address(target)]
        if machine == target:
            ends = ["-s", self.address(machine), "-t", self.socket(machine, machine)]
        mode = "-d" if machine == target else "-e"
        return [*self.network.enter(machine), SPIPED, "-F", mode, "-g", *ends, "-k", self.key]

    # The processes

    def start(self, *machines):
        """Starts the processes of machines that have none; returns once all accept."""
        pairs = [(machine, target) for machine in machines for target in self.machines]
        for pair in pairs:
            self.begin(*pair)
        deadline = time.monotonic() + 120
        while late := [pair for pair in pairs if not self.accepts(*pair)]:
            if time.monotonic() > deadline:
                raise Violation(f"spiped does not accept at {late}: {self.tails()}")
            self.check()
            time.sleep(0.005)

    def begin(self, machine, target):
        if machine != target and os.path.exists(self.socket(machine, target)):
            # spiped does not start where the socket of its last run is left.
            os.remove(self.socket(machine, target))
        with open(self.log(machine, target), "ab") as log:
            self.processes[machine, target] = subprocess.Popen(
                self.words(machine, target), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True, umask=0o077)

    def accepts(self, machine, target):
        if machine != target:
            # A connection here would be one more to the other machine.
            return os.path.exists(self.socket(machine, target))
        with self.network.inside(self.network.names[machine]):
            probe = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        with probe:
            probe.settimeout(1)
            return probe.connect_ex((self.network.address(machine), PORT)) == 0

    def kill(self, machine):
        """kill -9 of all processes of a machine."""
        self.check()
        processes = [self.processes.pop((machine, target)) for target in self.machines]
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()

    def signal(self, machine, target, number):
        self.processes[machine, target].send_signal(number)

    def check(self):
        """A process that ended by itself is a violation: the operators' units would hide it."""
        for (machine, target), process in self.processes.items():
            if process.poll() is not None:
                raise Violation(
                    f"spiped on {self.names[machine]} for {self.names[target]} has ended by "
                    f"itself, with {process.returncode}: {self.tail(machine, target)}")

    def log(self, machine, target):
        return os.path.join(self.logs, f"{self.names[machine]}-{self.names[target]}")

    def tail(self, machine, target, count=500):
        with open(self.log(machine, target), "rb") as file:
            return file.read()[-count:].decode(errors="replace")

    def tails(self):
        """The ends of all logs, by machine and target."""
        return "\n".join(
            f"{self.names[machine]} for {self.names[target]}: {self.tail(machine, target)}"
            for machine, target in self.processes)

    def close(self):
        for process in self.processes.values():
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
                process.wait()
        self.processes = {}
