"""`kubeproof network packets`."""

from __future__ import annotations

import click

from kubeproof.cli.networks.asked import code_of
from kubeproof.cli.options.inputs import read_stdin
from kubeproof.cli.options.outputs import Output, emit, output_option


@click.command("packets", short_help="Follow every header through filters, NAT and tunnels.")
@click.argument("file")
@click.option("--from", "start", metavar="DEVICE", required=True, help="The device that sends the packets.")
@click.option(
    "--match", metavar="HEADERS", default="", help="Only these: 'src 10.0.0.0/8, dst 10.1.0.7, tcp, dport 80-90'."
)
@click.option("--can-reach", metavar="DEVICE", multiple=True, help="Some of the packets must arrive there.")
@click.option("--cannot-reach", metavar="DEVICE", multiple=True, help="None of the packets may arrive there.")
@click.option("--must-reach", metavar="DEVICE", multiple=True, help="All of the packets must arrive there.")
@click.option(
    "--max-classes",
    type=click.IntRange(1),
    default=100_000,
    show_default=True,
    help="Sets of headers that are followed.",
)
@output_option("text", "json")
def packets_command(
    *, file: str, start: str, match: str, can_reach: tuple[str, ...], cannot_reach: tuple[str, ...],
    must_reach: tuple[str, ...], max_classes: int, outputs: tuple[Output, ...],
) -> int:  # fmt: skip
    """Tell what becomes of every packet that a device sends: where it is filtered, rewritten and wrapped, and ends.

    FILE describes devices by what `ip route` and `iptables-save` print there (docs/reference/network.md). Judged is the
    first packet of each connection.

    \b
    Examples:
      kubeproof network packets devices.yaml --from pc
      kubeproof network packets devices.yaml --from pc --match 'dst 203.0.113.10, tcp, dport 443' --must-reach web
      kubeproof network packets devices.yaml --from internet --cannot-reach db -o json

    \b
    Exit codes: 0 told, all asked holds, 1 violated, 2 wrong usage, 3 a limit
    was met, 4 input refused.
    """
    from kubeproof.network.headers.reader import load_devices
    from kubeproof.network.headers.run import CAN, CANNOT, MUST, trace_packets
    from kubeproof.network.headers.texts import parse_headers
    from kubeproof.report.networks.packets import packets_json, packets_text

    devices = load_devices(file, stdin=read_stdin)
    asked = [
        (kind, one) for kind, many in ((CAN, can_reach), (CANNOT, cannot_reach), (MUST, must_reach)) for one in many
    ]
    result = trace_packets(devices, start, parse_headers(match), asked, most=max_classes)
    render = {"json": packets_json, "text": packets_text}
    return emit(outputs, lambda output: render[output.format](result), code_of(result.verdict), verdict=result.verdict)
