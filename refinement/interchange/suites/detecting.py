"""What kind of file a text is: a suite, a table, JSON Lines or an eval file."""

from pathlib import PurePath

ENDINGS = {".csv": "csv", ".tsv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
YAML_ENDINGS = (".yaml", ".yml")


def kind_of(source: str, name: str = "") -> str:
    """`yaml` for a suite, `csv`, `jsonl` or `eval`: by the file's name if that says it, else by its start."""
    ending = PurePath(name).suffix.lower()
    if ending in ENDINGS:
        return ENDINGS[ending]
    lines = [line for line in source.removeprefix("\ufeff").split("\n") if line.strip()]
    starts = [line for line in lines if not line.startswith(("#", " ", "-", "%"))]
    if any(line.startswith("wiggum_suite:") for line in starts):
        return "yaml"
    if any(
        line.startswith(("tests:", "prompts:", "assert:", "default_test:", "defaultTest:")) for line in starts
    ):
        return "eval"
    if lines and lines[0].lstrip().startswith("{"):
        return "jsonl"
    if ending in YAML_ENDINGS:
        return "yaml"
    return "csv"
