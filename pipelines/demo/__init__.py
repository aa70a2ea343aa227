"""The demo: a played week of production, one turn of the loop, a person who leaves, and a report."""
