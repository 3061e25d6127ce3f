import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Proof } from '../../contract/proof.ts';
import type { Prover } from '../../exporter/ports.ts';
import { createProver } from '../../proof/create-prover.ts';
import { type ExportRig, startExportRig } from '../helpers/export-rig.ts';
import { type HttpSite, serveFiles, startHttpSite } from '../helpers/http-site.ts';
import { createDatabase } from '../helpers/test-database.ts';

const NOBODY = { path: '/nowhere/chromium', sandbox: true, searchPath: '' };

let rig: ExportRig;
let site: HttpSite;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'galley-test-prover-'));
  site = await startHttpSite(serveFiles({ '/': '<title>Start</title><h1>Start</h1>' }));
  rig = await startExportRig(await createDatabase());
});
afterAll(async () => {
  await rig?.stop();
  await site?.close();
  await rm(folder, { recursive: true, force: true });
});

/** An export of the site by a worker with this prover. */
async function exported(prover: Prover | undefined, prove = 5, projectId?: string) {
  const worker = await rig.startWorker({}, undefined, prover);
  try {
    return await rig.run({ origin: site.origin, settings: { prove }, ...(projectId && { projectId }) });
  } finally {
    await worker.stop();
  }
}

async function program(name: string, code: string): Promise<URL> {
  const path = join(folder, name);
  await writeFile(path, code);
  return pathToFileURL(path);
}

const NOT_PROVED = { status: 'unknown', pages: [], html: null, json: null };

describe('a project with a proof', () => {
  it.each([
    ['no prover', undefined],
    ['no browser', createProver(NOBODY)],
  ])('completes on a worker with %s, and its report says how to get one', async (_, prover) => {
    const { row, report } = await exported(prover);
    expect(row.status).toBe('completed');
    expect(report.proof).toMatchObject({
      ...NOT_PROVED,
      reason: expect.stringMatching(/install Chromium.*CHROMIUM_PATH/),
    });
    expect(await rig.keys(`reports/${row.id}/`)).toEqual([]);
  });

  it('completes if the process of its proof ends or hangs', async () => {
    const ends = createProver(NOBODY, { program: await program('ends.mjs', 'process.exit(3)') });
    expect((await exported(ends)).report.proof).toMatchObject({ ...NOT_PROVED, reason: 'its process ended (exit 3)' });
    const waits = await program('waits.mjs', 'process.on("message", () => undefined)');
    const hangs = createProver(NOBODY, { program: waits, limitMs: 1_000 });
    expect((await exported(hangs)).report.proof).toMatchObject({ ...NOT_PROVED, reason: 'no result within 1 s' });
  });

  it('has the result in its report, different pages first, and the rest in an object beside it', async () => {
    const page = { template: 1, reason: null, differingShare: 0, maskedShare: 0, findings: [] };
    const found = { kind: 'text', viewport: null, text: 'Start is missing' } as const;
    const prover: Prover = async ({ maxPages, site: { domain } }, { onProgress }) => {
      onProgress({ doneCount: 1, pageCount: 3 });
      const counts = { pagesInBundle: 9, pages: 3, templates: 1, equal: 1, different: 1, unknown: 1 };
      const proof: Proof = {
        ...{
          formatVersion: 1,
          jobId: 'se_1',
          domain,
          version: '1',
          contentSha256: '',
          createdAt: '',
          browser: 'Chromium 1',
        },
        ...{ status: 'failed', counts },
        pages: [
          { ...page, url: 'https://docs.example.com/a', status: 'equal' },
          { ...page, url: 'https://docs.example.com/b', status: 'unknown', reason: `not ${maxPages}` },
          { ...page, url: 'https://docs.example.com/c', status: 'different', findings: [found] },
        ],
      };
      return { proof, html: '<!doctype html>' };
    };
    const { row, report } = await exported(prover);
    expect(report.proof).toMatchObject({
      ...{ status: 'failed', reason: null, counts: { equal: 1, different: 1, unknown: 1 } },
      pages: [
        { url: 'https://docs.example.com/c', status: 'different', text: 'text: Start is missing' },
        { url: 'https://docs.example.com/b', status: 'unknown', text: 'not 5' },
      ],
    });
    const stored = JSON.parse(String(await rig.objects.read(`reports/${row.id}/proof.json`)));
    expect(stored).toMatchObject({ html: '<!doctype html>', proof: { status: 'failed' } });
  });

  it('reuses the export before, whatever the number of pages; 0 compares none', async () => {
    const prover: Prover = async () => {
      throw new Error('must not be asked');
    };
    const projectId = await rig.addProject(site.origin, {});
    const first = await exported(prover, 0, projectId);
    expect(first.report.proof).toBeUndefined();
    await rig.db.execute(`update projects set settings = settings || '{"prove": 7}' where id = '${projectId}'`);
    const second = await exported(prover, 7, projectId);
    expect(second.report.proof).toMatchObject({ ...NOT_PROVED, reason: 'must not be asked' });
    expect(second.report.reuse?.reusedFiles).toBeGreaterThan(0);
  });
});
