import { dirname, join } from 'node:path';
import type { Logger } from 'pino';
import { replaceFile } from '../../base/replace-file.ts';
import { ConfigurationError } from '../../contract/configuration-error.ts';
import type { Proof } from '../../contract/proof.ts';
import { reportToStderr } from '../../embedded/run-tool.ts';
import { hostAndPort } from '../../exporter/fetch/address-guard.ts';
import type { BrowserTrouble } from '../../exporter/ports.ts';
import { BrowserPool } from '../../exporter/render/browser-pool.ts';
import { findBrowser } from '../../exporter/render/find-browser.ts';
import type { Settings } from '../../programs/settings/environment.ts';
import { proveBundle } from '../../proof/prove-bundle.ts';
import { CommandError } from '../command-error.ts';
import type { SavedProof } from './export-summary.ts';
import { type Output, unpackTo } from './output.ts';
import { createProgressBar } from './progress-bar.ts';

interface ProverOptions {
  maxPages: number;
  /** Where the export goes: the proof is written beside it. */
  outputPath: string;
  browser: Settings['browser'];
  logger: Logger;
}

interface Exported {
  domain: string;
  origin: string | null;
  output: Output;
  /** A folder for temporary files. */
  folder: string;
  signal: AbortSignal;
}

/** Compares a saved export with its origin. Close it, so that its browser ends. */
export interface Prover {
  prove(exported: Exported): Promise<SavedProof>;
  close(): Promise<void>;
}

const GET_CHROMIUM =
  'install Chromium (Debian and Ubuntu: apt-get install chromium) or Google Chrome on the PATH, or name the program in ' +
  'CHROMIUM_PATH';

/**
 * Finds and starts the browser before the export, which may take long.
 * @throws ConfigurationError if CHROMIUM_PATH names no program, CommandError if there is no browser or it doesn't start
 */
export async function createProver({ maxPages, outputPath, browser, logger }: ProverOptions): Promise<Prover> {
  if ((await findBrowser(browser)) === undefined) {
    if (browser.path !== undefined)
      throw new ConfigurationError([`CHROMIUM_PATH: expected a program, not ${browser.path}`]);
    throw new CommandError(`--prove needs a browser: ${GET_CHROMIUM}`);
  }
  // Chromium's sandbox refuses to run as root. Whoever set the variable decides.
  const isRoot = process.getuid?.() === 0;
  const sandbox = browser.isSandboxSet ? browser.sandbox : !isRoot;
  if (!sandbox && !browser.isSandboxSet)
    reportToStderr('--prove: Chromium runs without its sandbox, because galley runs as root');
  const pool = new BrowserPool({ ...browser, sandbox, logger });
  const trouble = await pool.trouble();
  if (trouble !== undefined) {
    await pool.close();
    throw new CommandError(`--prove: ${troubleText(trouble)}`);
  }
  return {
    async prove(exported) {
      const { proof, html } = await compare(exported, { pool, maxPages, logger });
      return await save(dirname(outputPath), proof, html);
    },
    close: () => pool.close(),
  };
}

/** The messages are those of a platform's worker. */
function troubleText({ text }: BrowserTrouble): string {
  return text.replace("the platform worker's browser", 'the browser').replace('for the platform worker', 'here');
}

type Tools = { pool: BrowserPool; maxPages: number; logger: Logger };

async function compare({ domain, origin, output, folder, signal }: Exported, { pool, maxPages, logger }: Tools) {
  const unpacked = output.kind === 'folder' ? output.path : join(folder, 'proved');
  if (output.kind === 'archive') await unpackTo(unpacked, output.path, signal);
  const bar = createProgressBar(domain);
  try {
    return await proveBundle({
      folder: unpacked,
      site: { domain, origin: origin ?? `https://${domain}` },
      operatorHosts: origin === null ? [] : [hostAndPort(new URL(origin))],
      maxPages,
      browser: pool,
      logger,
      signal,
      onProgress: ({ doneCount, pageCount }) => {
        const progress = (doneCount * 100) / pageCount;
        bar.update({ status: 'proving', progress, pageCount: doneCount });
      },
    });
  } finally {
    bar.stop();
  }
}

async function save(folder: string, proof: Proof, html: string): Promise<SavedProof> {
  const [htmlFile, jsonFile] = [join(folder, 'proof.html'), join(folder, 'proof.json')];
  await replaceFile(htmlFile, html);
  await replaceFile(jsonFile, `${JSON.stringify(proof, null, 2)}\n`);
  return { proof, htmlFile, jsonFile };
}
