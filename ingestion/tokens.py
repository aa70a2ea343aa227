"""Tokens and cost of a trace, counted once.

Theory. Instrumentations write the same tokens at several heights: a model's call, the call of a library around it, the
agent's sum. So usage is counted leaf-most: a span counts for what its subtree does not explain, each figure on its own
(one span may state the input and another the output).

1. What a span and its subtree say is, figure by figure, the greater of the two, never their sum.
2. A model's call has not spent what the tools that it asked for spent, though their spans may hang under it: that is
   added, unless the call states exactly the sum.
3. Model calls that name one response (``gen_ai.response.id``) at the same time and state nothing different, told by two
   instrumentations or twice by a stream, are one call: each figure counts where it is greatest.
4. A cost that a span states stands for its subtree, unless the subtree states more. Tokens that no cost is stated for
   are priced by the company's table with the model of the span that states them; without a price they are
   ``uncosted_tokens``. A stated cost of 0 is how exporters write a price that they do not know: it states nothing, and
   a model that is free has a price of 0 in the table. Costs in several currencies are not added: the run has none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import attrgetter, sub
from typing import Final, NamedTuple

from governance.records.base import from_unix_nano
from governance.records.content import AdmittedSpan
from governance.records.usage import CostBasis, Usage
from ingestion.dialects import read
from ingestion.dialects.values import added
from ingestion.log_events import PARTLY_WITHHELD
from ingestion.prices import PriceTable
from ingestion.tree import ORPHANS, Tree

MODEL_KEYS: Final = (
    "gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "embedding.model_name", "ai.response.model",
    "ai.model.id", "langfuse.observation.model.name", "ai.observability.cost.model", "model",
)  # fmt: skip
NO_PRICES: Final = PriceTable()
_FIGURES: Final = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens")
_Counts = tuple[int, ...]
_NOTHING: Final[_Counts] = (0,) * len(_FIGURES)


class _Tally(NamedTuple):
    """What a place of the tree has spent."""

    counts: _Counts = _NOTHING
    stated: float | None = None
    priced: float | None = None
    uncosted: int = 0
    currencies: frozenset[str] = frozenset()


_EMPTY: Final = _Tally()


def usage_of(tree: Tree, prices: PriceTable = NO_PRICES) -> Usage:
    """The usage of the whole trace."""
    own = _own_usages(tree)
    inside: dict[str, _Tally] = {}
    beside: dict[str, _Tally] = {}
    for span_id in sorted(tree.spans, key=tree.depth, reverse=True):
        item, children = tree.spans[span_id], tree.children.get(span_id, ())
        below, of_tools = _sum(inside[one] for one in children), _sum(beside[one] for one in children)
        operation = tree.operation(span_id)
        together = _sum((below, of_tools))
        if operation != "chat" or (children and _wholes(_counts(own.get(span_id))) == _wholes(together.counts)):
            below, of_tools = together, _EMPTY
        spent = _with_own(item, own.get(span_id), below, prices)
        if operation == "execute_tool":
            spent, of_tools = _EMPTY, spent
        inside[span_id], beside[span_id] = spent, of_tools
    tops = [span_id for span_id, place in tree.parent.items() if place is None or place == ORPHANS]
    return _usage(_sum(tally for span_id in tops for tally in (inside[span_id], beside[span_id])))


def _own_usages(tree: Tree) -> dict[str, Usage]:
    """What each span states itself; of spans that tell of one response, the first states it for all."""
    own: dict[str, Usage] = {}
    tellers: dict[str, list[str]] = {}
    for span_id, item in tree.spans.items():
        usage = _stated(item)
        if usage is None:
            continue
        response = item.span.attributes.get("gen_ai.response.id")
        if isinstance(response, str) and response and tree.operation(span_id) == "chat":
            told = tellers.setdefault(response, [])
            teller = next((one for one in told if _same_call(tree.spans[one], item, own[one], usage)), None)
            if teller is not None:
                own[teller] = _greatest(own[teller], usage)
                continue
            told.append(span_id)
        own[span_id] = usage
    return own


def _same_call(first: AdmittedSpan, second: AdmittedSpan, one: Usage, other: Usage) -> bool:
    """Whether two tellings of a response id are of one call: they overlap in time, and no figure disagrees.

    A server that gives every response the same id answers its calls one after the other.
    """
    overlap = second.span.start_unix_nano <= first.span.end_unix_nano
    return overlap and all(0 in pair or pair[0] == pair[1] for pair in zip(_counts(one), _counts(other), strict=True))


def _stated(item: AdmittedSpan) -> Usage | None:
    """What the span states; of a span whose content is withheld, or partly, from its structure."""
    usage = item.content.usage if item.content is not None else None
    known = item.content is not None and PARTLY_WITHHELD not in item.span.flags
    return usage if known or usage is not None else read(item.span).usage


def _greatest(one: Usage, other: Usage) -> Usage:
    figures = {name: max(getattr(one, name), getattr(other, name)) for name in _FIGURES}
    dearer = max(one, other, key=lambda usage: usage.cost or 0)
    return Usage(**figures, cost=dearer.cost, currency=dearer.currency)


_read_figures: Final = attrgetter(*_FIGURES)


def _counts(usage: Usage | None) -> _Counts:
    figures: _Counts = _NOTHING if usage is None else _read_figures(usage)
    return figures


def _wholes(counts: _Counts) -> _Counts:
    """Input and output: the other figures are parts of them."""
    return counts[:2]


def _sum(tallies: Iterable[_Tally]) -> _Tally:
    there = [one for one in tallies if one is not _EMPTY]
    if len(there) <= 1:
        return there[0] if there else _EMPTY
    counts, stated, priced, uncosted, currencies = zip(*there, strict=True)
    return _Tally(
        tuple(map(sum, zip(*counts, strict=True))),
        added(*stated),
        added(*priced),
        sum(uncosted),
        frozenset().union(*currencies),
    )


def _with_own(item: AdmittedSpan, own: Usage | None, below: _Tally, prices: PriceTable) -> _Tally:
    """A span and its subtree."""
    if own is None:
        return below
    counts = _counts(own) if below is _EMPTY else tuple(map(max, _counts(own), below.counts))
    if own.cost:
        stands = own.cost >= (below.stated or 0)
        currencies = frozenset({own.currency or prices.currency})
        return _Tally(
            counts,
            stated=own.cost if stands else below.stated,
            currencies=currencies if stands else below.currencies | currencies,
        )
    return _priced(item, _Tally(counts, *below[1:]), below, prices)


def _priced(item: AdmittedSpan, spent: _Tally, below: _Tally, prices: PriceTable) -> _Tally:
    """With the price of what the subtree does not explain."""
    counts = tuple(map(sub, spent.counts, below.counts))
    tokens = sum(_wholes(counts))
    if not tokens:
        return spent
    price = None if prices is NO_PRICES else prices.price_of(_model(item), from_unix_nano(item.span.start_unix_nano))
    if price is None:
        return _Tally(spent.counts, spent.stated, spent.priced, spent.uncosted + tokens, spent.currencies)
    extra = Usage(**dict(zip(_FIGURES, counts, strict=True)))
    return spent._replace(
        priced=added(spent.priced, price.of(extra)),
        currencies=spent.currencies | {prices.currency},
    )


def _model(item: AdmittedSpan) -> str | None:
    found: Iterator[object] = (item.span.attributes.get(key) for key in MODEL_KEYS)
    return next((value for value in found if isinstance(value, str) and value), None)


def _usage(total: _Tally) -> Usage:
    tokens = dict(zip(_FIGURES, total.counts, strict=True))
    if len(total.currencies) != 1:
        return Usage(**tokens, uncosted_tokens=sum(_wholes(total.counts)))
    both = total.stated is not None and total.priced is not None
    basis = CostBasis.MIXED if both else CostBasis.STATED if total.priced is None else CostBasis.PRICED
    return Usage(
        **tokens,
        cost=added(total.stated, total.priced),
        currency=next(iter(total.currencies)),
        cost_basis=basis,
        uncosted_tokens=total.uncosted,
    )
