"""A clerk model names categories, when a person asked for it. People's names always win.

A request is at most MOST_CALLS calls; each category is asked for once. What fails is shown to the person, who
can ask again: nothing is retried on its own.
"""

import time
from collections.abc import Callable, Sequence

from django.db import close_old_connections
from django.utils import timezone

from refinement.execution.leases import LeaseLost
from refinement.judging.delimiters import new_nonce
from refinement.judging.failure_names import TOKENS_EACH, ToName, names_prompt, names_schema, read_names
from refinement.models import FailureCategory, FailureNaming
from refinement.models.failures.categories import NAME_CHARS
from refinement.providers.base import CallControl, Cancelled, CompletionRequest, Message, ProviderError
from refinement.providers.context import context_tokens_for, text_size
from refinement.selectors.endpoints import provider_for
from refinement.texts import storable

AT_ONCE = 15  # categories in a call
MOST_CALLS = 4
SECONDS = 120.0  # for a call
RENEW_EVERY = 10.0
REPLY_TOKENS = 300


def name_categories(project_id: int, renew: Callable[[], None]) -> None:
    """Carries out the project's open request, if there is one. `renew` keeps the lease; raises LeaseLost."""
    naming = FailureNaming.objects.filter(project=project_id, ended_at__isnull=True).first()
    if naming is None:
        return
    named, problem = 0, ""
    try:
        for part in unnamed(project_id):
            named += name_part(naming, part, renew)
    except ProviderError as error:
        problem = error.message
    except ValueError as error:
        problem = str(error)
    ended = FailureNaming.objects.filter(pk=naming.pk, asked_at=naming.asked_at)
    ended.update(ended_at=timezone.now(), named=named, problem=storable(problem))


def unnamed(project_id: int) -> list[list[FailureCategory]]:
    """The categories without a name, the oldest first, in parts for one call each."""
    rows = FailureCategory.objects.filter(
        project=project_id, name="", model_name="", merged_into__isnull=True
    )
    chosen = list(rows.order_by("pk")[: AT_ONCE * MOST_CALLS])
    return [chosen[start : start + AT_ONCE] for start in range(0, len(chosen), AT_ONCE)]


def name_part(naming: FailureNaming, part: Sequence[FailureCategory], renew: Callable[[], None]) -> int:
    """Makes one call and stores the names; how many. Raises ProviderError, ValueError and LeaseLost."""
    prompt = names_prompt([ToName(row.criterion, tuple(row.examples)) for row in part], new_nonce())
    provider = provider_for(naming.endpoint)
    size = sum(text_size(message.content) for message in prompt.messages)
    tokens = REPLY_TOKENS + TOKENS_EACH * len(part)
    request = CompletionRequest(
        model=naming.model,
        messages=[Message(message.role, message.content) for message in prompt.messages],
        max_tokens=tokens,
        context_tokens=context_tokens_for(size, tokens, provider.model_info(naming.model).context_length),
        schema=names_schema(len(part)),
        role="clerk",
    )
    lost = Watch(renew)
    try:
        reply = provider.complete(request, CallControl(SECONDS, lost.is_lost))
    except Cancelled:
        raise LeaseLost from None
    found = read_names(reply.text, len(part))
    if found.answer is None:
        raise ValueError(f"{naming.model} did not return usable names. {found.complaint}")
    for place, name in found.answer.items():
        rows = FailureCategory.objects.filter(pk=part[place].pk, name="")
        rows.update(model_name=storable(name)[:NAME_CHARS])
    return len(found.answer)


class Watch:
    """Renews the lease from the call's watcher thread, and says when it is lost."""

    def __init__(self, renew: Callable[[], None]) -> None:
        self.renew, self.lost, self.due = renew, False, time.monotonic() + RENEW_EVERY

    def is_lost(self) -> bool:
        if not self.lost and time.monotonic() >= self.due:
            self.due = time.monotonic() + RENEW_EVERY
            try:
                self.renew()
            except LeaseLost:
                self.lost = True
            finally:
                close_old_connections()
        return self.lost
