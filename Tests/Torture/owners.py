"""What connections own in a cluster: a lock, jobs and a presence, through each node while leaders change."""

import os
import select
import shutil
import threading
import time
from random import Random

from actors import expect_orderly
from cluster import NAMES, chosen, inject
from commands import Command, CommandLocker, CommandWatcher, CommandWorker
from faults import FaultyCluster
from sessions import Looping, ask
from timings import Timings
from wire import *
from worker import Violation

REACTORS = """\
reactors:
  lock: { kind: lock }
  jobs: { kind: queue }
  here: { kind: presence }
"""


class Book:
    """What the clients were told, together."""

    BY_COMMANDS = ["held by a command", "finished by a command", "shown by a command"]

    def __init__(self):
        self.lock = threading.Lock()
        self.grants = {}  # sequences by token
        self.highest = 0  # the highest token that used the resource
        self.pushed, self.finished, self.unsure = set(), {}, set()
        self.counts = {
            "grants": 0, "fenced": 0, "released by the node": 0, "jobs taken back": 0,
            "closed too late": 0, "joins": 0, "updates": 0, "unknown": 0, "refused": 0,
            **dict.fromkeys(self.BY_COMMANDS, 0)}

    def count(self, name):
        with self.lock:
            self.counts[name] += 1

    def grant(self, name, token, sequence):
        with self.lock:
            if self.grants.setdefault(token, (name, sequence)) != (name, sequence):
                raise Violation(f"{name} is granted {token}, as was {self.grants[token]}")
            self.counts["grants"] += 1

    def use(self, token):
        """The guard of a resource: refuses tokens lower than one that it has seen."""
        with self.lock:
            self.counts["fenced"] += token < self.highest
            self.highest = max(self.highest, token)

    def finish(self, name, job):
        with self.lock:
            if job in self.finished:
                raise Violation(f"{name} has finished {job}, as has {self.finished[job]}")
            self.finished[job] = name

    def judge(self):
        # A command prints no sequence.
        grants = sorted(item for item in self.grants.items() if item[1][1] is not None)
        for (token, (_, former)), (next, (_, later)) in zip(grants, grants[1:]):
            if later <= former:
                raise Violation(f"token {token} is of sequence {former}, and {next} of {later}")
        lost = self.pushed - set(self.finished) - self.unsure
        strange = set(self.finished) - self.pushed - self.unsure
        if lost or strange:
            raise Violation(
                f"jobs that were pushed and not done: {sorted(lost)[:5]}; done, and not pushed: "
                f"{sorted(strange)[:5]}")

    def prove(self):
        """Plants each fault in a copy of the book, and requires that `judge` finds it."""
        tokens = sorted(
            token for token, (_, sequence) in self.grants.items() if sequence is not None)[-2:]
        held = next(token for token, (_, sequence) in self.grants.items() if sequence is None)
        job = next(iter(self.pushed - self.unsure))
        swapped = self.grants | {tokens[0]: self.grants[tokens[1]], tokens[1]: self.grants[tokens[0]]}
        planted = {
            "tokens in another order": lambda book: book.grants.update(swapped),
            "a token twice": lambda book: book.grant("another", tokens[0], 1),
            "a token twice by commands": lambda book: book.grant("a command", held, None),
            "a lost job": lambda book: book.finished.pop(job),
            "a job of no client": lambda book: book.finish("worker", "never"),
            "a job twice": lambda book: book.finish("worker", job)}
        for name, plant in planted.items():
            book = Book()
            book.grants, book.finished = dict(self.grants), dict(self.finished)
            book.pushed, book.unsure = self.pushed, self.unsure
            try:
                plant(book)
                book.judge()
            except Violation:
                continue
            raise Violation(f"the book does not find what is planted: {name}")
        return len(planted)


