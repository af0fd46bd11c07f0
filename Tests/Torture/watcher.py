"""Clients that follow the state, and compare received updates with the actual state."""

import threading
import time

from wire import *
from worker import Violation


def reduced(state, path, mutation):
    """Applies a mutation to the state of a counter or of a map."""
    name, payload = next(iter(mutation.items()))
    if path == "/visits":
        state["count"] = state["count"] + payload if name == "added" else 0
    elif name == "set":
        state["entries"][payload["key"]] = payload["value"]
    elif name == "removed":
        state["entries"].pop(payload["key"], None)
    elif name == "merged":
        state["entries"].update(payload["entries"])
    else:
        assert name == "cleared", mutation
        state["entries"].clear()


class Slice:
    """One slice in a client's copy."""

    def __init__(self, path, mode):
        self.path, self.mode = path, mode
        self.value, self.id, self.start = None, None, None
        self.last = 0  # number of its last delta
        self.mark = 0  # the sequence up to which it is complete
        self.epoch = None  # the epoch of the mark
        self.origins = {}  # of the received deltas: sequence by origin
        self.floor = 0  # sequence of its last snapshot, which has no origins
        self.is_cut = False  # whether its value is of another epoch and will be replaced

    def apply(self, frame):
        if frame.kind == SNAPSHOT:
            if self.value is not None and bool(frame.flags & FRESH) != self.is_cut:
                raise Violation(f"{self.path}: flags {frame.flags}, another epoch: {self.is_cut}")
            self.value, self.last = frame.item(), frame.number
            self.floor, self.is_cut = frame.number, False
        elif frame.kind == VALUE:
            if self.is_cut and frame.flags & PATCH:
                raise Violation(f"{self.path}: a patch of what is of another epoch")
            self.value, self.is_cut = patched(self.value, frame), False
            if frame.number < self.last:
                raise Violation(f"{self.path}: a value of {frame.number} after {self.last}")
            self.last = frame.number
        elif frame.kind == DELTA:
            if frame.number < self.last or self.value is None:
                raise Violation(f"{self.path}: a delta of {frame.number} after {self.last}")
            self.last = frame.number
            origin, *mutations = frame.items()
            other = self.origins.setdefault(tuple(origin), frame.number)
            if other != frame.number and tuple(origin) != (0, 0):
                raise Violation(f"{self.path}: {origin} twice, as {other} and {frame.number}")
            for mutation in mutations:
                reduced(self.value, self.path, mutation)
        elif frame.kind == GONE:
            raise Violation(f"{self.path}: gone")


