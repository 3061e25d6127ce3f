import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createAskDeployment } from '../../../activities/deployments/ask-deployment.ts';
import { createTarget } from '../../../activities/deployments/create-target.ts';
import { createAirgapTarget } from '../../../activities/deployments/targets/airgap.ts';
import { bundlePathOf } from '../../../bundle/fetch/link.ts';
import { importFolder } from '../../../cli/deployment/import-folder.ts';
import { deploymentConfig, targetOf } from '../../../contract/deployment-config.ts';
import { galleyConfig } from '../../../programs/config/galley-yaml.ts';
import { packTar, sha256 } from '../../deployment/bundles.ts';
import { type Fixture, openFixture } from '../../deployment/fixture.ts';
import { startHttpSite } from '../../helpers/http-site.ts';
import { activityEnvironment } from '../activity-environment.ts';
import { deploymentWrite } from './deployment-write.ts';
import { deployToFolder } from './targets/deploy-to-folder.ts';

const FILES: Record<string, string> = {
  'index.html': '<title>home</title>',
  'guides/start.html': '<title>start</title>',
  'app.css': 'a {}',
  _redirects: '/old /guides/start 301\n/all/* /:splat 302\n',
  _headers: '/*\n  X-A: 1\n',
};

const archiveOf = async (files: Record<string, string>): Promise<Buffer> =>
  gzipSync(
    await packTar(
      Object.entries(files).map(([name, content]) => ({
        header: { name: `./${name}`, type: 'file', mtime: new Date('2026-11-21T08:00:00Z') },
        content: Buffer.from(content),
      })),
    ),
  );

let fixture: Fixture;
beforeEach(async () => {
  fixture = await openFixture();
});
afterEach(() => fixture.close());

const context = { site: 'docs', signal: new AbortController().signal };

it('gets to a folder with its rules as they are, and a new one replaces it', async () => {
  const root = join(fixture.folder, 'www');
  await mkdir(root);
  await deployToFolder(root, await archiveOf(FILES), 1);
  for (const [path, content] of Object.entries(FILES)) expect(await readFile(join(root, path), 'utf8')).toBe(content);
  expect(await readFile(join(root, 'old.html'), 'utf8')).toContain('url=guides/start.html');
  await deployToFolder(root, await archiveOf({ ...FILES, 'index.html': 'new', 'guides/start.html': '2' }), 2);
  expect(await readFile(join(root, 'index.html'), 'utf8')).toBe('new');
});

it('gets to a bucket with its types, and pages at their URLs without .html', async () => {
  const stored = new Map<string, string>();
  const s3 = await startHttpSite((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://s3.test');
    const { 'content-type': type = '', 'x-amz-website-redirect-location': moved } = request.headers;
    if (request.method === 'PUT') stored.set(pathname, moved === undefined ? type : `moved ${String(moved)}`);
    request.resume();
    if (searchParams.has('list-type')) response.end('<ListBucketResult></ListBucketResult>');
    else if (request.method === 'GET') response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>');
    else request.on('end', () => response.end());
  });
  const archive = await archiveOf(FILES);
  const origin = await fixture.serve((_, response) => response.end(archive));
  try {
    const url = `s3://docs?endpoint=${encodeURIComponent(s3.origin)}&region=us-east-1`;
    const settings = targetOf(deploymentConfig.parse({ s3: { url, accessKeyId: 'id', secretAccessKey: 'secret' } }));
    await createTarget('s3', settings).write(deploymentWrite({ bundleUrl: `${origin}/b` }), context);
  } finally {
    await s3.close();
  }
  expect(Object.fromEntries(stored)).toMatchObject({
    '/docs/index.html': 'text/html; charset=utf-8',
    '/docs/guides/start.html': 'text/html; charset=utf-8',
    '/docs/guides/start': 'text/html; charset=utf-8',
    '/docs/app.css': 'text/css; charset=utf-8',
    '/docs/old': 'moved /guides/start',
  });
});

