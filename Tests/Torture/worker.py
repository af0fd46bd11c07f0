"""Clients that act and record their outcomes: the ledger outside the daemon."""

import threading
import time
from collections import OrderedDict

from wire import *

PATHS = ["/visits", "/kv", "/jobs", "/members", "/lock"]
VISITS, KV, JOBS, MEMBERS, LOCK = range(5)
TOP = (1 << 63) - 1


class Action:
    """One action: the sent frame, and the first outcome received for it."""

    def __init__(self, ordinal, kind, frame, nonce=None, amount=0, options=None):
        self.ordinal, self.kind, self.frame, self.nonce = ordinal, kind, frame, nonce
        self.amount, self.options = amount, options
        self.outcome, self.client, self.sent = None, None, 0

    @property
    def is_applied(self):
        return self.outcome is not None and "applied" in self.outcome

    @property
    def sequence(self):
        return self.outcome["applied"]["sequence"]

    def __repr__(self):
        return f"{self.kind} ordinal {self.ordinal} nonce {self.nonce} outcome {self.outcome}"


def essence(outcome):
    """The parts of an outcome that must be the same when it is sent again."""
    if "applied" in outcome:
        applied = outcome["applied"]
        return ("applied", applied["sequence"], repr(applied["reply"]))
    return repr(outcome)


class Violation(AssertionError):
    """A broken promise."""


class Loss(Violation):
    """A client misses what it was told or shown before."""


class Gate:
    """A gate for clients: while it is closed they park, and continue when it opens."""

    def __init__(self):
        self.change = threading.Condition()
        self.is_open = self.is_draining = self.has_ended = False

    def open(self):
        with self.change:
            self.is_open = True
            self.change.notify_all()

    def close(self):
        with self.change:
            self.is_open = False

    def end(self):
        self.has_ended = True
        self.open()

    def park(self, client):
        """Parks a client until the gate is open."""
        with self.change:
            client.is_parked = True
            self.change.notify_all()
            self.change.wait_for(lambda: self.is_open)
            client.is_parked = False

    def gather(self, clients, seconds=120):
        """Waits until all clients are parked; raises the first error of a client."""
        with self.change:
            is_complete = self.change.wait_for(
                lambda: all(client.is_parked for client in clients), timeout=seconds
            )
        for client in clients:
            if client.failure:
                raise client.failure
        if not is_complete:
            stuck = [client.name for client in clients if not client.is_parked]
            raise Violation(f"clients do not notice the end: {stuck}")
        for client in clients:
            # A watcher that had not resumed does not know of the end.
            if client.name.startswith("watcher"):
                client.lose()

    def failure(self, clients):
        return next((client.failure for client in clients if client.failure), None)


