"""Every fault that the daemon can report, in one tree.

```text
CompanionError
├── InvalidInput            a client, file or tool sent something that cannot be decoded
├── SessionNotFound         no such session
├── SessionBusy             another process holds the session
├── StaleVersion            the span was changed meanwhile
├── CompressionNotFound     no such compression or preview
├── Overloaded              a bounded queue is full
├── InvalidSettings         a settings file is broken
├── UntrustedWorkspace      the workspace is not trusted and the method needs it
├── StorageFault            the session store cannot be read or written
├── Cancelled               a person or a client stopped the job
├── InternalFault           a defect of the daemon; the log has the details
└── ModelFault
    ├── ModelUnavailable    the model's service failed after its retries
    ├── Unauthenticated     no key, or one that was refused
    ├── ContextOverflow     the provider refused the size
    ├── TokenCountFailed    the provider could not count a request
    └── Blocked             a hook or the model's safety filter refused
```

An *outcome* (compressed, unneeded, inflated, empty, truncated) is a value and never appears here.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

RefusedPart: TypeAlias = Literal["tools", "media", "request"]
"""What of a request its service refused: a tool's declaration, a picture or the like, or what it did not name."""


class CompanionError(Exception):
    """The root of the tree: what happened, what to do next, and whether trying again can help.

    `message` and `hint` are sentences for people; `retry_after_ms` is milliseconds, `None` when it is not known.
    """

    retryable_by_default = False
    """What `retryable` is where a caller does not give it."""

    def __init__(
        self, message: str, *, hint: str = "", retryable: bool | None = None, retry_after_ms: int | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.retryable = self.retryable_by_default if retryable is None else retryable
        self.retry_after_ms = retry_after_ms

    @property
    def message_with_hint(self) -> str:
        """What happened and what to do next, as a person reads it."""
        end = "" if self.message.rstrip().endswith((".", "!", "?", "。")) else "."
        return f"{self.message.rstrip()}{end} {self.hint}".strip()


class InvalidInput(CompanionError):
    """Something that came from outside cannot be decoded; `path` names the place, as in `$.parts[0].text`."""

    def __init__(self, message: str, *, path: str = "$", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.path = path


class SessionNotFound(CompanionError):
    """No session has this id."""


class SessionBusy(CompanionError):
    """Another process holds the session; it can be forked or taken over."""


class StaleVersion(CompanionError):
    """The span that a compression was computed for was changed meanwhile."""


class CompressionNotFound(CompanionError):
    """No compression or preview has this id, or there is none to undo."""


class Overloaded(CompanionError):
    """A bounded queue is full."""

    retryable_by_default = True


class InvalidSettings(CompanionError):
    """A settings file is broken; the message names file, line and key."""


class UntrustedWorkspace(CompanionError):
    """The workspace is not trusted and the method needs it to be."""


class StorageFault(CompanionError):
    """The session store cannot be read or written: a full disk, no permission, a broken file."""


class Cancelled(CompanionError):
    """The job was stopped by a person or a client before its result was installed."""


class InternalFault(CompanionError):
    """A defect of the daemon, reported to clients without its details."""

    def __init__(self) -> None:
        super().__init__(
            "Something went wrong inside Gemini Companion.",
            hint="The server's log says where; please report it with that.",
        )


class ModelFault(CompanionError):
    """The model's side failed."""


class ModelUnavailable(ModelFault):
    """The model's service failed after its retries.

    `of_model` is true where another model of the same service may answer: a quota is used up, or this
    one is overloaded; `is_gone` where this one is not to be had at all. `token_quota` is how many tokens a minute may
    have, if the service said so; `tool_index` the place of the tool whose declaration it refused;
    `refused` what of the request it refused, and `words` what it said of that, word for word.
    """

    retryable_by_default = True

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        retryable: bool | None = None,
        retry_after_ms: int | None = None,
        of_model: bool = False,
        is_gone: bool = False,
        token_quota: int | None = None,
        tool_index: int | None = None,
        refused: RefusedPart | None = None,
        words: str = "",
    ) -> None:
        super().__init__(message, hint=hint, retryable=retryable, retry_after_ms=retry_after_ms)
        self.of_model = of_model
        self.is_gone = is_gone
        self.token_quota = token_quota
        self.tool_index = tool_index
        self.refused: RefusedPart | None = refused
        self.words = words


class Unauthenticated(ModelFault):
    """There is no key, or it was refused."""


class ContextOverflow(ModelFault):
    """The provider refused the request for its size; `limit` is how many tokens it takes, if it said so."""

    def __init__(self, message: str, *, hint: str = "", limit: int | None = None) -> None:
        super().__init__(message, hint=hint)
        self.limit = limit


class TokenCountFailed(ModelFault):
    """The provider could not count a request."""


class Blocked(ModelFault):
    """A hook or the model's safety filter refused the prompt or the answer."""
