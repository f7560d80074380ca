"""The same, more often."""

from kills import main

main(4000, 60)
