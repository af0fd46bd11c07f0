"""Power cuts: what was not synchronized is lost in part, and what was told must be there."""

import os
import shutil
import signal
import time
from random import Random

from disk import Disk
from kills import Episode
from shim import Shim
from worker import Violation, KV, JOBS, MEMBERS, VISITS, TOP


class CutEpisode(Episode):
    """Daemons upon a disk that forgets."""

    def __init__(self, binary, home, seed, options, **named):
        super().__init__(binary, home, seed, {**self.small, **options}, **named)
        self.shim = Shim(home, self.daemon.data)
        self.disk = Disk(self.daemon.data, self.shim.log)
        self.daemon.environment = self.shim.environment(logs=True)
        self.cuts = self.lossy = self.lost = self.made = self.only_killed = 0

    small = {"snapshotInterval": "1s", "keepDuration": "0s", "keepBytes": "0"}

    def end_process(self):
        """The process ends, and mostly the power with it."""
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
            # because a start makes calls of its own, and any of them may be the last
            at = self.random.randint(1, 40)
            environment = self.shim.environment(at, "before", logs=True)
            self.daemon.start(environment=environment)
            self.starts_killed += 1
            self.end_process()
        self.daemon.environment = self.shim.environment(logs=True)
        if not self.daemon.start():
            raise Violation(f"does not start: {self.daemon.tail()}")

    @property
    def counts(self):
        return super().counts | {
            "cuts": self.cuts, "cuts that lost something": self.lossy,
            "only killed": self.only_killed,
            "pieces lost": self.lost, "pieces unsynchronized": self.made,
        }


def run(binary, home, count, seed, lies=False, epochs=False):
    """`count` cuts upon `strict`, half as many upon `relaxed`; what was counted."""
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
    for index in range(count // 2):
        path, episode_seed = os.path.join(home, f"relaxed-{index}"), seed * 7_000_003 + index
        told, kept, lost, is_new = relaxed(binary, path, episode_seed)
        if epochs and kept < told and not is_new:
            raise Violation(f"{told - kept} of {told} are gone, and the epoch is the same: {path}")
        for key, value in {"relaxed cuts": 1, "relaxed told": told, "relaxed kept": kept,
                           "relaxed cuts that took a tail": kept < told,
                           "relaxed epochs begun": is_new, "relaxed pieces lost": lost}.items():
            totals[key] = totals.get(key, 0) + value
        if index % 10 == 9:
            print(f"{index + 1} cuts of relaxed, {time.monotonic() - begun:.0f} s", flush=True)
    return totals


# The level that may lose a tail


def relaxed(binary, home, seed):
    """One cut: how many actions were told, are there; what the disk lost; if an epoch began."""
    episode = CutEpisode(
        binary, home, seed, {"durability": "relaxed", "snapshotBytes": "1MiB"}, workers=1, ballast=0,
        windows=[1, 16, 64])
    worker = episode.ledger.workers[0]
    everything = []
    worker.act = lambda: everything.append(act(worker))
    worker.is_lossy = True
    try:
        episode.begin()
        episode.wait(episode.random.choice([0.1, 0.5, 2.5]))
        episode.gate.close()
        episode.shim.kill(episode.daemon, episode.random.random() < 0.5)
        episode.gate.gather(episode.clients)
        episode.cut()
        episode.daemon.environment = episode.shim.environment()
        if not episode.daemon.start():
            raise Violation(f"does not start: {episode.daemon.tail()}")
        state, welcome = episode.ledger.state(episode.daemon.socket)
        kept = prefix(everything, state)
        told = sum(action.is_applied for action in everything)
        episode.gate.end()
        episode.daemon.kill(signal.SIGKILL)
    except BaseException:
        print(f"directory {home}, options {episode.options}")
        episode.abandon()
        raise
    shutil.rmtree(home)
    return told, min(kept, told), episode.lost, welcome["epoch"] != worker.epoch


def act(worker):
    """Sends an action whose effect shows, and whose place in the order is its ordinal."""
    random, nonce = worker.random, f"0-{worker.ordinal + 1}"
    set, push = {"set": {"key": nonce, "value": {"n": nonce}}}, {"push": {"job": {"n": nonce}}}
    insert, increment = {"insert": {"member": nonce}}, {"increment": {"by": 1}}
    kind, target, body = random.choice([
        ("increment", VISITS, increment), ("set", KV, set), ("push", JOBS, push),
        ("insert", MEMBERS, insert), ("overflow", VISITS, {"increment": {"by": TOP}}),
        ("batch", None, [[VISITS, increment], [KV, set], [JOBS, push], [MEMBERS, insert]]),
    ])
    worker.send(kind, target, body, nonce, 1)
    return worker.actions[worker.ordinal]


def prefix(actions, state):
    """How many actions are in a state that must be that of the first ones."""
    count, keys, jobs, members = 1, set(), [], set()
    found = (
        state["/visits"]["count"], set(state["/kv"]["entries"]),
        [job["job"]["n"] for job in state["/jobs"]["waiting"]], set(state["/members"]["members"]))
    # because the count is 1 before the first of them, and that may be lost as well
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
