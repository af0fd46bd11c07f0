"""How long something took, by fault."""


class Timings:
    """The longest time without an acknowledgement in each round of each fault, for example."""

    def __init__(self, names):
        self.times = {name: [] for name in names}

    def add(self, name, seconds):
        self.times[name].append(seconds)

    def show(self, title="seconds without an acknowledgement"):
        if not any(self.times.values()):
            return
        width = max(map(len, [title, *self.times]))
        print(f"{title:{width}}  rounds  median    99 %    most")
        for name, times in self.times.items():
            if times:
                print(f"{name:{width}}  {len(times):6}  {share(times, 0.5):6.2f}  "
                      f"{share(times, 0.99):6.2f}  {max(times):6.2f}")


def share(times, part):
    """The least time that this part of the times does not exceed."""
    ordered = sorted(times)
    index = -int(-part * len(ordered) // 1) - 1
    return ordered[max(index, 0)]
