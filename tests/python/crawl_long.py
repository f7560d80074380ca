"""crawl_long - the comparison with Scrapy's own filter in crawl.py, on a site of 10,000 pages.

It takes two crawls of several minutes each.
"""

import os
import sys

os.environ["CRAWL_PAGES"] = "10000"
script = os.path.join(os.environ["SOURCE"], "tests", "python", "crawl.py")
which = "Crawls.test_the_same_pages_as_the_default_in_a_fraction_of_the_memory"
os.execv(sys.executable, [sys.executable, script, which])
