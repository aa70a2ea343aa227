"""The only code that sees tables. Every read of what people said or did takes a purpose.

``Store.open(url, clock=...)`` gives one object with a repository per noun. What a person's data went into is found
through declared paths (``tables()``), removed or retired by ``erasable()``, and expires by ``sweep(now)``.
"""

from governance.store.store import Store

__all__ = ["Store"]
