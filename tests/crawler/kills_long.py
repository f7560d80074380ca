"""crawler.kills with more kills."""

from kills import main

main(4000, 60)
