"""Power cuts: data that was not synchronized is partly lost, acknowledged data must remain."""

import os
import shutil
import signal
import time
from random import Random

from disk import Disk
from kills import Episode
from shim import Shim
from wire import greet
from worker import Violation, KV, JOBS, MEMBERS, VISITS, TOP


class CutEpisode(Episode):
    """Daemons on a disk that loses unsynchronized data."""

    def __init__(self, binary, home, seed, options, **named):
        super().__init__(binary, home, seed, {**self.small, **options}, **named)
        self.shim = Shim(home, self.daemon.data)
        self.disk = Disk(self.daemon.data, self.shim.log)
        self.daemon.environment = self.shim.environment(logs=True)
        self.cuts = self.lossy = self.lost = self.made = self.only_killed = 0

    small = {"snapshotInterval": "1s", "keepDuration": "0s", "keepBytes": "0"}

    def end_process(self):
        """Kills the process, mostly together with a power cut."""
        self.shim.kill(self.daemon, self.random.random() < 0.5)
        if self.random.random() < 0.2:
            self.only_killed += 1
            return
        self.cut()

    def cut(self):
        lost, made = self.disk.cut(self.random)
        self.shim.boot()
        self.cuts += 1
        self.lossy += lost > 0
        self.lost, self.made = self.lost + lost, self.made + made

    def kill(self, longest=0.3):
        self.wait(longest)
        self.gate.close()
        if not self.daemon.is_running():
            raise Violation(f"ended by itself: {self.daemon.tail()}")
        self.end_process()
        self.gate.gather(self.clients)
        self.restart()
        self.compare()
        self.gate.open()

    def restart(self):
        while self.random.random() < 0.25:
            # A start makes calls of its own, and any of them may be the last.
            at = self.random.randint(1, 40)
            environment = self.shim.environment(at, "before", logs=True)
            self.daemon.start(environment=environment)
            self.starts_killed += 1
            self.end_process()
        self.daemon.environment = self.shim.environment(logs=True)
        if not self.daemon.becomes_ready():
            raise Violation(f"does not start: {self.daemon.tail()}")

    @property
    def counts(self):
        return super().counts | {
            "cuts": self.cuts, "cuts that lost something": self.lossy,
            "only killed": self.only_killed,
            "pieces lost": self.lost, "pieces unsynchronized": self.made,
        }


def run(binary, home, count, seed, lies=False):
    """Runs `count` cuts with `strict` and half as many with `relaxed`; returns the counts."""
    random, totals, number, begun = Random(seed), {}, 0, time.monotonic()
    cuts = 0
    while cuts < count:
        options = {"durability": "strict", "snapshotBytes": random.choice(["1MiB", "64MiB"])}
        episode = CutEpisode(
            binary, os.path.join(home, f"cuts-{number}"), seed * 1_000_003 + number, options,
            ballast=random.choice([0, 400]))
        episode.disk.lies = lies
        end = min(count - cuts, 20)
        try:
            episode.begin()
            while episode.cuts < end:
                episode.kill(random.choice([0.1, 0.4, 1.5]))
            episode.finish()
        except BaseException:
            print(f"seed {seed}, directory {episode.home}, options {episode.options}")
            episode.abandon()
            raise
        shutil.rmtree(episode.home)
        for key, value in episode.counts.items():
            totals[key] = totals.get(key, 0) + value
        cuts, number = cuts + episode.cuts, number + 1
        print(f"{cuts} cuts, {time.monotonic() - begun:.0f} s: {totals}", flush=True)
    least, index = count // 2, 0
    # A run in which no data was at risk proves nothing.
    while index < least or 0 < least and index < least + 40 and idle(totals):
        path, episode_seed = os.path.join(home, f"relaxed-{index}"), seed * 7_000_003 + index
        for key, value in relaxed(binary, path, episode_seed, index % 3 == 0, lies).items():
            totals[key] = totals.get(key, 0) + value
        index += 1
        if index % 10 == 0:
            print(f"{index} cuts of relaxed, {time.monotonic() - begun:.0f} s", flush=True)
    if least and idle(totals):
        raise Violation(f"nothing was at stake: no {idle(totals)} in {totals}")
    return totals


# Durability `relaxed`: a power cut may lose the last rows


STAKES = ["relaxed cuts that took a tail", "relaxed durable", "relaxed slices told of a cut"]


def idle(totals):
    """The names of counts that are zero."""
    return [key for key in STAKES if not totals[key]]


