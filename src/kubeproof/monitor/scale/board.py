"""What all processes share in Redis: the plan, one stream per partition, its state, its owner, and the alarms.

State, alarms and acknowledgements of a partition change in one atomic step, which only its owner can take. An entry of
a stream that is not acknowledged is therefore not in the state either: whoever takes over reads it again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from kubeproof.errors import EnvironmentProblem
from kubeproof.monitor.brokers.address import Address, needs
from kubeproof.values import dataclass

GROUP = "monitors"
Entry = tuple[str, list[Any]]  # its number, the items

# Only the owner may change a partition: one that was thought dead has lost it for good.
_COMMIT = """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
local at = 4
for _ = 1, tonumber(ARGV[3]) do
  if ARGV[at + 1] == 'null' then
    redis.call('HDEL', KEYS[2], ARGV[at])
  else
    redis.call('HSET', KEYS[2], ARGV[at], ARGV[at + 1])
  end
  at = at + 2
end
local alarms = tonumber(ARGV[at])
for i = 1, alarms do redis.call('XADD', KEYS[4], '*', 'alarm', ARGV[at + i]) end
for i = at + alarms + 1, #ARGV do
  redis.call('XACK', KEYS[3], 'monitors', ARGV[i])
  redis.call('XDEL', KEYS[3], ARGV[i])
