"""A command as a model: it gets the prompt on stdin or in a file, and replies on stdout or in a file.

Only for `wiggum eval`, which users run on their own machine; the registry creates no others.
"""

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from refinement.providers.base import (
    CallControl,
    CompletionRequest,
    ErrorKind,
    Health,
    ModelInfo,
    ProviderError,
    Reply,
)
from refinement.providers.cancelling import calling
from refinement.providers.processes import OUTPUT_BYTES, Command, CommandResult, run_command

TIMEOUT_SECONDS = 600.0
PROMPT_FILE, OUTPUT_FILE = "prompt_file", "output_file"


class CommandProvider:
    """Starts the command once per call, with a temporary folder for its files."""

    def __init__(self, options: Mapping[str, Any], name: str) -> None:
        self._command = Command(
            parts=tuple(options["command"]),
            folder=str(options.get("folder") or "."),
            shell=bool(options.get("shell")),
            output_bytes=int(options.get("output_bytes") or OUTPUT_BYTES),
        )
        self._timeout = float(options.get("timeout") or TIMEOUT_SECONDS)
        self.where = f"The command of {name} ({self._command.name})"

    def complete(self, request: CompletionRequest, control: CallControl) -> Reply:
        """Runs the command with the prompt; cancelling the call ends it. No failure is retryable."""
        limit = min(self._timeout, control.deadline_seconds)
        bounded = CallControl(limit, control.is_cancelled, control.on_text)
        try:
            with (
                calling(bounded, self.where) as call,
                tempfile.TemporaryDirectory(prefix="wiggum-command-") as folder,
            ):
                text = self._reply(prompt_of(request), Path(folder), call.check)
                control.on_text(text)
                return Reply(text=text, model=request.model, seconds=call.elapsed())
        except ProviderError as error:
            # Not retried: an agent may have changed things before it failed, and costs money.
            raise ProviderError(error.kind, error.message, retryable=False) from error

    def _reply(self, prompt: str, folder: Path, check: Callable[[], None]) -> str:
        places = {PROMPT_FILE: str(folder / "prompt.txt"), OUTPUT_FILE: str(folder / "output.txt")}
        by_file = self._command.uses(PROMPT_FILE)
        if by_file:
            Path(places[PROMPT_FILE]).write_text(prompt, encoding="utf-8", errors="replace")
        try:
            ended = run_command(self._command, "" if by_file else prompt, check, places)
        except OSError as error:
            raise self._failed(f"cannot be started ({error.strerror})", ErrorKind.UNREACHABLE) from error
        self._refuse_failure(ended)
        written = Path(places[OUTPUT_FILE]) if self._command.uses(OUTPUT_FILE) else None
        text = self._written(written) if written else ended.out
        if not text.strip():
            raise self._failed("gave an empty reply", advice="Run it by hand to check its output.")
        return text

    def _refuse_failure(self, ended: CommandResult) -> None:
        if ended.too_long:
            raise self._failed(
                f"wrote more than {self._command.output_bytes:,} bytes",
                advice="Have it write less, or raise its output_limit.",
            )
        if ended.code:
            output = f": {ended.tail}" if ended.tail else " and no output"
            how = f"signal {-ended.code}" if ended.code < 0 else f"status {ended.code}"
            raise self._failed(f"ended with {how}{output}", advice="Run it by hand with the same prompt.")

    def _written(self, file: Path) -> str:
        """The content of the command's output file, within the limit."""
        try:
            with file.open("rb") as stream:
                data = stream.read(self._command.output_bytes + 1)
        except OSError:
            raise self._failed(
                "wrote no output file", advice="It must write its reply to the file in {output_file}."
            ) from None
        self._refuse_failure(CommandResult(0, "", "", too_long=len(data) > self._command.output_bytes))
        return data.decode("utf-8", "replace")

    def _failed(
        self, what: str, kind: ErrorKind = ErrorKind.BAD_REPLY, advice: str = "Check the target's command."
    ) -> ProviderError:
        return ProviderError(kind, f"{self.where} {what}. {advice}", retryable=False)

    def models(self) -> list[ModelInfo]:
        """Empty: a command is set in an eval file, not chosen from a list."""
        return []

    def model_info(self, name: str) -> ModelInfo:
        """The given name, without a context length; raises ProviderError if the command does not exist."""
        if problem := self._command.problem():
            raise self._failed(f"cannot be started: {problem}", ErrorKind.UNREACHABLE)
        return ModelInfo(name=name)

    def health(self) -> Health:
        """Whether the command can be started, without starting it."""
        problem = self._command.problem()
        return Health(not problem, f"{self.where} cannot be started: {problem}." if problem else "")


def prompt_of(request: CompletionRequest) -> str:
    """The prompt as one text: a producer gets the task only, a judge the system message as well."""
    wanted = ("user", "assistant") if request.role == "producer" else ("system", "user", "assistant")
    return "\n\n".join(message.content for message in request.messages if message.role in wanted)
