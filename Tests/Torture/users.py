"""Two users, one of them hostile at full speed: how long the other waits for a small action."""

import ctypes
import multiprocessing
import os
import random
import signal
import socket
import time

from daemon import Daemon, Skipped
from wire import ANSWER, APPLIED, ASK, DISPATCH, HEADER, HELLO, LOST, MAGIC, OPEN, OUTCOME, REFUSED
from wire import Client, FastConnection, greet

HOSTILE, OTHER = 1001, 1002
BALLAST, BALLAST_BYTES = "/ballast/entries", 200_000
ALONE_SECONDS = 15
# Seconds until each hostile client has done something.
BEGIN_SECONDS = 300
PR_SET_PDEATHSIG = 1


class Failed(Exception):
    """The other user waited too long, or the daemon ended."""


# What a hostile client does: each runs in a separate process until it is ended, and counts what it did.


def spelled(path):
    """The path with some of its letters as percent escapes."""
    return "".join(
        f"%{ord(letter):02x}" if letter != "/" and random.random() < 0.5 else letter
        for letter in path)


def answers(connection, count):
    """Receives this many answers or refusals."""
    while count:
        if connection.receive().kind in (ANSWER, REFUSED):
            count -= 1


def checksums(path, count):
    """Asks for the checksum of one large value, in other spellings each time."""
    connection, _ = greet(path, "checksums")
    while True:
        for number in range(50):
            connection.send(
                ASK, {"checksum": {"path": spelled(BALLAST), "mode": "value"}}, number=number)
        answers(connection, 50)
        count.value += 50


def unread(path, count):
    """Asks for a large value on 20 connections, and reads nothing."""
    connections = [None] * 20
    while True:
        for index, connection in enumerate(connections):
            if connection is not None and not has_ended(connection.socket):
                continue
            connections[index] = connection = greet(path, "unread")[0]
            for number in range(8):
                connection.send(ASK, {"get": {"path": "/ballast"}}, number=number)
            count.value += 1
        time.sleep(0.05)


def has_ended(link):
    """Whether the daemon has closed the connection, as a write of no bytes shows."""
    try:
        link.send(b"", socket.MSG_DONTWAIT)
        return False
    except OSError:
        return True


def history(path, count):
    """Asks for the past: a state at a revision, the log, an export."""
    connection, welcome = greet(path, "history")
    while True:
        at = [welcome["epoch"], random.randrange(1, 100)]
        asks = [{"past": {"path": "/ballast", "at": at}}, {"past": {"path": "/kv", "at": at}},
                {"log": {"path": "/", "from": [welcome["epoch"], 1]}},
                {"export": {"path": "/", "at": at}}]
        for number, ask in enumerate(asks):
            connection.send(ASK, ask, number=number)
        answers(connection, len(asks))
        count.value += len(asks)


def storm(path, count):
    """Connects and ends the connection: before, amid and after the greeting."""
    while True:
        link = socket.socket(socket.AF_UNIX)
        link.connect(path)
        stage = count.value % 3
        if stage == 1:
            link.send(HEADER.pack(9, HELLO, 0, 0, 0, MAGIC))
        link.close()
        if stage == 2:
            greet(path, "storm")[0].close()
        count.value += 1


def large(path, count):
    """Sends actions of nearly 1 MiB, four of them at a time."""
    connection, _ = greet(path, "large")
    connection.send(OPEN, {"path": "/kv"}, id=0, number=1)
    entries = {str(index): os.urandom(120_000).hex() for index in range(4)}
    ordinal = done = 0
    while True:
        while ordinal - done < 4:
            ordinal += 1
            connection.send(DISPATCH, {"merge": {"entries": entries}}, number=ordinal)
        frame = connection.receive()
        if frame.kind == APPLIED:
            done += frame.id
        elif frame.kind == OUTCOME:
            done += 1
        count.value = done


TRICKS = [checksums, unread, history, storm, large]


def hostile(trick, path, count):
    """Runs a trick as the hostile user; connects again when the daemon ends a connection."""
    become(HOSTILE)
    # The processors are shared with the tested daemon and the other user, and their scheduling is
    # not what is measured.
    os.nice(10)
    while True:
        try:
            trick(path, count)
        except (*LOST, AssertionError, KeyError):
            time.sleep(0.01)


def become(uid):
    parent = os.getppid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)
    # After the change of the user, which resets it: the process ends with the script.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


# The other user


def measure(path, seconds, pipe):
    """Sends small actions one after another as the other user; reports how long each took."""
    become(OTHER)
    client = Client(path, "other")
    durations, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        begun = time.perf_counter()
        outcome = client.dispatch("/visits", {"increment": {"by": 1}})
        durations.append(time.perf_counter() - begun)
        if "applied" not in outcome:
            pipe.send(f"an increment was not applied: {outcome}")
            return
    pipe.send(durations)


# The daemon's own durations, by the names of its metrics.
MEASURED = {
    "turn": "turn_seconds", "lag": "loop_lag_seconds", "commit": "journal_commit_seconds"}


