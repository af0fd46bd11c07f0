"""A client of reactord, written from the wire format's article alone.

It uses the standard library and cbor2, and none of the daemon's code. It is as small as the wire
format allows: it reads frames one at a time and leaves the rest to its caller.
"""

import io
import socket
import struct
from collections import deque

import cbor2

HEADER = struct.Struct("<IBBHIQ")
MAGIC = int.from_bytes(b"REACTORD", "little")
FRAME_BYTES_MAX = 8 << 20

HELLO, GOODBYE, OPEN, DISPATCH, BATCH = 0x01, 0x02, 0x03, 0x04, 0x05
SUBSCRIBE, UNSUBSCRIBE, CONFIRM, ASK, PING = 0x06, 0x07, 0x08, 0x09, 0x0A
WELCOME, CLOSING, OPENED, REFUSED, APPLIED, OUTCOME = 0x41, 0x42, 0x43, 0x44, 0x45, 0x46
SUBSCRIBED, SNAPSHOT, DELTA, VALUE, MARK, GONE = 0x47, 0x48, 0x49, 0x4A, 0x4B, 0x4C
ANSWER, PONG, LAG, DONE, NOTICE = 0x4D, 0x4E, 0x4F, 0x50, 0x80

MORE, FRESH, ABSENT, OPTIONS, STRUCTURAL, PATCH = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20
AWAITED = 0x40


class Frame:
    """One frame; `body` is joined if the value came in parts."""

    def __init__(self, kind, flags, id, number, body):
        self.kind, self.flags, self.id, self.number, self.body = kind, flags, id, number, body

    def items(self):
        """The CBOR items of the body, one after another."""
        stream = io.BytesIO(self.body)
        items = []
        while stream.tell() < len(self.body):
            items.append(cbor2.load(stream))
        return items

    def item(self):
        """The only item of the body."""
        items = self.items()
        assert len(items) == 1, f"{self} holds {len(items)} items"
        return items[0]

    def __repr__(self):
        return (
            f"frame {self.kind:#04x} flags {self.flags:#04x} id {self.id} "
            f"number {self.number} body {self.body.hex()}"
        )


class Closed(Exception):
    """The daemon closed the connection; `reason` is the text of its `closing` frame, if any."""

    def __init__(self, reason=None):
        super().__init__(str(reason))
        self.reason = reason


def patched(value, frame):
    """The value of a slice after a `value` frame: a patched `value`, or a new one."""
    if not frame.flags & PATCH:
        return frame.item() if frame.body else None
    for place, *rest in frame.items():
        map = value
        for key in place[:-1]:
            map = map[key]
        if isinstance(map, list):
            # The order of a selection.
            if rest:
                map.insert(int(place[-1]), rest[0])
            else:
                del map[int(place[-1])]
        elif rest:
            map[place[-1]] = rest[0]
        else:
            map.pop(place[-1], None)
    return value


def checksum(data):
    """FNV-1a with 64 bits."""
    value = 14695981039346656037
    for byte in data:
        value = (value ^ byte) * 1099511628211 % (1 << 64)
    return value


