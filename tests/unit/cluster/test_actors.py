import copy
import pickle

import pytest

from kubeproof.cluster.loops.actors import TIME, Actor, ActorKind

WEB = Actor(ActorKind.SCHEDULER, "web")


def test_an_actor_is_its_text_and_knows_its_parts():
    assert (WEB, WEB.kind, WEB.object) == ("scheduler web", ActorKind.SCHEDULER, "web")
    assert (TIME, TIME.object) == ("time", "")


def test_a_controller_of_the_users_is_called_as_it_calls_itself():
    own = Actor(ActorKind.OTHER, "event horizon")

    assert (own, own.kind) == ("event horizon", ActorKind.OTHER)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_knows_them_too(again):
    assert (again(WEB), again(WEB).kind, again(WEB).object) == (WEB, WEB.kind, WEB.object)
