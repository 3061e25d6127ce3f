import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { GetObjectCommand, HeadObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { createTarget } from '../../../../activities/deployments/create-target.ts';
import { createS3Target } from '../../../../activities/deployments/targets/s3.ts';
import { deploymentConfig, targetOf } from '../../../../contract/deployment-config.ts';
import { parseS3Target } from '../../../../contract/target-kind.ts';
import { packTar } from '../../../deployment/bundles.ts';
import { startHttpSite } from '../../../helpers/http-site.ts';
import { startS3, type TestS3 } from '../../../helpers/s3.ts';
import { temporaryFolder } from '../../../helpers/temporary-folder.ts';
import { deploymentWrite } from '../deployment-write.ts';
import { describeTarget, faultsOfBundles, sizeOf } from './contract.ts';

const Bucket = 'galley-bundles';
let server: TestS3 | undefined;
let client: S3Client | undefined;
let folders = 0;
const stagingFolder = temporaryFolder();

beforeAll(async () => {
  server = await startS3();
  const { endpoint, credentials } = server;
  process.env.AWS_ACCESS_KEY_ID = credentials.accessKeyId;
  process.env.AWS_SECRET_ACCESS_KEY = credentials.secretAccessKey;
  client = new S3Client({ endpoint, credentials, region: 'us-east-1', forcePathStyle: true });
});
afterAll(async () => {
  client?.destroy();
  await server?.stop();
});

function s3(): S3Client {
  if (client === undefined) throw new Error('no server');
  return client;
}

describeTarget('s3', async (bundles) => {
  const prefix = `docs-${++folders}/`;
  const settings = parseS3Target(`${server?.url.replace('galley-bundles', `galley-bundles/docs-${folders}`)}`);
  if (settings === undefined) throw new Error('no settings');
  const list = async () => {
    const { Contents = [] } = await s3().send(new ListObjectsV2Command({ Bucket, Prefix: prefix }));
    return Contents.filter(({ Key }) => !Key?.includes('.galley/'));
  };
  return {
    target: createS3Target(settings, stagingFolder),
    async version() {
      const { Body } = await s3().send(new GetObjectCommand({ Bucket, Key: `${prefix}index.html` }));
      const page = (await Body?.transformToString()) ?? '';
      const version = /<title>home (.*)<\/title>/.exec(page)?.[1] ?? null;
      const style = await s3().send(new HeadObjectCommand({ Bucket, Key: `${prefix}assets/app-${version}.css` }));
      expect(style).toMatchObject({ ContentType: 'text/css; charset=utf-8', CacheControl: 'no-cache' });
      const redirect = await s3().send(new HeadObjectCommand({ Bucket, Key: `${prefix}old/start` }));
      expect(redirect.ContentType).toBe('text/html; charset=utf-8');
      return version;
    },
    async fingerprint() {
      const objects = (await list()).map(({ Key, LastModified, ETag }) => [Key, LastModified?.getTime(), ETag]);
      return createHash('sha256').update(JSON.stringify(objects)).digest('hex');
    },
    stagedBytes: () => sizeOf(stagingFolder),
    ...faultsOfBundles(bundles),
  };
});

test('a bundle without a manifest has its types and its pages without .html, and the next one replaces it', async () => {
  const settings = parseS3Target(`${server?.url.replace('galley-bundles', 'galley-bundles/foreign')}`);
  if (settings === undefined) throw new Error('no settings');
  const target = createS3Target(settings, stagingFolder);
  const context = { site: 'docs', signal: new AbortController().signal };
  const write = async (sequence: number, files: Record<string, string>) => {
    const entries = Object.entries(files).map(([name, content]) => ({
      header: { name: `./${name}`, type: 'file' as const },
      content: Buffer.from(content),
    }));
    const archive = gzipSync(await packTar(entries));
    const origin = await startHttpSite((_, response) => response.end(archive));
    const bundleUrl = `${origin.origin}/bundle.tar.gz`;
    await target.write(deploymentWrite({ sequence, bundleUrl }), context).finally(origin.close);
    const { Contents = [] } = await s3().send(new ListObjectsV2Command({ Bucket, Prefix: 'foreign/' }));
    const keys = Contents.flatMap(({ Key = '' }) => (Key.includes('.galley/') ? [] : [Key])).sort();
    return await Promise.all(
      keys.map(async (Key) => {
        const { Body, ContentType } = await s3().send(new GetObjectCommand({ Bucket, Key }));
        return [Key.replace('foreign/', ''), ContentType, await Body?.transformToString()];
      }),
    );
  };
  const [html, css] = ['text/html; charset=utf-8', 'text/css; charset=utf-8'];
  const files = { 'index.html': 'home', 'guides/start.html': 'start', 'app.css': 'a {}' };
  expect(await write(1, files)).toEqual([
    ['app.css', css, 'a {}'],
    ['guides/start', html, 'start'],
    ['guides/start.html', html, 'start'],
    ['index.html', html, 'home'],
  ]);
  const next = { 'index.html': 'new', LICENSE: 'free' };
  const [license, home] = [
    ['LICENSE', 'application/octet-stream', 'free'],
    ['index.html', html, 'new'],
  ];
  // Pages of the version before may be open, so their files stay for one more version.
  expect(await write(2, next)).toEqual([license, ['app.css', css, 'a {}'], home]);
  expect(await write(3, next)).toEqual([license, home]);
});

test('keys of its own are used instead of the environment’s, and a check says what is wrong with them', async () => {
  if (server === undefined) throw new Error('no server');
  const { url, credentials } = server;
  const { accessKeyId, secretAccessKey } = credentials;
  const environment = { AWS_ACCESS_KEY_ID: 'of another', AWS_SECRET_ACCESS_KEY: 'of another' };
  const before = { ...process.env };
  Object.assign(process.env, environment);
  try {
    const check = async (entry: unknown) => {
      const settings = targetOf(deploymentConfig.parse({ s3: entry }));
      return await createTarget('s3', settings).check?.({ site: 'docs', signal: new AbortController().signal });
    };
    expect(await check({ url, accessKeyId, secretAccessKey })).toEqual({
      message: expect.stringContaining('written'),
      fix: null,
    });
    const wrong = await check(url);
    expect(wrong?.fix).toContain('s3:ListBucket');
    expect(JSON.stringify(wrong)).not.toContain(secretAccessKey);
  } finally {
    process.env.AWS_ACCESS_KEY_ID = before.AWS_ACCESS_KEY_ID;
    process.env.AWS_SECRET_ACCESS_KEY = before.AWS_SECRET_ACCESS_KEY;
  }
});
