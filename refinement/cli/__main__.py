"""`python -m refinement.cli` is the same as `wiggum`."""

from refinement.cli.main import wiggum

if __name__ == "__main__":
    wiggum(prog_name="wiggum")