class Metrics:
    """What the daemon has measured so far: durations by their upper bounds."""

    def __init__(self, daemon):
        operator = Client(daemon.socket, "operator")
        text = operator.ask({"metrics": {}})
        operator.connection.close()
        self.counts = {name: {} for name in MEASURED}
        for line in text.splitlines():
            for name, metric in MEASURED.items():
                start = f'reactord_{metric}_bucket{{le="'
                if line.startswith(start):
                    bound, count = line[len(start):].split('"} ')
                    self.counts[name][float(bound)] = int(count)

    def since(self, former):
        """For each duration, the bound below which 99 of 100 were, in milliseconds."""
        texts = []
        for name, counts in self.counts.items():
            counts = {bound: count - former.counts[name][bound] for bound, count in counts.items()}
            total = max(counts.values())
            p99 = min((bound for bound, count in counts.items() if count >= 0.99 * total), default=0)
            texts.append(f"{name} {1000 * p99:g}")
        return ", ".join(texts)


class Row:
    """The durations of one phase, in milliseconds."""

    def __init__(self, name, durations, done, measured):
        durations = sorted(1000 * duration for duration in durations)
        self.name, self.count, self.done, self.measured = name, len(durations), done, measured
        self.p50, self.p99 = durations[len(durations) // 2], durations[len(durations) * 99 // 100]
        self.most = durations[-1]

    def __str__(self):
        return (f"  {self.name:10} {self.count:7} actions  p50 {self.p50:8.2f} ms"
                f"  p99 {self.p99:8.2f} ms  max {self.most:8.2f} ms  hostile: {self.done};"
                f" the daemon's p99 in ms: {self.measured}")


def phase(name, daemon, tricks, seconds):
    """Measures the other user while the tricks run."""
    forks = multiprocessing.get_context("fork")
    counts = {trick.__name__: forks.Value("q", 0, lock=False) for trick in tricks}
    attackers = [
        forks.Process(target=hostile, args=(trick, daemon.socket, counts[trick.__name__]))
        for trick in tricks]
    for attacker in attackers:
        attacker.start()
    try:
        # Until each of them has begun.
        end = time.monotonic() + BEGIN_SECONDS
        while not all(count.value for count in counts.values()):
            if not daemon.is_running():
                raise Failed(f"the daemon ended: {daemon.tail()}")
            if time.monotonic() > end:
                idle = [name for name, count in counts.items() if not count.value]
                raise Failed(f"nothing was done within {BEGIN_SECONDS} s by {', '.join(idle)}")
            time.sleep(0.05)
        former = Metrics(daemon)
        ours, theirs = forks.Pipe()
        other = forks.Process(target=measure, args=(daemon.socket, seconds, theirs))
        other.start()
        theirs.close()
        try:
            durations = ours.recv()
        except EOFError:
            raise Failed(f"the other user's client ended: {daemon.tail()}") from None
        other.join()
        measured = Metrics(daemon).since(former)
        for attacker in attackers:
            if not attacker.is_alive():
                raise Failed(f"{name}: a hostile client ended by itself")
    finally:
        for attacker in attackers:
            attacker.kill()
            attacker.join()
    if isinstance(durations, str) or not daemon.is_running():
        raise Failed(f"{name}: {durations if isinstance(durations, str) else daemon.tail()}")
    done = " ".join(f"{name} {count.value}" for name, count in counts.items())
    row = Row(name, durations, done or "-", measured)
    print(row, flush=True)
    return row


EXTRA = """\
access:
  rules:
    - {path: /, to: anyone, may: [read, actions, history]}
"""


def run(binary, home, seconds, seed, quota=None, judges=True, only=None):
    """Measures the other user alone, beside each trick, and for `seconds` beside all of them.

    With `only`, beside the tricks of these names.
    """
    if os.geteuid() != 0:
        raise Skipped("only root starts processes of other users")
    random.seed(seed)
    os.chmod(home, 0o755)
    extra = EXTRA
    if quota:
        extra += f"quotas:\n  - {{to: {{uid: {HOSTILE}}}, {quota}}}\n"
    daemon = Daemon(
        binary, os.path.join(home, "users"), {"snapshotInterval": "10s"}, mode="0666", extra=extra)
    os.chmod(daemon.home, 0o755)
    if not daemon.start():
        raise Failed(f"does not start: {daemon.tail()}")
    try:
        filler = Client(daemon.socket, "filler")
        for index in range(32 if not judges else 320):
            value = os.urandom(BALLAST_BYTES // 2).hex()
            outcome = filler.dispatch("/ballast", {"set": {"key": str(index), "value": value}})
            if "applied" not in outcome:
                raise Failed(f"the ballast was not applied: {outcome}")
        filler.connection.close()
        alone = phase("alone", daemon, [], min(seconds, ALONE_SECONDS))
        names = only or [trick.__name__ for trick in TRICKS] + ["all"]
        rows = [
            phase(trick.__name__, daemon, [trick], max(1, seconds // 5))
            for trick in TRICKS if trick.__name__ in names]
        if "all" in names:
            rows.append(phase("all", daemon, TRICKS, seconds))
        most = max(10, 3 * alone.p50)
        late = [row.name for row in rows if row.p99 > most]
        if judges and late:
            raise Failed(f"p99 above {most:.1f} ms beside {', '.join(late)}")
        return {"actions": sum(row.count for row in rows), "worst p99": max(row.p99 for row in rows)}
    finally:
        if daemon.is_running():
            daemon.kill()
