"""Verifications that are kept: what they belong to, and that results come back as they were."""

from dataclasses import replace

import pytest

from kubeproof.engine.search import find_compiled_kernel
from kubeproof.manifests.load import load_texts
from kubeproof.report.formats.json import render
from kubeproof.verify.journal.verification import CODEC, KEY, binding_for, verify_kept
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.run import verify
from tests.unit.verify.test_find_all import INPUT

LOADED = load_texts([("input.yaml", INPUT)])
OPTIONS = VerifyOptions(find_all=True)


def bound(options=OPTIONS, loaded=LOADED):
    return binding_for(loaded, options, {}, (KEY,))


def test_a_result_comes_back_from_its_journal_as_it_was():
    result = verify(LOADED, OPTIONS)

    assert result.verdict == "VIOLATED"
    assert repr(CODEC.decode(CODEC.encode(result))) == repr(result)
    assert render(CODEC.decode(CODEC.encode(result))) == render(result)


def test_a_kept_verification_gives_the_result_of_one_that_is_not(tmp_path):
    def timeless(result):
        return replace(result, statistics=replace(result.statistics, elapsed_s=0.0))

    kept = verify_kept(LOADED, OPTIONS, directory=tmp_path, resume=False, interval_s=0.0)
    again = verify_kept(LOADED, OPTIONS, directory=tmp_path, resume=True, interval_s=0.0)

    assert timeless(kept.result) == timeless(verify(LOADED, OPTIONS))
    assert again == kept
    assert (kept.is_final, kept.problems) == (True, ())


@pytest.mark.parametrize(
    "options",
    [
        replace(OPTIONS, max_states=7),
        replace(OPTIONS, reductions=False),
        replace(OPTIONS, find_all=False),
        replace(OPTIONS, check_controllers=True),
        replace(OPTIONS, engine="reference"),
    ],
)
def test_options_that_can_change_a_result_are_part_of_what_a_run_belongs_to(options):
    assert bound(options) != bound()
    assert bound(options).digest != bound().digest


@pytest.mark.parametrize("options", [replace(OPTIONS, timeout_s=9.0), replace(OPTIONS, memory_bytes=2**30)])
def test_limits_of_time_and_memory_are_not(options):
    assert bound(options) == bound()


def test_the_engine_that_is_really_used_is():
    name = "python" if find_compiled_kernel() is None else "compiled"

    assert bound(replace(OPTIONS, engine=name)) == bound()


def test_names_of_files_and_all_that_is_read_or_listed_of_them_are():
    assert bound(loaded=load_texts([("other.yaml", INPUT)])) != bound()
    assert bound(loaded=load_texts([("input.yaml", f"\n{INPUT}")])) != bound()  # other places
    assert bound(loaded=load_texts([("input.yaml", INPUT.replace("count: 1", "count: 2"))])) != bound()
    secret = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\n"
    assert bound(loaded=load_texts([("input.yaml", INPUT + secret)])) != bound()


def test_whom_an_omission_touches_is():
    spec = "{containers: [{name: m, image: x}], volumes: [DISK]}"
    pod = f"---\napiVersion: v1\nkind: Pod\nmetadata: {{name: NAME}}\nspec: {spec}\n"
    disk = "{name: data, gcePersistentDisk: {pdName: one}}"
    first = pod.replace("NAME", "p1").replace("DISK", disk)
    apart, shared = (pod.replace("NAME", "p2").replace("DISK", disk.replace("one", name)) for name in ("two", "one"))

    assert bound(loaded=load_texts([("input.yaml", INPUT + first + apart)])) != bound(
        loaded=load_texts([("input.yaml", INPUT + first + shared)])
    )


def test_what_nobody_reads_is_not():
    assert bound(loaded=load_texts([("input.yaml", f"{INPUT}# a comment\n")])) == bound()


def test_the_code_of_own_controllers_is(tmp_path):
    file = tmp_path / "own.py"
    options = replace(OPTIONS, controllers=(f"{file}:Saver",))
    absent = bound(options)
    file.write_text("one")
    one = bound(options)
    file.write_text("two")

    assert len({absent, one, bound(options)}) == 3
