"""crawler.pages with 10,000 pages."""

from pages import whole_site

whole_site(10000, "--per-host", "16")
