"""What exists, and what may be done with it: the ground every other package stands on.

Layers, lowest first, each importing only those below it:

1. ``records``: frozen, typed, content-addressed values. No I/O.
2. ``ports``: small abstract classes through which the sibling packages meet.
3. ``policy``: pure verdicts over records. ``masking`` and ``keys``: personal data out, surrogates in.
4. ``store``: the only code that sees a table.
5. ``door``, ``erasure``: what may enter, and how a person leaves.
"""
