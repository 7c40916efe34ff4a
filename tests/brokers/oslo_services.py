"""Two services that talk by oslo.messaging over RabbitMQ, both traced: a process of its own for a test.

    python oslo_services.py PORT QUEUE [FAULT]

A client calls `reserve` and casts `attach` to the compute service, which calls the volume service and tells everybody
by a fan-out. FAULT names a message that is not sent the second time.
"""

from __future__ import annotations

import sys
import threading
import time

import oslo_messaging
from oslo_config import cfg

from kubeproof import Tracer


class Compute:
    def __init__(self, transport: object, fault: str) -> None:
        self._volume = client(transport, topic="volume")
        self._everybody = client(transport, topic="cells", fanout=True)
        self._fault, self._turns = fault, 0
        self.done = threading.Semaphore(0)

    def reserve(self, ctxt: dict[str, str], device: str) -> str:
        return f"/dev/{device}"

    def attach(self, ctxt: dict[str, str], device: str) -> None:
        self._turns += 1
        if not (self._fault == "connect" and self._turns == 2):
            self._volume.call(ctxt, "connect", device=device)
        if not (self._fault == "update" and self._turns == 2):
            self._everybody.cast(ctxt, "update", device=device)
        self.done.release()


class Volume:
    def connect(self, ctxt: dict[str, str], device: str) -> bool:
        return True


class Cells:
    def update(self, ctxt: dict[str, str], device: str) -> None:
        pass


def client(transport: object, **target: object) -> oslo_messaging.RPCClient:
    return oslo_messaging.get_rpc_client(transport, oslo_messaging.Target(**target), timeout=20)


def main(port: str, queue: str, fault: str = "") -> None:
    tracer = Tracer(f"amqp://guest:guest@127.0.0.1:{port}/{queue}", service="openstack").oslo_messaging()
    transport = oslo_messaging.get_rpc_transport(cfg.CONF, url=f"rabbit://guest:guest@127.0.0.1:{port}/")
    compute = Compute(transport, fault)
    servers = [
        oslo_messaging.get_rpc_server(transport, oslo_messaging.Target(topic=topic, server="one"), [end], "threading")
        for topic, end in (("compute", compute), ("volume", Volume()), ("cells", Cells()))
    ]
    for server in servers:
        server.start()
    caller = client(transport, topic="compute")
    for number in range(3):
        context = {"request_id": f"req-{number}"}
        caller.call(context, "reserve", device=f"vd{number}")
        caller.cast(context, "attach", device=f"vd{number}")
        compute.done.acquire()
    time.sleep(0.1)
    tracer.close()
    print(tracer.failures, tracer.dropped)
    for server in servers:
        server.stop()
    transport.cleanup()


if __name__ == "__main__":
    main(*sys.argv[1:])
