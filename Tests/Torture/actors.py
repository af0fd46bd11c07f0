"""Clients of a cluster's nodes, and what they keep of all that they are told."""

import select
import threading
import time
import zlib
from bisect import bisect_right

from wire import *
from worker import Loss, Violation

# A node serves no state that it knows to be older than this, in seconds: `staleMax`, by default.
STALE_MAX = 2.0
# For a loop that is late, on a busy machine.
STALE_SLACK = 0.25


def amount(key):
    """By how much a key's action increments the counter, which so shows what actions it had."""
    return zlib.crc32(key.encode()) % 1_000_003 + 1


def expect_orderly(name, end):
    """A daemon that ends, hands over or is cut off blames no client when it closes connections."""
    if isinstance(end, TimeoutError):
        raise Violation(f"{name}: no outcome within {Actor.PATIENCE} s")
    reason = getattr(end, "reason", None)
    if reason and reason["code"] not in ("CUT", "DRAINING", "BUSY"):
        raise Violation(f"{name}: closed with {reason}")


def is_cut(end):
    """Whether the node closed the connection with CUT."""
    reason = getattr(end, "reason", None)
    return bool(reason) and reason["code"] == "CUT"


class Ledger:
    """Every action's key, by the outcome that its client was told, and when."""

    def __init__(self):
        self.lock = threading.Lock()
        self.applied, self.refused, self.unknown = {}, set(), set()
        # When each acknowledgement came, and the highest sequence of those up to it.
        self.times, self.highest = [], []

    def apply(self, key, sequence):
        with self.lock:
            if key in self.applied:
                raise Violation(f"{key} was told twice")
            self.applied[key] = sequence
            self.times.append(time.monotonic())
            self.highest.append(max(sequence, self.highest[-1] if self.highest else 0))

    def refuse(self, key):
        with self.lock:
            self.refused.add(key)

    def forget(self, key):
        with self.lock:
            self.unknown.add(key)

    def gap(self, since):
        """The longest time without an acknowledgement after `since`."""
        with self.lock:
            times = [since] + [moment for moment in self.times if moment >= since]
        return max((after - before for before, after in zip(times, times[1:])), default=0.0)

    def count(self, since, until):
        """Number of acknowledgements between two times."""
        with self.lock:
            return bisect_right(self.times, until) - bisect_right(self.times, since)

    def age(self, sequence, moment):
        """For how long, at a moment, a client has known an action after this sequence."""
        with self.lock:
            index = bisect_right(self.highest, sequence)
            return max(0.0, moment - self.times[index]) if index < len(self.times) else 0.0


