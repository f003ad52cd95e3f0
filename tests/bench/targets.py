# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Prints measured figures next to their targets."""


class Row:
    """A figure and its target, `most` or `least`; the value None was not measured."""

    def __init__(self, what, value, unit, most=None, least=None, digits=None, note=""):
        self.what, self.value, self.unit, self.note = what, value, unit, note
        self.target = least if most is None else most
        self.is_most = most is not None
        # With `digits`, the rounded value must meet the target.
        self.digits = digits

    def met(self):
        value = self.value if self.digits is None else round(self.value, self.digits)
        return value <= self.target if self.is_most else value >= self.target

    def cells(self):
        if self.value is None:
            return (self.what, "-", "", "", "not measured", self.note)
        ratio = "%.3fx" % (self.value / self.target) if self.target else "-"
        unit = " " * (self.unit not in ("", "x")) + self.unit
        measured = "%.*g%s" % (4 if self.digits is None else self.digits + 3, self.value, unit)
        aim = "%s %g%s" % ("<=" if self.is_most else ">=", self.target, unit)
        return (self.what, measured, aim, ratio, "met" if self.met() else "missed",
                self.note)


def print_columns(rows):
    """The name and, in the last of six columns, notes are aligned left, figures right."""
    left = (0, 5) if len(rows[0]) == 6 else (0,)
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = [c.ljust(w) if i in left else c.rjust(w)
                 for i, (c, w) in enumerate(zip(row, widths))]
        print("  ".join(cells).rstrip())


def print_targets(rows):
    print_columns([("", "measured", "target", "of it", "", "")] + [row.cells() for row in rows])
