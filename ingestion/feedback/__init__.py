"""Feedback: what people say about runs, from any sender to the run that it is about.

``item`` and ``body`` read what is posted, ``admission`` takes it through the door, ``evaluations`` makes the same of
the grades that spans carry, ``verdict`` says how a run ended and ``evidence`` which signals follow.
"""
