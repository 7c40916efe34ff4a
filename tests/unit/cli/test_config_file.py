import pytest

from kubeproof.errors import UsageError
from kubeproof.manifests.settings.config import read_config

BOMB = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"


def test_a_mapping_comes_back_as_plain_values(tmp_path):
    file = tmp_path / "c.yaml"
    file.write_text("verify: {timeout: 3}\n")

    assert read_config(str(file)) == {"verify": {"timeout": 3}}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a: [", "not valid YAML"),
        (b"- 1\n", "must be a mapping"),
        (b"1: 2\n", "must be a mapping"),
        (BOMB.encode(), "aliases are not allowed"),
        (b"a: !!python/object:os.system x\n", "not valid YAML"),
        (b"a: 2020-99-99\n", "not valid YAML"),
        (b"[" * 60_000, "nested deeper than 8 levels"),
        (b"- " * 30_000, "nested deeper than 8 levels"),
        (b"a: 1\n" * 20_000, "larger than 65536 bytes"),
        (b"\xff\xfe\xff", "cannot be read"),
        (b"a: " + b"9" * 5_000, "not valid YAML"),
    ],
)
def test_an_unusable_file_is_wrong_configuration(tmp_path, content, said):
    file = tmp_path / "c.yaml"
    file.write_bytes(content)

    with pytest.raises(UsageError, match=said):
        read_config(file)


def test_a_missing_file_is_wrong_configuration(tmp_path):
    with pytest.raises(UsageError, match=r"absent.yaml: cannot be read: No such file or directory. Check the path"):
        read_config(tmp_path / "absent.yaml")
