/* crawlreport.h - the summary of a crawl. */
#ifndef CLI_REPORT_CRAWLREPORT_H
#define CLI_REPORT_CRAWLREPORT_H
#include "cli/session/command.h"
#include "crawler/loop/crawl.h"

void crawlreport_text(const struct call *call, const struct crawl_account *a);
void crawlreport_json(const struct call *call, const struct crawl_account *a);

#endif
