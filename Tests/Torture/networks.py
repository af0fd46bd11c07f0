"""Three daemons on three machines: the network is cut, and the members of etcd lose their leader.

spiped carries the links between the daemons, and clients act at all nodes. What each client was
told is in the history once, whichever packets are lost.
"""

import os
import shutil
import signal
import sys
import time
from collections import Counter

from actors import STALE_MAX
from cluster import NAMES
from machines import Network
from promises import LOST_AFTER, REPAIR_MAX, Machines
from timings import Timings
from worker import Violation


class Drill(Machines):
    """The faults. Each returns after the cluster has repaired itself."""

    # Cuts

    def isolate_leader(self):
        """The network to the leading daemon's machine is cut."""
        leader, before = self.await_leading()
        since = time.monotonic()
        self.network.isolate(leader)
        self.await_leader(other_than=leader)
        self.await_progress(time.monotonic())
        self.expect_end(leader, since)
        self.hold(self.random.uniform(0, 5))
        self.expect_cut([leader], since)
        self.network.heal()
        healed = time.monotonic()
        self.await_deposed(leader, before)
        self.await_all(healed)

    def isolate_follower(self):
        follower = self.random.choice(self.others(self.await_leader()))
        since = time.monotonic()
        self.network.isolate(follower)
        self.await_cut([follower], since)
        self.await_progress(time.monotonic())
        self.hold(self.random.uniform(0, 3))
        self.expect_cut([follower], since)
        self.heal()

    def cut_link(self, one, other):
        """The network between two machines is cut for longer than a node may serve without news. The others go on."""
        member, leader = self.await_member(), self.await_leader()
        before, since = self.await_status(leader), time.monotonic()
        self.network.cut(one, other)
        self.hold(STALE_MAX + 1)
        self.await_progress(time.monotonic())
        self.hold(self.random.uniform(0, 2))
        lacks_link = leader in (one, other) and self.leads_on(leader, before)
        if lacks_link:
            self.hold(since + LOST_AFTER + 1 - time.monotonic())
        # A link that etcd's leader does not need is not missed.
        if member not in (one, other) and self.etcd.leader() == member:
            self.await_no_cut()
            self.expect_same(leader, before)
            self.spared += 1
        if lacks_link:
            self.expect_waiting(one + other - leader, leader, before, since)
        self.heal()

    def cut_leader_follower(self):
        leader = self.await_leader()
        self.cut_link(leader, self.random.choice(self.others(leader)))

    def cut_daemons(self):
        """The same, and neither machine has the leader of etcd: both reach it."""
        leader, member = self.part_leaders()
        self.cut_link(leader, 3 - leader - member)

    def cut_followers(self):
        self.cut_link(*self.others(self.await_leader()))

    def cut_leader_member(self):
        """The leading daemon's machine loses the link to that of etcd's leader."""
        self.cut_link(*self.part_leaders())

    def cut_all(self):
        """The whole network is cut: nothing is acknowledged, and no node serves an old state."""
        leader = self.await_leader()
        for one, other in ((0, 1), (1, 2), (0, 2)):
            self.network.cut(one, other)
        since = time.monotonic()
        self.await_cut(self.others(leader), since)
        self.expect_end(leader, since)
        self.hold(self.random.uniform(0, 3))
        self.expect_silence(since)
        self.expect_cut(range(3), since)
        self.lasting += [
            self.readers[number].served - since for number in self.others(leader)]
        self.heal()

    def drop_one_way(self, pairs):
        for source, target in pairs:
            self.network.drop(source, target)
        self.hold(STALE_MAX + 1)
        self.await_progress(time.monotonic())
        self.hold(self.random.uniform(0, 2))
        self.heal()

    def mute_leader(self):
        """Nothing that the leading daemon's machine sends arrives."""
        leader = self.await_leader()
        self.drop_one_way([(leader, other) for other in self.others(leader)])

    def deafen_leader(self):
        """Nothing arrives at the leading daemon's machine."""
        leader = self.await_leader()
        self.drop_one_way([(other, leader) for other in self.others(leader)])

    def mute_member(self):
        """Nothing that the machine of etcd's leader sends arrives, and another daemon leads."""
        _, member = self.part_leaders()
        self.drop_one_way([(member, other) for other in self.others(member)])

    def deafen_member(self):
        _, member = self.part_leaders()
        self.drop_one_way([(other, member) for other in self.others(member)])

    def drop_to_member(self):
        """The leading daemon's machine hears etcd's leader, and is not heard."""
        leader, member = self.part_leaders()
        self.drop_one_way([(leader, member)])

    def drop_from_member(self):
        leader, member = self.part_leaders()
        self.drop_one_way([(member, leader)])

    def flap(self):
        """Random cuts, healed after fractions of a second, for five seconds."""
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            for _ in range(self.random.randint(1, 4)):
                self.network.drop(*self.random.sample(range(3), 2))
            self.hold(self.random.uniform(0.05, 0.8))
            self.network.heal()
            self.hold(self.random.uniform(0, 0.4))
        self.heal()

    # Members and daemons

    def kill_daemon(self):
        """kill -9 of the leading daemon, which is started again once another leads."""
        leader, since = self.await_leader(), time.monotonic()
        self.kill(leader)
        self.await_leader(other_than=leader)
        self.await_progress(time.monotonic())
        self.expect_spared(self.others(leader), since)
        self.restart(leader)
        self.await_all(time.monotonic())

    def kill_machine(self):
        """The leading daemon's machine dies silently, and boots once another leads."""
        leader, member, since = self.await_leader(), self.await_member(), time.monotonic()
        self.network.isolate(leader)
        self.kill(leader)
        self.etcd.kill(leader)
        self.links.kill(leader)
        self.await_leader(other_than=leader)
        self.await_progress(time.monotonic())
        if member != leader:
            # While etcd has no leader, nothing shows that a state is recent enough to serve.
            self.expect_spared(self.others(leader), since)
        self.network.heal()
        self.links.start(leader)
        self.etcd.start(leader)
        self.restart(leader)
        self.await_all(time.monotonic())

    def kill_member(self):
        """kill -9 of etcd's leader, which is not on the leading daemon's machine."""
        leader, member = self.part_leaders()
        before = self.await_status(leader)
        self.etcd.kill(member)
        self.hold(0.2)
        self.await_progress(time.monotonic())
        self.expect_same(leader, before)
        self.etcd.start(member)
        self.await_all(time.monotonic())

    def stop_member(self):
        """SIGSTOP of etcd's leader, which is not on the leading daemon's machine."""
        leader, member = self.part_leaders()
        before, since = self.await_status(leader), time.monotonic()
        self.etcd.signal(member, signal.SIGSTOP)
        self.await_cut([member], since)
        self.await_progress(time.monotonic())
        self.expect_same(leader, before)
        self.etcd.signal(member, signal.SIGCONT)
        self.await_all(time.monotonic())

    def pause_leader(self):
        """The leading daemon stands still for ten seconds, and goes on."""
        leader, before = self.await_leading()
        begun = time.monotonic()
        self.daemons[leader].process.send_signal(signal.SIGSTOP)
        for actor in self.actors:
            actor.pause.clear()
        self.await_leader(other_than=leader)
        self.await_progress(time.monotonic())
        self.hold(begun + 10 - time.monotonic())
        self.daemons[leader].process.send_signal(signal.SIGCONT)
        self.await_deposed(leader, before)
        self.await_all(begun + 10)

    def pause_idle_leader(self):
        """The same without an action on its way, whose outcome would hold back answers."""
        for actor in self.actors:
            actor.pause.set()
        deadline = time.monotonic() + REPAIR_MAX
        while any(actor.pending for actor in self.actors) and time.monotonic() < deadline:
            self.hold(0.05)
        self.pause_leader()

    def pause_follower(self):
        follower = self.random.choice(self.others(self.await_leader()))
        self.daemons[follower].process.send_signal(signal.SIGSTOP)
        self.hold(10)
        self.await_progress(time.monotonic())
        self.daemons[follower].process.send_signal(signal.SIGCONT)
        self.await_all(time.monotonic())

    def pause_machine(self):
        """The leading daemon and its member stand still for ten seconds, and go on."""
        leader, before = self.await_leading()
        begun = time.monotonic()
        self.daemons[leader].process.send_signal(signal.SIGSTOP)
        self.etcd.signal(leader, signal.SIGSTOP)
        self.await_leader(other_than=leader)
        self.await_progress(time.monotonic())
        self.hold(begun + 10 - time.monotonic())
        for go_on in self.random.sample(
                [lambda: self.etcd.signal(leader, signal.SIGCONT),
                 lambda: self.daemons[leader].process.send_signal(signal.SIGCONT)], 2):
            go_on()
            self.hold(self.random.uniform(0, 0.3))
        self.await_deposed(leader, before)
        self.await_all(begun + 10)

    # spiped

    def kill_links(self):
        """kill -9 of a machine's spiped, which is started again after a second."""
        leader, machine = self.await_leader(), self.random.randrange(3)
        before, since = self.await_status(leader), time.monotonic()
        self.links.kill(machine)
        self.hold(1)
        self.links.start(machine)
        self.await_all(time.monotonic())
        self.expect_spared(range(3), since)
        self.expect_same(leader, before)

    def stop_link(self):
        """SIGSTOP of what carries a follower's link, until both ends have given the link up."""
        leader = self.await_leader()
        follower = self.random.choice(self.others(leader))
        before, since = self.await_status(leader), time.monotonic()
        self.links.signal(follower, leader, signal.SIGSTOP)
        self.hold(LOST_AFTER + 2)
        self.expect_waiting(follower, leader, before, since)
        self.await_no_cut()
        self.expect_same(leader, before)
        self.links.signal(follower, leader, signal.SIGCONT)
        self.await_all(time.monotonic())

    def mute_link(self):
        """Nothing that a follower's machine sends arrives at the leader's, which it hears."""
        leader, member = self.part_leaders()
        follower = 3 - leader - member
        before, since = self.await_status(leader), time.monotonic()
        self.network.drop(follower, leader)
        self.hold(LOST_AFTER + 2)
        self.expect_waiting(follower, leader, before, since)
        self.expect_same(leader, before)
        self.heal()

    def stall_link(self):
        """SIGSTOP of what takes the leader's links, until only the followers have given them up.

        The leader gets the actions that the former links hold, and again those of the next ones.
        """
        leader = self.await_leader()
        before = self.await_status(leader)
        self.links.signal(leader, leader, signal.SIGSTOP)
        self.hold(self.random.uniform(LOST_AFTER - 1.5, LOST_AFTER))
        self.links.signal(leader, leader, signal.SIGCONT)
        self.await_all(time.monotonic())
        self.expect_same(leader, before)


