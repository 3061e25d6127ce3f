import { mergeBranches } from '../../../platform/forge/merge-branches.ts';
import { openRepository } from '../../../platform/forge/repository.ts';
import { createTestRepository } from '../../helpers/forge-repository.ts';

describe('merging an expected head', () => {
  it('merges nothing if the branch has moved since the row was read, and the head once it is expected', async () => {
    const repository = await createTestRepository({ 'README.md': '# Handbook\n' });
    try {
      const headSha = await repository.commit('proposal', { 'read.md': 'Read\n' });
      const pushed = await repository.commit('proposal', { 'unread.md': 'Unread\n' });
      const base = await repository.git('rev-parse', 'main');
      const request = { headBranch: 'proposal', headSha, baseBranch: 'main', message: 'Merge' };
      const opened = await openRepository(repository.url);
      expect(await mergeBranches(opened, { ...request, expectedHead: headSha })).toEqual({ kind: 'other-head' });
      expect(await repository.git('rev-parse', 'main')).toBe(base);
      const merged = await mergeBranches(opened, { ...request, expectedHead: pushed });
      expect(merged).toMatchObject({ kind: 'merged', headSha: pushed, baseSha: base });
    } finally {
      await repository.remove();
    }
  });
});
