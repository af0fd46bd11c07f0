"""The expected state, computed from the outcomes that clients received."""

from wire import *
from worker import Violation, Worker


class Books:
    """Totals of the settled actions, so that memory does not grow with every action."""

    def __init__(self):
        self.total = 0
        self.keys, self.jobs, self.names = set(), set(), set()
        self.tokens, self.sequences = {}, {}
        self.finished = set()
        self.top_token = 0
        self.epoch = None

    def enter(self, worker, action):
        """Adds an applied action, once."""
        if not action.is_applied:
            return
        kind, nonce = action.kind, action.nonce
        if kind in ("increment", "batch"):
            self.total += action.amount
        if kind in ("set", "batch"):
            self.keys.add(nonce)
        if kind in ("push", "batch"):
            self.jobs.add(nonce)
        if kind in ("insert", "batch"):
            self.names.add(nonce)
        if kind == "remove":
            self.keys.discard(action.frame[2]["remove"]["key"])
        if kind == "leave":
            self.names.discard(action.frame[2]["remove"]["member"])
        if kind == "finish":
            self.finished.add(nonce)
        if kind == "acquire":
            self.enter_token(worker, action)
        if kind not in ("acquire", "release", "claim"):
            self.enter_sequence(worker, action)

    def enter_token(self, worker, action):
        token = action.outcome["applied"]["reply"]["token"]
        if token in self.tokens:
            raise Violation(f"token {token} was granted to {self.tokens[token]} and {action}")
        self.tokens[token] = (worker.name, action.ordinal)
        self.top_token = max(self.top_token, token)

    def enter_sequence(self, worker, action):
        place = (worker.name, action.ordinal)
        other = self.sequences.setdefault(action.sequence, place)
        if other != place:
            raise Violation(f"sequence {action.sequence} is of {other} and of {place}")


