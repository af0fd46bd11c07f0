"""Kills the daemon, or fails the call, at every call that changes the disk."""

import errno
import os
import shutil
import signal
import subprocess
import time

from disk import Disk
from kills import Episode
from shim import Shim
from wire import Client, Closed
from worker import Violation

WRITING = ["create", "pwrite", "write", "ftruncate", "posix_fallocate"]
SYNCHRONIZING = ["fsync", "fdatasync"]
NAMING = ["create", "rename", "unlink"]
# Plans: what happens at a call, at which calls, and with which error.
PLANS = {
    "before": ("before", None, None),
    "half": ("half", ["pwrite", "write"], None),
    "after": ("after", None, None),
    "EIO": ("fail", SYNCHRONIZING, errno.EIO),
    "EIO-write": ("fail", ["pwrite", "write"], errno.EIO),
    "EIO-read": ("fail", ["pread"], errno.EIO),
    "ENOSPC": ("fail", WRITING, errno.ENOSPC),
    "EDQUOT": ("fail", WRITING, errno.EDQUOT),
    # A permission change does not affect open files; a read-only file system does.
    "EROFS": ("fails", [*WRITING, *NAMING], errno.EROFS),
    "EACCES": ("fails", NAMING, errno.EACCES),
    "EINTR": ("fail", ["pwrite", "write", "ftruncate"], errno.EINTR),
    "short": ("short", ["pwrite", "write"], None),
}
CYCLES_MAX = 400


class CallEpisode(Episode):
    """A daemon that starts, acts, takes a snapshot, trims, and ends; again and again."""

    def __init__(self, binary, home, seed, durability):
        options = {
            "durability": durability, "snapshotBytes": "64MiB", "snapshotInterval": "1s",
            "keepDuration": "0s", "keepBytes": "0",
        }
        super().__init__(
            binary, home, seed, options, workers=2, ballast=0, windows=[1, 4])
        for worker in self.ledger.workers:
            worker.size, worker.limit = 60, 6
        self.shim = Shim(home, self.daemon.data)
        self.disk = Disk(self.daemon.data, self.shim.log)

    def drain_by_limit(self):
        """Ends the daemon's first life, in which the clients connected, in an orderly way."""
        while not all(w.is_idle and w.is_draining for w in self.ledger.workers):
            failure = self.gate.failure(self.clients)
            if failure:
                raise failure
            time.sleep(0.005)
        self.gate.close()
        self.daemon.kill(signal.SIGTERM)
        self.gate.gather(self.clients)

    def cycle(self, number, plan, calls_of=None):
        """Runs one life of the daemon, with the plan's event at its call `number`.

        Returns its end, the event's call, its log, and whether it was asked to end before.
        """
        do, calls, code = PLANS[plan]
        size = self.daemon.log_size
        # Data that a failed sync left out stays readable until the power is cut.
        is_cut = plan == "EIO"
        if is_cut:
            self.disk.load()
        environment = self.shim.environment(number, do, calls, calls_of, code, logs=is_cut)
        is_at_end = False
        if self.daemon.start(environment=environment):
            for worker in self.ledger.workers:
                worker.limit = worker.ordinal + 6
            self.gate.open()
            self.follow(size)
            self.gate.close()
            is_at_end = self.shim.hit is None
            if self.daemon.is_running():
                self.daemon.kill(signal.SIGTERM)
        status = self.daemon.process.wait()
        self.gate.gather(self.clients)
        if is_cut:
            self.disk.cut(self.random)
            self.shim.boot()
        said = self.daemon.said(size)
        self.restart_and_compare()
        return status, self.shim.hit, said, is_at_end

    def follow(self, size):
        """Waits for all actions and a snapshot, or, if read-only, for the daemon's end."""
        deadline, quiet = time.monotonic() + 120, None
        was_full = False
        before = set(self.snapshots_there())
        while self.daemon.is_running():
            failure = self.gate.failure(self.clients)
            if failure:
                raise failure
            if time.monotonic() > deadline:
                raise Violation(f"does not continue: {self.daemon.tail()}")
            idle = all(w.is_idle and w.is_draining for w in self.ledger.workers)
            said = self.daemon.said(size)
            if "read-only until" in said:
                was_full = True
            if was_full and idle and not self.applied_again():
                continue
            is_done = set(self.snapshots_there()) != before or "no snapshot was taken" in said
            if idle and is_done:
                # Trimming and a checkpoint follow the snapshot.
                quiet = quiet or time.monotonic() + 0.15
                if time.monotonic() > quiet:
                    return
            time.sleep(0.005)

    def applied_again(self):
        """Whether an action was applied since the last call; allows one more if not."""
        worker = self.ledger.workers[0]
        before, worker.limit = worker.applied_count, worker.ordinal + 1
        end = time.monotonic() + 0.3
        while time.monotonic() < end and worker.applied_count == before:
            time.sleep(0.01)
        return worker.applied_count > before

    def snapshots_there(self):
        return [name for name in os.listdir(self.daemon.data) if name.startswith("snapshot-")
                and ".partial" not in name]

    def restart_and_compare(self):
        if not self.daemon.becomes_ready():
            raise Violation(f"does not start: {self.daemon.tail()}")
        self.compare()
        self.daemon.kill(signal.SIGKILL)
        for watcher in self.watchers:
            watcher.lose()


