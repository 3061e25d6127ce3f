import { readCodeOwners } from '../../../platform/forge/changes/code-owners.ts';
import { openRepository } from '../../../platform/forge/repository.ts';
import { createTestRepository, type TestRepository } from '../../helpers/forge-repository.ts';

const MIB = 1024 * 1024;

describe("a repository's code owners", () => {
  const repositories: TestRepository[] = [];

  afterAll(async () => {
    for (const repository of repositories) await repository.remove();
  });

  async function ownersOf(files: Record<string, string>) {
    const repository = await createTestRepository({ 'README.md': 'Hello\n', ...files });
    repositories.push(repository);
    return await readCodeOwners((await openRepository(repository.url)).git, 'main');
  }

  it('are read from the first location that GitHub checks', async () => {
    const [first, last] = ['* @ada\n', '* @bob\n'];
    expect(await ownersOf({ '.github/CODEOWNERS': first, 'docs/CODEOWNERS': last })).toEqual({
      path: '.github/CODEOWNERS',
      content: first,
    });
    expect(await ownersOf({ 'docs/CODEOWNERS': last })).toEqual({ path: 'docs/CODEOWNERS', content: last });
  });

  it('are undefined if there is no such file, or it exceeds the size limit of GitHub', async () => {
    expect(await ownersOf({})).toBeUndefined();
    expect(await ownersOf({ CODEOWNERS: '#'.repeat(3 * MIB + 1) })).toBeUndefined();
    expect((await ownersOf({ CODEOWNERS: '#'.repeat(3 * MIB) }))?.content).toHaveLength(3 * MIB);
  });
});
