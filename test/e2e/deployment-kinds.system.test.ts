import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { execa } from 'execa';
import { Webhook } from 'standardwebhooks';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { importFolder } from '../../cli/deployment/import-folder.ts';
import { type Fixture, openFixture } from '../deployment/fixture.ts';
import { findSecrets } from '../helpers/find-secrets.ts';
import { createTestRepository } from '../helpers/forge-repository.ts';
import { writeHelmRecorder } from '../helpers/helm-recorder.ts';
import { startHttpSite } from '../helpers/http-site.ts';
import { startNotificationReceiver } from '../helpers/notification-receiver.ts';
import { locateRealTool } from '../helpers/real-tool.ts';
import { startS3 } from '../helpers/s3.ts';
import { startWithCleanups } from '../helpers/system/cleanups.ts';
import { storedInTemporal } from '../helpers/system/stored-in-temporal.ts';
import { domainOf, edition, type System, startSystem } from '../helpers/system/system.ts';
import { waitFor } from '../helpers/system/wait-for.ts';

const SITE = 'kinds';
const CHART = resolve('deploy/helm/galley-deployment');
const quick = { quietPeriod: '200ms', maxWait: '2s' };
const hookKey = Buffer.from('a secret of the deploy hook').toString('base64');
const secret = `whsec_${hookKey}`;
const GIT_TOKEN = 'token-of-the-git-target';
const KUBE_TOKEN = 'token-in-the-kubeconfig';

/** One kind of deployment, and what its users get. */
type Kind = {
  name: string;
  /** Missing for the values file that the system has anyway. */
  entry?: Record<string, unknown>;
  /** What happens outside of Galley, such as Argo CD's part. */
  carry?: () => Promise<void>;
  read: () => Promise<string>;
};

/** Makes a target fail, and repairs it. */
type Fault = { cause: () => Promise<unknown>; repair: () => Promise<unknown> };

/** A `galley deployment`'s code on a values file that someone else brings. */
async function startConsumer(): Promise<{ fixture: Fixture; follow(text: string): Promise<void>; read: Kind['read'] }> {
  const fixture = await openFixture();
  await writeFile(fixture.valuesFile, 'staticExport:\n  enabled: false\n');
  const running = await fixture.start();
  return {
    fixture,
    async follow(text) {
      if ((await readFile(fixture.valuesFile, 'utf8')) === text) return;
      await writeFile(`${fixture.valuesFile}.new`, text);
      await rename(`${fixture.valuesFile}.new`, fixture.valuesFile);
    },
    read: () => running.text('/'),
  };
}