end
return 1
"""
_RELEASE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"
_RENEW = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0"


@dataclass(frozen=True, slots=True)
class Plan:
    """What is judged, and in how many partitions; the same for everybody."""

    fingerprint: str
    rules: str  # in YAML
    options: tuple[int, ...]
    partitions: int


class Board:
    """The keys of one watched stream."""

    def __init__(self, address: Address) -> None:
        needs("redis")
        import redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        self.shown, self._name = address.shown, address.name
        self._redis: Any = redis.Redis(
            host=address.host,
            port=address.port,
            db=int(address.room),
            username=address.user or None,
            password=address.password or None,
            ssl=address.is_encrypted,
            decode_responses=True,
            socket_timeout=30,
            retry=Retry(NoBackoff(), 0),  # a client that tries again by itself would feed twice
        )
        self._commit, self._release, self._renew = map(self._redis.register_script, (_COMMIT, _RELEASE, _RENEW))

    def close(self) -> None:
        """Ends the connection."""
        self._redis.close()

    @contextmanager
    def tell_problems(self) -> Iterator[None]:
        """Tells what is wrong with Redis instead of what its client says."""
        import redis

        try:
            yield
        except redis.AuthenticationError:
            raise EnvironmentProblem(f"E401 {self.shown} refuses user or password.") from None
        except redis.RedisError as problem:
            reason = type(problem).__name__
            raise EnvironmentProblem(
                f"E401 cannot use {self.shown}: {reason}. Check host and port, and that Redis runs."
            ) from None

    # The plan, and how far the input has come.

    def plan(self) -> Plan | None:
        """What was agreed on; None if nobody has begun, or everything is over."""
        found = self._redis.get(self._key("plan"))
        if found is None:
            return None
        value = json.loads(found)
        return Plan(value["fingerprint"], value["rules"], tuple(value["options"]), value["partitions"])

    def begin(self, plan: Plan) -> None:
        """Makes the plan known, and a stream for each partition."""
        import redis

        for partition in range(plan.partitions):
            try:
                self._redis.xgroup_create(self._stream(partition), GROUP, id="0", mkstream=True)
            except redis.ResponseError as problem:
                if not str(problem).startswith("BUSYGROUP"):  # it is there already
                    raise
        value = {name: getattr(plan, name) for name in ("fingerprint", "rules", "options", "partitions")}
        self._redis.set(self._key("plan"), json.dumps(value))

    def read_fed(self) -> dict[str, Any] | None:
        """How far the input has come, as `feed` was told."""
        found = self._redis.get(self._key("fed"))
        value: dict[str, Any] | None = None if found is None else json.loads(found)
        return value

    def feed(self, items: dict[int, list[Any]], progress: dict[str, Any]) -> None:
        """Appends to the streams and remembers how far the input has come, all or nothing."""
        with self._redis.pipeline(transaction=True) as pipe:
            for partition, found in sorted(items.items()):
                pipe.xadd(self._stream(partition), {"items": json.dumps(found)})
            pipe.set(self._key("fed"), json.dumps(progress))
            pipe.execute()

    def waiting(self, partitions: int) -> list[int]:
        """Entries that nobody has judged, by partition."""
        with self._redis.pipeline(transaction=False) as pipe:
            for partition in range(partitions):
                pipe.xlen(self._stream(partition))
            found: list[int] = pipe.execute()
            return found

    def remove(self, partitions: int) -> None:
        """Everything is over: nothing stays."""
        kinds = ("in", "state", "owner")
        keys = [self._key(kind, partition) for kind in kinds for partition in range(partitions)]
        self._redis.delete(*(self._key(name) for name in ("plan", "fed", "alarms", "workers")), *keys)

    # Workers and the partitions they own.

    def enlist(self, worker: str, lease_ms: int) -> int:
        """Says that the worker is alive; gives how many are."""
        seconds, micros = self._redis.time()
        now_ms = seconds * 1000 + micros // 1000
        with self._redis.pipeline(transaction=True) as pipe:
            pipe.zremrangebyscore(self._key("workers"), 0, now_ms)
            pipe.zadd(self._key("workers"), {worker: now_ms + lease_ms})
            pipe.zcard(self._key("workers"))
            pipe.pexpire(self._key("workers"), lease_ms * 10)  # the last one to go need not clear up
            alive: int = pipe.execute()[2]
            return alive

    def leave(self, worker: str) -> None:
        """The worker goes."""
        self._redis.zrem(self._key("workers"), worker)

    def own(self, partition: int | str, worker: str, lease_ms: int) -> bool:
        """Takes a partition that nobody has; true if it is ours now."""
        return bool(self._redis.set(self._key("owner", partition), worker, nx=True, px=lease_ms))

    def keep(self, partition: int | str, worker: str, lease_ms: int) -> bool:
        """Owns a partition for longer; false if somebody else has it."""
        return bool(self._renew(keys=[self._key("owner", partition)], args=[worker, lease_ms]))

    def give_up(self, partition: int | str, worker: str) -> None:
        """Lets others have the partition."""
        self._release(keys=[self._key("owner", partition)], args=[worker])

    def state(self, partition: int) -> dict[str, Any]:
        """All that the partition remembers."""
        found = self._redis.hgetall(self._key("state", partition))
        return {field: json.loads(value) for field, value in found.items()}

    def inherit(self, partition: int, worker: str) -> list[Entry]:
        """Entries that an earlier owner was given and did not judge, in order; they are the worker's now."""
        found: list[Entry] = []
        start = "0-0"
        while True:
            start, entries, *_ = self._redis.xautoclaim(self._stream(partition), GROUP, worker, 0, start, count=100)
            found += [_entry(one) for one in entries if one[1]]
            if start == "0-0":
                return found

    def new(self, partitions: Sequence[int], worker: str, count: int, wait_ms: int) -> list[tuple[int, list[Entry]]]:
        """Entries that nobody was given yet."""
        streams = {self._stream(partition): partition for partition in partitions}
        wanted = dict.fromkeys(streams, ">")
        answer = self._redis.xreadgroup(GROUP, worker, wanted, count=count, block=wait_ms) or []
        pairs = answer.items() if isinstance(answer, dict) else answer
        return [(streams[stream], [_entry(one) for one in _flat(entries)]) for stream, entries in pairs]

    def commit(
        self,
        partition: int,
        worker: str,
        lease_ms: int,
        changes: dict[str, Any],
        alarms: Sequence[str],
        done: Sequence[str],
    ) -> bool:
        """Makes a judgement permanent, forgets what is over; false if the partition is not the worker's any more."""
        fields = [text for field, value in changes.items() for text in (field, json.dumps(value))]
        keys = [self._key("owner", partition), self._key("state", partition), self._stream(partition)]
        numbers = [worker, lease_ms, len(changes), *fields, len(alarms), *alarms, *done]
        return bool(self._commit(keys=[*keys, self._key("alarms")], args=numbers))

    def alarms(self, after: str) -> list[tuple[str, dict[str, Any]]]:
        """Alarms that were raised after this one, in order, with their numbers."""
        answer = self._redis.xrange(self._key("alarms"), min=f"({after}" if after else "-", count=1000)
        return [(number, json.loads(fields["alarm"])) for number, fields in answer]

    def _key(self, *parts: object) -> str:
        return ":".join(("{" + self._name + "}", *map(str, parts)))

    def _stream(self, partition: int) -> str:
        return self._key("in", partition)


def _flat(entries: Any) -> Any:
    """Newer clients wrap the entries of a stream once more."""
    return entries[0] if entries and isinstance(entries[0], list) else entries


def _entry(entry: Any) -> Entry:
    number, fields = entry
    return number, json.loads(fields["items"])
