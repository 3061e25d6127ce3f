import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createCheckoutFiles } from '../../../../../../platform/activities/agent/runners/model/checkout-files.ts';
import { emptiedFolder } from '../../../../../helpers/temporary-folder.ts';

describe('listing and searching the files of a checkout', () => {
  const root = emptiedFolder();

  beforeEach(async () => {
    for (const folder of Array.from({ length: 20 }, (_, index) => join(root, `folder${index}`))) {
      await mkdir(folder);
      for (let index = 0; index < 20; index++) await writeFile(join(folder, `${index}.txt`), 'text');
    }
  });

  it.each(['list', 'search'] as const)('stops when the run is aborted: %s', async (tool) => {
    const run = new AbortController();
    const files = createCheckoutFiles(root, 1_000, run.signal);
    const result = tool === 'list' ? files.list('.') : files.search('no such words', '.');
    run.abort(new Error('the run is over'));
    await expect(result).rejects.toThrow('the run is over');
  });

  it('covers every file if the run is not aborted', async () => {
    const files = createCheckoutFiles(root, 1_000, new AbortController().signal);
    expect((await files.list('.')).split('\n')).toHaveLength(400);
    expect(await files.search('no such words', '.')).toBe('found nowhere');
  });
});
