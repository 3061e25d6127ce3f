import { PassThrough } from 'node:stream';
import {
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import { BUNDLES_FOLDER, workPrefix } from '../../../exporter/object-keys.ts';
import { createObjectStore } from '../../../platform/objects/create-object-store.ts';
import type { ObjectStore } from '../../../platform/objects/object-store.ts';
import { createReconciler } from '../../../platform/reconciler.ts';
import { startDirectRig } from '../../helpers/direct-export.ts';
import { serveFiles, startHttpSite } from '../../helpers/http-site.ts';
import { PATIENT_CONNECTION } from '../../helpers/patient-connection.ts';
import { startS3, type TestS3 } from '../../helpers/s3.ts';
import { waitFor } from '../../helpers/system/wait-for.ts';
import { objectStoreContract, type StoreUnderTest } from './object-store.contract.ts';

const Bucket = 'galley-bundles';
const BINARY = { contentType: 'application/octet-stream' };

let s3: TestS3;
let store: ObjectStore;
let client: S3Client;
const saved = { ...process.env };

/** The standard AWS chain reads the environment first; the tests' own is put back afterwards. */
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

/** How many parts of an upload the server holds. */
async function partsOf(key: string): Promise<number> {
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix: key }));
  const UploadId = Uploads.find(({ Key }) => Key === key)?.UploadId;
  if (UploadId === undefined) return 0;
  const { Parts = [] } = await client.send(new ListPartsCommand({ Bucket, Key: key, UploadId }));
  return Parts.length;
}

/** What a process leaves that dies while it uploads. */
async function abandon(key: string): Promise<void> {
  await client.send(new CreateMultipartUploadCommand({ Bucket, Key: key }));
}

async function startStore(): Promise<StoreUnderTest> {
  const open: StoreUnderTest['open'] = (now = Date.now) => createObjectStore({ url: s3.url, now });
  return { store, open, follow: (url, init) => fetch(url, init), stop: async () => undefined };
}

describe('an S3 server as object store', () => objectStoreContract(startStore));

describe('uploads that never ended', () => {
  it('are dropped by prefix and age, and one still under way fails', async () => {
    for (const key of ['one/a', 'one/b', 'other/c']) await abandon(key);
    await store.dropUnfinished({ prefix: 'one/', begunBefore: new Date(Date.now() - 3_600_000) });
    expect(await unfinished()).toEqual(['one/a', 'one/b', 'other/c']);
    const source = new PassThrough();
    source.write(Buffer.alloc(20 * 1024 ** 2));
    const late = store.put('one/late', source, BINARY).catch((error: unknown) => error);
    // Two parts of 8 MiB are there and the third waits for more: a part that is on its way may outlive the drop.
    await waitFor(async () => (await partsOf('one/late')) === 2, { describe: 'two parts sent' });
    await store.dropUnfinished({ prefix: 'one/' });
    expect(await unfinished()).toEqual(['other/c']);
    source.end(Buffer.alloc(1024));
    expect(await late).toBeInstanceOf(Error);
    expect(await store.head('one/late')).toBeNull();
  });

  it('go with the job whose workers died at them, or a day later with the next sweep', async () => {
    const site = await startHttpSite(serveFiles({ '/': '<p>One page' }));
    const rig = await startDirectRig({}, { objects: s3.url });
    try {
      const jobId = await rig.addJob(await rig.addProject(site.origin));
      await rig.runStages(jobId, { until: 'pack' });
      const { row } = await rig.read(jobId);
      const left = [`${workPrefix(jobId)}large/a`, row.archiveKey ?? '', `${workPrefix('se_other')}large/b`];
      for (const key of left) await abandon(key);
      await rig.runStages(jobId);
      expect((await unfinished()).filter((key) => left.includes(key))).toEqual(left.slice(2));
      expect((await rig.read(jobId)).row.status).toBe('completed');

      // What no job's end has found: the platform looks for it by itself, and waits a day for whoever is still at it.
      const swept = [`${workPrefix('se_dead')}large/a`, `${BUNDLES_FOLDER}0/bundle.tar.gz`];
      for (const key of [...swept, 'other/d']) await abandon(key);
      const before = await unfinished();
      const temporalClient = new Client({
        connection: Connection.lazy({ address: '127.0.0.1:9', ...PATIENT_CONNECTION }),
      });
      const deps = { ...rig, temporalClient, logger: pino({ level: 'silent' }) };
      await createReconciler(deps).reconcile();
      expect(await unfinished()).toEqual(before);
      await createReconciler({ ...deps, now: () => Date.now() + 25 * 3_600_000 }).reconcile();
      expect(await unfinished()).toEqual(before.filter((key) => key.startsWith('other/')));
      await temporalClient.connection.close();
    } finally {
      await rig.stop();
      await site.close();
    }
  });
});
