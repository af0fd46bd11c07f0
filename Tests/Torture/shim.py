"""Builds and controls the shim between a daemon and its data directory."""

import atexit
import os
import shutil
import struct
import subprocess
import tempfile
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))


class Shim:
    """The settings of `shim.c` for the processes of one data directory."""

    library = None

    def __init__(self, home, data):
        self.data = data
        self.count_path, self.hit_path = os.path.join(home, "count"), os.path.join(home, "hit")
        self.log = os.path.join(home, "calls")
        self.boot_path = os.path.join(home, "boot")
        self.boot()
        if Shim.library is None:
            Shim.library = self.build()

    def boot(self):
        """Changes the boot id that new processes see."""
        with open(self.boot_path, "w") as file:
            file.write(f"{uuid.uuid4()}\n")

    @staticmethod
    def build():
        directory = tempfile.mkdtemp(prefix="torture-shim-")
        atexit.register(shutil.rmtree, directory, ignore_errors=True)
        library = os.path.join(directory, "shim.so")
        compiler = next(filter(shutil.which, ["cc", "clang", "gcc"]), "cc")
        words = [compiler, "-shared", "-fPIC", "-O2", "-Wall", "-D_LARGEFILE64_SOURCE", "-o"]
        source = os.path.join(HERE, "shim.c")
        subprocess.run([*words, library, source, "-ldl", "-lpthread"], check=True)
        return library

    def environment(
            self, at=0, do="", calls=None, file=None, errno=None, logs=False, seconds=None):
        """The environment for a process; resets the counts."""
        with open(self.count_path, "wb") as count:
            count.write(bytes(16))
        if os.path.exists(self.hit_path):
            os.unlink(self.hit_path)
        told = {
            "LD_PRELOAD": self.library, "TORTURE_DIR": self.data, "TORTURE_COUNT": self.count_path,
            "TORTURE_HIT": self.hit_path, "TORTURE_AT": str(at), "TORTURE_DO": do,
            "TORTURE_BOOT": self.boot_path,
        }
        if calls:
            told["TORTURE_CALLS"] = "," + ",".join(calls) + ","
        if file:
            told["TORTURE_FILE"] = file
        if errno:
            told["TORTURE_ERRNO"] = str(errno)
        if seconds:
            told["TORTURE_SECONDS"] = str(seconds)
        if logs:
            told["TORTURE_LOG"] = self.log
        return told

    def kill(self, daemon, after):
        """Kills a process between two calls; immediately if it makes none."""
        with open(self.count_path, "r+b") as count:
            count.seek(8)
            count.write(struct.pack("<Q", 2 if after else 1))
        try:
            daemon.process.wait(timeout=0.3)
        except subprocess.TimeoutExpired:
            daemon.kill()

    @property
    def count(self):
        """The number of counted calls."""
        with open(self.count_path, "rb") as file:
            return struct.unpack("<QQ", file.read())[0]

    @property
    def hit(self):
        """The call and the file of the event, or None."""
        try:
            with open(self.hit_path) as file:
                return file.read().strip()
        except FileNotFoundError:
            return None
