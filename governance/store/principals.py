"""``store.principals``: who may act, and by which tokens. A token's secret is never stored, only its digest."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, RowMapping, func, or_, select, update

from governance.errors import Conflict, NotFound
from governance.records.principal import Principal, PrincipalKind, Token
from governance.store import dialect
from governance.store.kit import Kit
from governance.store.tables_principals import PrincipalRow, TokenRow


class Principals:
    """People who act by tokens. One who leaves stays on record; their tokens are revoked."""

    def __init__(self, kit: Kit) -> None:
        """Shares the store's kit."""
        self._kit = kit

    def put(self, principal: Principal) -> None:
        """Record a new principal.

        Raises:
            Conflict: when there is one of that name.

        """
        row = {
            "name": principal.name,
            "roles": [role.value for role in principal.roles],
            "tenants": None if principal.tenants is None else list(principal.tenants),
            "made_at": principal.made_at or self._kit.clock.now(),
        }
        with self._kit.db.write() as connection:
            _lock(connection)
            if connection.scalar(select(PrincipalRow.name).where(PrincipalRow.name == principal.name)):
                raise Conflict(f"principal {principal.name}: there is one of that name; see: tidemill principal list")
            dialect.insert(connection, PrincipalRow, [row])

    def lock(self) -> None:
        """Inside a transaction: whoever changes who may act waits for its end."""
        self._kit.db.run(_lock)

    def any(self) -> bool:
        """Whether somebody was ever made a principal: from then on acts need a token."""
        with self._kit.db.read() as connection:
            return bool(connection.scalar(select(func.count()).select_from(PrincipalRow)))

    def get(self, name: str) -> Principal:
        """The principal of that name.

        Raises:
            NotFound: when there is none.

        """
        with self._kit.db.read() as connection:
            row = connection.execute(select(PrincipalRow.__table__).where(PrincipalRow.name == name)).mappings().first()
        if row is None:
            raise NotFound(f"no principal {name!r}; see: tidemill principal list")
        return _principal(row)

    def list(self) -> tuple[Principal, ...]:
        """Everybody, by name."""
        with self._kit.db.read() as connection:
            rows = connection.execute(select(PrincipalRow.__table__).order_by(PrincipalRow.name)).mappings()
            return tuple(map(_principal, rows))

    def add_token(self, token: Token) -> None:
        """Record a token by its digest."""
        with self._kit.db.write() as connection:
            dialect.insert(connection, TokenRow, [token.model_dump()])

    def token(self, digest: str) -> Token | None:
        """The token of that digest."""
        with self._kit.db.read() as connection:
            row = (
                connection.execute(select(TokenRow.__table__).where(TokenRow.secret_digest == digest))
                .mappings()
                .first()
            )
        return None if row is None else Token.model_validate(dict(row))

    def tokens(self, principal: str | None = None) -> tuple[Token, ...]:
        """The tokens of a principal, or of all, in order."""
        statement = select(TokenRow.__table__).order_by(TokenRow.principal, TokenRow.made_at, TokenRow.secret_digest)
        if principal is not None:
            statement = statement.where(TokenRow.principal == principal)
        with self._kit.db.read() as connection:
            return tuple(Token.model_validate(dict(row)) for row in connection.execute(statement).mappings())

    def end_tokens(self, principal: str, until: datetime) -> None:
        """Let a principal's tokens end at ``until``, or earlier where that was settled before."""
        later = or_(TokenRow.until.is_(None), TokenRow.until > until)
        mine = (TokenRow.principal == principal, TokenRow.revoked_at.is_(None), later)
        self._kit.db.run(lambda connection: connection.execute(update(TokenRow).where(*mine).values(until=until)))

    def revoke(self, digests: tuple[str, ...], at: datetime) -> None:
        """Tokens prove nothing from now on; one that was revoked before stays revoked since then."""
        mine = (TokenRow.secret_digest.in_(digests), TokenRow.revoked_at.is_(None))
        self._kit.db.run(lambda connection: connection.execute(update(TokenRow).where(*mine).values(revoked_at=at)))


def _lock(connection: Connection) -> None:
    dialect.lock_names(connection, ["principals"])


def _principal(row: RowMapping) -> Principal:
    tenants = None if row["tenants"] is None else tuple(row["tenants"])
    return Principal.model_validate(
        {**row, "kind": PrincipalKind.PERSON, "roles": tuple(row["roles"]), "tenants": tenants}
    )
