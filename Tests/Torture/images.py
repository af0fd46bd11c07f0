"""Power cuts on a real file system: copies the image of a mounted ext4, and mounts the copy.

Needs root. The copy lacks everything that the file system has not sent to its device: nothing is
unmounted or synchronized before. During the copy nothing may be written, so the daemon is killed
first, and the file system's commit interval is five minutes.
"""

import os
import shutil
import signal
import subprocess
import time
from random import Random

from kills import Episode
from worker import Violation


class Image:
    """A mounted ext4 in a file."""

    def __init__(self, home, mebibytes):
        self.mount, self.path = os.path.join(home, "mount"), os.path.join(home, "image")
        os.makedirs(self.mount)
        with open(self.path, "wb") as file:
            file.truncate(mebibytes << 20)
        subprocess.run(["mkfs.ext4", "-q", "-F", self.path], check=True)
        self.is_mounted = False
        self.attach()

    @staticmethod
    def can_be_made():
        return os.geteuid() == 0 and os.path.exists("/dev/loop-control") and all(
            shutil.which(name) for name in ("mkfs.ext4", "mount", "umount"))

    def attach(self):
        words = ["mount", "-o", "loop,commit=300", self.path, self.mount]
        subprocess.run(words, check=True)
        self.is_mounted = True

    def detach(self):
        if self.is_mounted:
            subprocess.run(["umount", self.mount], check=True)
            self.is_mounted = False

    def copy(self):
        """Copies what the device has, and no more; returns the path of the copy."""
        copy = self.path + ".copy"
        subprocess.run(["cp", "--sparse=always", self.path, copy], check=True)
        return copy

    def replace(self, copy):
        """Mounts a copy in the place of the image."""
        self.detach()
        os.rename(copy, self.path)
        self.attach()


class ImageEpisode(Episode):
    """Daemons on an ext4 in a file."""

    def __init__(self, binary, home, seed, options):
        super().__init__(binary, home, seed, options, ballast=200)
        self.image = Image(home, 256)
        self.daemon.data = os.path.join(self.image.mount, "data")
        self.daemon.write_config()
        self.cuts = 0

    def kill(self, longest=0.3):
        self.wait(longest)
        self.gate.close()
        if not self.daemon.is_running():
            raise Violation(f"ended by itself: {self.daemon.tail()}")
        self.daemon.kill(signal.SIGKILL)
        copy = self.image.copy()
        self.gate.gather(self.clients)
        self.image.replace(copy)
        self.cuts += 1
        self.restart()
        self.compare()
        self.gate.open()


def run(binary, home, count, seed):
    """Runs `count` cuts with `strict`."""
    random, totals, cuts, begun = Random(seed), {}, 0, time.monotonic()
    while cuts < count:
        options = {"durability": "strict", "snapshotBytes": random.choice(["1MiB", "64MiB"]),
                   "snapshotInterval": "1s", "keepDuration": "0s", "keepBytes": "0"}
        episode = ImageEpisode(binary, os.path.join(home, f"image-{cuts}"), seed + cuts, options)
        try:
            episode.begin()
            for _ in range(min(count - cuts, 25)):
                episode.kill(1.5)
            episode.finish()
        except BaseException:
            print(f"seed {seed}, directory {episode.home}, options {episode.options}")
            episode.abandon()
            episode.image.detach()
            raise
        episode.image.detach()
        shutil.rmtree(episode.home)
        cuts += episode.cuts
        for key, value in {**episode.counts, "cuts of images": episode.cuts}.items():
            totals[key] = totals.get(key, 0) + value
        print(f"{cuts} cuts of images, {time.monotonic() - begun:.0f} s", flush=True)
    return totals
