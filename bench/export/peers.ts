import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { z } from 'zod';
import { typescript } from '../run-load.ts';
import { type Usage, watchToEnd } from './process-usage.ts';

export interface PeerRun extends Usage {
  seconds: number;
  /** Number of HTML files written. */
  pageCount: number;
}

/** The concurrency that website-scraper had when the goals were set. */
const SCRAPER_CONCURRENCY = 32;

/** wget's exit code if a URL of the site doesn't exist. */
const WGET_SERVER_ERROR = 8;

/** `wget --mirror -k -E -p`, then `tar czf`. `seconds` covers both. */
export async function wgetAndTar(origin: string, signal: AbortSignal): Promise<PeerRun> {
  return await inFolder(async (folder) => {
    const startedMs = performance.now();
    const mirroring = execa('wget', ['-q', '--mirror', '-k', '-E', '-p', '-P', folder, `${origin}/`], {
      cancelSignal: signal,
      reject: false,
    });
    const usage = watchToEnd(mirroring.pid);
    const { exitCode, failed, stderr, message } = await mirroring;
    if (failed && exitCode !== WGET_SERVER_ERROR) throw new Error(`wget failed: ${stderr || message}`);
    await execa('tar', ['czf', join(folder, 'site.tar.gz'), '-C', folder, new URL(origin).host], {
      cancelSignal: signal,
    });
    return { seconds: (performance.now() - startedMs) / 1_000, ...(await usage), pageCount: await countPages(folder) };
  });
}

/** website-scraper, without an archive. `seconds` is measured inside its process, without startup. */
export async function websiteScraper(origin: string, signal: AbortSignal): Promise<PeerRun> {
  return await inFolder(async (folder) => {
    const options = { origin, directory: join(folder, 'site'), concurrency: SCRAPER_CONCURRENCY };
    const scraping = execa(process.execPath, [...typescript('bench/export/scrape.ts'), JSON.stringify(options)], {
      cancelSignal: signal,
    });
    const usage = watchToEnd(scraping.pid);
    const { stdout } = await scraping;
    const { seconds } = z.object({ seconds: z.number() }).parse(JSON.parse(stdout));
    return { seconds, ...(await usage), pageCount: await countPages(folder) };
  });
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'galley-peer-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function countPages(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true });
  return names.filter((name) => /\.html?$/.test(name)).length;
}
