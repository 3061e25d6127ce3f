import { rename } from 'node:fs/promises';
import { pino } from 'pino';
import { createDeploymentActivities } from '../../../../activities/deployments/activities.ts';
import type { DeploymentReport, DeploymentTarget } from '../../../../activities/deployments/deployment-target.ts';
import { createGitTarget } from '../../../../activities/deployments/targets/git.ts';
import { deploymentName } from '../../../../contract/deployment-config.ts';
import type { SettingsOf } from '../../../../contract/target-kind.ts';
import type { ForgeWriter, PullRequest } from '../../../../forge/forge.ts';
import { galleyConfig } from '../../../../programs/config/galley-yaml.ts';
import { createTestRepository, type TestRepository } from '../../../helpers/forge-repository.ts';
import { startHttpSite } from '../../../helpers/http-site.ts';
import { activityEnvironment } from '../../activity-environment.ts';
import { deploymentWrite, LIFETIME_MS } from '../deployment-write.ts';
import { describeTarget } from './contract.ts';

const VALUES = `# the docs
replicas: 2
staticExport: # of Galley
    enabled: false
    bundleUrl: 'https://old.test'   # the link
`;

const path = 'charts/docs/values.yaml';

function settingsOf(repository: string, changes: Partial<SettingsOf<'git'>> = {}): SettingsOf<'git'> {
  return { repository, path, branch: 'main', mode: 'push', ...changes };
}

async function valuesOf(repository: TestRepository, branch = 'main'): Promise<string> {
  return await repository.git('show', `${branch}:${path}`);
}

describeTarget('git', async () => {
  const repository = await createTestRepository({ [path]: VALUES, 'README.md': 'docs' });
  const silent = await startHttpSite(() => {});
  let url = repository.url;
  return {
    target: { write: (write, context) => createGitTarget(settingsOf(url)).write(write, context) },
    async version() {
      return /bundleUrl: '\S+\/(v\d)\?/.exec(await valuesOf(repository))?.[1] ?? null;
    },
    fingerprint: () => repository.git('rev-parse', 'main'),
    async fail() {
      await rename(repository.dir, `${repository.dir}.away`);
    },
    async repair() {
      url = repository.url;
      await rename(`${repository.dir}.away`, repository.dir).catch(() => {});
    },
    async hang() {
      url = `${silent.origin}/docs.git`;
      return { reached: () => silent.requests.length > 0 };
    },
    async close() {
      await silent.close();
      await repository.remove();
    },
  };
});

const context = { site: 'docs', signal: new AbortController().signal };

function next(sequence: number) {
  return deploymentWrite({ sequence, bundleUrl: `https://new.test/${sequence}` });
}

describe('a values file in a git repository', () => {
  it('changes by what Galley sets only, in one commit for each version', async () => {
    const repository = await createTestRepository({ [path]: VALUES });
    try {
      const target = createGitTarget(settingsOf(repository.url));
      await target.write(next(1), context);
      const expected = VALUES.replace('enabled: false', 'enabled: true').replace(
        'https://old.test',
        'https://new.test/1',
      );
      expect(await valuesOf(repository)).toBe(expected.trimEnd());
      expect((await repository.git('log', '--format=%an: %s', 'main')).split('\n')).toEqual([
        'Galley: Deploy docs v1',
        'Ada: Begin',
      ]);
      await repository.commit('main', { [path]: expected.replace('enabled: true', 'enabled: true\n    version: v1') });
      const held = await target.write(next(2), context);
      expect(held).toMatchObject({ outcome: 'held', pin: 'v1', jobId: 'se_1' });
      expect(await target.readSwitches?.(context.signal)).toEqual({ pin: 'v1', off: false });
      await repository.commit('main', { [path]: 'staticExport: {enabled: false}\n' });
      expect(await target.readSwitches?.(context.signal)).toEqual({ pin: null, off: true });
    } finally {
      await repository.remove();
    }
  });

  it('loses no update to another writer', async () => {
    const repository = await createTestRepository({ [path]: VALUES, 'other.txt': '0' });
    try {
      const target = createGitTarget(settingsOf(repository.url));
      const [galley, other] = [createGitTarget(settingsOf(repository.url, { path: 'eu.yaml' })), target];
      for (let sequence = 1; sequence <= 3; sequence++) {
        await Promise.all([galley, other].map((each) => each.write(next(sequence), context)));
      }
      expect(await valuesOf(repository)).toContain('https://new.test/3');
      expect(await repository.git('show', 'main:eu.yaml')).toContain('https://new.test/3');
      expect((await repository.git('log', '--format=%s', 'main')).split('\n')).toHaveLength(7);
    } finally {
      await repository.remove();
    }
  });
});