class Owner(Looping):
    """One session with one node, which sends one action at a time and resumes after each end."""

    PATIENCE = 90
    # Seconds within which a node that has been stopped closes its connections.
    GRACE = 10

    def __init__(self, daemon, name, cluster, book):
        super().__init__(name)
        self.path, self.ledger, self.book = daemon.socket, cluster.ledger, book
        self.random = Random(f"{cluster.random.random()} {name}")
        self.client = None
        self.count, self.sequence, self.is_lost = 0, 0, True
        self.losses = 0  # ends of connections

    def connect(self):
        """Whether the session goes on."""
        if self.client is None:
            self.client = Client(self.path, self.name)
        else:
            self.client.reconnect()
        self.client.connection.socket.settimeout(self.PATIENCE)
        if self.client.welcome["sequence"] < self.sequence:
            raise Violation(f"{self.name}: {self.client.welcome} is behind {self.sequence}")
        self.is_lost = False
        return self.client.welcome["isResumed"]

    def lose(self, end):
        expect_orderly(self.name, end)
        self.is_lost = True
        self.losses += 1
        time.sleep(0.02)

    def expect_loss(self):
        """What a connection owned was taken away: it is closed, or has been stopped so long that it
        will be."""
        self.book.count("closed too late")
        deadline = time.monotonic() + self.GRACE
        try:
            while time.monotonic() < deadline:
                self.client.connection.send(PING, number=1)
                self.client.until(lambda frame: frame.kind == PONG)
                time.sleep(0.05)
        except LOST as end:
            return self.lose(end)
        raise Violation(f"{self.name} owns nothing any more, and its connection goes on")

    def perform(self, path, action):
        """The outcome of an action; None if it was lost with the session."""
        ordinal, deadline = None, time.monotonic() + self.PATIENCE
        while time.monotonic() < deadline:
            try:
                if self.is_lost:
                    is_resumed = self.connect()
                    if not is_resumed:
                        self.client.ordinal = 0
                        if ordinal is not None:
                            self.book.count("unknown")
                            return None
                if ordinal is None:
                    self.client.ordinal += 1
                    ordinal = self.client.ordinal
                self.client.send_action(path, action, ordinal=ordinal)
                return self.hear(self.client.outcome(ordinal))
            except LOST as end:
                self.lose(end)
            except Refused as refusal:
                if refusal.code not in ("BUSY", "CUT"):
                    raise Violation(f"{self.name}: {action}: {refusal}")
                self.lose(None)
        raise Violation(f"{self.name}: no outcome of {action} within {self.PATIENCE} s")

    def hear(self, outcome):
        if "applied" in outcome:
            sequence = outcome["applied"]["sequence"]
            self.sequence = max(self.sequence, sequence)
            self.count += 1
            self.ledger.apply(f"{self.name}-{self.count}", sequence)
        return outcome

    def expect(self, outcome, *codes):
        """Whether an action was applied; it may be refused with these codes."""
        if outcome is None:
            return False
        if "applied" in outcome:
            return True
        # An action that was on its way at two ends of leaders may be the cause of both.
        if outcome["rejected"]["code"] not in (*codes, "POISONED"):
            raise Violation(f"{self.name}: {outcome}")
        self.book.count("refused")
        if outcome["rejected"]["code"] == "POISONED":
            # What the connection owns is given back.
            self.client.connection.close()
            self.is_lost = True
        return False


class Locker(Owner):
    """Takes the lock, uses a resource with its token, and releases the lock."""

    def act(self):
        outcome = self.perform("/lock", {"acquire": {"wait": True}})
        if not self.expect(outcome, "connection_ended", "OWNER_ENDED"):
            return
        applied = outcome["applied"]
        token = applied["reply"]["token"]
        self.book.grant(self.name, token, applied["sequence"])
        if applied["ownerEnded"]:
            return self.book.count("released by the node")
        self.book.use(token)
        losses = self.losses
        time.sleep(self.random.random() * 0.02)
        if not self.expect(
                self.perform("/lock", {"release": {"token": token}}), "not_held", "wrong_token"):
            self.book.count("released by the node")
            if self.losses == losses and not self.is_lost:
                self.expect_loss()


