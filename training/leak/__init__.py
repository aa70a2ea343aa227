"""Whether an adapter remembers what it was trained on: canaries, ranks, membership."""
