"""crawler.powercut with more cuts."""

from powercut import main

main(100, range(2, 6), 60)
