"""Problems of a file in the words of a form, where each is at its field."""


def field_message(message: str, place: int) -> str:
    """The message without the words that say which task it is about."""
    own = message.replace(f" in task {place}", "").replace(f"task {place} ", "the task ").strip()
    return own[:1].upper() + own[1:]
