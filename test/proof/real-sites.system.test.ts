import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { proof } from '../../contract/proof.ts';
import { galley } from '../helpers/galley.ts';
import { emptiedFolder } from '../helpers/temporary-folder.ts';
import { PROOF_SITES } from './proof-sites.ts';
import { exportCommand } from './proving.ts';

const folder = emptiedFolder();

describe('galley export --prove', () => {
  it.each([
    ['part of postgresql', 4],
    ['part of python', 4],
    ['openjdk', 4],
    ['git', 4],
    ['blog', 6],
    ['Swagger UI', 4],
    ['vitepress', 4],
    ['docusaurus', 4],
  ])('finds the export of %s equal to its origin', async (name, pages) => {
    const start = PROOF_SITES[name];
    if (start === undefined) throw new Error(`there is no site ${name}`);
    const site = await start(join(folder, 'source'));
    try {
      const { args, variables } = await exportCommand(join(folder, 'home'), site.origin, 'site', [`--prove=${pages}`]);
      expect(await galley(args, variables, folder)).toMatchObject({ code: 0 });
      const { counts, pages: found } = proof.parse(JSON.parse(await readFile(join(folder, 'proof.json'), 'utf8')));
      expect(found.filter(({ status }) => status !== 'equal')).toEqual([]);
      expect(counts).toMatchObject({ pages, equal: pages });
    } finally {
      await site.close();
    }
  });
});