def judge(plan, status, hit, said, is_at_end):
    """Whether a life ended as required after this event."""
    call, name = hit.split()
    expected = {"before": -9, "half": -9, "after": -9, "EINTR": 0, "short": 0}
    if plan in expected:
        return status == expected[plan]
    is_refused = "no snapshot was taken" in said
    # The pid in that file is informative only: the lock itself works.
    if name == "journal.lock":
        return status in (0, 74)
    # A disk does not report that it is full for a file that gets shorter, so this is an error.
    if plan in ("ENOSPC", "EDQUOT") and call == "ftruncate":
        return status in (0, 74)
    if plan == "EIO":
        # SQLite ignores errors of a directory's sync; and at the end all outcomes are sent
        # already.
        return status == 74 or status == 0 and (is_refused or name == "." or is_at_end)
    # If reading a file fails inside a statement, SQLite reports the file as malformed. The daemon
    # then refuses it, skips the snapshot, or leaves the rows that it wanted to remove.
    if plan == "EIO-read" and "malformed" in said:
        is_left = "could not be removed" in said or name.startswith("snapshot-")
        return status == 78 or status == 0 and is_left
    if plan in ("EIO-write", "EIO-read", "EROFS", "EACCES"):
        is_refused = is_refused or "could not be removed" in said
        if status == 74 and plan in ("EROFS", "EACCES"):
            return os.strerror(PLANS[plan][2]) in said
        return status == 74 or status == 0 and (is_refused or is_at_end)
    # A daemon that cannot even start ends instead of serving read-only.
    if status == 74:
        return "ready" not in said
    is_told = "read-only until" in said or is_refused or "could not be removed" in said
    # Growing, checkpointing and cleaning up are optional.
    return status == 0 and (is_told or is_at_end or not name.startswith("snapshot-"))


def sweep(binary, home, plan, seed, durability, first=1, step=1, calls_of=None):
    """Runs lives with the event at each call up to the last; returns counts by call and file."""
    met, number, odd = {}, first, []
    episode = None
    begun = time.monotonic()
    try:
        while number < first + CYCLES_MAX * step:
            if episode is None:
                episode = CallEpisode(binary, home, seed + number, durability)
                episode.begin()
                episode.drain_by_limit()
            status, hit, said, is_at_end = episode.cycle(number, plan, calls_of)
            if hit is None:
                if status != 0:
                    raise Violation(f"ended with {status}: {said}")
                break
            call, name = hit.split()
            name = "snapshot" if name.startswith("snapshot-") else name
            place = (call, name, status)
            met[place] = met.get(place, 0) + 1
            if not judge(plan, status, hit, said, is_at_end):
                odd.append(f"{plan} at call {number} ({hit}): ended with {status}: {said[-600:]}")
            number += step
            if (number - first) // step % 40 == 0:
                episode.abandon()
                shutil.rmtree(home)
                episode = None
    except BaseException:
        print(f"plan {plan}, call {number}, hit {episode.shim.hit}, directory {home}")
        episode.abandon()
        raise
    episode.abandon()
    shutil.rmtree(home)
    table = "; ".join(f"{call} {name} -> {status}: {count}"
                      for (call, name, status), count in sorted(met.items()))
    print(f"{plan} {durability}: {number - 1} calls, {time.monotonic() - begun:.0f} s: {table}",
          flush=True)
    return sum(met.values()), odd


def births(binary, home, plan, step=1):
    """The same for the calls that create a data directory."""
    do, calls, code = PLANS[plan]
    number, met, odd = 1, {}, []
    while True:
        episode = CallEpisode(binary, home, number, "strict")
        daemon, shim = episode.daemon, episode.shim
        daemon.start(environment=shim.environment(number, do, calls, None, code))
        told = count_one(daemon)
        status, hit = ended(daemon, told), shim.hit
        daemon.start()
        found = count_one(daemon)
        again = ended(daemon, found)
        if found is None or again != 0:
            odd.append(f"{plan} at {hit}, ended with {status}, then {again}: {daemon.tail()}")
        elif told is not None and found != told + 1:
            odd.append(f"{plan} at {hit}: {told} acknowledged, then {found}")
        shutil.rmtree(home)
        if hit is None:
            break
        met[status] = met.get(status, 0) + 1
        number += step
    print(f"{plan}, making the directory: {number - 1} calls, ended with {met}", flush=True)
    return number - 1, odd


def ended(daemon, told):
    """The exit status: the process's own if it never served, else after a signal."""
    if told is None:
        try:
            return daemon.process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            pass
    return daemon.kill(signal.SIGTERM)


def count_one(daemon):
    """The count after one more increment, or None without an outcome."""
    try:
        client = Client(daemon.socket, "birth")
        outcome = client.dispatch("/visits", {"increment": {"by": 1}})
        count = client.get("/visits")["count"]
        client.connection.close()
        return count if "applied" in outcome else None
    except (Closed, OSError):
        return None


def run(binary, home, plans, seed, durability="strict", step=1, first=1):
    counts, odd = {}, []
    for plan in plans:
        counts[f"{plan} at birth"], births_odd = births(
            binary, os.path.join(home, "birth"), plan, step)
        counts[plan], sweep_odd = sweep(
            binary, os.path.join(home, "calls"), plan, seed, durability, first, step)
        odd += births_odd + sweep_odd
    for text in odd:
        print(text)
    if odd:
        raise Violation(f"{len(odd)} ended otherwise than they should, the first: {odd[0]}")
    return counts
