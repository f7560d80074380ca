#!/usr/bin/env python3
"""Follow every link of a site once, with deja as the duplicate filter.

    python3 site_server.py --pages 2000 --port 8090 &
    python3 spider.py http://127.0.0.1:8090/ -s JOBDIR=job          stop with Ctrl-C; run again to resume
    python3 spider.py http://127.0.0.1:8090/ -s DEJA_FILE=seen.deja -s DEJA_REVISIT=1

-s NAME=VALUE sets a setting, as `scrapy crawl` does; -o FILE writes the pages as JSON lines.
"""

from __future__ import annotations

import argparse

from scrapy import Spider
from scrapy.crawler import CrawlerProcess

SETTINGS = {
    "DUPEFILTER_CLASS": "deja.scrapy.DejaDupeFilter",
    "REQUEST_FINGERPRINTER_CLASS": "deja.scrapy.DejaRequestFingerprinter",
    "REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7",
    "LOG_LEVEL": "INFO",
    "TELNETCONSOLE_ENABLED": False,
    "ROBOTSTXT_OBEY": False,
}


class Everything(Spider):
    name = "everything"

    def __init__(self, start: str) -> None:
        super().__init__()
        self.start_urls = [start]

    def parse(self, response):
        yield {"url": response.url, "title": response.css("title::text").get()}
        yield from response.follow_all(css="a")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("start")
    parser.add_argument("-s", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("-o", metavar="FILE")
    chosen = parser.parse_args()
    settings = dict(SETTINGS)
    settings.update(setting.split("=", 1) for setting in chosen.s)
    if chosen.o:
        settings["FEEDS"] = {chosen.o: {"format": "jsonlines"}}
    process = CrawlerProcess(settings)
    process.crawl(Everything, start=chosen.start)
    process.start()


if __name__ == "__main__":
    main()
