#!/usr/bin/env python3
"""The example spider, with requests that carry everything; it complains if something of it gets lost.

CAREFUL=lambda: the callbacks are lambdas, which cannot be serialized; CAREFUL=renamed: the callback
has another name than in other runs.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "python" / "examples"))
import spider  # noqa: E402
from scrapy import Request  # noqa: E402

HOW = os.environ.get("CAREFUL", "")


class Careful(spider.Everything):
    def parse(self, response, path=None, nested=None):
        if path is not None:
            request = response.request
            same = (path in response.url and nested == {"path": [path]} and request.meta["path"] == path
                    and request.priority == len(path) and request.flags == ["careful"] and not request.dont_filter
                    and request.headers[b"X-Path"] == path.encode() and request.errback == self.failed
                    and request.meta["depth"] > 0)
            if not same:
                self.logger.error("LOST SOMETHING: %r", request.to_dict(spider=self))
        yield {"url": response.url, "title": response.css("title::text").get()}
        for link in response.css("a::attr(href)").getall():
            to = link.split("#")[0]
            yield Request(response.urljoin(link), self.chosen(), meta={"path": to}, priority=len(to), flags=["careful"],
                          headers={"X-Path": to}, errback=self.failed,
                          cb_kwargs={"path": to, "nested": {"path": [to]}})
        if path is None:
            yield Request(response.url, self.again, dont_filter=True, meta={"path": "again"})

    def chosen(self):
        if HOW == "lambda":
            return lambda response, **more: self.parse(response, **more)
        return self.parse_page if HOW == "renamed" else self.parse

    def again(self, response):
        self.logger.info("AGAIN")

    def failed(self, failure):
        self.logger.error("FAILED: %r", failure)


class Renamed(Careful):
    def parse_page(self, response, **more):
        return self.parse(response, **more)


if __name__ == "__main__":
    spider.Everything = Renamed if HOW == "renamed" else Careful
    spider.main()
