"""crawler.failures with more faults, and with a sieve as the cache."""

from failures import main

main(1.08)
main(1.5, "--certain", "-m", "1M")
