"""crawler.certain with 10,000 pages and more kills.  Beside it, a filter of the same memory, with the same
other URLs in it, loses pages; the sieve loses none."""

import subprocess

from certain import each_page_once, kills_and_ctrl_c
from crawling import DEJA, PATIENCE, check, looped_site, run
from filled import junk
from webserver import Server, site


def a_filter_of_the_same_memory_loses_pages(n):
    pages = looped_site(n)
    with Server(site(pages)) as server:
        run(server.url, "--output", "filter", "-k", "blocked", "-m", "1M", "--fixed", "--max-pages", 1,
            "--max-depth", 1000)
        subprocess.run([DEJA, "add", "-q", "filter/seen.deja", junk()], timeout=PATIENCE,
                       stderr=subprocess.DEVNULL, check=True)
        run("--output", "filter", warns="warning: the cache was sized for ")
        lost = n - len(set(server.paths()))
        print(f"a filter lost {lost} of {n} pages")
        check(lost > n / 20, "too few to show anything")


a_filter_of_the_same_memory_loses_pages(10000)
each_page_once(10000)
kills_and_ctrl_c(4000, 30)
