'use strict';
// crawlee_site - a site of linked pages on a free port, and a crawl of it with Crawlee and deja/crawlee.
//
//     node crawlee_site.js serve PAGES          prints its address; one line per page that it serves
//     node crawlee_site.js crawl ADDRESS [slow] crawls it from its first page with the file seen.deja
//
// Not a test: crawlee_long runs it.

const http = require('node:http');

function page(i, pages) {
  const links = [2 * i + 1, 2 * i + 2, (i * 7) % pages, 0].filter((x) => x < pages);
  return `<html><body>${links.map((x) => `<a href="/${x}#part">${x}</a>`).join('')}</body></html>`;
}

function serve(pages) {
  const server = http.createServer((request, response) => {
    console.log(request.url);
    response.setHeader('content-type', 'text/html');
    response.end(page(Number(request.url.slice(1)), pages));
  });
  server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
}

async function crawl(address, slow) {
  const { CheerioCrawler, RequestQueue, log } = require(process.cwd() + '/node_modules/@crawlee/cheerio');
  const { SeenRequests } = require(process.env.SOURCE + '/node/crawlee.js');
  log.setLevel(log.LEVELS.ERROR);
  const seen = new SeenRequests('seen.deja');
  const queue = await RequestQueue.open('site'); // a queue with a name is kept until it is dropped
  const crawler = new CheerioCrawler({
    requestQueue: seen.wrap(queue, { again: (request) => process.env.AGAIN && new URL(request.url).pathname === '/0' }),
    maxConcurrency: slow ? 2 : 20,
    maxRequestRetries: 0,
    async requestHandler({ request, enqueueLinks }) {
      if (slow) await new Promise((resolve) => setTimeout(resolve, 20));
      await enqueueLinks();
      console.log(`handled ${new URL(request.url).pathname}`);
    },
  });
  await crawler.run([`${address}/0`]);
  await queue.drop(); // what is needed of it is in seen.deja
  if (process.env.ROTATE) seen.rotate();
  console.log(`counts ${JSON.stringify(seen.counts)}`);
  seen.close();
}

if (process.argv[2] === 'serve') serve(Number(process.argv[3]));
else if (process.argv[2] === 'crawl') crawl(process.argv[3], process.argv[4] === 'slow');
