"""How long nothing was acknowledged, by fault."""


class Timings:
    """The longest time without an acknowledgement in each round of each fault."""

    def __init__(self, names):
        self.gaps = {name: [] for name in names}

    def add(self, name, gap):
        self.gaps[name].append(gap)

    def show(self):
        width = max(map(len, self.gaps))
        print(f"{'seconds without an acknowledgement':{width}}  rounds  median    99 %    most")
        for name, gaps in self.gaps.items():
            if gaps:
                print(f"{name:{max(width, 34)}}  {len(gaps):6}  {share(gaps, 0.5):6.2f}  "
                      f"{share(gaps, 0.99):6.2f}  {max(gaps):6.2f}")


def share(gaps, part):
    """The least value that this part of the values does not exceed."""
    ordered = sorted(gaps)
    index = -int(-part * len(ordered) // 1) - 1
    return ordered[max(index, 0)]
