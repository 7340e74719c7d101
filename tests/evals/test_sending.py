"""Cases run locally, and their runs are sent to a server."""

from refinement.models import Run
from refinement.services.people.tokens import token_make
from tests.evals.test_command import AGENT, LOUD, SUITE


def test_the_runs_go_to_the_server_once(evals, live_server, project, editor):
    _, token = token_make(project=project, by=editor, name="CI", role="editor", days=30)
    evals.write("greet.eval.yaml", SUITE)
    evals.write("agent.sh", AGENT, executable=True)
    evals.write("loud.sh", LOUD, executable=True)
    evals.env |= {"WIGGUM_TOKEN": token}
    there = ("--server", live_server.url, "--project", "alpha")
    done = evals("greet.eval.yaml", "--ralph", "--target", "stdin", *there)
    assert done.returncode == 0, done.stderr
    assert "2 runs sent to the server, 0 already there." in done.stderr
    runs = Run.objects.filter(project=project).order_by("task")
    assert [(run.task, run.stop_reason, run.rounds_judged) for run in runs] == [
        ("Greet Ada.", "perfect_score", 2),
        ("Greet Bob.", "perfect_score", 2),
    ]
    assert {tag.name for run in runs for tag in run.tags.all()} == {"Greetings"}
    assert [result.key for result in runs[0].rounds.get(number=1).check_results.all()] == [
        "icontains-1",
        "script-1",
    ]

    again = evals("greet.eval.yaml", "--ralph", "--target", "stdin", "--resume", *there)
    assert again.returncode == 0, again.stderr
    assert "0 runs sent to the server, 2 already there." in again.stderr

    evals.env["WIGGUM_TOKEN"] = token[:-4] + "aaaa"
    asked = (evals.folder / "asked.txt").read_text()
    refused = evals("greet.eval.yaml", "--ralph", "--target", "stdin", *there)
    assert refused.returncode in (3, 4), refused.stderr
    assert (evals.folder / "asked.txt").read_text() == asked  # told before anything was run
