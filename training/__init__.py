"""How it gets better: routing, levers, worlds, tasks, verifiers, training, evaluation, gates."""