describe('a publish on the whole product', () => {
  let stop: (() => Promise<void>) | undefined;
  let system: System;
  let kinds: Kind[] = [];
  let faults: Fault[] = [];
  let secrets: Record<string, string> = {};

  beforeAll(async () => {
    const started = await startWithCleanups(async (cleanups) => {
      const folder = await mkdtemp(join(tmpdir(), 'galley-kinds-'));
      cleanups.add(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
      const bin = join(folder, 'bin');
      await mkdir(bin);
      await writeHelmRecorder(bin);
      const PATH = `${bin}${delimiter}${process.env.PATH}`;
      const KUBECONFIG = join(folder, 'kubeconfig');
      await writeFile(KUBECONFIG, `users: [{ name: galley, user: { token: ${KUBE_TOKEN} } }]\n`);
      system = await startSystem({ sites: { [SITE]: quick }, variables: { PATH, KUBECONFIG } });
      cleanups.add(system.stop);
      const consumer = async () => {
        const made = await startConsumer();
        cleanups.add(made.fixture.close);
        return made;
      };
      const [onHost, ofGit, ofHelm, ofHook, sealed] = await Promise.all(Array.from({ length: 5 }, consumer));
      if (!onHost || !ofGit || !ofHelm || !ofHook || !sealed) throw new Error('no consumers');

      const repository = await createTestRepository({ 'values.yaml': '# of Argo CD\n' });
      cleanups.add(repository.remove);
      const helm = await locateRealTool('helm');
      const hook = await startNotificationReceiver();
      cleanups.add(hook.close);
      const answer: typeof hook.answer = async (response, { headers, body }) => {
        new Webhook(secret).verify(body, headers as Record<string, string>);
        const { bundleUrl } = z.object({ bundleUrl: z.string() }).parse(JSON.parse(body));
        await ofHook.fixture.writeValues({ enabled: true, bundleUrl });
        response.end();
      };
      hook.answer = answer;
      const [www, transfer] = [join(folder, 'www'), join(folder, 'transfer')];
      await mkdir(www);
      await mkdir(transfer);
      const web = await startHttpSite(async (_, response) => response.end(await readFile(join(www, 'index.html'))));
      cleanups.add(web.close);
      const s3 = await startS3();
      cleanups.add(s3.stop);
      const { accessKeyId, secretAccessKey } = s3.credentials;
      const client = new S3Client({
        ...{ endpoint: s3.endpoint, region: 'us-east-1', forcePathStyle: true },
        credentials: { accessKeyId, secretAccessKey },
      });
      cleanups.add(async () => client.destroy());

      kinds = [
        { name: 'valuesFile', read: () => system.served(SITE) },
        {
          name: 'valuesFile of a host',
          entry: { valuesFile: onHost.fixture.valuesFile, host: 'eu' },
          read: onHost.read,
        },
        {
          name: 'git',
          entry: { git: { repository: repository.url, path: 'values.yaml', token: GIT_TOKEN } },
          carry: async () => await ofGit.follow(await repository.git('show', 'main:values.yaml')),
          read: ofGit.read,
        },
        {
          name: 'helm',
          entry: { helm: { release: 'docs', namespace: 'docs', chart: CHART } },
          async carry() {
            const values = await execa(helm, [
              'template',
              'docs',
              CHART,
              '--kube-version',
              '1.30.0',
              '--values',
              join(bin, 'values'),
            ]);
            const documents = parseAllDocuments(values.stdout).map((document): unknown => document.toJS());
            const maps = z.array(z.looseObject({ kind: z.string() }).nullable()).parse(documents);
            const map = maps.find((each) => each?.kind === 'ConfigMap');
            await ofHelm.follow(
              z.object({ data: z.object({ 'values.yaml': z.string() }) }).parse(map).data['values.yaml'],
            );
          },
          read: ofHelm.read,
        },
        { name: 'http', entry: { http: { url: hook.url, secret } }, read: ofHook.read },
        { name: 'directory', entry: { directory: www }, read: async () => await (await fetch(web.origin)).text() },
        {
          name: 's3',
          entry: { s3: { url: s3.url, accessKeyId, secretAccessKey } },
          async read() {
            const object = new GetObjectCommand({ Bucket: 'galley-bundles', Key: 'index.html' });
            return (await (await client.send(object)).Body?.transformToString()) ?? '';
          },
        },
        {
          name: 'airgap',
          entry: { airgap: transfer },
          carry: async () => void (await importFolder(join(transfer, SITE), sealed.fixture.valuesFile)),
          read: sealed.read,
        },
      ];
      const [away, failing] = [`${repository.dir}-away`, join(bin, 'fail')];
      faults = [
        { cause: () => rename(repository.dir, away), repair: () => rename(away, repository.dir) },
        { cause: () => writeFile(failing, ''), repair: () => rm(failing) },
        {
          cause: async () => {
            hook.answer = (response) => response.writeHead(500).end();
          },
          repair: async () => {
            hook.answer = answer;
          },
        },
        { cause: s3.kill, repair: s3.restart },
      ];
      secrets = { hookKey, accessKeyId, secretAccessKey, gitToken: GIT_TOKEN, kubeconfig: KUBE_TOKEN };
      const deployments = kinds.flatMap(({ entry }) => (entry === undefined ? [] : [entry]));
      await system.configure([{ name: SITE, domain: domainOf(SITE), export: quick, deployments }]);
      for (const name of ['worker', 'api']) await system.programs.restart(name);
      await system.programs.double('worker', ['--deployment-host', 'eu']);
      return { stop: cleanups.run };
    });
    stop = started.stop;
  });

  afterAll(() => stop?.());

  async function publish(text: string): Promise<void> {
    system.origin(SITE).put('/', edition(text));
    expect((await system.publish(SITE)).status).toBe(202);
  }

  /** Returns for each kind after how many milliseconds its users get the text. */
  async function untilServed(text: string, startedMs = Date.now()): Promise<[string, number][]> {
    return await Promise.all(
      kinds.map(async ({ name, carry, read }): Promise<[string, number]> => {
        const isServed = async (): Promise<boolean> => {
          await carry?.();
          return (await read()).includes(text);
        };
        await waitFor(isServed, { describe: `${name} served "${text}"` });
        return [name, Date.now() - startedMs];
      }),
    );
  }

  it('is served by every kind of deployment', async () => {
    await publish('edition 1');
    await untilServed('edition 1');
    const startedMs = Date.now();
    await publish('edition 2');
    const times = await untilServed('edition 2', startedMs);
    const { deployments } = await system.untilPhase(SITE, 'live');
    expect(deployments.map(({ kind, error, version }) => ({ kind, error, version }))).toEqual(
      ['valuesFile', 'valuesFile', 'git', 'helm', 'http', 'directory', 's3', 'airgap'].map((kind) => ({
        ...{ kind, error: null, version: deployments[0]?.version },
      })),
    );
    const lines = times.map(([name, ms]) => `  ${name.padEnd(22)}${(ms / 1000).toFixed(1)} s`);
    process.stdout.write(`from the publish to the served text:\n${lines.join('\n')}\n`);
  });

  it('puts no secret of a target into Temporal or a log, even if targets fail', async () => {
    await Promise.all(faults.map(({ cause }) => cause()));
    await publish('edition 3');
    const failed = async (): Promise<boolean> =>
      (await system.state(SITE)).deployments.filter(({ error }) => error !== null).length === faults.length;
    await waitFor(failed, { describe: 'failed to write to four targets' });
    await Promise.all(faults.map(({ repair }) => repair()));
    await untilServed('edition 3');
    const stored = await storedInTemporal(system.temporal);
    // The histories must be readable, or the search proves nothing.
    for (const known of [domainOf(SITE), 's3://galley-bundles/', 'the deploy hook returned 500']) {
      expect(stored).toContain(known);
    }
    expect(findSecrets(stored, secrets)).toEqual([]);
    for (const name of ['worker', 'api']) {
      expect([name, findSecrets(system.programs.lines(name).join('\n'), secrets)]).toEqual([name, []]);
    }
  });
});