FAULTS = [
    "isolate_leader", "isolate_follower", "cut_leader_follower", "cut_daemons", "cut_followers",
    "cut_leader_member", "cut_all", "mute_leader", "deafen_leader", "mute_member", "deafen_member",
    "drop_to_member", "drop_from_member", "flap", "kill_daemon", "kill_machine", "kill_member",
    "stop_member", "pause_leader", "pause_idle_leader", "pause_follower", "pause_machine",
    "kill_links", "stop_link", "mute_link", "stall_link"]
# One of each sort, for a run of two minutes.
SHORT = ["isolate_leader", "isolate_follower", "cut_leader_member", "cut_all", "mute_leader",
         "kill_member", "pause_leader", "stop_link"]


def run(binary, home, seed, count, names=None, judges=True, rounds=1):
    """Injects each fault `count` times, in random order; returns numbers for the report.

    The map grows with each action, and an unoptimised daemon is slow with a large one: after
    `rounds` rounds, the next has a new cluster.
    Unless it `judges`, durations beyond the promised ones are printed, and are no violations.
    """
    names = {("short",): SHORT, ("all",): FAULTS}.get(tuple(names or ["all"]), names)
    unknown = set(names) - set(FAULTS)
    if unknown:
        raise Violation(f"no such faults: {unknown}")
    # `finally` removes the namespaces after SIGTERM too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    network, report = Network(), Report(names)
    try:
        for number in range(0, count, rounds):
            place = os.path.join(home, str(number))
            os.mkdir(place, mode=0o700)
            cluster = Drill(binary, place, seed + number, network, judges)
            drill(cluster, names, min(rounds, count - number), report)
            network.heal()
            shutil.rmtree(place)
    finally:
        network.close()
    report.show()
    if judges and report.totals["not kept"]:
        raise Violation(f"{report.totals['not kept']} promises were not kept: see above")
    return dict(report.totals)


