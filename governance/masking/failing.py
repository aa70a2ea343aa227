"""Masking fails closed and alone: whatever goes wrong in it is a ``MaskingError``, and costs what was being masked.

A value that masking cannot walk (too deep, of a kind that nobody expected) must not stop those that come after it. What
the store or the keys raise is no fault of a value: it goes up as it is.
"""

from __future__ import annotations

from types import TracebackType

from governance.errors import KeyMaterialError, MaskingError, StoreError


class failing_closed:  # noqa: N801 - reads as what it does, as the context managers of the standard library do
    """Turns everything unexpected inside into a ``MaskingError``, without the words of a value.

    The store's and the keys' errors go up as they are.
    """

    __slots__ = ("_doing",)

    def __init__(self, doing: str) -> None:
        """``doing`` says what failed."""
        self._doing = doing

    def __enter__(self) -> None:
        """Nothing yet."""

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None) -> None:
        """Whatever was raised inside.

        Raises:
            MaskingError: for everything unexpected.

        """
        if isinstance(error, Exception) and not isinstance(error, MaskingError | StoreError | KeyMaterialError):
            raise MaskingError(f"{self._doing} failed ({type(error).__name__}); nothing was masked") from error
