"""A made-up web shop with a support agent: the world in which the quickstart's week is played."""