class Actor(threading.Thread):
    """One session with one node, which acts there all the time, and resumes after each end."""

    WINDOW = 8
    PATIENCE = 60
    # Seconds between two actions at least, where three actors share the work: the map and the
    # history grow with each action, and an unoptimised daemon is slow with large ones.
    PACE = 0.02
    # The codes of refusals that a node may have a reason for.
    REFUSALS = ("ELSEWHERE", "POISONED")

    def __init__(self, daemon, name, ledger, count=3):
        super().__init__(name=name, daemon=True)
        self.path, self.ledger = daemon.socket, ledger
        self.pace = self.PACE * count / 3  # all actors together act as often as three
        self.session = self.epoch = self.error = None
        self.ends = []  # when connections ended, the daemon's reason, and the error
        self.told = 0.0  # when the last outcome came
        self.ordinal, self.sequence, self.count = 0, 0, 0
        self.applied = 0  # the highest ordinal of the session that is known to be applied
        self.due = 0.0  # when the next action may be sent
        self.pending = {}  # the bodies of actions without an outcome, by ordinal
        self.end, self.pause = threading.Event(), threading.Event()

    def run(self):
        try:
            while not self.end.is_set() or self.pending:
                try:
                    self.connect()
                    self.act()
                except LOST as end:
                    expect_orderly(self.name, end)
                    self.ends.append((time.monotonic(), getattr(end, "reason", None), repr(end)))
                    time.sleep(0.02)
        except BaseException as error:  # noqa: BLE001
            self.error = error

    def connect(self):
        self.connection, welcome = greet(self.path, self.name, self.session, 0, self.epoch)
        if self.epoch not in (None, welcome["epoch"]):
            raise Violation(f"{self.name}: another epoch: {welcome}")
        if self.session is not None and not welcome["isResumed"]:
            # A leader that was deposed takes a session with it that no row has.
            for _, key in self.pending.values():
                self.ledger.forget(key)
            self.pending, self.ordinal, self.applied = {}, 0, 0
        if welcome["sequence"] < self.sequence or welcome["ordinal"] < self.applied:
            raise Loss(f"{self.name}: {welcome} is behind what was told: sequence {self.sequence}, "
                       f"ordinal {self.applied}")
        self.session, self.epoch = welcome["session"], welcome["epoch"]
        self.connection.socket.settimeout(self.PATIENCE)
        self.connection.send(OPEN, {"path": "/visits"}, id=0, number=1)
        self.connection.send(OPEN, {"path": "/kv"}, id=1, number=2)
        for ordinal, (body, _) in sorted(self.pending.items()):
            self.connection.send(BATCH, body, number=ordinal)

    def act(self):
        while True:
            ends = self.end.is_set() or self.pause.is_set()
            while len(self.pending) < self.WINDOW and not ends and self.is_due():
                self.ordinal += 1
                self.count += 1
                key = f"{self.name}-{self.count}"
                body = [[0, {"increment": {"by": amount(key)}}],
                        [1, {"set": {"key": key, "value": 1}}]]
                self.pending[self.ordinal] = (body, key)
                self.connection.send(BATCH, body, number=self.ordinal)
            if not self.pending:
                if self.end.is_set():
                    return
                time.sleep(self.pace)
                continue
            self.take(self.connection.receive())

    def waiting(self):
        """The keys of actions without an outcome."""
        return {key for _, key in list(self.pending.values())}

    def is_due(self):
        """Whether the next action may be sent; a client that waited sends a window at once."""
        now = time.monotonic()
        if now < self.due:
            return False
        self.due = max(self.due, now - self.WINDOW * self.pace) + self.pace
        return True

    def take(self, frame):
        if frame.kind == APPLIED:
            first = frame.item()
            for index in range(frame.id):
                self.hear(frame.number + index, {"applied": {"sequence": first + index}})
        elif frame.kind == OUTCOME:
            self.hear(frame.number, frame.item())
        elif frame.kind == REFUSED:
            raise Violation(f"{self.name}: {frame.item()}")

    def hear(self, ordinal, outcome):
        if ordinal not in self.pending:
            raise Violation(f"{self.name}: an outcome without an action: {ordinal} {outcome}")
        _, key = self.pending.pop(ordinal)
        self.told = time.monotonic()
        if "applied" in outcome:
            self.sequence = outcome["applied"]["sequence"]
            self.applied = max(self.applied, ordinal)
            return self.ledger.apply(key, self.sequence)
        code = outcome["rejected"]["code"]
        if code not in self.REFUSALS:
            raise Violation(f"{self.name}: {outcome}")
        self.ledger.refuse(key)
        # A node without links that does not lead will not for a while.
        time.sleep(0.02)


class Received:
    """What a node showed to its readers, for the comparison with the history at the end."""

    def __init__(self):
        self.counts = []  # sequence, value of the counter
        self.sets = []  # sequence, number of keys, fingerprint of the keys
        self.keys = []  # sequence, key that a delta added
        self.added = []  # sequence, what a delta added to the counter

    def copy(self):
        other = Received()
        other.counts, other.sets = list(self.counts), list(self.sets)
        other.keys, other.added = list(self.keys), list(self.added)
        return other


def fingerprint(keys):
    """A number for a set of keys, which a key joins by `^ hash(key)`."""
    whole = 0
    for key in keys:
        whole ^= hash(key)
    return whole


