"""Power cuts, more of them: see powercut.py."""

from powercut import main

main(100, range(2, 6), 60)
