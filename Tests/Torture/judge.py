"""Compares what the clients of a cluster were told with what its nodes have at the end."""

import copy
import json
import random

from actors import amount, fingerprint
from worker import Loss, Violation


class History:
    """The actions that one node's history has: the key of each, by sequence.

    It may begin after the first action, as a node keeps only so much.
    """

    def __init__(self, text):
        self.keys = {}
        for line in text.splitlines():
            entry = json.loads(line)
            if "revision" not in entry:
                continue
            sequence = int(entry["revision"].split(":")[1])
            if sequence in self.keys:
                raise Violation(f"the history has sequence {sequence} twice")
            self.keys[sequence] = self.key(entry)

    @staticmethod
    def key(entry):
        """The key of an entry; its mutations are those of its action."""
        try:
            # Some have a third action, which makes the log longer.
            increment, set = (
                part["action"] for part in entry["actions"] if part["path"] != "/ballast")
            mutations = [part for part in entry["mutations"] if part["path"] != "/ballast"]
            key = set["set"]["key"]
            expected = [
                {"path": "/visits", "mutation": {"added": amount(key)}},
                {"path": "/kv", "mutation": {"set": {"key": key, "value": 1}}}]
            if (entry["outcome"] == "applied" and mutations == expected
                    and increment == {"increment": {"by": amount(key)}}):
                return key
        except (KeyError, ValueError):
            pass
        raise Violation(f"the history has an entry of no client: {str(entry)[:1_000]}")

    @property
    def first(self):
        return min(self.keys)

    @property
    def last(self):
        return max(self.keys)


class Evidence:
    """All that is compared: what clients know, and what the nodes have."""

    def __init__(self, ledger, received, state, histories):
        self.applied, self.refused = dict(ledger.applied), set(ledger.refused)
        self.unknown = set(ledger.unknown)
        self.received = received  # of each client that reads
        self.count, self.keys = state[0], set(state[1])
        self.histories = histories  # of each node


class Judge:
    """Each acknowledged action is there once, at its sequence, and no node showed another."""

    def __init__(self, evidence):
        self.evidence = evidence
        self.compared = 0

    def judge(self):
        self.judge_state()
        for history in self.evidence.histories:
            self.judge_history(history)
        # The nodes have one history, so what any client was shown is compared with the longest.
        longest = min(self.evidence.histories, key=lambda history: history.first)
        self.judge_told(longest)
        self.judge_shown(longest)

    def judge_state(self):
        told, keys = self.evidence, self.evidence.keys
        lost = set(told.applied) - keys
        ghosts = told.refused & keys
        strangers = keys - set(told.applied) - told.unknown
        total = sum(map(amount, keys))
        if lost or ghosts or strangers or told.count != total:
            raise (Loss if lost else Violation)(
                f"lost {sorted(lost)[:5]}, refused and applied {sorted(ghosts)[:5]}, of no client "
                f"{sorted(strangers)[:5]}; the counter is {told.count}, and the actions in the map "
                f"add up to {total}")
        sequences = list(told.applied.values())
        if len(set(sequences)) != len(sequences):
            raise Violation("two actions were told one sequence")

    def judge_history(self, history):
        """Sequences are dense up to the number of all actions, and each action is there once."""
        first, last = history.first, history.last
        if last - first + 1 != len(history.keys):
            raise Violation(f"a history has {len(history.keys)} of {first} to {last}")
        if last != len(self.evidence.keys):
            raise Violation(
                f"a history ends at {last}, and {len(self.evidence.keys)} actions were applied")
        keys = set(history.keys.values())
        if len(keys) != len(history.keys):
            raise Violation("a history has an action twice")
        if not keys <= self.evidence.keys:
            raise Violation(
                f"a history has {sorted(keys - self.evidence.keys)[:5]}, and the map has not")
        for other in self.evidence.histories:
            for sequence in range(max(first, other.first), last + 1):
                if history.keys[sequence] != other.keys.get(sequence):
                    raise Violation(
                        f"two nodes have different actions at sequence {sequence}: "
                        f"{history.keys[sequence]} and {other.keys.get(sequence)}")

    def judge_told(self, history):
        first = history.first
        for key, sequence in self.evidence.applied.items():
            if sequence >= first and history.keys.get(sequence) != key:
                raise Violation(
                    f"{key} was told sequence {sequence}, where the history has "
                    f"{history.keys.get(sequence)}")
            self.compared += 1

    def judge_shown(self, history):
        # The counter and the keys after each action, from the end, which all nodes agree about.
        first, last = history.first, history.last
        count, keys = self.evidence.count, fingerprint(self.evidence.keys)
        counts, sets = {last: count}, {last: keys}
        for sequence in range(last, first - 1, -1):
            key = history.keys[sequence]
            count -= amount(key)
            keys ^= hash(key)
            counts[sequence - 1], sets[sequence - 1] = count, keys

        def compare(sequence, shown, kept, begin):
            self.compared += 1
            if sequence >= begin and shown != kept:
                raise Violation(
                    f"a client was shown {shown} at sequence {sequence}, where the history has "
                    f"{kept}")

        for received in self.evidence.received:
            for sequence, count in received.counts:
                compare(sequence, count, counts.get(sequence), first - 1)
            for sequence, number, keys in received.sets:
                compare(sequence, (number, keys), (sequence, sets.get(sequence)), first - 1)
            for sequence, key in received.keys:
                compare(sequence, key, history.keys.get(sequence), first)
            for sequence, added in received.added:
                kept = history.keys.get(sequence)
                compare(sequence, added, kept and amount(kept), first)


