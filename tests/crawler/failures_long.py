"""The same, more often."""

from failures import main

main(1.08)