class Follower(threading.Thread):
    """Mirrors the counter and the map at one node, and takes its mirrors up again after each end.

    On a connection, and from one to the next, no sequence goes back and none is passed over: every
    action changes both. What was shown is never taken back.
    """

    PATHS = ["/visits", "/kv"]

    def __init__(self, daemon, name):
        super().__init__(name=name, daemon=True)
        self.path, self.error, self.updates = daemon.socket, None, 0
        self.end = threading.Event()
        self.received = Received()
        self.epoch, self.sequence = None, 0
        # Of each path: the sequence of the last update, and the mirror's content after it.
        self.content = {}
        # The content at the last mark, from which a connection resumes.
        self.marked = {}

    def run(self):
        try:
            while not self.end.is_set():
                try:
                    self.follow()
                except LOST as end:
                    expect_orderly(self.name, end)
                    time.sleep(0.02)
        except BaseException as error:  # noqa: BLE001
            self.error = error

    def follow(self):
        client = Client(self.path, self.name)
        try:
            self.resume(client)
            while not self.end.is_set():
                if client.updates:
                    self.take(client.updates.popleft())
                # A frame is read to its end, as its beginning would be lost otherwise.
                elif select.select([client.connection.socket], [], [], 0.5)[0]:
                    self.take(client.connection.receive())
        finally:
            client.connection.close()

    def resume(self, client):
        if self.epoch not in (None, client.epoch):
            raise Violation(f"{self.name}: another epoch: {client.welcome}")
        self.epoch, self.content, self.slices = client.epoch, dict(self.marked), {}
        for path in self.PATHS:
            since = self.content[path][0] if path in self.content else None
            slice, granted = client.subscribe(path, "replica", since=since)
            if since is not None and granted["sequence"] < since:
                raise Loss(f"{self.name}: {granted} is behind what was shown: {since}")
            # Updates that came before the answer are without this path.
            while client.updates:
                self.take(client.updates.popleft())
            self.slices[slice] = path

    def take(self, frame):
        if frame.kind == SNAPSHOT:
            self.take_snapshot(self.slices[frame.id], frame)
        elif frame.kind == DELTA:
            self.take_delta(self.slices[frame.id], frame)
        elif frame.kind == MARK:
            if frame.number < self.sequence:
                raise Loss(f"{self.name}: {frame} after sequence {self.sequence}")
            late = [path for path in self.slices.values()
                    if self.content[path][0] != frame.number]
            if late:
                raise Violation(f"{self.name}: {frame}, but {late} are as of {self.content}")
            self.sequence = frame.number
            if len(self.slices) == len(self.PATHS):
                self.marked = dict(self.content)
        elif frame.kind == GONE:
            raise Violation(f"{self.name}: {frame}")

    def take_snapshot(self, path, frame):
        if frame.flags & FRESH and self.updates:
            raise Loss(f"{self.name}: what was shown is taken back: {frame.number}")
        if path == "/visits":
            content = frame.item()["count"]
            self.received.counts.append((frame.number, content))
        else:
            keys = frame.item()["entries"]
            content = (len(keys), fingerprint(keys))
            self.received.sets.append((frame.number, *content))
        self.content[path] = (frame.number, content)

    def take_delta(self, path, frame):
        sequence, content = self.content[path]
        if frame.number != sequence + 1:
            raise Violation(f"{self.name}: {path}: {frame} after sequence {sequence}")
        _, mutation = frame.items()
        if path == "/visits":
            content += mutation["added"]
            self.received.added.append((frame.number, mutation["added"]))
            self.received.counts.append((frame.number, content))
        else:
            key = mutation["set"]["key"]
            content = (content[0] + 1, content[1] ^ hash(key))
            self.received.keys.append((frame.number, key))
        self.content[path] = (frame.number, content)
        self.updates += 1