class Connection:
    """A socket that transfers frames."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(60)
        self.socket.connect(path)
        self.parts = {}

    def send(self, kind, *items, flags=0, id=0, number=0):
        """Sends a frame; items that are bytes are CBOR already, all others are encoded."""
        body = b"".join(x if isinstance(x, bytes) else cbor2.dumps(x) for x in items)
        self.send_bytes(HEADER.pack(len(body), kind, flags, 0, id, number) + body)

    def send_bytes(self, data):
        try:
            self.socket.sendall(data)
        except BrokenPipeError:
            pass  # the daemon has closed the connection: its last frame, for `receive`, says why

    def receive(self):
        """Returns the next whole frame; the parts of a value are joined."""
        while True:
            length, kind, flags, reserved, id, number = HEADER.unpack(self.read(HEADER.size))
            assert reserved == 0 and flags & ~0x7F == 0, "reserved bits are set"
            assert length <= FRAME_BYTES_MAX, f"a body of {length} bytes"
            body = self.read(length)
            if kind >= 0x80 and kind != NOTICE:
                continue
            assert kind in KNOWN, f"unknown critical kind {kind:#04x}"
            key = (kind, id, number)
            self.parts[key] = self.parts.get(key, b"") + body
            if flags & MORE:
                continue
            frame = Frame(kind, flags, id, number, self.parts.pop(key))
            if kind == CLOSING:
                raise Closed(frame.item())
            return frame

    def read(self, count):
        data = bytearray()
        while len(data) < count:
            piece = self.socket.recv(count - len(data))
            if not piece:
                raise Closed()
            data += piece
        return bytes(data)

    def close(self):
        """Closes the connection without a goodbye, as a crash does."""
        self.socket.close()


KNOWN = {
    WELCOME, CLOSING, OPENED, REFUSED, APPLIED, OUTCOME, SUBSCRIBED, SNAPSHOT, DELTA, VALUE, MARK,
    GONE, ANSWER, PONG, LAG, DONE, NOTICE,
}


class Refused(Exception):
    """A request was refused."""

    def __init__(self, refusal):
        super().__init__(f"{refusal['code']}: {refusal['message']}")
        self.code, self.nearest = refusal["code"], refusal.get("nearest")


class Client:
    """A session, on one connection at a time.

    `updates` collects the updates of slices that arrived while waiting for an answer. Outcomes are
    stored by ordinal, expanded from runs.
    """

    def __init__(self, path, program="reactor_client.py"):
        self.path, self.program = path, program
        self.session, self.ordinal, self.request = None, 0, 0
        self.outcomes, self.updates, self.nodes, self.done = {}, deque(), {}, []
        self.connect()

    def connect(self):
        """Connects, and resumes the session if there is one."""
        while True:
            self.connection = Connection(self.path)
            hello = {"versionMin": 1, "versionMax": 1, "program": self.program}
            if self.session is not None:
                hello |= {"session": self.session, "confirmed": 0, "epoch": self.epoch}
            self.connection.send(HELLO, hello, number=MAGIC)
            try:
                frame = self.connection.receive()
            except Closed as closed:
                # The daemon may not have noticed yet that the old connection is closed.
                if closed.reason and closed.reason["code"] == "SESSION_BUSY":
                    continue
                raise
            break
        assert frame.kind == WELCOME, frame
        self.welcome = frame.item()
        self.session, self.epoch = self.welcome["session"], self.welcome["epoch"]
        self.nodes = {}
        self.updates.clear()

    def reconnect(self):
        """Drops the connection and reconnects."""
        self.connection.close()
        self.connect()

    # Requests

    def ask(self, question):
        return self.grant(ASK, question).item()

    def get(self, path):
        """The value at a path, or None if nothing exists there."""
        revision, is_there, value = self.ask({"get": {"path": path}})
        assert revision[0] == self.epoch
        return value if is_there else None

    def sync(self, at_least=None, is_current=False, within=5_000):
        """Waits until the daemon's state has a sequence, or all that any client was told before."""
        revision = None if at_least is None else [self.epoch, at_least]
        return self.ask(
            {"sync": {"atLeast": revision, "isCurrent": is_current, "within": within}})

    def open(self, path):
        """The node's id; opens the node at the first use on this connection."""
        if path not in self.nodes:
            id = len(self.nodes)
            self.opened = self.grant(OPEN, {"path": path}, id=id).item()
            self.nodes[path] = id
        return self.nodes[path]

    def subscribe(self, path, mode="value", since=None, patches=None, selection=None):
        """The slice's id, and the content of its `subscribed` frame."""
        body = {"path": path, "mode": mode}
        if patches is not None:
            body["patches"] = patches
        if selection is not None:
            body["selection"] = selection
        if since is not None:
            body["from"] = [self.epoch, since]
        frame = self.grant(SUBSCRIBE, body)
        return frame.id, frame.item()

    def grant(self, kind, body, id=0):
        self.request += 1
        number = self.request
        self.connection.send(kind, body, id=id, number=number)
        frame = self.until(
            lambda frame: frame.number == number
            and frame.kind in (OPENED, SUBSCRIBED, ANSWER, REFUSED)
        )
        if frame.kind == REFUSED:
            raise Refused(frame.item())
        return frame

    # Actions

    def send_action(self, path, action, options=None, ordinal=None, awaited=False):
        """Sends an action and returns its ordinal."""
        id = self.open(path)
        items = [action] if options is None else [options, action]
        flags = (OPTIONS if options else 0) | (AWAITED if awaited else 0)
        return self.send_numbered(DISPATCH, items, flags, id, ordinal)

    def send_batch(self, actions, options=None, ordinal=None):
        pairs = [[self.open(path), action] for path, action in actions]
        items = [pairs] if options is None else [options, pairs]
        return self.send_numbered(BATCH, items, OPTIONS if options else 0, 0, ordinal)

    def send_numbered(self, kind, items, flags, id, ordinal):
        if ordinal is None:
            self.ordinal += 1
            ordinal = self.ordinal
        self.connection.send(kind, *items, flags=flags, id=id, number=ordinal)
        return ordinal

    def dispatch(self, path, action, options=None):
        """The outcome of an action."""
        return self.outcome(self.send_action(path, action, options))

    def outcome(self, ordinal):
        """Waits for the outcome of an ordinal."""
        while ordinal not in self.outcomes:
            self.until(lambda frame: frame.kind in (APPLIED, OUTCOME))
        return self.outcomes.pop(ordinal)

    # Reading

    def until(self, is_wanted):
        """Returns the next frame of interest; handles all others."""
        while True:
            frame = self.connection.receive()
            if frame.kind == APPLIED:
                first = frame.item()
                for index in range(frame.id):
                    self.outcomes[frame.number + index] = {
                        "applied": {"sequence": first + index, "reply": None, "ownerEnded": False}
                    }
            elif frame.kind == OUTCOME:
                self.outcomes[frame.number] = frame.item()
            elif frame.kind == DONE:
                assert frame.number in self.outcomes, "done before its outcome"
                self.done.append(frame.number)
            elif frame.kind in (SNAPSHOT, DELTA, VALUE, MARK, GONE, LAG):
                self.updates.append(frame)
            if is_wanted(frame):
                return frame

    def next_turn(self):
        """The updates up to the next mark, and the mark's sequence."""
        turn = []
        while True:
            while self.updates:
                frame = self.updates.popleft()
                if frame.kind == MARK:
                    return turn, frame.number
                turn.append(frame)
            self.until(lambda frame: frame.kind == MARK)
