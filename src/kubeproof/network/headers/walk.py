"""What happens to one packet, step by step, with numbers only. Shares nothing with following all headers at once."""

from __future__ import annotations

from kubeproof.network.headers.model import Chain, Device, Devices, Rule
from kubeproof.values import dataclass

Header = tuple[int, ...]
MOST_STEPS = 500


@dataclass(frozen=True, slots=True)
class End:
    """Where a packet ends: how, at which device, and the headers it has then, the outermost last."""

    how: str
    device: str
    headers: tuple[Header, ...]


def walk(devices: Devices, start: str, header: Header) -> End:
    """The end of one packet that a device sends."""
    return _Walker(devices, start, header).run()


class _Walker:
    def __init__(self, devices: Devices, start: str, header: Header) -> None:
        self._by_name = {device.name: device for device in devices.devices}
        self._here = self._by_name[start]
        self._stack = [list(header)]
        self._came_in = ""
        self._is_own = True  # sent by the device itself

    def run(self) -> End:
        for _ in range(MOST_STEPS):
            end = self._step()
            if end:
                return self._end(end)
        return self._end("loop")

    def _end(self, how: str) -> End:
        return End(how, self._here.name, tuple(tuple(header) for header in self._stack))

    def _step(self) -> str:
        """One device; empty if the packet goes on."""
        header = self._stack[-1]
        if self._is_own:
            if not self._passes("filter/OUTPUT", ""):
                return "dropped"
        else:
            self._passes("nat/PREROUTING", "")
            if self._is_mine(header[1]):
                return self._receive(header)
        return self._send_on(header)

    def _is_mine(self, address: int) -> bool:
        mine = [one.address for one in self._here.interfaces] + [one.local for one in self._here.tunnels]
        return address in mine

    def _receive(self, header: list[int]) -> str:
        if not self._passes("filter/INPUT", ""):
            return "dropped"
        for tunnel in self._here.tunnels:
            protocol = {"ipip": 4, "gre": 47, "vxlan": 17}[tunnel.kind]
            if header[:3] == [tunnel.remote, tunnel.local, protocol] and (protocol != 17 or header[4] == 4789):
                if len(self._stack) == 1:
                    return "dropped"
                self._stack.pop()
                self._came_in, self._is_own = tunnel.name, False
                return ""
        return "delivered"

    def _send_on(self, header: list[int]) -> str:
        best = None
        networks = [(one.address >> (32 - one.length), one.length, one.name, None, 0) for one in self._here.interfaces]
        routes = [(r.to[0] >> (32 - r.length), r.length, r.interface, r.via, r.metric) for r in self._here.routes]
        for bits, length, interface, via, metric in [*routes, *networks]:
            if header[1] >> (32 - length) == bits and (best is None or (length, -metric) > (best[0], -best[3])):
                best = (length, interface, via, metric)
        if best is None or not best[1]:
            return "dropped"
        _, out, via, _ = best
        if not self._is_own and not self._passes("filter/FORWARD", out):
            return "dropped"
        self._passes("nat/POSTROUTING", out)
        for tunnel in self._here.tunnels:
            if tunnel.name == out:
                return self._wrap(tunnel.local, tunnel.remote, tunnel.kind)
        return self._hand_over(header[1] if via is None else via)

    def _wrap(self, local: int, remote: int, kind: str) -> str:
        if len(self._stack) == 4:
            return "dropped"
        protocol, port = {"ipip": (4, 0), "gre": (47, 0), "vxlan": (17, 4789)}[kind]
        self._stack.append([local, remote, protocol, 0, port])
        self._is_own, self._came_in = True, ""
        return ""

    def _hand_over(self, address: int) -> str:
        for device in self._by_name.values():
            for one in device.interfaces:
                if one.address == address and device.name != self._here.name:
                    self._here, self._came_in, self._is_own = device, one.name, False
                    return ""
        return "left"

    def _passes(self, name: str, out: str) -> bool:
        """False if the chain drops the packet; rewrites it if it says so."""
        chain = self._here.chains.get(name)
        if chain is None:
            return True
        verdict = self._decide(chain, out)
        return (verdict or chain.policy) != "drop"

    def _decide(self, chain: Chain, out: str) -> str:
        for rule in chain.rules:
            if not self._matches(rule, out):
                continue
            if rule.verdict == "return":
                return ""
            if rule.verdict == "jump":
                verdict = self._decide(self._here.chains[rule.chain], out)
                if verdict:
                    return verdict
                continue
            for place, value in rule.sets:
                self._stack[-1][place] = self._address(self._here, out) if value == -1 else value
            return "drop" if rule.verdict == "drop" else "accept"
        return ""

    @staticmethod
    def _address(device: Device, interface: str) -> int:
        ends = {one.name: one.local for one in device.tunnels}
        return (ends | {one.name: one.address for one in device.interfaces})[interface]

    def _matches(self, rule: Rule, out: str) -> bool:
        for pattern, interface in ((rule.comes_by, self._came_in), (rule.leaves_by, out)):
            if pattern and pattern != interface and not (pattern[-1] == "+" and interface.startswith(pattern[:-1])):
                return False
        header = self._stack[-1]
        return any(
            all(low <= value <= high for value, (low, high) in zip(header, box, strict=True)) for box in rule.boxes
        )
