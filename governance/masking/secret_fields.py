"""Which JSON fields hold a secret by their name.

Theory. Some names leave no doubt (``api_key``, ``password``, ``client_secret``): their whole value is a secret. Others
mean one thing or another (``token`` is a bearer's token or a word of a language model's output, ``authorization`` a
header or a state): their value counts when it looks drawn at random. Names that only contain such a word
(``max_tokens``, ``next_page_token``, ``api_key_id``, ``password_hint``) are neither. Ids by which records join
(``session_id``, ``trace_id``, a call's ``id``) stay.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from governance.masking.words import listed

_SURE: Final = frozenset(
    listed(
        """
        accesskey api_key apikey api_secret api_token apitoken app_secret auth_key auth_token authtoken access_key
        access_token accesstoken account_key bearer bearer_token client_secret clientsecret connection_string
        connectionstring consumer_secret cookies cookie_jar db_password encryption_key hmac_key id_token jwt jwt_token
        licence_key license_key master_key oauth_token passphrase passwd password passwort private_key privatekey
        proxy_authorization pwd refresh_token refreshtoken sas_token secret_access_key secret_key secretkey
        security_token service_key session_cookie session_token set_cookie shared_access_key shared_secret
        signing_key signing_secret ssh_key storage_key subscription_key user_password webhook_secret x_access_token
        x_api_key x_auth_token x_goog_api_key x_amz_security_token x_csrf_token x_xsrf_token 비밀번호 패스워드
        """
    )
)
_SURE_ENDS: Final = (
    "_api_key", "_apikey", "_password", "_passwd", "_passphrase", "_secret", "_secret_key", "_access_key",
    "_private_key", "_access_token", "_refresh_token", "_auth_token", "_api_token", "_bearer_token", "_client_secret",
    "_signing_key", "_encryption_key", "_connection_string", "_webhook_url_secret",
)  # fmt: skip
_NEVER: Final = ("public_", "has_", "is_", "use_", "needs_", "requires_", "no_", "forgot_", "reset_", "change_")
_MAY_BE: Final = frozenset(
    listed("auth authentication authorization cookie credential credentials creds key_secret pin_code secret token")
)
_MAY_BE_ENDS: Final = ("_token", "_credential", "_credentials", "_cookie")
_OTHER_TOKENS: Final = re.compile(
    r"(?:page|next|previous|prev|continuation|sync|cursor|pagination|change|delta|start|stop|end|eos|bos|pad|unk|mask|"
    r"sep|cls|special|max|min|first|last|cancellation|idempotency|csrf|device|push)_token$"
)
_OF_A_MODEL: Final = frozenset({"logprob", "logprobs", "top_logprobs", "bytes", "token_id", "rank", "prob"})
"""Fields beside a ``token`` that is a piece of a model's output."""
_DRAWN: Final = re.compile(
    r"\s*(?:(?:Bearer|Basic|Digest|Token|ApiKey|Negotiate)\s+\S{6,}|(?=\S*\d)(?=\S*[A-Za-z])\S{12,}|\S+=\S{8,}(?:;.*)?)\s*",
    re.IGNORECASE | re.DOTALL,
)
_STANDS_FOR: Final = re.compile(
    r"[$%{<\[*].*|x+|\*+|\.+|\[?redacted\]?|null|none|true|false|", re.IGNORECASE | re.DOTALL
)


def is_sure(name: str) -> bool:
    """Whether a field of this name holds a secret whatever stands in it."""
    return name in _SURE or name.endswith(_SURE_ENDS)


def holds_secret(path: tuple[str, ...], siblings: Collection[str], text: str) -> bool:
    """Whether the field at ``path`` (folded names) holds a secret when its value is ``text``."""
    key = path[-1]
    if key.startswith(_NEVER) or _STANDS_FOR.fullmatch(text):
        return False
    if is_sure(key):
        return True
    if key not in _MAY_BE and (not key.endswith(_MAY_BE_ENDS) or _OTHER_TOKENS.search(key)):
        return False
    return _OF_A_MODEL.isdisjoint(siblings) and _DRAWN.fullmatch(text) is not None