class Pusher(Owner):
    # Jobs that wait for workers at most; on a slow machine these have more to do.
    BACKLOG = 100

    def act(self):
        if len(self.book.pushed) - len(self.book.finished) > self.BACKLOG:
            return time.sleep(0.01)
        job = f"{self.name}-{self.count}-{self.random.random()}"
        outcome = self.perform("/jobs", {"push": {"job": {"n": job}}})
        if self.expect(outcome):
            self.book.pushed.add(job)
        elif outcome is None:
            self.book.unsure.add(job)
        time.sleep(0.01 + self.random.random() * 0.02)


class Worker(Owner):
    """Claims jobs and finishes them: each once, also if a claim is taken back from another."""

    def act(self):
        outcome = self.perform("/jobs", {"claim": {}})
        if not self.expect(outcome, "empty"):
            return time.sleep(0.01)
        applied = outcome["applied"]
        job = applied["reply"]["job"]["n"]
        if applied["ownerEnded"]:
            return self.book.count("jobs taken back")
        losses = self.losses
        time.sleep(self.random.random() * 0.01)
        outcome = self.perform("/jobs", {"finish": {"id": applied["reply"]["id"]}})
        if self.expect(outcome, "unknown_job", "not_yours"):
            self.book.finish(self.name, job)
        elif outcome is None:
            self.book.unsure.add(job)
        else:
            self.book.count("jobs taken back")
            if self.losses == losses and not self.is_lost:
                self.expect_loss()


class Guest(Owner):
    """Is present on each of its connections."""

    def act(self):
        outcome = self.perform("/here", {"join": {"info": self.name}})
        if not self.expect(outcome, "OWNER_ENDED") or outcome["applied"]["ownerEnded"]:
            return
        self.book.count("joins")
        try:
            while not self.end.wait(0.05):
                self.client.connection.send(PING, number=1)
                self.client.until(lambda frame: frame.kind == PONG)
        except LOST as end:
            self.lose(end)


