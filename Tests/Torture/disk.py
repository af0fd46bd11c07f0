"""The possible contents of a disk after a power cut, computed from a directory's calls.

After an `fsync` or `fdatasync` has returned, a disk keeps every write to that file made before the
call, and, for a directory, every name. Of all other changes it may keep any: any subset of the
written pages or sectors, in any order, the length of a file without its bytes, or the bytes without
the last length. Names are ordered: the usual file systems (ext4, xfs, btrfs) keep names in a
journal, so that a later rename never survives without an earlier one. A write changes no bytes but
its own, which SQLite relies on (PSOW) and every current disk guarantees.

This is harsher than a real disk (pages are lost one by one, not with the commit of a file system's
journal), and it is all that SQLite and snapshots may rely on. `shim.c` records the calls; `verify`
compares the result of all calls with the files, so that none is missing.
"""

import os
import struct

RECORD = struct.Struct("<BBBBIQQ")
CREATE, WRITE, TRUNCATE, ALLOCATE, BEGIN, END, NAMES_BEGIN, NAMES_END, RENAME, UNLINK = range(1, 11)


class Pending:
    """Ordered changes; a synchronization makes those before its start durable."""

    def __init__(self):
        self.changes, self.begun = [], {}

    def begin(self, number):
        self.begun[number] = len(self.changes)

    def end(self, number):
        """The changes that became durable."""
        count = self.begun.pop(number)
        done, self.changes = self.changes[:count], self.changes[count:]
        self.begun = {key: max(0, value - count) for key, value in self.begun.items()}
        return done


class Stored:
    """A file: its durable bytes, and later changes."""

    def __init__(self, bytes=b""):
        self.durable, self.pending = bytearray(bytes), Pending()
        self.is_log = False

    def all(self):
        bytes = bytearray(self.durable)
        for change in self.pending.changes:
            change_bytes(bytes, change)
        return bytes


def change_bytes(bytes, change):
    kind, offset, data = change
    if kind == WRITE:
        if offset > len(bytes):
            bytes.extend(b"\0" * (offset - len(bytes)))
        bytes[offset : offset + len(data)] = data
    elif kind == TRUNCATE and offset < len(bytes):
        del bytes[offset:]
    elif offset > len(bytes):
        bytes.extend(b"\0" * (offset - len(bytes)))


def change_names(names, change):
    kind, name, other = change
    if kind == CREATE:
        names[name] = other
    elif kind == UNLINK:
        names.pop(name, None)
    elif name in names:
        names[other] = names.pop(name)


class Disk:
    """The files of one directory: their current contents and those possible after a cut."""

    def __init__(self, directory, log):
        self.directory, self.log = directory, log
        self.lies = False  # whether it reports data as durable that it may still lose
        self.load()

    def load(self):
        """Treats the current contents as durable."""
        self.names, self.files, self.pending = {}, {}, Pending()
        self.offset = 0
        with open(self.log, "wb"):
            pass
        for name in self.listed():
            path = os.path.join(self.directory, name)
            with open(path, "rb") as file:
                self.names[name] = Stored(file.read())
            self.names[name].is_log = name.endswith(".sqlite-wal")
            self.files[os.stat(path).st_ino] = self.names[name]

    def listed(self):
        names = os.listdir(self.directory) if os.path.isdir(self.directory) else []
        return sorted(name for name in names if not name.endswith("-shm"))

    def read(self):
        """Reads the calls recorded since the last time."""
        with open(self.log, "rb") as file:
            file.seek(self.offset)
            data = file.read()
        at = 0
        while at + RECORD.size <= len(data):
            kind, name_length, other_length, _, length, number, offset = RECORD.unpack_from(data, at)
            end = at + RECORD.size + name_length + other_length + length
            if end > len(data):
                break
            place = at + RECORD.size
            name = data[place : place + name_length].decode()
            other = data[place + name_length : place + name_length + other_length].decode()
            self.take(kind, name, other, data[end - length : end], number, offset)
            at = end
        # A call that is not recorded completely was not made.
        os.truncate(self.log, self.offset + at)
        self.offset += at

    def take(self, kind, name, other, data, number, offset):
        if kind == CREATE:
            file = self.files[number] = Stored()
            file.is_log = name.endswith(".sqlite-wal")
            self.pending.changes.append((CREATE, name, file))
        elif kind == RENAME:
            self.pending.changes.append((RENAME, name, other))
        elif kind == UNLINK:
            self.pending.changes.append((UNLINK, name, None))
        elif kind == NAMES_BEGIN:
            self.pending.begin(offset)
        elif kind == NAMES_END:
            for change in self.pending.end(offset):
                change_names(self.names, change)
        elif kind == BEGIN:
            self.files[number].pending.begin(offset)
        elif kind == END and self.lies and self.files[number].is_log:
            self.files[number].pending.begun.pop(offset)
        elif kind == END:
            file = self.files[number]
            for change in file.pending.end(offset):
                change_bytes(file.durable, change)
        else:
            self.files[number].pending.changes.append((kind, offset, data))

    def live_names(self):
        names = dict(self.names)
        for change in self.pending.changes:
            change_names(names, change)
        return names

    def verify(self):
        """Checks that all calls together give the current files; no process may write then."""
        names = self.live_names()
        if sorted(names) != self.listed():
            raise AssertionError(f"calls are missing: {sorted(names)}, there is {self.listed()}")
        for name, file in names.items():
            # Shared memory is written without calls, and need not survive a power cut.
            if name in ("last-action", "released-row"):
                continue
            with open(os.path.join(self.directory, name), "rb") as found:
                if found.read() != file.all():
                    raise AssertionError(f"calls on {name} are missing")

    def cut(self, random):
        """Cuts the power: leaves a possible content; returns the lost changes and all changes."""
        self.read()
        self.verify()
        keep = random.choice([0, 0.1, 0.5, 0.9, 1])
        grain = random.choice([512, 4096, 4096])
        names = dict(self.names)
        for change in self.pending.changes[: random.randint(0, len(self.pending.changes))]:
            change_names(names, change)
        lost = made = 0
        contents = {}
        for name, file in names.items():
            bytes = bytearray(file.durable)
            for change in file.pending.changes:
                for piece in pieces(change, grain):
                    made += 1
                    if random.random() < keep:
                        change_bytes(bytes, piece)
                    else:
                        lost += 1
            if random.random() < 0.5:
                change_bytes(bytes, (ALLOCATE, len(file.all()), b""))
            contents[name] = bytes
        lost += len(self.live_names()) - len(names)
        for name in self.listed():
            os.unlink(os.path.join(self.directory, name))
        for name, bytes in contents.items():
            path = os.path.join(self.directory, name)
            with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
                file.write(bytes)
        self.load()
        return lost, made


def pieces(change, grain):
    """Splits a write into the parts that a disk keeps or loses."""
    kind, offset, data = change
    if kind != WRITE:
        yield change
        return
    end = offset + len(data)
    at = offset
    while at < end:
        next = min(end, at - at % grain + grain)
        yield WRITE, at, data[at - offset : next - offset]
        at = next
