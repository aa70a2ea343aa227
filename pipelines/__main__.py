"""``python -m pipelines`` is ``tidemill``."""

from pipelines.cli import main

main(prog_name="tidemill")
