import { readChanges } from '../../../platform/forge/changes/read-changes.ts';
import { openRepository } from '../../../platform/forge/repository.ts';
import { createTestRepository } from '../../helpers/forge-repository.ts';

it('reads the changes of a pull request once for all who ask at the same time', async () => {
  const repository = await createTestRepository({ 'README.md': 'Hello\n' });
  try {
    const baseSha = await repository.git('rev-parse', 'main');
    const headSha = await repository.commit('proposal', { 'README.md': 'Bye\n' });
    const opened = await openRepository(repository.url);
    const ends = { baseSha, headSha };
    const [first, second] = await Promise.all([readChanges(opened, ends), readChanges(opened, ends)]);
    expect(first?.files.map(({ path }) => path)).toEqual(['README.md']);
    expect(second).toBe(first);
    expect((await readChanges(opened, { baseSha, headSha: baseSha }))?.files).toEqual([]);
  } finally {
    await repository.remove();
  }
});
