import { join } from 'node:path';
import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType, TypedSearchAttributes } from '@temporalio/common';
import { Command } from 'commander';
import { SEARCH_ATTRIBUTES, WORKFLOW_IDS, WORKFLOW_TYPES } from '../contract/names.ts';
import { configWith, OPERATOR_TOKEN, startApi } from '../test/api/running-api.ts';
import { startTemporalServer } from '../test/helpers/system/temporal-server.ts';
import { openBrowser } from '../test/platform/dashboard/browser.ts';
import { machine, progress } from './machine.ts';
import { forEach } from './sites/for-each.ts';
import { median } from './statistics.ts';
import { table } from './table.ts';
import { wholeNumber } from './whole-number.ts';
import { temporaryFolder, withCleanups } from './with-cleanups.ts';

const HELP = `
The sites' workflows are started with the search attributes of a live site, 1 in 100 as failed, on Temporal's dev server with a
database file. No worker runs them, so every page also waits as long as it ever does for the workflows that it shows.`;

/** One page of each kind, as a person opens it. */
const pagesOf = (names: readonly string[]): [page: string, path: string][] => [
  ['first page', '/'],
  ['page in the middle', `/?after=${names[Math.floor(names.length / 2)]}`],
  ['search', '/?search=site-00'],
  ['failed', '/?phase=failed'],
];

/** A busy dev server rejects starts that wait too long. */
const CONCURRENCY = 10;
const START_ATTEMPTS = 20;

type Options = { sites: number; rounds: number };

export function sitesPageBench(): Command {
  return new Command('sites-page')
    .description('how long the sites page takes with 10,000 sites')
    .option('--sites <n>', 'number of sites', wholeNumber, 10_000)
    .option('--rounds <n>', 'how often each page is opened', wholeNumber, 20)
    .addHelpText('after', HELP)
    .action(async (options: Options) => {
      const conditions = machine();
      const figures = await withCleanups(async (lifetime) => {
        const temporal = await startTemporalServer(
          join(await temporaryFolder(lifetime, 'galley-bench-'), 'temporal.db'),
        );
        lifetime.add(temporal.stop);
        const names = Array.from({ length: options.sites }, (_, index) => `site-${String(index).padStart(5, '0')}`);
        progress(`starting ${names.length} workflows`);
        await forEach([...names.entries()], CONCURRENCY, ([index, site]) =>
          startPatiently(temporal.client, site, index),
        );
        await untilListed(temporal.client, names.length);
        const config = configWith(Object.fromEntries(names.map((name) => [name, {}])));
        const api = await startApi({ client: temporal.client, config, searchAttributesReady: () => true });
        lifetime.add(api.stop);
        progress('opening pages');
        return await openPages(api.url, pagesOf(names), options.rounds);
      });
      process.stdout.write(`\n${table([['page', 'median ms', 'slowest ms', 'kB'], ...figures])}\n${conditions}\n`);
    });
}

const keyword = (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD);
const SITE = keyword(SEARCH_ATTRIBUTES.site);
const PHASE = keyword(SEARCH_ATTRIBUTES.phase);
const VERSION = keyword(SEARCH_ATTRIBUTES.version);
const EXPIRES = defineSearchAttributeKey(SEARCH_ATTRIBUTES.linkExpiresAt, SearchAttributeType.DATETIME);

/** A busy dev server sometimes doesn't find its own namespace. */
async function startPatiently(client: Client, site: string, index: number): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startSite(client, site, index);
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) return;
      if (attempt === START_ATTEMPTS) throw error;
    }
  }
}

async function startSite(client: Client, site: string, index: number): Promise<void> {
  await client.workflow.start(WORKFLOW_TYPES.exportSite, {
    workflowId: WORKFLOW_IDS.exportSite(site),
    taskQueue: 'served-by-no-worker',
    typedSearchAttributes: new TypedSearchAttributes([
      { key: SITE, value: site },
      { key: PHASE, value: index % 100 === 0 ? 'failed' : 'live' },
      { key: VERSION, value: '2026-11-21.1' },
      { key: EXPIRES, value: new Date(Date.now() + 86_400_000) },
    ]),
  });
}

/** Visibility follows later. */
async function untilListed(client: Client, count: number): Promise<void> {
  while ((await client.workflow.count(`WorkflowType = '${WORKFLOW_TYPES.exportSite}'`)).count < count) {
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function openPages(url: string, pages: readonly [string, string][], rounds: number): Promise<string[][]> {
  const browser = openBrowser(url);
  await browser.submit('/ui/sign-in', '/ui/sign-in', { name: 'Ada', token: OPERATOR_TOKEN });
  const rows: string[][] = [];
  for (const [name, path] of pages) {
    const times: number[] = [];
    let sizeBytes = 0;
    for (let round = 0; round <= rounds; round += 1) {
      const startedAt = performance.now();
      const { status, text } = await browser.get(path);
      if (status !== 200 || !text.includes('site-0')) throw new Error(`${path} is ${status} and lists no site`);
      sizeBytes = Buffer.byteLength(text);
      // The first one warms up.
      if (round > 0) times.push(performance.now() - startedAt);
    }
    rows.push([name, median(times).toFixed(0), Math.max(...times).toFixed(0), (sizeBytes / 1_000).toFixed(0)]);
  }
  return rows;
}
