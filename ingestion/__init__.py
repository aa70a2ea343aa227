"""What the agents did: OTLP in, dialects, assembly of trajectories, signals."""