class Watcher(Owner):
    """Mirrors the lock and the presence: what it is shown never goes back."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.token = 0

    def act(self):
        try:
            if self.is_lost:
                self.connect()
                slices = {self.client.subscribe(path)[0]: path for path in ("/lock", "/here")}
                values = {}
            while not self.end.is_set():
                # The first values may have come before the answer to a request.
                if not self.client.updates and not select.select(
                        [self.client.connection.socket], [], [], 0.2)[0]:
                    continue
                updates, sequence = self.client.next_turn()
                self.take(updates, sequence, slices, values)
        except LOST as end:
            self.lose(end)
        except Refused as refusal:
            if refusal.code not in ("BUSY", "CUT"):
                raise
            self.lose(None)

    def take(self, updates, sequence, slices, values):
        if sequence < self.sequence:
            raise Violation(f"{self.name}: sequence {sequence} after {self.sequence}")
        self.sequence = sequence
        for frame in updates:
            if frame.kind == VALUE:
                path = slices[frame.id]
                values[path] = patched(values.get(path), frame)
                self.book.count("updates")
        token = values["/lock"]["lastToken"]
        if token < self.token:
            raise Violation(f"{self.name}: token {token} after {self.token}")
        self.token = token


class Household:
    """A cluster, and the clients of each of its nodes."""

    def __init__(self, binary, home, seed):
        self.book = Book()
        self.cluster = FaultyCluster(binary, home, seed, reactors=REACTORS)

    def begin(self):
        self.cluster.begin_daemons()
        self.cluster.await_serving()

        def owners(kind):
            return [
                kind(daemon, f"{kind.__name__.lower()} {name}", self.cluster, self.book)
                for name, daemon in zip(NAMES, self.cluster.daemons)]

        self.lockers = owners(Locker) + owners(CommandLocker)
        self.pushers, self.guests, self.watchers = map(owners, [Pusher, Guest, Watcher])
        self.workers = owners(Worker) + owners(CommandWorker)
        self.command_watchers = owners(CommandWatcher)
        # The cluster looks after their errors.
        self.cluster.actors = [
            *self.lockers, *self.pushers, *self.workers, *self.guests, *self.watchers,
            *self.command_watchers]
        for owner in self.cluster.actors:
            owner.start()
        # A command that never had a connection does not wait for its daemon.
        deadline = time.monotonic() + 60
        while not all(watcher.last for watcher in self.command_watchers):
            if time.monotonic() > deadline:
                raise Violation("`reactorctl watch` prints nothing")
            self.cluster.check()
            time.sleep(0.05)

    def stop(self, owners):
        for owner in owners:
            owner.end.set()
        for owner in owners:
            owner.join(Command.PATIENCE + 10)
            if owner.is_alive():
                raise Violation(f"{owner.name} does not end")
        self.cluster.check()

    def end(self):
        """Ends the commands, also after a failure."""
        for owner in self.cluster.threads:
            owner.end.set()
        for owner in self.cluster.threads:
            if isinstance(owner, Command) and owner.is_alive():
                owner.kill()
                owner.join(5)
                owner.kill()

    def states(self):
        """What each node shows."""
        def read(client):
            client.sync(is_current=True)
            return [client.get(path) for path in ("/lock", "/jobs", "/here")]

        return [ask(daemon, read) for daemon in self.cluster.daemons]

    def await_state(self, name, is_reached, seconds=120):
        deadline = time.monotonic() + seconds
        while not all(map(is_reached, states := self.states())):
            self.cluster.check()
            if time.monotonic() > deadline:
                raise Violation(f"{name} not within {seconds} s: {states}")
            time.sleep(0.05)

    def settle(self):
        """Ends the work, and compares what the nodes show with what is left."""
        self.cluster.await_serving()
        names = sorted(guest.name for guest in self.guests)
        self.await_state(
            "each guest is present once", lambda state: names == sorted(
                member["info"] for member in state[2]["members"].values()))
        self.stop(self.pushers)
        self.await_state(
            "all jobs are done", lambda state: not state[1]["waiting"] and not state[1]["claimed"])
        self.stop(self.workers)
        self.stop(self.lockers)
        self.stop(self.guests)
        self.stop(self.watchers)
        for owner in [*self.lockers, *self.guests]:
            if isinstance(owner, Owner):
                owner.client.connection.close()
        self.await_state(
            "nothing is owned",
            lambda state: state[0]["holder"] is None and not state[0]["waiters"]
            and not state[2]["members"])
        self.await_state(
            "each command prints the last state of the lock",
            lambda state: all(watcher.last == state[0] for watcher in self.command_watchers))
        self.stop(self.command_watchers)
        self.book.judge()
        # A leader that ends takes sessions with it that no row has.
        unknown, unknown_max = self.book.counts["unknown"], 5 * self.cluster.fault_count
        if unknown > unknown_max:
            raise Violation(f"{unknown} outcomes are unknown, at most {unknown_max} are")
        least = 3 * self.cluster.fault_count
        by_commands = min(self.book.counts[name] for name in self.book.BY_COMMANDS)
        if (min(self.book.counts["grants"], len(self.book.finished)) < least
                or by_commands < self.cluster.fault_count):
            raise Violation(f"too little happened: {self.book.counts}")
        return {
            "planted and found": self.book.prove(),
            "acknowledged": len(self.cluster.ledger.applied), "jobs": len(self.book.finished),
            **self.book.counts}


FAULTS = ["kill_daemon", "stop_daemon", "kill_machine", "kill_etcd", "stop_etcd", "step_down",
          "end_daemon"]


def run(binary, home, seed, count, names=None):
    """Injects each fault `count` times; returns numbers for the report."""
    names = chosen(names, FAULTS)
    household, timings = Household(binary, home, seed), Timings(names)
    try:
        household.begin()
        for _ in range(count):
            inject(household.cluster, names, timings)
        totals = household.settle()
    finally:
        household.end()
        household.cluster.close()
    shutil.rmtree(home)
    os.mkdir(home)
    timings.show()
    return totals
