"""The keys that lead from a pseudonym back to a person: each use of them is an act with a role, and written down.

Theory. A surrogate or a person's hash says nothing without the key that made it, and whoever may ask the key about a
value of their choice can find out whose record it is. The keys lie apart from the data (``governance.ports.keys``), so
two uses are left by which somebody could try: the hash of a raw id, and the surrogates of a text of their own. Both are
acts of ``governance.policy.acts`` (``key subject``, ``key surrogate``) for those who answer people and hold the record,
and for the service on a duty. Once a tenant has declared pseudonymised processing (PIPA 28-2), anybody else is refused
(28-5), and both the use and the refusal stand in the tenant's audit, without the value. Which person was asked about
decides nothing: an answer that depended on it would tell something.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from governance.acting import Acting, acting, audited
from governance.errors import ReidentificationRefused
from governance.policy.acts import act_of
from governance.ports.clock import Clock, IdFactory
from governance.ports.keys import KeyName
from governance.records.principal import Role
from governance.store import Store

REFUSED: Final = "reidentification_refused"
USED: Final = "key_used"


class KeyDesk:
    """Where commands ask for what only a key can tell."""

    def __init__(self, store: Store, subject: Callable[[str, str | None], str], clock: Clock, ids: IdFactory) -> None:
        """``subject`` is the door's: tenant and raw id to the keyed hash."""
        self._store, self._subject, self._clock, self._ids = store, subject, clock, ids

    def person(self, tenant_id: str, raw_id: str) -> str:
        """The keyed hash of a person's id.

        Raises:
            ReidentificationRefused: to who may not ask.

        """
        self.use(tenant_id, KeyName.SUBJECT)
        return self._subject(tenant_id, raw_id)

    def use(self, tenant_id: str, key: KeyName) -> None:
        """Write down that who acts uses a tenant's key on values of their choice.

        Raises:
            ReidentificationRefused: to who may not.

        """
        if not self._store.pseudonymised.ever(tenant_id):
            return
        who = acting()
        role = _fitting(who, f"key {key.value}")
        event = audited(
            self._ids, self._clock.now(), tenant_id, REFUSED if role is None else USED, f"key:{key.value}",
            {"act": who.act},
        )  # fmt: skip
        self._store.audit.append(event if role is None else event.model_copy(update={"role": role.value}))
        if role is None:
            raise ReidentificationRefused(
                f"{who.act or 'an act'}: {tenant_id} has pseudonymised processing declared, so only "
                f"{' or '.join(act_of(f'key {key.value}').roles)} may use its {key.value} key; "
                f"{who.principal.name} acts as {who.role} (PIPA 28-5)"
            )


def _fitting(who: Acting, act: str) -> Role | None:
    """In which of their roles they may; None where in none."""
    if who.role is Role.SERVICE:
        return Role.SERVICE if who.duty else None
    return next((role for role in act_of(act).roles if role in who.principal.roles), None)
