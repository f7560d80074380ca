"""crawl_long - crawl.py on a site of 10,000 pages, which takes minutes."""

import os
import sys

os.environ["CRAWL_PAGES"] = "10000"
script = os.path.join(os.environ["SOURCE"], "tests", "python", "crawl.py")
os.execv(sys.executable, [sys.executable, script])
