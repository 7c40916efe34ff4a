"""Reads devices: a YAML file, with what `ip route` and `iptables-save` print in it or beside it."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Callable

from kubeproof.errors import ManifestError
from kubeproof.manifests.folders.files import STDIN, read_inputs
from kubeproof.manifests.yaml.fields import Fields, Log
from kubeproof.manifests.yaml.guard import Bounds, Budget
from kubeproof.manifests.yaml.printable import printable
from kubeproof.manifests.yaml.reader import read_documents
from kubeproof.manifests.yaml.tree import Mapping
from kubeproof.network.headers.model import TUNNELS, Device, Devices, Interface, Tunnel
from kubeproof.network.headers.texts import Line, lines_of, read_chains, read_routes

VERSION, KIND = "kubeproof.dev/v1alpha1", "Devices"
MOST_DEVICES = 10_000


def load_devices(path: str, *, stdin: Callable[[], bytes] | None = None, bounds: Bounds = Bounds()) -> Devices:
    """The devices in a file, or on standard input for `-`."""
    if path != STDIN and os.path.isdir(path):
        raise ManifestError("is a directory", file=printable(path), line=0, remedy="Name one file of devices")
    file = next(iter(read_inputs([path], stdin=stdin, bounds=bounds)))
    documents = list(read_documents(file.content, file=file.shown, budget=Budget(bounds)))
    root = documents[0] if len(documents) == 1 else None
    if not isinstance(root, Mapping):
        problem = "not a mapping" if root is not None else f"{len(documents)} documents, not one"
        raise ManifestError(problem, file=file.shown, line=1, remedy=f"Write one object of kind {KIND}")
    folder = "" if path == STDIN else os.path.dirname(path)
    return _read(Fields(root, "", Log(file.shown, KIND)), folder, bounds)


def _read(fields: Fields, folder: str, bounds: Bounds) -> Devices:
    if fields.require_text("apiVersion") != VERSION:
        fields.fail("apiVersion", "is not one of devices", remedy=f"Write apiVersion: {VERSION}")
    if fields.require_text("kind") != KIND:
        fields.fail("kind", "is not that of devices", remedy=f"Write kind: {KIND}")
    metadata = fields.child("metadata")
    name = (metadata.text("name") if metadata else None) or "devices"
    if metadata:
        metadata.finish_strictly("name")
    spec = fields.require_child("spec")
    fields.finish_strictly("apiVersion", "kind", "metadata", "spec")
    found = tuple(_device(child, folder, bounds) for child in spec.children("devices"))
    spec.finish_strictly("devices")
    names = [device.name for device in found]
    for place, one in enumerate(names):
        if one in names[:place]:
            spec.fail("devices", f"names {printable(one)!r} twice", remedy="Name each device once")
    if not found or len(found) > MOST_DEVICES:
        spec.fail("devices", "are none, or too many", remedy=f"Give 1 to {MOST_DEVICES:,}")
    return Devices(name, found)


def _device(fields: Fields, folder: str, bounds: Bounds) -> Device:
    interfaces, tunnels = fields.child("interfaces"), fields.child("tunnels")
    device = Device(
        name=fields.require_text("name"),
        interfaces=tuple(_interface(interfaces, key) for key in _keys(interfaces)) if interfaces else (),
        routes=read_routes(_lines(fields, "routes", folder, bounds)),
        tunnels=tuple(_tunnel(tunnels.require_child(key), key) for key in _keys(tunnels)) if tunnels else (),
        chains=read_chains(_lines(fields, "rules", folder, bounds)),
        source=fields.source,
    )
    fields.finish_strictly("name", "interfaces", "tunnels", "routes", "rules", "routesFrom", "rulesFrom")
    known = {one.name for one in device.interfaces} | {one.name for one in device.tunnels}
    for route in device.routes:
        if route.interface and route.interface not in known:
            raise ManifestError(
                f"no interface {printable(route.interface)!r} of {printable(device.name)}",
                file=route.source.file, line=route.source.line, remedy="Add it to interfaces or tunnels",
            )  # fmt: skip
    return device


def _keys(fields: Fields) -> tuple[str, ...]:
    return tuple(fields.mapping.entries)


def _interface(fields: Fields, key: str) -> Interface:
    text = fields.require_text(key)
    try:
        found = ipaddress.IPv4Interface(text)
    except ValueError:
        fields.fail(key, f"is {printable(text)!r}", remedy="Write an address with its prefix such as 10.0.0.1/24")
    return Interface(key, int(found.ip), found.network.prefixlen)


def _tunnel(fields: Fields, key: str) -> Tunnel:
    line = Line("", fields.source)
    kind = fields.word("protocol", tuple(TUNNELS), "ipip")
    tunnel = Tunnel(key, line.address(fields.require_text("local")), line.address(fields.require_text("remote")), kind)
    fields.finish_strictly("local", "remote", "protocol")
    return tunnel


def _lines(fields: Fields, key: str, folder: str, bounds: Bounds) -> list[Line]:
    """The lines of a text in the file, or of a file beside it."""
    text, name = fields.text(key), fields.text(f"{key}From")
    if text is not None and name is not None:
        fields.fail(key, f"and {key}From are both given", remedy="Give one of them")
    if text is not None:
        return lines_of(text, fields.log.file, fields.line_of(key) + 1)
    if name is None:
        return []
    path = os.path.join(folder, name)
    outside = os.path.isabs(name) or not os.path.realpath(path).startswith(os.path.realpath(folder or ".") + os.sep)
    if outside:
        fields.fail(f"{key}From", "leads out of the folder of the file", remedy="Put it beside the file")
    file = next(iter(read_inputs([path], stdin=None, bounds=bounds)))
    return lines_of(file.content.decode("utf-8", "replace"), file.shown, 1)
