import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Logger } from 'pino';
import { errorText } from '../../base/error-code.ts';
import { makeTemporaryFolder } from '../../base/temporary-folder.ts';
import type { Proof, ProofPage, ReportedProof } from '../../contract/proof.ts';
import { proofKey } from '../object-keys.ts';
import type { ExportObjects, Prover } from '../ports.ts';
import { BROWSER_MISSING } from '../render/find-browser.ts';
import type { ExportSettings } from '../settings.ts';

/** What `proofKey` has: `proof.json`, and the page that shows it. */
export type StoredProof = { proof: Proof; html: string };

type ProveDeps = { objects: ExportObjects; prover: Prover | undefined; logger: Logger };

type Archive = {
  settings: ExportSettings;
  archiveKey: string;
  signal: AbortSignal;
  onProgress(progress: { doneCount: number; pageCount: number }): void;
};

/** Pages that the report names. */
const MAX_LISTED = 20;

/**
 * Compares a stored bundle with its origin and stores the result; undefined if the project wants no proof. If it isn't
 * possible, the export goes on, and the report says why.
 */
export async function proveArchive(
  { objects, prover, logger }: ProveDeps,
  { settings, archiveKey, signal, onProgress }: Archive,
): Promise<ReportedProof | undefined> {
  const { jobId, site, operatorHosts, prove: maxPages } = settings;
  if (maxPages === undefined) return undefined;
  if (prover === undefined) return notProved(BROWSER_MISSING);
  onProgress({ doneCount: 0, pageCount: 0 });
  const folder = await makeTemporaryFolder('proof');
  try {
    const archive = join(folder, 'bundle.tar.gz');
    await pipeline(await objects.get(archiveKey), createWriteStream(archive), { signal });
    let proved: StoredProof;
    try {
      proved = await prover({ archive, site, operatorHosts, maxPages }, { signal, onProgress });
    } catch (error) {
      signal.throwIfAborted();
      logger.warn({ err: error, jobId }, 'A bundle could not be compared with its origin');
      return notProved(errorText(error));
    }
    await objects.put(proofKey(jobId), Buffer.from(JSON.stringify(proved)), { contentType: 'application/json' });
    return reported(proved.proof);
  } finally {
    // A browser that was killed may still be writing. What stays is removed a week later.
    await rm(folder, { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined);
  }
}

function notProved(reason: string): ReportedProof {
  const counts = { pagesInBundle: 0, pages: 0, templates: 0, equal: 0, different: 0, unknown: 0 };
  return { status: 'unknown', reason, counts, pages: [], html: null, json: null };
}

function reported({ status, counts, pages }: Proof): ReportedProof {
  const of = (wanted: ProofPage['status']) => pages.filter((page) => page.status === wanted);
  const listed = [...of('different'), ...of('unknown')].slice(0, MAX_LISTED);
  const textOf = ({ reason, findings: [first] }: ProofPage) => reason ?? (first ? `${first.kind}: ${first.text}` : '');
  const [first] = listed;
  return {
    ...{ status, counts, html: null, json: null },
    reason: status !== 'unknown' ? null : first === undefined ? 'the bundle has no page' : textOf(first),
    pages: listed.map((page) => ({ url: page.url, status: page.status, text: textOf(page) })),
  };
}
