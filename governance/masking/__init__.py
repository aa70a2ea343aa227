"""Masking: personal values out, keyed surrogates in.

``detection`` finds personal values in one text, ``fields`` knows what a field's name says about its value, ``walker``
takes JSON values apart into texts and puts them together again, ``surrogate`` makes the replacements, and
``presidio_masker`` joins the four behind the port ``Masker``.
"""
