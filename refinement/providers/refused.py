"""An endpoint that must not be called: every method fails with the reason, and sends nothing."""

from refinement.providers.base import (
    CallControl,
    CompletionRequest,
    ErrorKind,
    Health,
    ModelInfo,
    ProviderError,
    Reply,
)


class RefusedProvider:
    """`reason` is the message for users: what is wrong and what to do."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def complete(self, request: CompletionRequest, control: CallControl) -> Reply:
        raise self._error()

    def models(self) -> list[ModelInfo]:
        raise self._error()

    def model_info(self, name: str) -> ModelInfo:
        raise self._error()

    def health(self) -> Health:
        return Health(False, self._reason)

    def _error(self) -> ProviderError:
        return ProviderError(ErrorKind.REFUSED, self._reason, retryable=False)