class Reader(threading.Thread):
    """Reads the counter at one node all the time, without waiting for the answers.

    An answer has all actions that a client knew of STALE_MAX before the request was sent, and all of
    each answer that had come by then. An answer to a later request may come first: a daemon encodes
    those beside its loop that are large, or may be, as it does not know after its start.
    """

    INTERVAL = 0.05

    def __init__(self, daemon, name, ledger):
        super().__init__(name=name, daemon=True)
        self.path, self.ledger, self.error = daemon.socket, ledger, None
        self.end = threading.Event()
        self.received = Received()
        self.oldest = 0.0  # seconds by which the oldest answer was behind its request
        self.served = 0.0  # when the last answered request was sent
        self.ends = []  # when connections ended, the daemon's reason, and the error
        self.judges = True  # whether an answer that is too old is a violation

    def run(self):
        try:
            while not self.end.is_set():
                try:
                    self.read()
                except LOST as end:
                    expect_orderly(self.name, end)
                    self.ends.append((time.monotonic(), getattr(end, "reason", None), repr(end)))
                    time.sleep(0.02)
        except BaseException as error:  # noqa: BLE001
            self.error = error

    def read(self):
        connection, _ = greet(self.path, self.name)
        try:
            # When each request was sent, and the highest sequence of an answer by then.
            sent, known, number, sequence = {}, {}, 0, 0
            while not self.end.is_set():
                due = max(sent.values(), default=0) + self.INTERVAL
                if time.monotonic() >= due or not sent:
                    number += 1
                    sent[number] = time.monotonic()
                    known[number] = sequence
                    connection.send(ASK, {"get": {"path": "/visits"}}, number=number)
                wait = max(0, sent[number] + self.INTERVAL - time.monotonic())
                if not connection.has_frame():
                    if not select.select([connection.socket], [], [], wait)[0]:
                        continue
                frame = connection.receive()
                if frame.kind == ANSWER:
                    sequence = max(sequence, self.take(
                        frame.item(), sent[frame.number], known.pop(frame.number)))
                    # The last one tells when the next is due.
                    if frame.number != number:
                        del sent[frame.number]
                elif frame.kind == REFUSED:
                    raise Violation(f"{self.name}: {frame.item()}")
        finally:
            connection.close()

    def take(self, answer, moment, former):
        (_, sequence), _, value = answer
        if sequence < former:
            raise Violation(
                f"{self.name}: sequence {sequence}, asked for after {former} had come")
        age = self.ledger.age(sequence, moment)
        self.oldest = max(self.oldest, age)
        if self.judges and age > STALE_MAX + STALE_SLACK:
            raise Loss(
                f"{self.name}: the answer {answer} to a request lacks an action that was told "
                f"{age:.2f} s before it was sent")
        self.received.counts.append((sequence, value["count"]))
        self.served = max(self.served, moment)
        return sequence


class Syncer(threading.Thread):
    """Reads at one node what must not be stale, one read after the other.

    A barrier for the current state, or for the last revision that any client was told of, is followed
    by a read: both have all that any client knew before.
    """

    PATIENCE = 60
    # Milliseconds after which the daemon refuses a barrier.
    WITHIN = 2_000

    def __init__(self, daemon, name, ledger):
        super().__init__(name=name, daemon=True)
        self.path, self.ledger, self.error = daemon.socket, ledger, None
        self.end = threading.Event()
        self.received = Received()
        self.times = []  # seconds until the answers to barriers for the current state
        self.refused = 0

    def run(self):
        try:
            while not self.end.is_set():
                try:
                    self.read()
                except LOST as end:
                    expect_orderly(self.name, end)
                    time.sleep(0.02)
        except BaseException as error:  # noqa: BLE001
            self.error = error

    def read(self):
        client = Client(self.path, self.name)
        client.connection.socket.settimeout(self.PATIENCE)
        try:
            while not self.end.is_set():
                self.sync(client, is_current=True)
                self.sync(client, at_least=self.told())
                time.sleep(0.05)
        finally:
            client.connection.close()

    def told(self):
        """The last sequence of an action that any client knows to be applied."""
        with self.ledger.lock:
            return self.ledger.highest[-1] if self.ledger.highest else 0

    def sync(self, client, **condition):
        since, told = time.monotonic(), condition.get("at_least", self.told())
        try:
            answer = client.sync(within=self.WITHIN, **condition)
        except Refused as refusal:
            if refusal.code not in ("DEADLINE", "BUSY"):
                raise Violation(f"{self.name}: {condition}: {refusal}")
            self.refused += 1
            return
        if "is_current" in condition:
            self.times.append(time.monotonic() - since)
        sequence = answer["revision"][1]
        (_, shown), _, value = client.ask({"get": {"path": "/visits"}})
        if sequence < told or shown < sequence:
            raise Loss(
                f"{self.name}: {condition} is answered with {answer}, and a read with sequence "
                f"{shown}, after a client was told of {told}")
        self.received.counts.append((shown, value["count"]))
