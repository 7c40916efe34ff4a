"""One RabbitMQ for all tests of a file: it takes seconds to start."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.brokers.servers import Broker, rabbitmq


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with rabbitmq(tmp_path_factory.mktemp("rabbitmq")) as running:
        yield running
