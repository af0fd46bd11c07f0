"""One fault each: the daemon is stopped, doubled, moved, damaged or out of space."""

import glob
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import threading
import time

from daemon import Daemon
from kills import Episode
from shim import Shim
from wire import *
from wire import Connection, HEADER, HELLO, MAGIC, WELCOME
from worker import Violation


def expect(is_so, words):
    if not is_so:
        raise Violation(words)


class Skipped(Exception):
    """This machine lacks a requirement of the scenario."""


class Scenario:
    """A directory to work in, and the daemons there."""

    def __init__(self, binary, home, seed, judges=True):
        self.binary, self.home, self.seed, self.judges = binary, home, seed, judges

    def episode(self, size="1MiB", **named):
        options = {"durability": "strict", "snapshotBytes": size, "snapshotInterval": "1s",
                   "keepDuration": "1h", "keepBytes": "1MiB"}
        return Episode(self.binary, self.home, self.seed, options, **named)

    def daemon(self, name="d", data=None):
        return Daemon(self.binary, os.path.join(self.home, name), {"durability": "strict"}, data)

    def filled(self, snapshots=0):
        """A daemon that has ended, with a count of 50 and this many snapshots."""
        daemon = self.daemon()
        for index in range(max(1, snapshots)):
            expect(daemon.start(), daemon.tail())
            count_up(daemon, 50 if snapshots == 0 or index == snapshots - 1 else 5)
            # An orderly end takes a snapshot.
            daemon.kill(signal.SIGKILL if snapshots == 0 else signal.SIGTERM)
        return daemon

    def expect_below(self, seconds_max, seconds, words):
        """Judges a duration, unless the machine is busy with other work."""
        print(f"  {words}: {seconds:.2f} s")
        expect(seconds < seconds_max or not self.judges, f"{words}: {seconds:.1f} s")

    def refused(self, daemon, code, *words):
        """Requires that the daemon does not start, exits with this status, prints these words."""
        size = daemon.log_size
        daemon.start(wait=False)
        status = daemon.process.wait(timeout=120)
        said = daemon.said(size)
        expect(status == code, f"ended with {status}, expected {code}: {said}")
        for word in words:
            expect(word in said, f"does not say {word!r}: {said}")
        return said


def count_up(daemon, times):
    client = Client(daemon.socket, "scenario")
    for _ in range(times):
        client.dispatch("/visits", {"increment": {"by": 1}})
    count = client.get("/visits")["count"]
    client.connection.close()
    return count


def counted(daemon):
    client = Client(daemon.socket, "scenario")
    count = client.get("/visits")["count"]
    client.connection.close()
    return count


# P73, P74


STOPPED_SECONDS = 4


def stop(daemon, seconds, meanwhile=lambda: None):
    """SIGSTOP, a call of `others`, then SIGCONT."""
    daemon.process.send_signal(signal.SIGSTOP)
    time.sleep(seconds)
    meanwhile()
    daemon.process.send_signal(signal.SIGCONT)


def stopped(scenario):
    """P74: SIGSTOP for 4 s, then SIGCONT: no client is closed, no timer catches up."""
    # Only the time makes snapshots.
    episode = scenario.episode("64MiB")
    episode.begin()
    idle = Client(episode.daemon.socket, "idle")
    idle.subscribe("/ballast")
    time.sleep(0.5)
    idle.ask({"stats": {}})
    idle.updates.clear()
    cleared = time.monotonic()
    resumed = [worker.resumed for worker in episode.ledger.workers]
    before = snapshots(episode.daemon)
    stop(episode.daemon, STOPPED_SECONDS)
    applied, taken = sum(w.applied_count for w in episode.ledger.workers), set()
    # Both happen once a second: one just before the stop, one that was due, and one at the end. To
    # catch up would be four at once.
    begin = time.monotonic()
    while time.monotonic() < begin + 0.9:
        taken |= snapshots(episode.daemon) - before
        time.sleep(0.002)
    idle.ask({"stats": {}})
    seconds = time.monotonic() - begin
    # A busy machine may take a while until the daemon is stopped.
    running = time.monotonic() - cleared - STOPPED_SECONDS
    marks = sum(frame.kind == MARK for frame in idle.updates)
    expect(len(taken) <= 3 + int(running) and marks <= 3 + int(running),
           f"{marks} marks in {running:.1f} s, {len(taken)} snapshots in {seconds:.1f} s: {taken}")
    idle.connection.close()
    episode.wait(2)
    time.sleep(0.5)
    expect(sum(w.applied_count for w in episode.ledger.workers) > applied, "does not continue")
    expect(resumed == [w.resumed for w in episode.ledger.workers], "clients were cut")
    episode.kill()
    episode.finish()


