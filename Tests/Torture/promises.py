"""A cluster on a network's machines, and what it promises there during faults and after them."""

import time

from actors import STALE_MAX, STALE_SLACK, is_cut
from cluster import NAMES, Cluster
from links import Links
from sessions import ask
from wire import *
from worker import Violation

# After this many seconds without the log, and not less, a node has closed its clients' connections.
CUT_MAX = STALE_MAX + STALE_SLACK + 1
# The leader ends what the clients of a node own that it has not heard for so long: `lostAfter`.
LOST_AFTER = 5
# The time in which everything comes back by itself after the last fault has ended.
REPAIR_MAX = 30
# The time after which it never does, however busy the machine is.
PATIENCE = 120


class Machines(Cluster):
    """A cluster whose daemons, members and links run on the machines of a network.

    Clients act at all nodes. Unless it `judges`, durations beyond the promised ones are printed.
    """

    # Each node keeps its whole history.
    DATA = {"snapshotBytes": "1MiB"}
    # Seconds between two actions of a client at least: the clients of three nodes act.
    PACE = 0.05

    def __init__(self, binary, home, seed, network, judges=True):
        self.links = Links(home, NAMES, network)
        super().__init__(binary, home, seed, network=network)
        self.network, self.judges = network, judges
        self.repairs = []  # seconds from the end of a fault until all nodes serve again
        self.resumptions = []  # seconds until all actions from before it have an outcome
        self.silences = []  # seconds until a node without a link closed the client that had acted
        self.spared = 0  # cuts of one link that no node noticed
        self.lasting = []  # seconds for which a node served after all links were cut
        self.complaints = []  # broken promises that put no data at risk

    def peer(self, home, number, other):
        return self.links.socket(number, other)

    def begin_daemons(self):
        self.links.start(*self.links.machines)
        super().begin_daemons()

    def begin(self):
        super().begin()
        for actor in self.actors:
            # With links, no node sends a client elsewhere.
            actor.pace, actor.REFUSALS = self.PACE, ("POISONED",)
        self.await_outcomes(time.monotonic())

    def check(self):
        super().check()
        self.links.check()

    def judge(self, state):
        """Also requires that links carried actions; counts since the nodes last began to follow."""
        stats = [self.stats(number) for number in range(3)]
        counts = {
            "sent over links": sum(one["forwarded"] for one in stats),
            "sent again": sum(one["repeats"] for one in stats)}
        if not counts["sent over links"]:
            raise Violation("no action was sent over a link")
        return super().judge(state) | counts

    def stats(self, number):
        return ask(self.daemons[number], lambda client: client.ask({"stats": {}}))

    def close(self):
        try:
            super().close()
        finally:
            self.links.close()

    # What is not kept

    def late(self, text):
        """Something took longer than promised: a violation where durations are judged."""
        if self.judges:
            raise Violation(text)
        self.complain(text)

    def complain(self, text):
        print(f"  not kept: {text}", flush=True)
        self.complaints.append(text)

    # The state before and after a fault

    def others(self, number):
        return [other for other in range(3) if other != number]

    def await_leading(self):
        """The leader, and what it says of itself while it leads."""
        deadline = time.monotonic() + PATIENCE
        while True:
            leader = self.await_leader()
            status = self.await_status(leader)
            if status["role"] == "leading":
                return leader, status
            if time.monotonic() > deadline:
                raise Violation(f"no node leads for long:\n{self.tails()}")

    def await_member(self):
        """The member that leads the others."""
        deadline = time.monotonic() + PATIENCE
        while (member := self.etcd.leader()) is None:
            if time.monotonic() > deadline:
                tails = "\n".join(self.etcd.tail(number) for number in range(3))
                raise Violation(f"no member leads within {PATIENCE} s:\n{tails}")
            self.check()
        return member

    def part_leaders(self):
        """The leading daemon and the leading member; on different machines."""
        deadline = time.monotonic() + PATIENCE
        while (leader := self.await_leader()) == (member := self.await_member()):
            self.step_down(leader)
            if time.monotonic() > deadline:
                raise Violation(f"{NAMES[leader]} leads again and again")
        return leader, member

    def await_all(self, since):
        """Waits until each node serves clients, has what the leader had, and no action waits.

        `since` is the end of the fault.
        """
        goal = max(
            (status["applied"] for status in map(self.status, range(3)) if status), default=0)
        waiting = [actor.waiting() for actor in self.actors]
        self.await_serving(goal, PATIENCE)
        self.repairs.append(time.monotonic() - since)
        self.await_outcomes(since, waiting)
        self.resumptions.append(time.monotonic() - since)
        if self.resumptions[-1] > REPAIR_MAX:
            self.late(f"the repair took {self.resumptions[-1]:.1f} s:\n{self.tails()}")
        self.await_progress(time.monotonic())

    def await_outcomes(self, since, waiting=((), (), ())):
        """Waits until the client at each node has an outcome after `since`, and all it waited for.

        At a follower, actions and outcomes have come over its link and back in rows.
        """
        deadline = time.monotonic() + PATIENCE
        while late := [
                actor.name for actor, keys in zip(self.actors, waiting)
                if actor.told < since or actor.waiting() & set(keys)]:
            if time.monotonic() > deadline:
                raise Violation(f"actions at {late} have no outcome:\n{self.tails()}")
            self.check()
            time.sleep(0.02)

    def heal(self):
        self.network.heal()
        self.await_all(time.monotonic())

    # Nodes that are cut off

    def refuses(self, number):
        """Whether a node turns another client away, as it cannot reach the log."""
        try:
            connection = Connection(self.daemons[number].socket)
            try:
                connection.socket.settimeout(0.5)
                hello = {"versionMin": 1, "versionMax": 1, "program": "guest"}
                connection.send(HELLO, hello, number=MAGIC)
                connection.receive()
            finally:
                connection.close()
        except LOST as end:
            return is_cut(end)
        return False

    def await_cut(self, numbers, since):
        """Waits until nodes refuse clients; late is a violation."""
        while late := [NAMES[number] for number in numbers if not self.refuses(number)]:
            if time.monotonic() > since + CUT_MAX + 2:
                return self.late(
                    f"{late} accept clients {time.monotonic() - since:.1f} s after the cut:\n"
                    f"{self.tails()}")
            self.check()
            time.sleep(0.02)

    def expect_cut(self, numbers, since):
        """No request was answered that came when a node's state was too old to serve."""
        for number in numbers:
            served = self.readers[number].served - since
            if served > CUT_MAX:
                self.late(f"{NAMES[number]} served a client {served:.2f} s after the cut")

    def expect_end(self, leader, since):
        """A former leader that is cut off tells its clients so, and answers administrators."""
        self.hold(since + CUT_MAX + 2 - time.monotonic())
        if not self.refuses(leader):
            self.complain(f"{NAMES[leader]}, a leader that was cut off, does not turn clients away")
        if self.status(leader) is None:
            self.complain(f"{NAMES[leader]}, a leader that was cut off, shows no status")
        ends = [end for end in self.readers[leader].ends if end[0] > since]
        if ends and "goes back" in str(ends[0][1]):
            # Only a leader that stood still gives up before it has closed its clients.
            self.late(f"{NAMES[leader]}, a leader that was cut off, served its clients until it "
                      f"gave up, {ends[0][0] - since:.1f} s later")
        for moment, reason, error in ends:
            if reason is None:
                self.complain(f"{NAMES[leader]}, a leader that was cut off, ended a connection "
                              f"without a reason {moment - since:.1f} s later: {error}")

    def await_no_cut(self):
        """All nodes serve clients, as all reach etcd's leader."""
        # A busy machine may be late for a moment, and a node without the log is for good.
        deadline = time.monotonic() + 60
        while late := [NAMES[number] for number in range(3) if self.refuses(number)]:
            if time.monotonic() > deadline:
                raise Violation(
                    f"{late} serve no clients, though all reach etcd's leader:\n{self.tails()}")
            self.check()

    def expect_silence(self, since):
        """Nothing was acknowledged while no two machines had a link, after the first moments."""
        # What the log had before may be on its way to the clients, and is late on a busy machine.
        told = self.ledger.count(since + CUT_MAX, time.monotonic())
        if told:
            raise Violation(f"{told} actions were acknowledged while all links were cut")
        told = self.ledger.count(since + 0.5, time.monotonic())
        if told:
            self.late(f"{told} actions were acknowledged half a second after all links were cut")

    # Nodes that lack the link to the leader

    def expect_waiting(self, follower, leader, before, since):
        """A follower's actions wait; it closed their client before others get what that owned."""
        if not self.leads_on(leader, before):
            return  # There may be a link to the new leader.
        actor, name = self.actors[follower], NAMES[follower]
        if not actor.waiting():
            raise Violation(f"no action waits at {name}, which has no link to the leader")
        if actor.told > since + 1:
            self.late(f"{name} told an outcome {actor.told - since:.1f} s after its link's end")
        if not self.await_status(follower)["link"]:
            self.complain(f"{name} does not say that it has no link")
        cuts = [moment - since for moment, reason, _ in actor.ends
                if moment > since and reason and reason["code"] == "CUT"]
        if not cuts or cuts[0] > LOST_AFTER:
            self.late(f"{name} closed a client that may own something after {cuts[:1]} s, and not "
                      f"within {LOST_AFTER} s")
        self.silences += cuts[:1]

    def expect_spared(self, numbers, since):
        """No client that acts was closed, as the links were back in time."""
        for number in numbers:
            for moment, _, error in self.actors[number].ends:
                if moment > since:
                    self.late(f"{NAMES[number]} closed a client {moment - since:.1f} s after its "
                              f"link's end: {error}")

    # Leaders

    def leads_on(self, leader, before):
        """Whether the node leads in the term that it had before, as far as it knows."""
        status = self.await_status(leader)
        return status["term"] == before["term"] and status["role"] == "leading"

    def await_deposed(self, number, before):
        """Waits until a former leader follows: deposed, in the same process."""
        deadline = time.monotonic() + PATIENCE
        while not (status := self.status(number)) or status["depositions"] <= before["depositions"]:
            if time.monotonic() > deadline:
                raise Violation(f"{NAMES[number]} was not deposed: {brief(before)}, then "
                                f"{brief(status)}:\n{self.daemons[number].tail()}")
            self.check()
            time.sleep(0.02)

    def expect_same(self, leader, before):
        """An election of etcd's, or the end of a link, deposes no leader."""
        deadline = time.monotonic() + REPAIR_MAX
        while True:
            # While a row of its is on the way to the log, a leader answers nothing.
            status = self.status(leader)
            if status and status["term"] == before["term"] and status["role"] == "leading":
                return
            if status and status["term"] != before["term"] or time.monotonic() > deadline:
                return self.late(
                    f"{NAMES[leader]} was deposed without a reason: {brief(before)}, then "
                    f"{brief(status)}:\n{self.tails()}")
            self.check()
            time.sleep(0.02)


def brief(status):
    """The fields of a status that show its part."""
    return status and {name: status[name] for name in (
        "node", "role", "leader", "term", "isCut", "applied", "waiting", "promotions",
        "depositions", "link")}
