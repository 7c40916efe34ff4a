"""Label selectors written as kubectl takes them."""

import pytest

from kubeproof.cluster.api.selector_text import selector_from, selector_text
from kubeproof.cluster.labels import LabelSelector, Requirement


@pytest.mark.parametrize(
    ("text", "requirement"),
    [
        ("app=web", Requirement("app", "In", ("web",))),
        ("app == web", Requirement("app", "In", ("web",))),
        ("app!=web", Requirement("app", "NotIn", ("web",))),
        ("env in (a, b)", Requirement("env", "In", ("a", "b"))),
        ("env notin (a,b)", Requirement("env", "NotIn", ("a", "b"))),
        ("example.com/gpu", Requirement("example.com/gpu", "Exists")),
        ("!old", Requirement("old", "DoesNotExist")),
        ("app=", Requirement("app", "In", ("",))),
    ],
)
def test_every_form_is_read_and_written_back(text, requirement):
    selector = selector_from(text)

    assert selector == LabelSelector((requirement,))
    assert selector_from(selector_text(selector)) == selector


def test_several_requirements_are_separated_by_commas_outside_parentheses():
    assert [one.key for one in selector_from("a=1,b in (x,y),!c").requirements] == ["a", "b", "c"]
    assert selector_from(" ") == LabelSelector()


@pytest.mark.parametrize("text", ["=web", "app=web,", "env in a", "env in (a b)", "app=web tier=db"])
def test_what_is_no_selector_is_refused(text):
    with pytest.raises(ValueError, match=r".*"):
        selector_from(text)
