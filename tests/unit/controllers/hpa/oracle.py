"""The autoscaler's memory as upstream keeps it: lists of absolute times, nothing pruned, nothing canonical.

Times are milliseconds. Recording takes one millisecond each, as a real sync takes some time; the comparisons are
upstream's own, strict and not strict where it has them.
"""

from __future__ import annotations

import math

SECOND = 1000


class Oracle:
    def __init__(self, minimum, maximum, behavior, flag_s=300):
        self.minimum, self.maximum, self.behavior, self.flag_s = minimum, maximum, behavior, flag_s
        self.now = 0
        self.recommendations = None  # [value, time], in list order
        self.added, self.removed = [], []  # [change, time], in list order

    def wait(self, seconds):
        self.now += seconds * SECOND

    def sync(self, current, proposal):
        """Replicas after one sync; `proposal` None when the metrics failed."""
        if self.recommendations is None:
            self.recommendations = [[current, self._tick()]]
        desired = self._desired(current, proposal)
        if desired != current and self.behavior is not None:
            self._store(current, desired)
        self._tick()
        return desired

    def _desired(self, current, proposal):
        if current == 0:
            return 0
        if current > self.maximum:
            return self.maximum
        if current < self.minimum:
            return self.minimum
        if proposal is None:
            return current
        if self.behavior is None:
            return self._plain(current, proposal)
        return self._rated(current, self._stabilised(current, proposal))

    def _plain(self, current, proposal):
        cutoff = self.now - self.flag_s * SECOND
        old = [i for i, (_, time) in enumerate(self.recommendations) if time < cutoff]
        highest = max([proposal, *(value for value, time in self.recommendations if time >= cutoff)])
        self._recommend(old, proposal)
        limit = max(2 * current, 4)
        most = limit if self.maximum > limit else self.maximum
        if highest < self.minimum:
            return self.minimum
        return min(highest, most)

    def _stabilised(self, current, proposal):
        up, down = self.behavior
        up_cutoff = self.now - up.window_s * SECOND
        down_cutoff = self.now - (self.flag_s if down.window_s is None else down.window_s) * SECOND
        low = high = proposal
        old = []
        for i, (value, time) in enumerate(self.recommendations):
            if time > up_cutoff:
                low = min(low, value)
            if time > down_cutoff:
                high = max(high, value)
            if time < up_cutoff and time < down_cutoff:
                old.append(i)
        result = current
        if result < low:
            result = low
        if result > high:
            result = high
        self._recommend(old, proposal)
        return result

    def _rated(self, current, desired):
        up, down = self.behavior
        if desired > current:
            limit = max(current, self._limit(current, up, 1))
            return min(desired, limit, self.maximum)
        if desired < current:
            limit = min(current, self._limit(current, down, -1))
            return max(desired, limit, self.minimum)
        return desired

    def _limit(self, current, rules, sign):
        if rules.select == "Disabled":
            return current
        values = []
        for policy in rules.policies:
            cutoff = self.now - policy.period_s * SECOND
            start = (
                current - sum(c for c, t in self.added if t > cutoff) + sum(c for c, t in self.removed if t > cutoff)
            )
            if policy.type == "Pods":
                values.append(start + sign * policy.value)
            elif sign > 0:
                values.append(math.ceil(start * (1 + policy.value / 100)))
            else:
                values.append(math.trunc(start * (1 - policy.value / 100)))
        largest_change = max if sign > 0 else min
        smallest_change = min if sign > 0 else max
        return (smallest_change if rules.select == "Min" else largest_change)(values)

    def _store(self, current, desired):
        rules, events = (self.behavior.up, self.added) if desired > current else (self.behavior.down, self.removed)
        cutoff = self.now - max(policy.period_s for policy in rules.policies) * SECOND
        outdated = [i for i, (_, time) in enumerate(events) if time < cutoff]
        entry = [abs(desired - current), self._tick()]
        if outdated:
            events[outdated[-1]] = entry
        else:
            events.append(entry)

    def _recommend(self, old, proposal):
        entry = [proposal, self._tick()]
        if old:
            self.recommendations[old[-1]] = entry
        else:
            self.recommendations.append(entry)

    def _tick(self):
        self.now += 1
        return self.now