def snapshots(daemon):
    names = os.listdir(daemon.data)
    return {name for name in names if name.startswith("snapshot-") and ".partial" not in name}


def parted(scenario):
    """P74: a client ends while the daemon is stopped: its lock passes on once, the rest is kept."""
    daemon = scenario.daemon()
    expect(daemon.start(), daemon.tail())
    gone, waiter, keeper = (Client(daemon.socket, name) for name in ("gone", "waiter", "keeper"))
    token = reply(gone, "/lock", {"acquire": {}})["token"]
    waiting = waiter.send_action("/lock", {"acquire": {"wait": True}})
    for client in (gone, keeper):
        client.dispatch("/jobs", {"push": {"job": client.program}})
    jobs = [reply(client, "/jobs", {"claim": {}})["id"] for client in (gone, keeper)]
    expect(len(waiter.get("/lock")["waiters"]) == 1, "no client waits")
    stop(daemon, 2, gone.connection.close)
    granted = waiter.outcome(waiting)["applied"]["reply"]["token"]
    expect(granted == token + 1, f"token {granted} behind {token}")
    gone.reconnect()
    actions = {"/lock": {"release": {"token": token}}, "/jobs": {"finish": {"id": jobs[0]}}}
    for path, action in actions.items():
        outcome = gone.dispatch(path, action)
        expect("rejected" in outcome, f"{action} of who was gone: {outcome}")
    found = keeper.get("/jobs")
    expect([job["job"] for job in found["waiting"]] == ["gone"], f"not given back once: {found}")
    outcome = keeper.dispatch("/jobs", {"finish": {"id": jobs[1]}})
    expect("applied" in outcome, f"who stayed has lost its job: {outcome}")
    daemon.kill(signal.SIGTERM)


def reply(client, path, action):
    return client.dispatch(path, action)["applied"]["reply"]


def halfway(scenario):
    """P74: a client in the middle of HELLO or a frame during a stop is not cut for that."""
    limits = {"handshakeDeadline": "4s", "partialFrameDeadline": "4s"}
    daemon = Daemon(scenario.binary, scenario.home, {"durability": "strict"}, limits=limits)
    expect(daemon.start(), daemon.tail())
    speaker, greeting = Client(daemon.socket, "speaker"), Connection(daemon.socket)
    frame, hello = HEADER.pack(0, PING, 0, 0, 0, 1), {"versionMin": 1, "versionMax": 1}
    speaker.connection.send_bytes(frame[:5])
    # An answer proves that the daemon has read the earlier bytes.
    Client(daemon.socket, "other").get("/visits")

    def go_on():
        speaker.connection.send_bytes(frame[5:])
        greeting.send(HELLO, hello, number=MAGIC)

    stop(daemon, 5, go_on)
    expect(speaker.connection.receive().kind == PONG, "another frame than a pong")
    expect(greeting.receive().kind == WELCOME, "another frame than a welcome")
    daemon.kill(signal.SIGTERM)


