import { pino } from 'pino';
import { hostAndPort } from '../../exporter/fetch/address-guard.ts';
import { BrowserPool } from '../../exporter/render/browser-pool.ts';
import { proveBundle } from '../../proof/prove-bundle.ts';
import { locateRealTool } from '../helpers/real-tool.ts';

export const DOMAIN = 'docs.example.com';
const logger = pino({ level: 'silent' });

export async function openPool(): Promise<BrowserPool> {
  const path = await locateRealTool('chromium');
  return new BrowserPool({ path, sandbox: false, searchPath: process.env.PATH ?? '', logger });
}

/** Compares an unpacked bundle with its origin; both may request the other hosts. */
export async function prove(
  browser: BrowserPool,
  { folder, origin, otherHosts = [] }: { folder: string; origin: string; otherHosts?: readonly string[] },
): ReturnType<typeof proveBundle> {
  return await proveBundle({
    folder,
    site: { domain: DOMAIN, origin },
    operatorHosts: [hostAndPort(new URL(origin)), ...otherHosts],
    maxPages: 50,
    browser,
    logger,
    signal: new AbortController().signal,
    onProgress: () => undefined,
  });
}

/** The arguments and variables of `galley export`. */
export async function exportCommand(home: string, origin: string, out: string, options: readonly string[] = []) {
  const args = ['export', DOMAIN, '--origin', origin, '--out', out, ...options];
  return { args, variables: { CHROMIUM_PATH: await locateRealTool('chromium'), GALLEY_HOME: home } };
}
