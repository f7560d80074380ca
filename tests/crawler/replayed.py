"""deja lab replay reads the links of a finished crawl: the same pages, and the same ways to them."""

import csv
import subprocess

from crawling import DEJA, PATIENCE, check, looped_site, run, same
from webserver import Server, site


def lab(*args):
    return subprocess.run([DEJA, "lab", "replay", "-n", "1k", "--runs", "2", *args],
                          capture_output=True, text=True, timeout=PATIENCE)


def cells(folder):
    with open(f"{folder}/replay.csv") as file:
        return {(r["row"], r["column"]): r for r in csv.DictReader(file)}


def every_page_is_in_reach():
    pages = looped_site(300)
    with Server(site(pages)) as server:
        run(server.url, "--output", "crawl")
    done = lab("--graph", "crawl", "-o", "report")
    same(done.returncode, 0, f"exit of deja lab: {done.stderr}")
    found = cells("report")
    # 300 pages, in two runs.
    same(float(found["classic, p = 0.1", "1 visit"]["trials"]), 600.0, "pages in reach, twice")
    with open("report/index.html") as file:
        check("The site: crawl, 300 pages in reach" in file.read(), "the site is not named")


if __name__ == "__main__":
    every_page_is_in_reach()