def terminated(scenario):
    """P73: SIGTERM under load with a non-reading client: exit 0 within 5 s; a second: at once."""
    for signals, seconds_max in ((1, 5), (2, 1.5)):
        episode = scenario.episode(workers=6, windows=[64], ballast=4000)
        episode.begin()
        mute = never_reading(episode.daemon)
        time.sleep(1)
        episode.gate.close()
        begun = time.monotonic()
        episode.daemon.process.send_signal(signal.SIGTERM)
        if signals == 2:
            # Signals that both wait for a daemon that stands still are one.
            while "draining" not in episode.daemon.tail():
                expect(time.monotonic() < begun + 120, episode.daemon.tail())
                time.sleep(0.01)
            expect(episode.daemon.is_running(), "nothing delayed it")
            begun = time.monotonic()
            episode.daemon.process.send_signal(signal.SIGTERM)
        status = episode.daemon.process.wait(timeout=120)
        seconds = time.monotonic() - begun
        expect(status == 0, f"ended with {status}: {episode.daemon.tail()}")
        said_twice = "second signal, stopping at once" in episode.daemon.tail()
        expect(said_twice == (signals == 2), episode.daemon.tail())
        scenario.expect_below(seconds_max, seconds, f"ended behind signal {signals}")
        mute.connection.close()
        episode.gate.gather(episode.clients)
        episode.restart()
        episode.compare()
        episode.gate.open()
        episode.finish()


def never_reading(daemon):
    """A client with more pending bytes than its socket holds, which never reads."""
    client = Client(daemon.socket, "mute")
    client.open("/ballast")
    client.connection.send(SUBSCRIBE, {"path": "/ballast", "mode": "value"}, number=99)
    for index in range(100):
        client.send_action("/ballast", {"set": {"key": "0", "value": str(index)}})
    return client


def killed_at_start(scenario):
    """J48: SIGKILL at any moment of a start and of its replay."""
    episode = scenario.episode(ballast=2000)
    episode.begin()
    time.sleep(1)
    episode.gate.close()
    episode.daemon.kill()
    episode.gate.gather(episode.clients)
    for index in range(40):
        episode.daemon.start(wait=False)
        time.sleep(0.005 * index)
        episode.daemon.kill()
    episode.restart()
    episode.compare()
    episode.gate.open()
    episode.finish()


# J65, J66


def doubled(scenario):
    """J66: a second daemon on a data directory names the first and ends; the first works on."""
    first = scenario.filled()
    expect(first.becomes_ready(), first.tail())
    second = scenario.daemon("e", data=first.data)
    scenario.refused(second, 69, f"pid {first.process.pid}", first.data)
    expect(count_up(first, 1) == 51, "the first is hurt")
    first.kill(signal.SIGTERM)


def bound(scenario):
    """J66: the same if the directory has another name through a bind mount."""
    first, mount = scenario.filled(), os.path.join(scenario.home, "bound")
    os.makedirs(mount, mode=0o700)
    if subprocess.run(["mount", "--bind", first.data, mount], stderr=subprocess.DEVNULL).returncode:
        raise Skipped("no bind mount: not root")
    try:
        expect(first.becomes_ready(), first.tail())
        scenario.refused(scenario.daemon("f", data=mount), 69, f"pid {first.process.pid}")
    finally:
        subprocess.run(["umount", mount], check=True)
    expect(count_up(first, 1) == 51, "the first is hurt")
    first.kill(signal.SIGTERM)


def removed(scenario):
    """J65: the data directory is moved, replaced or deleted: the daemon ends, creates nothing."""
    for how in ("moved", "replaced", "deleted"):
        shutil.rmtree(scenario.home, ignore_errors=True)
        daemon = scenario.filled()
        expect(daemon.start(), daemon.tail())
        away = daemon.data + ".away"
        if how == "deleted":
            shutil.rmtree(daemon.data)
        else:
            os.rename(daemon.data, away)
        if how == "replaced":
            os.mkdir(daemon.data, 0o700)
        try:
            told = count_up(daemon, 1)
        except Exception:
            told = None
        status = daemon.process.wait(timeout=120)
        expect(status == 74, f"{how}: ended with {status}: {daemon.tail()}")
        expect(told is None, f"{how}: {told} was acknowledged")
        found = os.listdir(daemon.data) if os.path.isdir(daemon.data) else None
        expect(found == ([] if how == "replaced" else None), f"{how}: created again: {found}")
        if how == "moved":
            os.rename(away, daemon.data)
            expect(daemon.start(), daemon.tail())
            expect(counted(daemon) in (50, 51), "acknowledged actions are lost")
            daemon.kill(signal.SIGTERM)


