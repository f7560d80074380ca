"""crawler.failures with more faults."""

from failures import main

main(1.08)