class Ledger:
    """The books of all workers, and the comparison of a state with them."""

    def __init__(self):
        self.books = Books()
        self.workers = []
        self.settled = []

    def worker(self, *arguments, **named):
        ledger = self

        class BookedWorker(Worker):
            def book(self, action):
                ledger.settled.append((self, action))

        worker = BookedWorker(*arguments, **named)
        self.workers.append(worker)
        return worker

    def state(self, path):
        """Reads all checked state with a client of its own; returns it with the revision."""
        client = Client(path, "checker")
        state = {path: client.get(path) for path in ("/visits", "/kv", "/jobs", "/members", "/lock")}
        client.connection.send(GOODBYE)
        client.connection.close()
        return state, client.welcome

    def check(self, path, is_drained=False):
        """Compares the daemon's state with the ledger; requires that no client acts."""
        state, welcome = self.state(path)
        self.compare(state, welcome, is_drained)
        return state, welcome

    def compare(self, state, welcome, is_drained=False):
        settled, self.settled = self.settled, []
        for worker, action in settled:
            self.books.enter(worker, action)
        # An action stays with its worker until its outcome is confirmed.
        acked, pending = [], []
        for worker in self.workers:
            acked += [(worker, a) for a in worker.actions.values() if a.is_applied]
            pending.append(list(worker.unanswered.values()))
        self.check_revision(welcome)
        self.check_counter(state["/visits"], acked, pending)
        self.check_names(state, acked, pending)
        self.check_tokens(state["/lock"], acked)
        if is_drained and any(pending):
            raise Violation(f"not drained: {pending}")

    def check_revision(self, welcome):
        if self.books.epoch not in (None, welcome["epoch"]):
            raise Violation(f"the epoch was {self.books.epoch}, is {welcome['epoch']}")
        self.books.epoch = welcome["epoch"]
        seen = max(worker.sequence_seen for worker in self.workers)
        if welcome["sequence"] < seen:
            raise Violation(f"the sequence is {welcome['sequence']}, {seen} was acknowledged")

    def check_counter(self, visits, acked, pending):
        kinds = ("increment", "batch")
        least = self.books.total + sum(a.amount for _, a in acked if a.kind in kinds)
        most = least + sum(a.amount for list in pending for a in list if a.kind in kinds)
        if not least <= visits["count"] <= most:
            raise Violation(f"the count is {visits['count']}, expected {least} to {most}")

    def check_names(self, state, acked, pending):
        books, unsure = self.books, [a for list in pending for a in list]

        def expected(settled, adders, remover=None, removed=None):
            there = set(settled) | {a.nonce for _, a in acked if a.kind in adders}
            gone = {removed(a) for _, a in acked if a.kind == remover}
            maybe_gone = {removed(a) for a in unsure if a.kind == remover}
            maybe = {a.nonce for a in unsure if a.kind in adders}
            return there - gone - maybe_gone, (there | maybe) - gone

        key = lambda a: a.frame[2]["remove"]["key"]  # noqa: E731
        member = lambda a: a.frame[2]["remove"]["member"]  # noqa: E731
        entries = state["/kv"]["entries"]
        for nonce, value in entries.items():
            if value["n"] != nonce:
                raise Violation(f"{nonce} holds {value}")
        jobs = [job["job"]["n"] for job in state["/jobs"]["waiting"]]
        jobs += [claim["job"]["n"] for claim in state["/jobs"]["claimed"].values()]
        if len(jobs) != len(set(jobs)):
            raise Violation(f"jobs are there twice: {[j for j in jobs if jobs.count(j) > 1]}")
        ids = [job["id"] for job in state["/jobs"]["waiting"]]
        if len(ids) != len(set(ids)):
            raise Violation(f"numbers of jobs are there twice: {ids}")
        found = {
            "kv": (set(entries), expected(books.keys, ("set", "batch"), "remove", key)),
            "members": (
                set(state["/members"]["members"]),
                expected(books.names, ("insert", "batch"), "leave", member),
            ),
            "jobs": (
                set(jobs),
                expected(books.jobs - books.finished, ("push", "batch"), "finish", lambda a: a.nonce),
            ),
        }
        for where, (there, (least, most)) in found.items():
            if where == "jobs":
                # One client may finish a job before another learns that it was pushed.
                finished = books.finished | {a.nonce for _, a in acked if a.kind == "finish"}
                least, most = least - finished, most - finished
            if least - there:
                raise Violation(f"{where}: acknowledged and lost: {sorted(least - there)[:9]}")
            if there - most:
                raise Violation(f"{where}: no client put it there: {sorted(there - most)[:9]}")
        self.check_tails(found, acked, pending)

    def check_tails(self, found, acked, pending):
        """Actions without an outcome were applied in order of sending, and batches as a whole."""
        adders = {"set": ["kv"], "push": ["jobs"], "insert": ["members"]}
        adders["batch"] = ["kv", "jobs", "members"]
        finishing = {a.nonce for list in pending for a in list if a.kind == "finish"}
        finishing |= {a.nonce for _, a in acked if a.kind == "finish"}
        for list in pending:
            missing = None
            for action in list:
                places = adders.get(action.kind, [])
                if not places or action.nonce in finishing | self.books.finished:
                    continue
                there = [action.nonce in found[place][0] for place in places]
                if any(there) and not all(there):
                    raise Violation(f"half of a batch: {action}: {dict(zip(places, there))}")
                if there[0] and missing is not None:
                    raise Violation(f"{action} is there, {missing} before it is not")
                if not there[0]:
                    missing = action

    def check_tokens(self, lock, acked):
        top, granted = self.books.top_token, dict(self.books.tokens)
        for worker, action in acked:
            if action.kind != "acquire":
                continue
            token, place = action.outcome["applied"]["reply"]["token"], (worker.name, action.ordinal)
            if granted.setdefault(token, place) != place:
                raise Violation(f"token {token} was granted to {granted[token]} and {place}")
            top = max(top, token)
        if lock["lastToken"] < top:
            raise Violation(f"the lock's last token is {lock['lastToken']}, {top} was granted")
