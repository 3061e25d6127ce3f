import { PassThrough } from 'node:stream';
import {
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { pino } from 'pino';
import { BUNDLES_FOLDER, workPrefix } from '../../../exporter/object-keys.ts';
import { createObjectStore } from '../../../platform/objects/create-object-store.ts';
import type { ObjectStore } from '../../../platform/objects/object-store.ts';
import { collectGarbage } from '../../../platform/retention/collect-garbage.ts';
import { startDirectRig } from '../../helpers/direct-export.ts';
import { serveFiles, startHttpSite } from '../../helpers/http-site.ts';
import { startS3, type TestS3 } from '../../helpers/s3.ts';
import { waitFor } from '../../helpers/system/wait-for.ts';
import { objectStoreContract, type StoreUnderTest } from './object-store.contract.ts';

const Bucket = 'galley-bundles';
const BINARY = { contentType: 'application/octet-stream' };

let s3: TestS3;
let store: ObjectStore;
let client: S3Client;
const saved = { ...process.env };

/** The AWS SDK reads credentials from the environment, so the tests set them there and restore it afterwards. */
beforeAll(async () => {
  s3 = await startS3();
  process.env.AWS_ACCESS_KEY_ID = s3.credentials.accessKeyId;
  process.env.AWS_SECRET_ACCESS_KEY = s3.credentials.secretAccessKey;
  store = await createObjectStore({ url: s3.url });
  client = new S3Client({ endpoint: s3.endpoint, region: 'us-east-1', forcePathStyle: true });
});

afterAll(async () => {
  client?.destroy();
  await store?.close();
  await s3?.stop();
  process.env = saved;
});

async function unfinished(): Promise<string[]> {
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket }));
  return Uploads.flatMap(({ Key }) => Key ?? []).sort();
}

/** The number of parts of an upload that the server has. */
async function partsOf(key: string): Promise<number> {
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix: key }));
  const UploadId = Uploads.find(({ Key }) => Key === key)?.UploadId;
  if (UploadId === undefined) return 0;
  const { Parts = [] } = await client.send(new ListPartsCommand({ Bucket, Key: key, UploadId }));
  return Parts.length;
}

/** Leaves an upload unfinished, like a process that dies. */
async function abandon(key: string): Promise<void> {
  await client.send(new CreateMultipartUploadCommand({ Bucket, Key: key }));
}

/** Drops unfinished uploads, and returns their sizes. */
async function drop(options: Parameters<typeof store.unfinished>[0]): Promise<number[]> {
  const sizes: number[] = [];
  for await (const upload of store.unfinished(options)) {
    sizes.push(await upload.sizeBytes());
    await upload.drop();
  }
  return sizes;
}

async function startStore(): Promise<StoreUnderTest> {
  const open: StoreUnderTest['open'] = (now = Date.now) => createObjectStore({ url: s3.url, now });
  return { store, open, follow: (url, init) => fetch(url, init), stop: async () => undefined };
}

describe('an S3 server as an object store', () => objectStoreContract(startStore));

describe('unfinished uploads', () => {
  it('are dropped by prefix and age, which fails an upload that is still running', async () => {
    for (const key of ['one/a', 'one/b', 'other/c']) await abandon(key);
    await drop({ prefix: 'one/', begunBefore: new Date(Date.now() - 3_600_000) });
    expect(await unfinished()).toEqual(['one/a', 'one/b', 'other/c']);
    const source = new PassThrough();
    source.write(Buffer.alloc(20 * 1024 ** 2));
    const late = store.put('one/late', source, BINARY).catch((error: unknown) => error);
    // Two parts of 8 MiB are stored and the third waits for bytes. A part in flight could outlive the drop.
    await waitFor(async () => (await partsOf('one/late')) === 2, { describe: 'two parts sent' });
    expect(await drop({ prefix: 'one/' })).toEqual([0, 0, 2 * 8 * 1024 ** 2]);
    expect(await unfinished()).toEqual(['other/c']);
    source.end(Buffer.alloc(1024));
    expect(await late).toBeInstanceOf(Error);
    expect(await store.head('one/late')).toBeNull();
  });

  it('are dropped at the end of their job, or by the sweep after a day', async () => {
    const site = await startHttpSite(serveFiles({ '/': '<p>One page' }));
    const fixture = await startDirectRig({}, { objects: s3.url });
    try {
      const jobId = await fixture.addJob(await fixture.addProject(site.origin));
      await fixture.runStages(jobId, { until: 'pack' });
      const { row } = await fixture.read(jobId);
      const left = [`${workPrefix(jobId)}large/a`, row.archiveKey ?? '', `${workPrefix('se_other')}large/b`];
      for (const key of left) await abandon(key);
      await fixture.runStages(jobId);
      expect((await unfinished()).filter((key) => left.includes(key))).toEqual(left.slice(2));
      expect((await fixture.read(jobId)).row.status).toBe('completed');

      // No job's end drops these. The platform sweeps them after a day, in case a process is still uploading.
      const orphaned = [`${workPrefix('se_dead')}large/a`, `${BUNDLES_FOLDER}0/bundle.tar.gz`];
      for (const key of [...orphaned, 'other/d']) await abandon(key);
      const before = await unfinished();
      const collect = (inMs: number) =>
        collectGarbage({
          ...{ db: fixture.db, objects: fixture.objects, logger: pino({ level: 'silent' }) },
          ...{ at: new Date(Date.now() + inMs), exportKeep: undefined, dryRun: false, signal: AbortSignal.any([]) },
        });
      await collect(0);
      expect(await unfinished()).toEqual(before);
      await collect(25 * 3_600_000);
      expect(await unfinished()).toEqual(before.filter((key) => key.startsWith('other/')));
    } finally {
      await fixture.stop();
      await site.close();
    }
  });
});
