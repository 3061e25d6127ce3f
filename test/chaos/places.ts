import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { S3Client } from '@aws-sdk/client-s3';
import { z } from 'zod';
import { replaceFile } from '../../base/replace-file.ts';
import { createTestRepository, type TestRepository } from '../helpers/forge-repository.ts';
import { freePort } from '../helpers/free-port.ts';
import { startHttpSite } from '../helpers/http-site.ts';
import type { TestS3 } from '../helpers/s3.ts';
import type { Cleanups } from '../helpers/system/cleanups.ts';
import type { Programs } from '../helpers/system/programs.ts';
import type { SecondKind, Site } from './choose.ts';
import { bucketReader, folderReader, type ReadPlace, serverReader } from './visitors.ts';

/** The second deployment of a site: its entry in galley.yaml, and what people run on the other side. */
export type SecondPlace = {
  entry: Record<string, unknown>;
  read: ReadPlace;
  /** Merges the open pull request as a person does. Returns whether there was one. */
  merge?(): Promise<boolean>;
};

type Shared = {
  folder: string;
  homes: string;
  programs: Programs;
  cleanups: Cleanups;
  /** Missing if objects are files. */
  s3?: { server: TestS3; url: string } | undefined;
};

type Start = (site: Site, shared: Shared) => Promise<SecondPlace>;

const STARTS: Record<SecondKind, Start> = {
  directory: startFolder,
  git: (site, shared) => startGit('git', site, shared),
  merge: (site, shared) => startGit('merge', site, shared),
  http: startHook,
  airgap: startTransfer,
  s3: startBucket,
};

export async function startSecondPlace(kind: SecondKind, site: Site, shared: Shared): Promise<SecondPlace> {
  return await STARTS[kind](site, shared);
}

async function startFolder(site: Site, { folder }: Shared): Promise<SecondPlace> {
  const directory = join(folder, `www-${site}`);
  await mkdir(directory);
  return { entry: { directory }, read: folderReader(directory) };
}

async function startBucket(site: Site, { s3 }: Shared): Promise<SecondPlace> {
  if (s3 === undefined) throw new Error('there is no S3 server');
  const { endpoint, credentials } = s3.server;
  const client = new S3Client({ endpoint, credentials, region: 'us-east-1', forcePathStyle: true, maxAttempts: 1 });
  const url = s3.url.replace('galley-bundles', `galley-bundles/www-${site}`);
  return { entry: { s3: { url, ...credentials } }, read: bucketReader(client, `www-${site}/`) };
}

const OFF = 'staticExport:\n  enabled: false\n';

/** A repository, and a deployment that gets its values file as a GitOps controller brings it. */
async function startGit(kind: 'git' | 'merge', site: Site, shared: Shared): Promise<SecondPlace> {
  const repository = await createTestRepository({ 'values.yaml': OFF });
  shared.cleanups.add(repository.remove);
  const { values, served } = await startServed(`${kind}-${site}`, shared);
  carry(() => repository.git('show', 'main:values.yaml'), values, shared.cleanups);
  const mode = kind === 'merge' ? 'pull-request' : 'push';
  return {
    ...served({ git: { repository: repository.url, path: 'values.yaml', mode } }),
    ...(kind === 'merge' && { merge: () => merge(repository) }),
  };
}

/** Without a forge, people open and merge the pull request of Galley's branch themselves. */
async function merge({ git }: TestRepository): Promise<boolean> {
  const [branch] = (await git('for-each-ref', '--format=%(refname)', 'refs/heads/galley')).split('\n');
  if (branch === undefined || branch === '') return false;
  const [main, proposed] = (await git('rev-parse', 'main', branch)).split('\n');
  const base = await git('merge-base', 'main', branch);
  // Nothing new, or of an older state: Galley replaces it soon.
  if (main === proposed || base !== main || proposed === undefined) return false;
  await git('update-ref', 'refs/heads/main', proposed, main);
  return true;
}

const hook = z.object({ bundleUrl: z.string(), integrity: z.string().optional() });

/** A deploy hook that writes the values file of a deployment. */
async function startHook(site: Site, shared: Shared): Promise<SecondPlace> {
  const { values, served } = await startServed(`http-${site}`, shared);
  const receiver = await startHttpSite(async (request, response) => {
    const staticExport = { enabled: true, ...hook.parse(JSON.parse(await text(request))) };
    await replaceFile(values, JSON.stringify({ staticExport }));
    response.writeHead(204).end();
  });
  shared.cleanups.add(receiver.close);
  return served({ http: { url: receiver.origin, secret: `whsec_${randomBytes(24).toString('base64')}` } });
}

/** A folder whose newest version someone carries to a deployment. */
async function startTransfer(site: Site, shared: Shared): Promise<SecondPlace> {
  const airgap = join(shared.folder, `transfer-${site}`);
  await mkdir(airgap);
  const { values, served } = await startServed(`airgap-${site}`, shared);
  const newest = async (): Promise<string> => {
    const { folder } = z
      .object({ folder: z.string() })
      .parse(JSON.parse(await readFile(join(airgap, site, 'latest'), 'utf8')));
    const bundleUrl = pathToFileURL(join(airgap, site, folder, 'bundle.tar.gz')).href;
    return JSON.stringify({ staticExport: { enabled: true, bundleUrl } });
  };
  carry(newest, values, shared.cleanups);
  return served({ airgap });
}

/** A deployment with a values file that isn't Galley's. */
async function startServed(name: string, { folder, homes, programs }: Shared) {
  const values = join(folder, `${name}.values.yaml`);
  await writeFile(values, OFF);
  const port = await freePort();
  await programs.start({
    name,
    args: ['deployment', '--values', values],
    variables: { GALLEY_HOME: join(homes, name), DEPLOYMENT_PORT: String(port) },
  });
  const url = `http://127.0.0.1:${port}`;
  const served = (target: object): SecondPlace => ({
    entry: { ...target, statusUrl: `${url}/-/status`, confirmWithin: '15s' },
    read: serverReader(url),
  });
  return { values, served };
}

const CARRY_EVERY_MS = 500;

/** Brings the text to the file whenever it changes. */
function carry(read: () => Promise<string>, file: string, cleanups: Cleanups): void {
  const abort = new AbortController();
  const loop = async (): Promise<void> => {
    for (let before = ''; !abort.signal.aborted; ) {
      try {
        const now = await read();
        if (now !== before) await replaceFile(file, `${now}\n`);
        before = now;
      } catch {
        // There is nothing yet, or the disk is full.
      }
      await sleep(CARRY_EVERY_MS, undefined, { signal: abort.signal }).catch(() => undefined);
    }
  };
  const done = loop();
  cleanups.add(async () => {
    abort.abort();
    await done;
  });
}