def relaxed(binary, home, seed, kills_first, lies=False):
    """Runs one cut, after which the first starts may be killed too; returns the counts."""
    episode = CutEpisode(
        binary, home, seed, {"durability": "relaxed", "snapshotBytes": "1MiB"}, workers=1, ballast=0,
        windows=[1, 16, 64])
    episode.disk.lies = lies
    worker, watcher = episode.ledger.workers[0], episode.watchers[0]
    everything = []
    # Every durable action also makes the earlier ones durable.
    share = episode.random.choice([0, 0.01, 0.2])
    worker.act = lambda: everything.append(act(worker, share))
    worker.is_lossy = watcher.is_lossy = True
    try:
        episode.begin()
        episode.wait(episode.random.choice([0.1, 0.5, 2.5]))
        episode.gate.close()
        episode.shim.kill(episode.daemon, episode.random.random() < 0.5)
        episode.gate.gather(episode.clients)
        episode.cut()
        for _ in range(3 if kills_first else 0):
            # A daemon may detect a loss and end before its first row records it: it detects the
            # loss before the sixth sync, and writes the row after the eighth.
            at, syncs = episode.random.randint(5, 8), ["fsync", "fdatasync"]
            episode.daemon.environment = episode.shim.environment(at, "before", syncs)
            episode.daemon.becomes_ready()
            episode.daemon.kill()
        episode.daemon.environment = episode.shim.environment()
        if not episode.daemon.becomes_ready():
            raise Violation(f"does not start: {episode.daemon.tail()}")
        counts = settle(episode, worker, watcher, everything)
        episode.gate.end()
        episode.daemon.kill(signal.SIGKILL)
    except BaseException:
        print(f"directory {home}, options {episode.options}")
        episode.abandon()
        raise
    shutil.rmtree(home)
    counts["relaxed first starts killed"] = 3 * kills_first
    return counts | {"relaxed pieces lost": episode.lost}


def settle(episode, worker, watcher, everything):
    """Compares the outcomes with the state, and with the frames that resuming clients receive."""
    state, _ = episode.ledger.state(episode.daemon.socket)
    kept = prefix(everything, state)
    told = sum(action.is_applied for action in everything)
    sent = [action for action in everything if action.kind != "overflow"]
    durable = [at for at, action in enumerate(sent, 1) if action.is_applied and action.options]
    if durable and kept < durable[-1]:
        raise Violation(f"number {durable[-1]} was acknowledged as durable, {kept} are there")
    connection, welcome = greet(
        episode.daemon.socket, worker.name, worker.session, worker.confirmed, worker.epoch)
    connection.close()
    is_new = welcome["epoch"] != worker.epoch
    if kept < told and not is_new:
        raise Violation(f"{told - kept} of {told} are gone, and the epoch is the same")
    if not is_new and not (welcome["isResumed"] and welcome["ordinal"] >= worker.told):
        raise Violation(f"in its epoch a session does not continue from {worker.told}: {welcome}")
    watcher.compare()
    return {
        "relaxed cuts": 1, "relaxed told": told, "relaxed kept": min(kept, told),
        "relaxed cuts that took a tail": kept < told, "relaxed durable": len(durable),
        "relaxed epochs begun": is_new, "relaxed slices told of a cut": watcher.cut_count,
    }


def act(worker, share):
    """Sends an action with a visible effect, whose ordinal is its place in the order.

    In this share of cases, its outcome is requested only when it is durable.
    """
    random, nonce = worker.random, f"0-{worker.ordinal + 1}"
    set, push = {"set": {"key": nonce, "value": {"n": nonce}}}, {"push": {"job": {"n": nonce}}}
    insert, increment = {"insert": {"member": nonce}}, {"increment": {"by": 1}}
    kind, target, body = random.choice([
        ("increment", VISITS, increment), ("set", KV, set), ("push", JOBS, push),
        ("insert", MEMBERS, insert), ("overflow", VISITS, {"increment": {"by": TOP}}),
        ("batch", None, [[VISITS, increment], [KV, set], [JOBS, push], [MEMBERS, insert]]),
    ])
    options = {"ack": "durable"} if random.random() < share else None
    worker.send(kind, target, body, nonce, 1, options)
    return worker.actions[worker.ordinal]


def prefix(actions, state):
    """The number of actions in a state that must be the result of a prefix of them."""
    count, keys, jobs, members = 1, set(), [], set()
    found = (
        state["/visits"]["count"], set(state["/kv"]["entries"]),
        [job["job"]["n"] for job in state["/jobs"]["waiting"]], set(state["/members"]["members"]))
    # The count is 1 before the first action, and that may be lost as well.
    best, applied = (0 if found == (0, set(), [], set()) else None), 0
    for action in [None, *actions]:
        if action is not None and action.kind != "overflow":
            applied += 1
            if action.kind in ("increment", "batch"):
                count += 1
            if action.kind in ("set", "batch"):
                keys.add(action.nonce)
            if action.kind in ("push", "batch"):
                jobs.append(action.nonce)
            if action.kind in ("insert", "batch"):
                members.add(action.nonce)
        if len(jobs) == len(found[2]) and (count, keys, jobs, members) == found:
            best = applied
    if best is None:
        raise Violation(f"not the state of the first actions: {found[0]} of {count} counted, "
                        f"{len(found[1])} of {len(keys)} keys, {len(found[2])} of {len(jobs)} jobs")
    return best
