"""A memory control group that one client fills: the daemon converges, and starts again in it."""

import os
import random
import signal
import time
import zlib

from daemon import Daemon, Skipped
from wire import LOST, Client, Refused

LIMIT = 300_000_000
# Sizes of the values in a round, of which each value has one.
SIZES = [[100_000], [20_000, 200_000], [1_000, 50_000, 250_000]]


class Failed(Exception):
    """A promise was broken."""


class Group:
    """A memory control group, of version 1 or 2."""

    def __init__(self, name, limit):
        older = "/sys/fs/cgroup/memory"
        is_older = os.path.exists(os.path.join(older, "memory.limit_in_bytes"))
        self.path = os.path.join(older if is_older else "/sys/fs/cgroup", name)
        self.peak_file = "memory.max_usage_in_bytes" if is_older else "memory.peak"
        self.events_file = "memory.oom_control" if is_older else "memory.events"
        try:
            os.mkdir(self.path)
            self.write("memory.limit_in_bytes" if is_older else "memory.max", limit)
            if not is_older:
                self.write("memory.swap.max", 0)
        except OSError as error:
            self.remove()
            raise Skipped(f"no memory control group can be made: {error}") from None

    def write(self, name, value):
        with open(os.path.join(self.path, name), "w") as file:
            file.write(str(value))

    def read(self, name):
        with open(os.path.join(self.path, name)) as file:
            return file.read()

    @property
    def wrapper(self):
        """The words that start a program in the group."""
        return ["/bin/sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', self.path]

    @property
    def peak(self):
        return int(self.read(self.peak_file))

    @property
    def kills(self):
        """How many processes the kernel has ended for lack of memory."""
        words = self.read(self.events_file).split()
        return int(words[words.index("oom_kill") + 1]) if "oom_kill" in words else 0

    def remove(self):
        # The group has its last process for a moment longer.
        for _ in range(100):
            try:
                return os.rmdir(self.path)
            except FileNotFoundError:
                return None
            except OSError:
                time.sleep(0.05)
        return None


class Filler:
    """A client that adds entries of random bytes, and knows the checksums of those that are there."""

    def __init__(self, daemon, source):
        self.daemon, self.random, self.sizes = daemon, source, SIZES[0]
        self.sums, self.bytes, self.last, self.client = {}, {}, 0, None

    def act(self, action):
        """The code of the rejection, or None; connects again if the daemon ends the connection."""
        for _ in range(100):
            try:
                if self.client is None:
                    self.client = Client(self.daemon.socket, "filler")
                outcome = self.client.dispatch("/kv", action)
                return None if "applied" in outcome else outcome["rejected"]["code"]
            except LOST:
                self.client = None
                if not self.daemon.is_running():
                    raise Failed(f"the daemon ended: {self.daemon.tail()}") from None
                time.sleep(0.1)
        raise Failed(f"no client is admitted: {self.daemon.tail()}")

    @property
    def byte_count(self):
        return sum(self.bytes.values())

    def grow(self, key=None):
        """Adds an entry, or replaces one."""
        if key is None:
            self.last += 1
            key = str(self.last)
        value = self.random.randbytes(self.random.choice(self.sizes) // 2).hex()
        code = self.act({"set": {"key": key, "value": value}})
        if code is None:
            self.sums[key], self.bytes[key] = zlib.crc32(value.encode()), len(value)
        return code

    def fill(self):
        """Grows until ten actions in a row are refused."""
        refused = 0
        begin = self.last
        while refused < 10:
            # Replaced values count as growth until the daemon measures the state.
            replaced = self.random.choice(list(self.sums)) if self.random.random() < 0.2 else None
            code = self.grow(replaced)
            if code not in (None, "MEMORY_FULL"):
                raise Failed(f"refused with {code}: {self.daemon.tail()}")
            refused = refused + 1 if code else 0
            if self.last - begin > 100_000 or self.byte_count > LIMIT:
                raise Failed(f"never full: {self.daemon.tail()}")

    def shrink(self, count):
        for key in self.random.sample(sorted(self.sums), count):
            code = self.act({"remove": {"key": key}})
            if code is not None:
                raise Failed(f"a removal was refused with {code}: {self.daemon.tail()}")
            del self.sums[key], self.bytes[key]

    def check(self):
        """Compares what is there, entry by entry, with what was acknowledged."""
        client = Client(self.daemon.socket, "checker")
        for number in range(1, self.last + 1):
            value = client.get(f"/kv/entries/{number}")
            found = None if value is None else zlib.crc32(value.encode())
            if found != self.sums.get(str(number)):
                raise Failed(f"entry {number} is not what was acknowledged")
        client.connection.close()

    def ask_for_all(self):
        """Asks for the whole state, whose answer may not fit: then BUSY, which names the limit."""
        client = Client(self.daemon.socket, "reader")
        try:
            if len(client.get("/kv")["entries"]) != len(self.sums):
                raise Failed("the whole state is not what was acknowledged")
            return True
        except Refused as refused:
            if refused.code != "BUSY" or "memoryMax" not in str(refused):
                raise Failed(f"the whole state was refused: {refused}") from None
            return False
        finally:
            client.connection.close()


def run(binary, home, seed, rounds):
    """Fills the group, shrinks, and starts again in it, `rounds` times."""
    group = Group(f"reactord-torture-{os.getpid()}", LIMIT)
    daemon = Daemon(
        binary, os.path.join(home, "memory"), {"snapshotBytes": "32MiB", "snapshotInterval": "5s"},
        wrapper=group.wrapper, limits={"stateBytesMax": "100%"})
    counts = []
    try:
        if not daemon.becomes_ready():
            raise Failed(f"does not start: {daemon.tail()}")
        filler = Filler(daemon, random.Random(seed))
        ceiling = Client(daemon.socket, "limits").ask({"limits": {}})["memoryMax"]
        if not 0.75 * LIMIT < ceiling < 0.85 * LIMIT:
            raise Failed(f"memoryMax is {ceiling}, the group has {LIMIT}")
        for number in range(rounds):
            filler.sizes = SIZES[number % len(SIZES)]
            filler.fill()
            counts.append(filler.byte_count)
            # The reserve keeps half of the ceiling free; the process needs some megabytes.
            if not 0.3 * ceiling < counts[-1] < 0.6 * ceiling:
                raise Failed(f"full at {counts[-1]} bytes of states: {daemon.tail()}")
            filler.shrink(5)
            filler.check()
            was_answered = filler.ask_for_all()
            daemon.kill(signal.SIGTERM if number % 2 else signal.SIGKILL)
            filler.client = None
            if not daemon.becomes_ready():
                raise Failed(f"does not start in the same group: {daemon.tail()}")
            filler.check()
            # What was removed makes room again.
            filler.shrink(len(filler.sums) // 2)
            deadline = time.monotonic() + 60
            while filler.grow() is not None:
                if time.monotonic() > deadline:
                    raise Failed(f"half of the states removed, and still full: {daemon.tail()}")
                time.sleep(0.2)
            answer = "answered" if was_answered else "BUSY"
            print(f"  round {number + 1}: full at {counts[-1] >> 20} MiB of values, the whole state "
                  f"was {answer}, peak of the group {group.peak >> 20} MiB, processes killed "
                  f"{group.kills}", flush=True)
        if group.kills:
            raise Failed(f"the kernel has killed {group.kills} processes of the group")
        return {"rounds": rounds, "bytes": counts, "peak": f"{group.peak >> 20} MiB"}
    finally:
        if daemon.is_running():
            daemon.kill()
        group.remove()
