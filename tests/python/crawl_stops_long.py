"""crawl_stops_long - all tests of crawl.py on sites of 1,000 pages."""

import os
import sys

os.environ["CRAWL_PAGES"] = "1000"
script = os.path.join(os.environ["SOURCE"], "tests", "python", "crawl.py")
os.execv(sys.executable, [sys.executable, script])