it('gets over a transfer folder to a deployment; an older one needs --allow-older', async () => {
  const transfer = join(fixture.folder, 'transfer');
  await mkdir(transfer);
  let archive = await archiveOf(FILES);
  let downloads = 0;
  const origin = await fixture.serve((_, response) => {
    downloads += 1;
    response.end(archive);
  });
  const write = deploymentWrite({ bundleUrl: `${origin}/b` });
  await createAirgapTarget(transfer).write(write, context);
  await createAirgapTarget(transfer).write({ ...write, sequence: 2 }, context);
  expect(downloads).toBe(1);

  await fixture.writeValues({ enabled: false });
  const version = sha256(archive).slice(0, 12);
  expect(await importFolder(transfer, fixture.valuesFile)).toMatchObject({ version, changed: true });
  expect(await importFolder(transfer, fixture.valuesFile)).toMatchObject({ version, changed: false });
  const running = await fixture.start();
  expect(await running.until('served', ({ stale }) => !stale)).toMatchObject({ version, jobId: null });
  expect(await running.text('/guides/start')).toBe(FILES['guides/start.html']);

  archive = gzipSync(
    await packTar([{ header: { name: 'index.html', type: 'file', mtime: new Date(0) }, content: Buffer.from('old') }]),
  );
  const older = deploymentWrite({ sequence: 3, bundleUrl: `${origin}/old` });
  await createAirgapTarget(transfer).write(older, context);
  await expect(importFolder(transfer, fixture.valuesFile)).rejects.toThrow('add --allow-older');
  await importFolder(transfer, fixture.valuesFile, { allowOlder: true });
  await running.until('served', ({ version: now }) => now === sha256(archive).slice(0, 12));
});

it('is not imported if the values file requires an integrity', async () => {
  const transfer = join(fixture.folder, 'transfer');
  await mkdir(transfer);
  const archive = await archiveOf(FILES);
  const origin = await fixture.serve((_, response) => response.end(archive));
  await createAirgapTarget(transfer).write(deploymentWrite({ bundleUrl: `${origin}/b` }), context);
  const integrity = `sha256-${Buffer.alloc(32).toString('base64')}`;
  await fixture.writeValues({ enabled: false, integrity });
  await expect(importFolder(transfer, fixture.valuesFile)).rejects.toThrow('staticExport.integrity is set');
});

it('is confirmed by its link, so rollback: auto has no reason; another bundle of its path is never evidence', async () => {
  const archive = await archiveOf(FILES);
  const origin = await fixture.serve((_, response) => response.end(archive));
  const bundleUrl = `${origin}/exports/b.tar.gz?signature=1`;
  await fixture.writeValues({ enabled: true, bundleUrl });
  const running = await fixture.start();
  await running.until('served', ({ stale }) => !stale);
  const config = galleyConfig.parse({
    adminApi: { url: 'https://api.example.com', key: 'galley_key' },
    sites: {
      docs: {
        domain: 'docs.example.com',
        export: { deployments: [{ valuesFile: 'docs.yaml', statusUrl: `${running.url}/-/status`, rollback: 'auto' }] },
      },
    },
  });
  const askDeployment = createAskDeployment((site) => config.sites[site]);
  const question = { site: 'docs', valuesFile: 'docs.yaml', jobId: 'se_1', version: null, withinMs: 60_000 } as const;
  const ask = (link: string) =>
    activityEnvironment({ attempt: 1, currentAttemptScheduledTimestampMs: 0 }).run(() =>
      askDeployment({ ...question, bundlePath: bundlePathOf(link), until: 'verdict' }),
    );
  const refreshed = bundleUrl.replace('signature=1', 'signature=2');
  expect(await ask(refreshed)).toMatchObject({ verdict: 'served', why: null, servesJobId: null });
  await expect(ask(`${origin}/exports/other.tar.gz`)).rejects.toMatchObject({ type: 'NotServed' });
});
