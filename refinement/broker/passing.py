"""A step's message and its successor: the run's next step stays in this process where nothing else waits.

Sent the long way, a successor is queued, found, claimed and, after its step, acknowledged. But whoever would
send it holds a message for the very same work, and is about to be free. So a broker's `pass_on` exchanges the
held one for the new one, in one go: there is still one message for each step, which the broker has before it
forgets the last one, and which comes again if its holder is lost. Where others wait it says no: then the
successor is to be sent, and stands in line behind them.
"""

from typing import Any

from dramatiq import Broker, Message, MessageProxy, Middleware, Worker
from dramatiq.middleware import CurrentMessage
from dramatiq.worker import ConsumerThread


class HeldMessage(MessageProxy):
    """A message in the hands of this process."""

    passed_on = False  # exchanged for its successor: there is nothing left to acknowledge


class Passing(Middleware):
    """Knows for which message a new one may be exchanged; a worker that stops keeps nothing for itself."""

    def __init__(self) -> None:
        self.stopping = False
        self._threads: dict[str, ConsumerThread] = {}

    def after_consumer_thread_boot(self, broker: Broker, thread: ConsumerThread) -> None:
        self._threads[thread.queue_name] = thread

    def before_consumer_thread_shutdown(self, broker: Broker, thread: ConsumerThread) -> None:
        self._threads.pop(thread.queue_name, None)

    def before_worker_boot(self, broker: Broker, worker: Worker) -> None:
        self.stopping = False

    def before_worker_shutdown(self, broker: Broker, worker: Worker) -> None:
        self.stopping = True

    def predecessor(self, message: Message[Any]) -> HeldMessage | None:
        """The message that this thread is at work on, if the new one is to do the same once more."""
        held: object = CurrentMessage.get_current_message()
        if self.stopping or not isinstance(held, HeldMessage):
            return None
        return held if not held.passed_on and work_of(held) == work_of(message) else None

    def put_to_work(self, message: HeldMessage) -> bool:
        """Puts it before the worker's threads; False where only a consumer's own thread could.

        That thread would do the same, but it sleeps: to be woken for each step takes longer than this.
        """
        thread = self._threads.get(message.queue_name)
        if thread is None:
            return False
        thread.handle_message(message)
        return True


def work_of(message: Any) -> tuple[object, ...]:
    """What a message asks for; its own name and how often it was tried are not part of it."""
    return message.queue_name, message.actor_name, list(message.args), message.kwargs
