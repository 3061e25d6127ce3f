import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { BundleInvalidError } from '../../bundle/errors.ts';
import { NO_LIMITS } from '../../bundle/manifest.ts';
import { pathProblem } from '../../bundle/path.ts';
import { contentDigestLine, MANIFEST_PATH } from '../../contract/bundle.ts';
import { unpackBundle } from '../../deployment/fetch/unpack.ts';
import { manifestOf, packTar, sha256 } from '../deployment/bundles.ts';
import { expectConformance, type Outcome, readSuite } from './conformance.ts';

/** Two blocks of zeros end an archive. */
const END_BYTES = 1024;

const verdicts = z.array(
  z.object({
    file: z.string(),
    /** Base64. */
    archive: z.string(),
    /** What Go reads. */
    entries: z.array(z.object({ name: z.string(), size: z.int(), regular: z.boolean(), sha256: z.string() })),
    error: z.string(),
  }),
);
type Verdict = z.infer<typeof verdicts>[number];

/** A bundle that consists of the archive, with a manifest of what Go reads from it. */
async function bundleOf({ archive, entries }: Verdict): Promise<Buffer> {
  const named = entries.map(({ name: path, size, sha256: hash }) => ({
    path,
    size,
    sha256: hash,
    contentType: 'text/plain',
  }));
  const files = named.sort((a, b) => (a.path < b.path ? -1 : 1));
  const manifest = {
    ...manifestOf({ files: {} }),
    files,
    contentSha256: sha256(files.map(contentDigestLine).join('')),
  };
  const head = await packTar([{ header: { name: MANIFEST_PATH }, content: Buffer.from(JSON.stringify(manifest)) }]);
  return gzipSync(Buffer.concat([head.subarray(0, -END_BYTES), Buffer.from(archive, 'base64')]));
}

/** Only regular files with safe, distinct names are a bundle. */
function isBundle({ entries, error }: Verdict): boolean {
  const isSafe = entries.every(({ name, regular }) => regular && pathProblem(name) === undefined);
  return error === '' && isSafe && new Set(entries.map(({ name }) => name)).size === entries.length;
}

async function isUnpackedRight(verdict: Verdict, root: string): Promise<boolean> {
  const inner = join(root, 'inner');
  await mkdir(join(inner, 'folder'), { recursive: true });
  const archive = join(inner, 'bundle.tar.gz');
  await writeFile(archive, await bundleOf(verdict));
  const request = { archive, folder: join(inner, 'folder'), limits: NO_LIMITS, signal: new AbortController().signal };
  const rejected = await unpackBundle({ ...request, accept: () => undefined }).then(
    () => undefined,
    (error: unknown) => error,
  );
  const outside = [...(await readdir(root)), ...(await readdir(inner))].sort();
  if (outside.join() !== 'bundle.tar.gz,folder,inner') return false;
  if (!isBundle(verdict)) return rejected instanceof BundleInvalidError;
  if (rejected !== undefined) return false;
  const written = verdict.entries.map(
    async ({ name, sha256: hash }) => sha256(await readFile(join(inner, 'folder', name))) === hash,
  );
  return !(await Promise.all(written)).includes(false);
}

test("Go's test archives are unpacked as Go reads them or rejected, and nothing is written outside", async () => {
  const outcomes: Outcome[] = [];
  for (const verdict of verdicts.parse(JSON.parse(readSuite('tar-verdicts.json')))) {
    const root = await mkdtemp(join(tmpdir(), 'galley-archive-'));
    outcomes.push({ name: verdict.file, passed: await isUnpackedRight(verdict, root) });
    await rm(root, { recursive: true, force: true });
  }
  expectConformance({
    file: 'archive-tar',
    suite: "archives of Go's archive/tar",
    package: 'go',
    shows:
      "a deployment unpacks the archive as Go reads it, or rejects it if it isn't a bundle, and writes nothing outside its folder",
    outcomes,
  });
});