class Report:
    """The numbers of all rounds."""

    REPAIR = "until all nodes serve after a fault"
    RESUMPTION = "until all former actions have outcomes"
    LASTING = "followers serve without any link"
    SILENCE = "until a node without a link closes clients"

    def __init__(self, names):
        self.gaps = Timings(names)
        self.others = Timings([self.REPAIR, self.RESUMPTION, self.LASTING, self.SILENCE])
        self.totals = Counter()
        self.oldest = 0.0

    def add(self, cluster, totals):
        self.totals.update(totals)
        for name, times in (
                (self.REPAIR, cluster.repairs), (self.RESUMPTION, cluster.resumptions),
                (self.LASTING, cluster.lasting), (self.SILENCE, cluster.silences)):
            for seconds in times:
                self.others.add(name, seconds)
        self.oldest = max([self.oldest, *(reader.oldest for reader in cluster.readers)])
        self.totals.update({
            "links not missed": cluster.spared, "not kept": len(cluster.complaints)})

    def show(self):
        self.gaps.show()
        self.others.show("seconds")
        print(f"a read lacked what a client had been told {self.oldest:.2f} s before, at most")


def drill(cluster, names, rounds, report):
    """Injects each fault `rounds` times."""
    try:
        cluster.begin()
        cluster.check_status()
        for name in cluster.random.sample(rounds * names, rounds * len(names)):
            cluster.hold(0.3 + cluster.random.random())
            leader, member = cluster.await_leader(), cluster.await_member()
            cluster.fault_count += 1
            since = time.monotonic()
            print(f"{name}: {NAMES[leader]} leads, and etcd's {NAMES[member]}", flush=True)
            getattr(cluster, name)()
            report.gaps.add(name, cluster.ledger.gap(since))
            cluster.check()
            report.totals.update({
                "faults": 1, "leaders on one machine": leader == member,
                "etcd's leader changed": cluster.await_member() != member})
        report.add(cluster, cluster.judge(cluster.settle()))
    finally:
        cluster.close()
