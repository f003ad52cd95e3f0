# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The cost of samples of page faults, with stacks and without, in turns with plain compiles.

As in sample_costs.py; beside it, what our program takes for a sample, by the kernel's statistics.
"""

import statistics

import key_costs
import sample_costs
import targets

TARGETS = {
    "-e none --memory": 1.01,
    "-e none --memory-light": 1.01,
    "-e none --memory=10": 1.04,
    "-e none --memory-light=10": 1.04,
}
PROGRAM = "sample_fault"
PERIODS = (100, 10)
WAYS = ("-e none --memory", "-e none --memory-light", "-e query-provider --memory-light")


def time_programs(bench, rounds):
    """Print what the program takes for a sample of a compile."""
    table = [("us for a sample, median",
              *(head for period in PERIODS for head in ("every %dth" % period, "samples")))]
    with key_costs.Statistics():
        for way in WAYS:
            row = [way]
            for period in PERIODS:
                runs = [sample_costs.time_program(bench, "regex-syntax", "%s=%d" % (way, period),
                                                  PROGRAM) for _ in range(rounds)]
                row += ["%.2f" % statistics.median(us for us, _ in runs),
                        "%d" % statistics.median(n for _, n in runs)]
            table.append(row)
    targets.print_columns(table)
    print()


def measure(bench, rounds):
    """Print what samples of page faults take; returns the target rows."""
    time_programs(bench, rounds)
    return sample_costs.compare(bench, TARGETS, rounds * sample_costs.ROUNDS)
