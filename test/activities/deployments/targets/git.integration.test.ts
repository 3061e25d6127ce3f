import { rename } from 'node:fs/promises';
import { createGitTarget } from '../../../../activities/deployments/targets/git.ts';
import type { SettingsOf } from '../../../../contract/target-kind.ts';
import type { ForgeWriter, PullRequest } from '../../../../forge/forge.ts';
import { createTestRepository, type TestRepository } from '../../../helpers/forge-repository.ts';
import { startHttpSite } from '../../../helpers/http-site.ts';
import { deploymentWrite } from '../deployment-write.ts';
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

  it('is proposed in one pull request, which follows the newest version until it is merged', async () => {
    const repository = await createTestRepository({ [path]: VALUES });
    const opened: string[] = [];
    const forge = recordingForge(opened);
    try {
      const settings = settingsOf(repository.url, { mode: 'pull-request' });
      const target = createGitTarget(settings, { openForge: () => forge });
      for (const sequence of [1, 2, 2]) {
        expect(await target.write(next(sequence), context)).toMatchObject({ outcome: 'written' });
      }
      const branch = (await repository.git('branch', '--list', 'galley/*', '--format=%(refname:short)')).trim();
      expect(await valuesOf(repository)).toBe(VALUES.trimEnd());
      expect(await valuesOf(repository, branch)).toContain('https://new.test/2');
      expect((await repository.git('log', '--format=%s', `main..${branch}`)).split('\n')).toEqual(['Deploy docs v2']);
      expect(opened).toEqual(['Deploy docs v1', 'Deploy docs v2', 'Deploy docs v2']);
      expect(await target.write(next(1), context)).toMatchObject({ outcome: 'superseded' });
      await repository.git('branch', '--force', 'main', branch);
      await repository.git('branch', '-D', branch);
      expect(await target.write(next(2), context)).toMatchObject({ outcome: 'written' });
      expect(opened).toHaveLength(3);
      // While a proposal waits, another site takes the same owner's file over: that is merged, the proposal isn't.
      await target.write(next(3), context);
      const owned = JSON.stringify({
        ...JSON.parse(await repository.git('show', `main:${path}.galley.json`)),
        site: 'blog',
      });
      await repository.commit('main', { [`${path}.galley.json`]: owned });
      expect(await target.write(next(4), context)).toMatchObject({ outcome: 'foreign', owner: { site: 'blog' } });
    } finally {
      await repository.remove();
    }
  });
});

function recordingForge(opened: string[]): ForgeWriter {
  return {
    findPullRequest: async () => null,
    async openPullRequest({ title, branch, base }): Promise<PullRequest> {
      opened.push(title);
      const about = { url: 'https://forge.test/pulls/1', number: 1, state: 'open', author: 'galley' } as const;
      return { ...about, title, headBranch: branch, headSha: '', baseBranch: base, mergeCommitSha: null };
    },
    updatePullRequest: () => Promise.reject(new Error('unexpected')),
    gitCredentials: async () => null,
  };
}
