"""Power cuts of the machines of a cluster, each of which has an ext4 in a file of its own.

Needs root. A machine's image has the data of its daemon and of its member of etcd. At a cut both are
killed, and the image is copied as the device has it: see `images.py`.
"""

import contextlib
import os
import shutil
import subprocess
import time

from actors import Actor
from cluster import NAMES, Cluster, chosen, in_clusters, inject
from daemon import Skipped
from images import Image
from timings import Timings
from worker import Loss, Violation


class Machines(Cluster):
    """Three nodes on images; the power of each can be cut."""

    MEBIBYTES = 768

    def __init__(self, binary, home, seed, lies=False):
        self.images, self.cuts = [], 0
        self.lies, self.older = lies, {}
        try:
            for name in NAMES:
                place = os.path.join(home, f"disk-{name}")
                os.mkdir(place)
                self.images.append(Image(place, self.MEBIBYTES))
            super().__init__(binary, home, seed, places=[image.mount for image in self.images])
        except BaseException:
            self.detach()
            raise

    def detach(self):
        for image in self.images:
            try:
                image.detach()
            except subprocess.CalledProcessError as error:
                print(f"{error}: the image is unmounted when its files are closed", flush=True)
                subprocess.run(["umount", "--lazy", image.mount], check=False)

    def close(self):
        try:
            super().close()
        finally:
            self.detach()

    def remember(self):
        """A disk that lies has this state after a cut, whatever it has acknowledged."""
        with contextlib.ExitStack() as stack:
            # All have the state of one moment: a member of etcd does not start with a later state
            # than that of a majority.
            for image in self.images:
                subprocess.run(["fsfreeze", "--freeze", image.mount], check=True)
                stack.callback(
                    subprocess.run, ["fsfreeze", "--unfreeze", image.mount], check=True)
            for number, image in enumerate(self.images):
                self.older[number] = image.path + ".older"
                os.rename(image.copy(), self.older[number])

    def cut(self, *numbers):
        """Cuts the power of some machines at the same moment."""
        self.check()
        self.ended.update(numbers)
        for number in numbers:
            self.daemons[number].process.kill()
            self.etcd.processes[number].kill()
        for number in numbers:
            # A call that waits for the disk ends before its process does.
            self.daemons[number].process.wait()
            self.etcd.processes[number].wait()
        copies = [self.images[number].copy() for number in numbers]
        for number, copy in zip(numbers, copies):
            self.images[number].replace(self.older.pop(number, copy))
            self.cuts += 1

    def boot(self, *numbers):
        """Starts the machines, all members of etcd first."""
        for number in numbers:
            self.etcd.start(number)
        self.start_all(numbers)

    def others(self, number):
        """The two other machines, in random order."""
        return self.random.sample([other for other in range(3) if other != number], 2)

    # Faults

    def cut_one(self, number):
        self.cut(number)
        self.await_progress(time.monotonic())
        self.boot(number)
        self.await_serving()

    def cut_two(self, number):
        """Without a majority nothing is applied until one of them is back."""
        victims = [number, self.others(number)[0]]
        self.cut(*victims)
        # The copies have taken longer than any acknowledgement that was on its way.
        before = len(self.ledger.applied)
        time.sleep(0.3)
        if len(self.ledger.applied) != before:
            raise Violation(f"{NAMES[3 - sum(victims)]} applies actions alone")
        self.boot(*victims)
        self.await_progress(time.monotonic())
        self.await_serving()

    def cut_all(self, _):
        if self.lies:
            self.remember()
            # More than may have been on the way to a disk at that moment.
            since, enough = time.monotonic(), 3 * len(self.actors) * Actor.WINDOW
            while self.ledger.count(since, time.monotonic()) < enough:
                if time.monotonic() > since + 120:
                    raise Violation(f"few actions are applied:\n{self.tails()}")
                self.hold(0.05)
        self.cut(0, 1, 2)
        self.boot(0, 1, 2)
        self.await_progress(time.monotonic())
        self.await_serving()

    def cut_witness(self, _):
        """The power of the only machine is cut that has, beside a leader that is lost, what clients
        were told: the third was away, and the history goes on with these two."""
        leader = self.await_leader()
        witness, absent = self.others(leader)
        self.etcd.kill(absent)
        self.kill(absent)
        self.await_progress(time.monotonic())
        # The leader may be another one by now.
        self.cut(witness)
        self.etcd.kill(leader)
        self.kill(leader)
        self.boot(witness, absent)
        self.await_progress(time.monotonic())
        self.boot(leader)
        self.await_serving()


FAULTS = ["cut_one", "cut_two", "cut_all", "cut_witness"]


def find_lies(binary, home, seed):
    """All disks forget what they have acknowledged: a client must miss it."""
    cluster = Machines(binary, home, seed, lies=True)
    # A late answer is no find.
    cluster.judges = False
    try:
        cluster.begin()
        cluster.await_progress(time.monotonic())
        cluster.cut_all(None)
        cluster.judge(cluster.settle())
    except Loss as loss:
        found = str(loss)[-80:]
    else:
        raise Violation("disks that forget what they acknowledged are not noticed")
    finally:
        cluster.close()
    shutil.rmtree(home)
    os.mkdir(home)
    return {"found": found}


def run(binary, home, seed, count, names=None, lies=False, judges=True):
    """Injects each fault `count` times; returns numbers for the report.

    With `lies`, shows that the drill notices disks that forget. Unless it `judges`, an answer may be
    older than a node promises.
    """
    if not Image.can_be_made():
        raise Skipped("no ext4 can be mounted here: that needs root and loop devices")
    if lies:
        return find_lies(binary, home, seed)
    names = chosen(names, FAULTS)
    timings = Timings(names)

    def begin(place, first):
        cluster = Machines(binary, place, seed + first)
        cluster.judges = judges
        return cluster

    def work(cluster, rounds):
        cluster.begin()
        for _ in range(rounds):
            inject(cluster, names, timings)
        return cluster.judge(cluster.settle()) | {"power cuts": cluster.cuts}

    totals = in_clusters(count, 5, home, begin, work)
    timings.show()
    return totals