/** A forge without a server: it has pull requests that people end. */
function createForge() {
  const pullRequests: PullRequest[] = [];
  const newestOf = (branch: string) => pullRequests.findLast(({ headBranch }) => headBranch === branch) ?? null;
  const writer: ForgeWriter = {
    findPullRequest: async ({ branch }) => newestOf(branch),
    async openPullRequest({ title, branch, base }) {
      const last = newestOf(branch);
      if (last?.state === 'open') return last;
      const number = pullRequests.length + 1;
      const about = { url: `https://forge.test/pulls/${number}`, number, state: 'open', author: 'galley' } as const;
      const opened = { ...about, title, headBranch: branch, headSha: '', baseBranch: base, mergeCommitSha: null };
      pullRequests.push(opened);
      return opened;
    },
    async updatePullRequest(url, change) {
      const found = pullRequests.find((each) => each.url === url);
      if (found === undefined) throw new Error('unknown');
      return Object.assign(found, change);
    },
    gitCredentials: async () => null,
  };
  return { pullRequests, writer };
}

describe('a values file that changes by pull requests', () => {
  let repository: TestRepository;
  beforeEach(async () => {
    repository = await createTestRepository({ [path]: VALUES });
  });
  afterEach(() => repository.remove());

  const targetWith = (writer: ForgeWriter | undefined) =>
    createGitTarget(settingsOf(repository.url, { mode: 'pull-request' }), { openForge: () => writer });
  const branches = () => repository.git('branch', '--list', 'galley/*', '--format=%(refname:short)');
  const stateOf = (target: DeploymentTarget, { owner }: DeploymentReport) =>
    target.readProposal?.({ epoch: owner?.epoch ?? 0, sequence: owner?.sequence ?? 0 }, context);
  /** The next write of a job, with a fresh link. */
  const refreshOf = (job: number, sequence: number) => ({
    ...next(sequence),
    ...({ kind: 'refresh', jobId: `se_${job}`, version: `v${job}` } as const),
  });
  async function merge(branch: string): Promise<void> {
    await repository.git('branch', '--force', 'main', branch);
    await repository.git('branch', '-D', branch);
  }

  it('is proposed in one pull request, which each write updates until it is merged', async () => {
    const { pullRequests, writer } = createForge();
    const target = targetWith(writer);
    const [url, jobId] = ['https://forge.test/pulls/1', null];
    for (const write of [next(1), next(2), next(2), refreshOf(2, 3)]) {
      expect(await target.write(write, context)).toMatchObject({ outcome: 'proposed', url, jobId });
    }
    const branch = await branches();
    expect(await valuesOf(repository)).toBe(VALUES.trimEnd());
    expect(await valuesOf(repository, branch)).toContain('https://new.test/3');
    expect((await repository.git('log', '--format=%s', `main..${branch}`)).split('\n')).toHaveLength(1);
    expect(pullRequests).toMatchObject([{ title: 'Deploy docs v2', state: 'open' }]);
    expect(await target.write(next(1), context)).toMatchObject({ outcome: 'superseded' });

    const proposed = await target.write(refreshOf(2, 3), context);
    expect(await stateOf(target, proposed)).toBe('open');
    await merge(branch);
    expect(await stateOf(target, proposed)).toBe('merged');
    // A later write of the same job and link has nothing to change.
    for (const write of [refreshOf(2, 3), { ...refreshOf(2, 4), bundleUrl: next(3).bundleUrl }]) {
      expect(await target.write(write, context)).toMatchObject({ outcome: 'written', jobId: 'se_2' });
    }
    expect(pullRequests).toHaveLength(1);
    expect(await branches()).toBe('');
  });

  it.each(['with its branch', 'and its branch removed'])(
    'is not proposed again once closed %s, but the next version is',
    async (how) => {
      const { pullRequests, writer } = createForge();
      const target = targetWith(writer);
      await target.write(next(1), context);
      await merge(await branches());
      Object.assign(pullRequests[0] ?? {}, { state: 'merged' });
      const proposed = await target.write(next(2), context);
      const [, second] = pullRequests;
      const branch = await branches();
      const before = await repository.git('rev-parse', branch);
      Object.assign(second ?? {}, { state: 'closed' });
      if (how !== 'with its branch') await repository.git('branch', '-D', branch);
      expect(await stateOf(target, proposed)).toBe('closed');
      for (const write of [next(2), refreshOf(2, 3)]) {
        expect(await target.write(write, context)).toMatchObject({
          outcome: 'closed',
          url: second?.url,
          jobId: 'se_1',
        });
      }
      expect(pullRequests).toHaveLength(2);
      if (how === 'with its branch') expect(await repository.git('rev-parse', branch)).toBe(before);
      else expect(await branches()).toBe('');

      // The link of what is deployed is refreshed, and a newer version is proposed.
      for (const write of [refreshOf(1, 4), next(5)]) {
        expect(await target.write(write, context)).toMatchObject({
          outcome: 'proposed',
          url: 'https://forge.test/pulls/3',
        });
      }
      expect(await valuesOf(repository, branch)).toContain('https://new.test/5');
    },
  );

  it('has the link of a closed refresh that was reopened and merged, and gets no second pull request', async () => {
    const { pullRequests, writer } = createForge();
    const target = targetWith(writer);
    const day = (number: number): string => `2026-11-${20 + number}T08:00:00Z`;
    await target.write({ ...next(1), expiresAt: day(1) }, context);
    await merge(await branches());
    Object.assign(pullRequests[0] ?? {}, { state: 'merged' });
    /** While the workflow knows of the first link. */
    const refresh = (sequence: number) => ({
      ...refreshOf(1, sequence),
      ...{ expiresAt: day(sequence), deployedLinkExpiresAt: day(1) },
    });
    expect(await target.write(refresh(2), context)).toMatchObject({ outcome: 'proposed' });
    Object.assign(pullRequests[1] ?? {}, { state: 'closed' });
    expect(await target.write(refresh(3), context)).toMatchObject({ outcome: 'closed' });

    await merge(await branches());
    Object.assign(pullRequests[1] ?? {}, { state: 'merged' });
    const link = { expiresAt: day(2), lifetimeMs: LIFETIME_MS };
    const there = { outcome: 'written', jobId: 'se_1', link, bundlePath: null, owner: { sequence: 2 } };
    expect(await target.write(refresh(4), context)).toMatchObject(there);
    expect(pullRequests).toHaveLength(2);
    expect(await branches()).toBe('');
    // The next one is proposed as ever.
    const later = { ...refresh(5), deployedLinkExpiresAt: day(2) };
    expect(await target.write(later, context)).toMatchObject({ outcome: 'proposed' });
  });

  it('is switched on by the first pull request that is merged, and stays off if an operator switches it off later', async () => {
    const [on, off] = ['enabled: true', 'enabled: false'];
    await repository.commit('main', { [path]: `staticExport:\n  ${off}\n` });
    const { pullRequests, writer } = createForge();
    const target = targetWith(writer);
    await target.write(next(1), context);
    Object.assign(pullRequests[0] ?? {}, { state: 'closed' });
    for (const write of [next(2), next(3), refreshOf(3, 4)]) {
      expect(await target.write(write, context)).toMatchObject({ outcome: 'proposed', off: false });
      expect(await valuesOf(repository, await branches())).toContain(on);
    }
    await merge(await branches());
    Object.assign(pullRequests[1] ?? {}, { state: 'merged' });
    await repository.commit('main', { [path]: (await valuesOf(repository)).replace(on, off) });
    expect(await target.write(next(5), context)).toMatchObject({ outcome: 'proposed', off: true });
    expect(await valuesOf(repository, await branches())).toContain(off);
  });

  it('is proposed as a branch without a forge, and the branches say whether it was merged', async () => {
    const target = targetWith(undefined);
    const first = await target.write(next(1), context);
    expect(first).toMatchObject({ outcome: 'proposed', url: null });
    expect(await stateOf(target, first)).toBe('open');
    await merge(await branches());
    expect(await stateOf(target, first)).toBe('merged');
    const second = await target.write(next(2), context);
    expect(await stateOf(target, second)).toBe('open');
    await repository.git('branch', '-D', await branches());
    expect(await stateOf(target, second)).toBe('closed');
  });

  it('belongs to another site that took the file over while a pull request was open', async () => {
    const { writer } = createForge();
    const target = targetWith(writer);
    const first = await target.write(next(1), context);
    await merge(await branches());
    await target.write(next(2), context);
    const { epoch = 0, sequence = 0 } = first.owner ?? {};
    const takeover = { ...next(9), site: 'other', takeover: { site: 'docs', epoch, sequence } };
    const taken = await createGitTarget(settingsOf(repository.url)).write(takeover, { ...context, site: 'other' });
    expect(taken).toMatchObject({ outcome: 'written', owner: { site: 'other' } });
    const before = await repository.git('rev-parse', await branches());
    expect(await target.write(next(3), context)).toMatchObject({ outcome: 'foreign', owner: { site: 'other' } });
    expect(await repository.git('rev-parse', await branches())).toBe(before);
  });

  it('is waited for by retries, also while the repository is away', async () => {
    const { pullRequests, writer } = createForge();
    const git = settingsOf(repository.url, { mode: 'pull-request' });
    const settings = { domain: 'docs.example.com', webhooks: {}, export: { deployments: [{ git }] } };
    const adminApi = { url: 'https://api.example.com', key: 'key' };
    const { docs: site } = galleyConfig.parse({ adminApi, sites: { docs: settings } }).sites;
    const activities = createDeploymentActivities({
      logger: pino({ level: 'silent' }),
      readSite: () => site,
      targets: { openForge: () => writer },
    });
    const { owner } = await targetWith(writer).write(next(1), context);
    const input = {
      site: 'docs',
      valuesFile: deploymentName({ git }),
      epoch: owner?.epoch ?? 0,
      sequence: owner?.sequence ?? 0,
    };
    const check = () => activityEnvironment({ attempt: 1 }).run(activities.checkProposal, input);
    const open = { type: 'ProposalOpen', category: 'BENIGN', nextRetryDelay: 60_000 };
    await expect(check()).rejects.toMatchObject({ ...open, message: 'the pull request is open' });
    await rename(repository.dir, `${repository.dir}.away`);
    await expect(check()).rejects.toMatchObject({ ...open, message: expect.stringContaining("can't be read") });
    await rename(`${repository.dir}.away`, repository.dir);
    Object.assign(pullRequests[0] ?? {}, { state: 'merged' });
    expect(await check()).toBe('merged');
  });
});
