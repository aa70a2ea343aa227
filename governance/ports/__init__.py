"""Small abstract classes through which the sibling packages meet. ``pipelines`` wires the implementations."""
