"""`python -m refinement.cli` is `wiggum`, where the command itself is not installed."""

from refinement.cli.main import wiggum

if __name__ == "__main__":
    wiggum(prog_name="wiggum")