# J64


def unsafe(scenario):
    """J64: an unsafe data directory is refused: open to others, a link, a file, another user's."""
    daemon = scenario.filled()
    os.chmod(daemon.data, 0o755)
    scenario.refused(daemon, 69, daemon.data, "755", "expected 700")
    os.chmod(daemon.data, 0o700)
    link = os.path.join(scenario.home, "link")
    os.symlink(daemon.data, link)
    scenario.refused(scenario.daemon("e", data=link), 69, "symbolic link")
    file = os.path.join(scenario.home, "file")
    open(file, "w").close()
    scenario.refused(scenario.daemon("f", data=file), 69, "not a directory")
    if os.geteuid() == 0:
        os.chown(daemon.data, 4711, 0)
        scenario.refused(daemon, 69, "uid 4711", "expected 0")
        os.chown(daemon.data, 0, 0)
    expect(daemon.start() and counted(daemon) == 50, daemon.tail())
    daemon.kill(signal.SIGTERM)


# J51, J56


def rows_of(path):
    """The numbers of the rows, and an offset within the bytes of each."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
        return database.execute("SELECT number, facts FROM batch ORDER BY number").fetchall()


def flip(path, at):
    with open(path, "r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 0x10]))


def damaged_journal(scenario):
    """J51: a flipped bit in a row of the journal: refused with 78, naming the file and the row."""
    daemon = scenario.filled(snapshots=1)
    for path in glob.glob(os.path.join(daemon.data, "snapshot-*")):
        os.unlink(path)
    path = os.path.join(daemon.data, "journal.sqlite")
    rows = rows_of(path)
    with open(path, "rb") as file:
        bytes = file.read()
    places = [(number, bytes.find(facts)) for number, facts in rows if len(facts) > 20]
    places = [place for place in places if place[1] > 0]
    expect(len(places) > 10, f"only {len(places)} rows were found")
    for number, at in (places[3], places[len(places) // 2], places[-1]):
        flip(path, at + 10)
        scenario.refused(daemon, 78, path, f"row {number}")
        flip(path, at + 10)
    expect(daemon.start() and counted(daemon) == 50, daemon.tail())
    daemon.kill(signal.SIGTERM)


def damaged_snapshot(scenario):
    """J56: a damaged newest snapshot is skipped: the older one is used, and more rows."""
    daemon = scenario.filled(snapshots=2)
    snapshots = sorted(
        glob.glob(os.path.join(daemon.data, "snapshot-*")),
        key=lambda path: int("".join(c for c in os.path.basename(path) if c.isdigit())))
    expect(len(snapshots) == 2, f"there is {snapshots}")
    with sqlite3.connect(snapshots[1]) as database:
        part = database.execute("SELECT bytes FROM part ORDER BY length(bytes) DESC").fetchone()[0]
    with open(snapshots[1], "rb") as file:
        at = file.read().find(part[:64]) + min(20, len(part) - 1)
    flip(snapshots[1], at)
    expect(daemon.start() and counted(daemon) == 55, daemon.tail())
    deadline = time.monotonic() + 60
    while "skipped a snapshot" not in daemon.tail():
        expect(time.monotonic() < deadline, f"says nothing of it: {daemon.tail()}")
        time.sleep(0.02)
    daemon.kill(signal.SIGKILL)


# Checks of the test tools themselves


def traced(scenario):
    """J48, J60: strace and the shim count the same calls; strace's EIO ends with 74."""
    if shutil.which("strace") is None:
        raise Skipped("no strace: Config/setup tests")
    # A container may forbid ptrace.
    probe = subprocess.run(["strace", "-o", os.devnull, "true"], stderr=subprocess.DEVNULL)
    if probe.returncode:
        raise Skipped("strace may trace nothing here")
    daemon = scenario.daemon()
    shim, trace = Shim(daemon.home, daemon.data), os.path.join(scenario.home, "trace")
    names = ["pwrite64", "write", "fsync", "fdatasync", "ftruncate", "renameat", "rename"]
    known = ["pwrite", "write", "fsync", "fdatasync", "ftruncate", "rename"]
    daemon.wrapper = ["strace", "-f", "-y", "-s", "0", "-o", trace, "-e", "trace=" + ",".join(names)]
    expect(daemon.start(environment=shim.environment(calls=known)), daemon.tail())
    count_up(daemon, 50)
    terminate_traced(daemon)
    with open(trace) as file:
        lines = [line for line in file if daemon.data in line and "-shm" not in line]
    counted = [line for line in lines if " resumed>" not in line]
    expect(len(counted) == shim.count, f"strace saw {len(counted)} calls, the shim {shim.count}")
    print(f"  {shim.count} calls counted by both")
    for number in (3, 5, 9):
        inject = f"inject=fdatasync:error=EIO:when={number}"
        daemon.wrapper = ["strace", "-f", "-o", trace, "-e", "trace=fdatasync", "-e", inject]
        daemon.start()
        try:
            told = count_up(daemon, 30)
        except Exception:
            told = None
        status = daemon.process.wait(timeout=120)
        expect(status == 74 and told is None, f"EIO at {number}: ended with {status}, told {told}")
    daemon.wrapper = []
    expect(daemon.start() and counted_at_least(daemon, 50), daemon.tail())
    daemon.kill(signal.SIGTERM)


