// Runs website-scraper in a separate process: mirrors a site into a folder and prints the seconds it took.
import scrape from 'website-scraper';
import { z } from 'zod';

const options = z.object({ origin: z.string(), directory: z.string(), concurrency: z.number() });

const { origin, directory, concurrency } = options.parse(JSON.parse(process.argv[2] ?? ''));
const startedMs = performance.now();
await scrape({
  urls: [`${origin}/`],
  directory,
  recursive: true,
  requestConcurrency: concurrency,
  urlFilter: (url) => url.startsWith(`${origin}/`),
});
process.stdout.write(JSON.stringify({ seconds: (performance.now() - startedMs) / 1_000 }));