# Faults that the judge must find

def lose_key(evidence, key):
    evidence.keys.discard(key)


def lose_action(evidence, key):
    evidence.keys.discard(key)
    evidence.count -= amount(key)


def double_action(evidence, key):
    evidence.count += amount(key)


def repeat_entry(evidence, key):
    history = evidence.histories[0]
    history.keys[history.last] = history.keys[history.first]


def lose_entry(evidence, key):
    for history in evidence.histories:
        del history.keys[(history.first + history.last) // 2]


def swap_entries(evidence, key):
    for history in evidence.histories:
        one, other = history.last, history.last - 1
        history.keys[one], history.keys[other] = history.keys[other], history.keys[one]


def part_nodes(evidence, key):
    keys = evidence.histories[-1].keys
    last = max(keys)
    keys[last], keys[last - 1] = keys[last - 1], keys[last]


def apply_refused(evidence, key):
    evidence.refused.add(key)


def tell_other(evidence, key):
    sequence = evidence.applied[key]
    evidence.applied[key] = sequence + len(evidence.keys)


def tell_unwritten(evidence, key):
    evidence.applied["never-1"] = len(evidence.keys) + 1


def show_unwritten(name, *content):
    def plant(evidence, key):
        getattr(evidence.received[0], name).append((len(evidence.keys) + 1, *content))

    plant.__name__ = f"show_unwritten_{name}"
    return plant


def show_other(name, place):
    """One thing that a client was shown differs from the history."""
    def plant(evidence, key):
        # The latest, of which the history is kept.
        shown = max(
            (getattr(received, name) for received in evidence.received),
            key=lambda shown: shown[-1][0] if shown else -1)
        entry = list(shown[-1])
        entry[place] = entry[place] + 1 if isinstance(entry[place], int) else f"{entry[place]}x"
        shown[-1] = tuple(entry)

    plant.__name__ = f"show_other_{name}"
    return plant


PLANTED = [
    lose_key, lose_action, double_action, repeat_entry, lose_entry, swap_entries, part_nodes,
    apply_refused, tell_other, tell_unwritten, show_unwritten("counts", 1),
    show_unwritten("sets", 1, 1), show_unwritten("keys", "never-1"), show_unwritten("added", 1),
    show_other("counts", 1), show_other("sets", 2), show_other("keys", 1), show_other("added", 1)]


def prove(evidence, seed):
    """Plants each fault in a copy of the evidence, and requires that the judge finds it."""
    choice = random.Random(seed)
    key = choice.choice(sorted(evidence.applied))
    for plant in PLANTED:
        changed = copy.copy(evidence)
        changed.applied, changed.refused = dict(evidence.applied), set(evidence.refused)
        changed.keys = set(evidence.keys)
        changed.received = [received.copy() for received in evidence.received]
        changed.histories = [copy.copy(history) for history in evidence.histories]
        for history in changed.histories:
            history.keys = dict(history.keys)
        plant(changed, key)
        try:
            Judge(changed).judge()
        except Violation:
            continue
        raise Violation(f"the judge does not find the planted fault {plant.__name__}")
    return len(PLANTED)