def counted_at_least(daemon, least):
    return counted(daemon) >= least


def terminate_traced(daemon):
    """Ends the daemon, whose parent is strace."""
    with open(os.path.join(daemon.data, "journal.lock")) as lock:
        os.kill(int(lock.read()), signal.SIGTERM)
    expect(daemon.process.wait(timeout=120) == 0, daemon.tail())


# J62


def slow(scenario):
    """J62: during a sync of 10 s clients connect and get no outcome; then all outcomes come."""
    daemon = scenario.daemon()
    shim = Shim(daemon.home, daemon.data)
    expect(daemon.start(environment=shim.environment(55, "slow", ["fdatasync"], seconds=10)),
           daemon.tail())
    first = threading.Thread(target=count_up, args=(daemon, 60), daemon=True)
    first.start()
    while shim.hit is None:
        expect(first.is_alive(), f"there were only {shim.count} syncs")
        time.sleep(0.005)
    begun, told = time.monotonic(), []
    descriptors = f"/proc/{daemon.process.pid}/fd"
    before = len(os.listdir(descriptors))

    def act():
        count_up(daemon, 1)
        told.append(time.monotonic() - begun)

    others = [threading.Thread(target=act, daemon=True) for _ in range(50)]
    for other in others:
        other.start()
    # A loop that waited for the disk would not accept connections.
    while len(os.listdir(descriptors)) < before + 50:
        expect(time.monotonic() < begun + 120, f"the loop accepts no client: {daemon.tail()}")
        time.sleep(0.01)
    scenario.expect_below(2, time.monotonic() - begun, "accepted 50 clients")
    for thread in [*others, first]:
        thread.join(30)
    expect(len(told) == 50 and min(told) > 2.5, f"told too early: {sorted(told)[:3]}")
    # Each client acts and says goodbye, and all requests during one sync share the next.
    syncs, last = shim.count - 55, max(told)
    expect(syncs < 80, f"{syncs} syncs for 50 more clients")
    scenario.expect_below(13, last, "told the last client")
    daemon.kill(signal.SIGKILL)
    expect(daemon.start() and counted(daemon) == 110, daemon.tail())
    daemon.kill(signal.SIGTERM)


# J58, J59


def starved(scenario):
    """J58, J59: on a full disk the daemon is read-only; with room it continues by itself."""
    mount = os.path.join(scenario.home, "small")
    os.makedirs(mount, exist_ok=True)
    words = ["mount", "-t", "tmpfs", "-o", "size=96m,mode=0700", "tmpfs", mount]
    if subprocess.run(words, stderr=subprocess.DEVNULL).returncode:
        raise Skipped("no tmpfs: not root")
    try:
        daemon = scenario.daemon(data=os.path.join(mount, "data"))
        expect(daemon.start(), daemon.tail())
        hog = os.path.join(mount, "hog")
        with open(hog, "wb") as file:
            while True:
                try:
                    file.write(bytes(1 << 20))
                    file.flush()
                except OSError:
                    break
        fill(scenario, daemon, lambda: os.unlink(hog))
    finally:
        subprocess.run(["umount", mount], check=True)