class Watcher(threading.Thread):
    """Follows a counter and a map by deltas, and two more slices by value, across daemons."""

    def __init__(self, number, path, gate):
        super().__init__(daemon=True, name=f"watcher-{number}")
        self.path, self.gate = path, gate
        self.is_parked, self.failure = False, None
        self.slices = [
            Slice("/visits", "replica"), Slice("/kv", "replica"),
            Slice("/members", "value"), Slice("/jobs", "value"),
        ]
        self.connection, self.epoch, self.mark = None, None, 0
        self.pending, self.starts, self.lags = [], {}, 0
        self.is_lossy = False
        self.cut_count = 0  # slices whose history the daemon declared void

    def run(self):
        try:
            while True:
                self.gate.park(self)
                if self.gate.has_ended:
                    break
                try:
                    if self.connection is None:
                        self.subscribe()
                    while not self.gate.has_ended:
                        self.take(self.connection.receive())
                except LOST:
                    self.lose()
                    time.sleep(0.002)
        except BaseException as error:
            self.failure = error
        finally:
            with self.gate.change:
                self.is_parked = True
                self.gate.change.notify_all()

    def lose(self):
        if self.connection is not None:
            self.connection.close()
        # Frames after the last mark were not applied.
        self.connection, self.pending = None, []
        for slice in self.slices:
            slice.id = None

    def subscribe(self):
        """Resumes with its copies."""
        self.connection, welcome = greet(self.path, self.name)
        if self.epoch not in (None, welcome["epoch"]):
            if not self.is_lossy:
                raise Violation(f"{self.name}: another epoch: {welcome}")
            for slice in self.slices:
                slice.origins, slice.last, slice.floor = {}, 0, 0
            self.mark = 0
        if welcome["sequence"] < self.mark:
            raise Violation(f"{self.name}: the mark was {self.mark}, now {welcome}")
        self.epoch = welcome["epoch"]
        self.connection.send(OPEN, {"path": "/visits"}, id=0, number=1)
        for number, slice in enumerate(self.slices, 10):
            body = {"path": slice.path, "mode": slice.mode, "patches": slice.mode == "value"}
            # An earlier mark says nothing about a slice whose value has not arrived.
            asked = slice.mark
            slice.is_cut = slice.epoch not in (None, self.epoch)
            self.cut_count += slice.is_cut
            if slice.value is not None:
                body["from"] = [slice.epoch, asked]
            self.connection.send(SUBSCRIBE, body, number=number)
            frame = self.until(SUBSCRIBED, number)
            slice.id, told = frame.id, frame.item()
            slice.start = told["start"]
            self.starts[slice.start] = self.starts.get(slice.start, 0) + 1
            if (slice.is_cut or slice.value is None) and slice.start != "snapshot":
                raise Violation(f"{self.name}: {told} without a past")
            if slice.start != "snapshot" and told["sequence"] != asked:
                raise Violation(f"{self.name}: {told}, expected {asked}")

    def until(self, kind, number):
        while True:
            frame = self.connection.receive()
            if frame.kind == REFUSED:
                raise Violation(f"{self.name}: {frame.item()}")
            if frame.kind == kind and frame.number == number:
                return frame
            self.take(frame)

    def take(self, frame):
        if frame.kind in (SNAPSHOT, DELTA, VALUE, GONE):
            self.pending.append(frame)
        elif frame.kind == LAG:
            self.lags += 1
        elif frame.kind == MARK:
            if frame.number < self.mark:
                raise Violation(f"{self.name}: mark {frame.number} after {self.mark}")
            for update in self.pending:
                for slice in self.slices:
                    if slice.id == update.id:
                        slice.apply(update)
            self.pending, self.mark = [], frame.number
            for slice in self.slices:
                if slice.id is not None:
                    slice.mark, slice.epoch = frame.number, self.epoch

    def compare(self):
        """Compares its copies with the daemon's state; requires that no client acts."""
        if self.connection is None:
            self.subscribe()
        for number, slice in enumerate(self.slices, 100):
            self.connection.send(ASK, {"get": {"path": slice.path}}, number=number)
            revision, _, value = self.until(ANSWER, number).item()
            # A pong in a later turn comes after all updates up to the answer's.
            self.connection.send(PING, number=number)
            self.until(PONG, number)
            if slice.is_cut or slice.value != value:
                raise Violation(
                    f"{self.name}: {slice.path} from {slice.start} at {self.mark} differs at "
                    f"{revision}: {difference(slice.value, value)}"
                )

    def check(self, workers):
        """Checks that deltas have the sequences of the outcomes, and none is missing."""
        visits = self.slices[0]
        for worker in workers:
            for action in worker.actions.values():
                if action.is_applied and action.kind in ("increment", "batch"):
                    seen = visits.origins.get((action.client, action.ordinal))
                    # Actions within a snapshot come without their origins.
                    if seen is None and action.sequence > visits.floor:
                        raise Violation(f"{self.name} never saw {action}")
                    if seen not in (None, action.sequence):
                        raise Violation(f"{self.name} saw {action} as {seen}")


def difference(ours, theirs):
    """Describes briefly where two values differ."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in [*ours, *theirs]:
            if ours.get(key) != theirs.get(key):
                return f"at {key}: {difference(ours.get(key), theirs.get(key))}"
    return f"{str(ours)[:200]} is not {str(theirs)[:200]}"
