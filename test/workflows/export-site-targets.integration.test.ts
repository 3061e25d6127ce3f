import { readFile, rename, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { pino } from 'pino';
import { createDeploymentWorker } from '../../worker/worker.ts';
import { buildBundle } from '../deployment/bundles.ts';
import { findSecrets } from '../helpers/find-secrets.ts';
import { createTestRepository } from '../helpers/forge-repository.ts';
import { writeHelmRecorder } from '../helpers/helm-recorder.ts';
import { startHttpSite } from '../helpers/http-site.ts';
import { type NotificationReceiver, startNotificationReceiver } from '../helpers/notification-receiver.ts';
import { runWorker } from '../helpers/run-worker.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import type { SiteFixture } from './site-fixture.ts';
import { useSites } from './use-sites.ts';

/** In place of helm. */
const helm = temporaryFolder();

const { startSite, closeLater, server } = useSites('dev-server', () => ({
  targets: { remotePinsEveryMs: 500, helmEnvironment: { PATH: `${helm}${delimiter}${process.env.PATH}` } },
}));

const hookKey = Buffer.from('a secret of the deploy hook').toString('base64');
const secret = `whsec_${hookKey}`;

async function startHook(): Promise<NotificationReceiver> {
  return closeLater(Object.assign(await startNotificationReceiver(), { workflowIds: () => [] }));
}

/** The versions that a deploy hook got. */
function versionsOf(hook: NotificationReceiver): unknown[] {
  return hook.bodies().map((body) => (typeof body === 'object' && body !== null ? Reflect.get(body, 'version') : null));
}

async function readValues({ valuesFile }: SiteFixture): Promise<string> {
  return await readFile(valuesFile, 'utf8').catch(() => '');
}

describe('a site with targets of several kinds', () => {
  it.concurrent('gives each version to all of them, and rolls all back', async () => {
    const [site, hook] = [await startSite(), await startHook()];
    site.configure({ deployments: [{ valuesFile: site.valuesFile }, { http: { url: hook.url, secret } }] });
    await site.publish();
    const { deployments } = await site.until('live', ({ phase }) => phase === 'live');
    expect(deployments).toMatchObject([
      { kind: 'valuesFile', name: site.valuesFile, version: 'v1', error: null },
      { kind: 'http', name: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+#[0-9a-f]{8}$/), version: 'v1' },
    ]);
    await site.publish();
    await site.until('live at v2', ({ phase, version }) => phase === 'live' && version === 'v2');
    await site.handle.executeUpdate('refreshNow');
    await site.handle.executeUpdate('rollback', { args: ['v1'] });
    expect(versionsOf(hook)).toEqual(['v1', 'v2', 'v2', 'v1']);
    expect((await site.deployed())?.jobId).toBe(site.api.jobs[0]?.jobId);
    // The URL of a hook is often a secret, and so is its key.
    const history = JSON.stringify((await site.handle.fetchHistory()).events);
    expect(findSecrets(history, { path: 'secretsecretsecret', hookKey })).toEqual([]);
  });

  it.concurrent('gets the integrity of each bundle with its link, except where it is off', async () => {
    const [site, hook] = [await startSite(), await startHook()];
    const strict = `${site.valuesFile}.strict`;
    const manifestSha256 = 'ab'.repeat(32);
    site.api.behaviour.intercept = ({ path }) => {
      const [, jobId] = /^\/v1\/static-export\/jobs\/(.+)\/bundle$/.exec(path) ?? [];
      if (jobId === undefined) return undefined;
      const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
      const bundleUrl = 'https://objects.test/bundle.tar.gz';
      return { status: 200, body: JSON.stringify({ jobId, bundleUrl, expiresAt, manifestSha256 }) };
    };
    const deployments = [
      { valuesFile: site.valuesFile },
      { valuesFile: strict, integrity: false },
      { http: { url: hook.url, secret } },
    ];
    site.configure({ deployments });
    await site.publish();
    await site.until('live', ({ phase }) => phase === 'live');
    const integrity = `sha256-${Buffer.from(manifestSha256, 'hex').toString('base64')}`;
    expect(await readValues(site)).toContain(`integrity: "${integrity}"`);
    expect(await readFile(strict, 'utf8')).not.toContain('integrity');
    expect(hook.bodies()).toMatchObject([{ integrity }]);
  });

  it.concurrent('retries one that fails alone, and none waits for one that hangs', async () => {
    const site = await startSite();
    const [failing, hanging, healthy] = [await startHook(), await startHook(), await startHook()];
    failing.answer = (response) => response.writeHead(500).end();
    hanging.answer = () => {};
    const hooks = [failing, hanging, healthy].map(({ url }) => ({ http: { url, secret } }));
    site.configure({ deployments: [...hooks, { valuesFile: site.valuesFile }] });
    await site.publish();
    const failed = await site.until('failed', ({ deployments }) => deployments[0]?.error != null);
    expect(failed.deployments[0]).toMatchObject({ error: { message: 'the deploy hook returned 500' }, version: null });
    await site.publish();
    await site.until('v2 elsewhere', ({ deployments: [, , third, fourth] }) =>
      [third, fourth].every((each) => each?.version === 'v2' && each.error === null),
    );
    const attempts = failing.received.length;
    await waitFor(() => failing.received.length > attempts + 3, { describe: 'the failing one is retried' });
    // Retries for the others are none of its business.
    expect(versionsOf(healthy)).toEqual(['v1', 'v2']);
    failing.answer = (response) => response.end();
    hanging.answer = (response) => response.end();
    await site.until(
      'all have v2',
      ({ phase, deployments }) =>
        deployments.every(({ version, error }) => version === 'v2' && error === null) && phase === 'live',
    );
  });
});

describe('a folder that gets all files', () => {
  it.concurrent('is rolled back at once while a newer version is being written to it', async () => {
    const site = await startSite();
    const root = join(dirname(site.valuesFile), 'public');
    const first = await buildBundle({ files: { 'index.html': 'The first' } });
    let arrivals = 0;
    let left = 0;
    const bundles = await startHttpSite((request, response) => {
      if (request.url === '/v1') return response.end(first);
      arrivals += 1;
      return request.socket.once('close', () => {
        left += 1;
      });
    });
    closeLater({ close: bundles.close, workflowIds: () => [] });
    site.api.behaviour.intercept = ({ path }) => {
      const [, jobId] = /^\/v1\/static-export\/jobs\/(.+)\/bundle$/.exec(path) ?? [];
      if (jobId === undefined) return undefined;
      const version = `v${site.api.jobs.findIndex((job) => job.jobId === jobId) + 1}`;
      const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
      return {
        status: 200,
        body: JSON.stringify({ jobId, version, bundleUrl: `${bundles.origin}/${version}`, expiresAt }),
      };
    };
    site.configure({ deployments: [{ directory: root }] });
    await site.publish();
    await site.until('live', ({ phase }) => phase === 'live');
    await site.publish();
    await site.until('deploying', ({ phase, version }) => phase === 'deploying' && version === 'v2');
    await waitFor(() => arrivals > 0, { describe: 'downloads v2' });

    const rolledBack = await site.handle.executeUpdate('rollback', { args: ['v1'] });
    expect(rolledBack).toMatchObject({ deployments: [{ kind: 'directory', version: 'v1', error: null }] });
    await waitFor(() => left === 1, { describe: 'left the download of v2' });
    expect(arrivals).toBe(1);
    expect(await readFile(join(root, 'index.html'), 'utf8')).toBe('The first');
    expect((await site.state()).phase).toBe('live');
  });
});

describe('a values file on a certain host', () => {
  it.concurrent('rejects actions after the removal while that write still runs, but exports a publish', async () => {
    const site = await startSite();
    site.configure({ deployments: [{ valuesFile: site.valuesFile, host: `us-${process.pid}` }] });
    await site.publish();
    await site.until('deploying', ({ phase }) => phase === 'deploying');
    await site.handle.executeUpdate('remove');
    await expect(site.handle.executeUpdate('exportNow')).rejects.toMatchObject({
      cause: { message: expect.stringContaining('the site was removed') },
    });
    await site.publish();
    const { exports } = await site.until('exported again', (state) => {
      return site.api.jobs.length === 2 && state.pendingCount === 0 && state.exports[0]?.jobId != null;
    });
    expect(exports.map(({ number }) => number)).toEqual([1]);
  });

  it.concurrent('is written by the workers of this host only, and the state names a host without any', async () => {
    const site = await startSite();
    const host = `eu-${process.pid}`;
    const deployment = { valuesFile: site.valuesFile, host };
    site.configure({ deployments: [deployment] });
    await site.publish();
    const { deployments } = await site.until('failed', ({ phase }) => phase === 'failed');
    expect(deployments[0]?.error?.message).toBe(
      `no worker serves the host ${host}: start one there with --deployment-host ${host}`,
    );
    expect(await readValues(site)).toBe('');
    const { connection, client } = server();
    const readSite = site.readSite;
    const { namespace } = client.options;
    const worker = await createDeploymentWorker({
      connection,
      namespace,
      host,
      readSite,
      logger: pino({ level: 'silent' }),
    });
    closeLater({ close: runWorker(worker).stop, workflowIds: () => [] });
    await site.until('live', ({ phase }) => phase === 'live');
    await site.publish();
    await site.until('live at v2', ({ phase, version }) => phase === 'live' && version === 'v2');
    // No publish: the worker of the host reads the file.
    await writeFile(site.valuesFile, (await readValues(site)).replace('  enabled:', '  version: v1\n  enabled:'));
    await site.until('held at v1', ({ phase, deployments: [first] }) => phase === 'held' && first?.version === 'v1');
    await writeFile(site.valuesFile, (await readValues(site)).replace('  version: v1\n', ''));
    await site.until('live at v2', ({ phase, deployments: [first] }) => phase === 'live' && first?.version === 'v2');
  });
});

type Edit = (change: (text: string) => string) => Promise<unknown>;

/** What operators do to the values of a deployment: they pin a version, switch it off, and take both back. */
async function followsItsOperators(site: SiteFixture, kind: string, edit: Edit): Promise<void> {
  for (const version of ['v1', 'v2']) {
    await site.publish();
    await site.until(`live at ${version}`, (state) => state.phase === 'live' && state.version === version);
  }
  await edit((text) => text.replace('  enabled:', '  version: v1\n  enabled:'));
  const { deployments } = await site.until(
    'held at v1',
    ({ phase, deployments: [first] }) => phase === 'held' && first?.version === 'v1',
  );
  expect(deployments[0]).toMatchObject({ kind, pin: 'v1', state: 'held', error: null });
  await edit((text) => text.replace('  version: v1\n', ''));
  await site.until('live at v2', ({ phase, deployments: [first] }) => phase === 'live' && first?.version === 'v2');
  await edit((text) => text.replace('enabled: true', 'enabled: false'));
  await site.until('off', ({ phase }) => phase === 'off');
  await edit((text) => text.replace('enabled: false', 'enabled: true'));
  await site.until('live again', ({ phase }) => phase === 'live');
}

describe('the values of a deployment that no worker has on its disk', () => {
  it.concurrent('are followed in a git repository without a publish', async () => {
    const path = 'values.yaml';
    const repository = await createTestRepository({ [path]: 'replicas: 2\n' });
    closeLater({ close: () => repository.remove(), workflowIds: () => [] });
    const site = await startSite();
    site.configure({ deployments: [{ git: { repository: repository.url, path } }] });
    await followsItsOperators(site, 'git', async (change) => {
      await repository.commit('main', { [path]: `${change(await repository.git('show', `main:${path}`))}\n` });
    });
  });

  it.concurrent('are followed in a Helm release without a publish', async () => {
    await writeHelmRecorder(helm);
    const site = await startSite();
    site.configure({ deployments: [{ helm: { release: 'docs', namespace: 'web', chart: './chart' } }] });
    const values = join(helm, 'values');
    await followsItsOperators(site, 'helm', async (change) => {
      await writeFile(`${values}.new`, change(await readFile(values, 'utf8')));
      await rename(`${values}.new`, values);
    });
  });
});