def limited(scenario):
    """J59: at the file size limit it is read-only despite SIGXFSZ; a higher limit ends that."""
    daemon = scenario.daemon()
    # The log is created with a length of 16 MiB.
    daemon.wrapper = ["prlimit", f"--fsize={17 << 20}:"]
    expect(daemon.start(), daemon.tail())

    def raise_limit():
        most = resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE)[1]
        resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (most, most))

    fill(scenario, daemon, raise_limit)


def fill(scenario, daemon, make_room):
    """Acts until the disk is full, frees space, and acts again."""
    client = Client(daemon.socket, "filler")
    told, codes, cuts = 0, set(), 0
    for index in range(3000):
        try:
            # Random data, since repeated data would be compressed.
            entry = {"key": str(index), "value": os.urandom(25_000).hex()}
            outcome = client.dispatch("/kv", {"set": entry})
        except Exception:
            cuts += 1
            expect(cuts == 1, f"cut {cuts} times: {daemon.tail()}")
            expect(daemon.is_running(), f"ended: {daemon.tail()}")
            client = Client(daemon.socket, "filler")
            continue
        if "applied" in outcome:
            told += 1
        else:
            codes.add(outcome["rejected"]["code"])
            if len(codes) == 1 and index % 5 == 0:
                break
    expect(codes == {"DISK_FULL"} and cuts == 1, f"codes {codes}, cut {cuts} times, told {told}")
    found = len(client.get("/kv")["entries"])
    expect(found == told, f"{told} acknowledged, {found} present")
    time.sleep(2.5)
    outcome = client.dispatch("/visits", {"increment": {"by": 1}})
    expect(outcome.get("rejected", {}).get("code") == "DISK_FULL", f"without room: {outcome}")
    make_room()
    begun = time.monotonic()
    while "applied" not in client.dispatch("/visits", {"increment": {"by": 1}}):
        expect(time.monotonic() < begun + 120, f"does not continue: {daemon.tail()}")
        time.sleep(0.05)
    scenario.expect_below(10, time.monotonic() - begun, f"went on after room, full after {told}")
    daemon.kill(signal.SIGKILL)
    daemon.wrapper = []
    expect(daemon.start(), daemon.tail())
    found = len(Client(daemon.socket, "reader").get("/kv")["entries"])
    expect(found == told, f"{told} acknowledged, {found} present after a restart")
    expect(counted(daemon) == 1, "the count is lost")
    daemon.kill(signal.SIGTERM)


ALL = [stopped, parted, halfway, terminated, killed_at_start, doubled, bound, removed, unsafe,
       damaged_journal, damaged_snapshot, traced, slow, starved, limited]


def run(binary, home, seed, names=None, judges=True):
    failed, skipped, passed = [], [], 0
    unknown = set(names or []) - {scenario.__name__ for scenario in ALL}
    expect(not unknown, f"no such scenarios: {unknown}")
    for scenario in ALL:
        if names and scenario.__name__ not in names:
            continue
        place = os.path.join(home, scenario.__name__)
        shutil.rmtree(place, ignore_errors=True)
        os.makedirs(place, mode=0o700)
        try:
            scenario(Scenario(binary, place, seed, judges))
            passed += 1
            print(f"{scenario.__name__}: {scenario.__doc__}", flush=True)
        except Skipped as reason:
            skipped.append(f"{scenario.__name__}: {reason}")
        except BaseException as error:
            print(f"{scenario.__name__}: FAILED: {error!r}", flush=True)
            failed.append(scenario.__name__)
            continue
        shutil.rmtree(place)
    print(f"skipped: {len(skipped)} ({'; '.join(skipped)})" if skipped else "skipped: 0")
    if failed:
        raise Violation(f"failed: {failed}")
    return {"scenarios": passed, "skipped": len(skipped)}
