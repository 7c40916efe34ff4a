"""Writes expected.yaml of golden cases anew: python -m tests.golden.regenerate [CASE...].

What it writes is what the code does, not what is right: read every changed line against upstream's rules, and the
comment at the top of the case's input, before it is committed.
"""

from __future__ import annotations

import sys

import yaml

from tests.golden.cases import EXPECTED, HERE, answer, case_names, run


class Plain(yaml.SafeDumper):
    """Writes members of enums, and other words that are more than words, as plain ones."""


Plain.add_multi_representer(str, lambda dumper, word: dumper.represent_str("".join(word)))


def main(names: list[str]) -> None:
    """Regenerates the cases named, or all."""
    for name in names or case_names():
        document = answer(name, run(name, "python"))
        text = yaml.dump(document, Dumper=Plain, sort_keys=False, width=160, allow_unicode=True)
        (HERE / name / EXPECTED).write_text(text, encoding="utf-8")
        print(name, document["verdict"], document["states"])


if __name__ == "__main__":
    main(sys.argv[1:])