class Worker(threading.Thread):
    """One session that acts as fast as its window allows, resumes and resends."""

    def __init__(self, number, path, gate, random, window, size=200):
        super().__init__(daemon=True, name=f"worker-{number}")
        self.number, self.path, self.gate, self.random = number, path, gate, random
        self.window, self.size = window, size
        self.is_parked, self.failure = False, None
        self.session, self.epoch, self.client, self.confirmed = None, None, None, 0
        self.ordinal, self.told = 0, 0
        self.actions = {}  # by ordinal, actions that are not settled
        self.unanswered = OrderedDict()
        self.again = {}  # ordinals with an outcome that are requested again
        self.held = []  # tokens and jobs to give back on this connection
        self.is_acquiring = False
        self.keys, self.names = [], []  # nonces whose presence is acknowledged
        self.applied_count = self.asked_again = self.resumed = self.resent = self.poisoned = 0
        self.sequence_seen = 0
        self.connection = None
        self.nonce_base = 0
        self.is_lossy = False
        self.limit = None  # the ordinal after which it waits for permission
        self.unknown = []  # actions whose outcome was lost with the session

    # The life of a connection

    def run(self):
        try:
            while True:
                self.gate.park(self)
                if self.gate.has_ended:
                    break
                try:
                    self.resume()
                    self.work()
                except LOST:
                    self.drain_socket()
                    # On a kill of the daemon, the gate closes first.
                    time.sleep(0.002)
        except BaseException as error:
            self.failure = error
        finally:
            with self.gate.change:
                self.is_parked = True
                self.gate.change.notify_all()

    def drain_socket(self):
        """Reads the frames that arrived before the connection's end, which count too."""
        try:
            while self.connection is not None:
                self.take(self.connection.receive())
        except LOST:
            pass
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def resume(self):
        """Resumes the session, and resends actions without an outcome."""
        self.connection, welcome = greet(
            self.path, self.name, self.session, self.confirmed, self.epoch
        )
        if self.session is not None:
            self.check_welcome(welcome)
        self.session, self.epoch = welcome["session"], welcome["epoch"]
        self.client = welcome["client"]
        self.sequence_seen = max(self.sequence_seen, welcome["sequence"])
        self.held, self.is_acquiring, self.again = [], False, {}
        for id, path in enumerate(PATHS):
            self.connection.send(OPEN, {"path": path}, id=id, number=id + 1)
        settled = [o for o, action in self.actions.items() if action.outcome is not None]
        for ordinal in self.random.sample(settled, min(len(settled), 4)):
            self.again[ordinal] = self.actions[ordinal]
        for ordinal in sorted([*self.again, *self.unanswered]):
            self.transmit(self.actions[ordinal])
        self.resent += len(self.unanswered)
        self.resumed += 1

    def check_welcome(self, welcome):
        if welcome["epoch"] != self.epoch:
            if not self.is_lossy:
                raise Violation(f"{self.name}: the epoch changed: {welcome}")
            return self.start_session()
        if not welcome["isResumed"]:
            raise Violation(f"{self.name}: session lost, confirmed {self.confirmed}: {welcome}")
        if welcome["sequence"] < self.sequence_seen:
            raise Violation(f"{self.name}: sequence {welcome} is below {self.sequence_seen}")
        if not self.told <= welcome["ordinal"] <= self.ordinal:
            raise Violation(f"{self.name}: ordinal of {welcome} not in {self.told}..{self.ordinal}")

    def start_session(self):
        """Begins another session, in another epoch; actions in flight stay unknown."""
        self.unknown += self.unanswered.values()
        self.nonce_base += self.ordinal
        self.ordinal = self.told = self.confirmed = self.sequence_seen = 0
        self.actions, self.unanswered = {}, OrderedDict()
        self.keys, self.names = [], []

    # Sending

    def transmit(self, action):
        kind, id, body = action.frame
        action.sent += 1
        items, flags = ([action.options, body], OPTIONS) if action.options else ([body], 0)
        self.connection.send(kind, *items, flags=flags, id=id, number=action.ordinal)

    def send(self, kind, target, body, nonce=None, amount=0, options=None):
        self.ordinal += 1
        frame = (BATCH, 0, body) if target is None else (DISPATCH, target, body)
        action = Action(self.ordinal, kind, frame, nonce, amount, options)
        self.actions[self.ordinal] = self.unanswered[self.ordinal] = action
        self.transmit(action)

    @property
    def is_draining(self):
        return self.gate.is_draining or self.limit is not None and self.ordinal >= self.limit

    @property
    def is_idle(self):
        return not (self.unanswered or self.held or self.again)

    def work(self):
        while not self.gate.has_ended:
            if self.is_draining and not self.unanswered and not self.held:
                if self.again:
                    self.read_some()
                    continue
                time.sleep(0.002)
                # Detects the end of the connection here too.
                self.connection.send(PING, number=9)
                self.take(self.connection.receive())
                continue
            while len(self.unanswered) < self.window and (not self.is_draining or self.held):
                self.act()
                if self.random.random() < 0.1:
                    break
            self.read_some()

    def act(self):
        """Sends one random action."""
        random = self.random
        nonce = f"{self.number}-{self.nonce_base + self.ordinal + 1}"
        amount = random.randint(1, 5)
        value = {"n": nonce, "pad": "x" * self.pad()}
        set, push = {"set": {"key": nonce, "value": value}}, {"push": {"job": {"n": nonce}}}
        insert, increment = {"insert": {"member": nonce}}, {"increment": {"by": amount}}
        if self.held:
            return self.send(*self.held.pop())
        draw = random.random()
        if len(self.keys) > 60 and draw < 0.3:
            return self.send("remove", KV, {"remove": {"key": self.take_one(self.keys)}})
        if len(self.names) > 40 and draw < 0.5:
            return self.send("leave", MEMBERS, {"remove": {"member": self.take_one(self.names)}})
        draw = random.random()
        if draw < 0.36:
            self.send("increment", VISITS, increment, nonce, amount)
        elif draw < 0.54:
            self.send("set", KV, set, nonce)
        elif draw < 0.62:
            self.send("push", JOBS, push, nonce)
        elif draw < 0.70:
            self.send("insert", MEMBERS, insert, nonce)
        elif draw < 0.82:
            actions = [[VISITS, increment], [KV, set], [JOBS, push], [MEMBERS, insert]]
            self.send("batch", None, actions, nonce, amount)
        elif draw < 0.86:
            self.send("overflow", VISITS, {"increment": {"by": TOP}})
        elif draw < 0.95 or self.is_acquiring:
            self.send("claim", JOBS, {"claim": {}})
        else:
            self.is_acquiring = True
            self.send("acquire", LOCK, {"acquire": {"wait": random.random() < 0.5}})

    def pad(self):
        draw = self.random.random()
        return self.random.randint(0, self.size if draw < 0.97 else self.size * 100)

    def take_one(self, list):
        index = self.random.randrange(len(list))
        list[index], list[-1] = list[-1], list[index]
        return list.pop()

    # Reading

    def read_some(self):
        self.take(self.connection.receive())
        while self.connection.has_frame():
            self.take(self.connection.receive())
        if self.random.random() < 0.01:
            self.confirm()

    def confirm(self):
        """Confirms outcomes, which the daemon may then forget."""
        upto = min([*self.unanswered, *self.again, self.ordinal + 1]) - 1
        if upto <= self.confirmed:
            return
        self.confirmed = upto
        for ordinal in [o for o in self.actions if o <= upto]:
            self.settled(self.actions.pop(ordinal))
        # If this is not sent, the next HELLO contains it.
        self.connection.send(CONFIRM, number=upto)

    def settled(self, action):
        """Passes a settled action to the books."""
        self.book(action)

    def book(self, action):
        raise NotImplementedError

    def take(self, frame):
        if frame.kind == APPLIED:
            first = frame.item()
            for index in range(frame.id):
                sequence = first + index
                outcome = {"sequence": sequence, "reply": None, "ownerEnded": False}
                self.hear(frame.number + index, {"applied": outcome})
        elif frame.kind == OUTCOME:
            self.hear(frame.number, frame.item())
        elif frame.kind == REFUSED:
            raise Violation(f"{self.name}: {frame.item()}")

    def hear(self, ordinal, outcome):
        if ordinal in self.unanswered:
            action = self.unanswered.pop(ordinal)
            action.outcome, action.client = outcome, self.client
            self.told = max(self.told, ordinal)
            self.react(action, outcome)
        elif ordinal in self.again:
            action = self.again.pop(ordinal)
            self.asked_again += 1
            if essence(action.outcome) != essence(outcome):
                raise Violation(f"{self.name}: {action}, and when asked again: {outcome}")
        else:
            raise Violation(f"{self.name}: an outcome without an action: {ordinal} {outcome}")

    def react(self, action, outcome):
        """Handles an outcome, and refuses impossible ones."""
        kind = action.kind
        if kind == "acquire":
            self.is_acquiring = False
        if "applied" not in outcome:
            expected = {
                "overflow": ["overflow"], "claim": ["empty"], "finish": ["unknown_job", "not_yours"],
                "acquire": ["held", "connection_ended", "OWNER_ENDED"],
                "release": ["not_held", "wrong_token"],
            }
            code = outcome.get("rejected", {}).get("code")
            if code == "DISK_FULL":
                return self.refused(action)
            # A daemon suspects the action that it ran when it was killed, and refuses it after the
            # second kill, so the action was sent on three connections at least.
            if code == "POISONED" and action.sent > 2:
                self.poisoned += 1
                return self.refused(action)
            if code not in expected.get(kind, []):
                raise Violation(f"{self.name}: {action}")
            return
        applied = outcome["applied"]
        self.sequence_seen = max(self.sequence_seen, applied["sequence"])
        self.applied_count += 1
        if kind in ("set", "batch"):
            self.keys.append(action.nonce)
        if kind in ("insert", "batch"):
            self.names.append(action.nonce)
        if kind == "claim" and not applied["ownerEnded"]:
            reply = applied["reply"]
            finish = {"finish": {"id": reply["id"]}}
            self.held.append(("finish", JOBS, finish, reply["job"]["n"]))
        if kind == "acquire" and not applied["ownerEnded"]:
            release = {"release": {"token": applied["reply"]["token"]}}
            self.held.append(("release", LOCK, release))

    def refused(self, action):
        """Handles a refusal for lack of room: nothing was applied."""
        if action.kind == "remove":
            self.keys.append(action.frame[2]["remove"]["key"])
        if action.kind == "leave":
            self.names.append(action.frame[2]["remove"]["member"])
