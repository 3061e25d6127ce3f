import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { galley } from '../helpers/galley.ts';

// What is wrong is shown in full by test/cli/config.test.ts; here that no program runs on it.
describe('a galley.yaml that is wrong', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'galley-wrong-'));
    const site = { domain: 'docs.example.com', export: { quietPeriod: 'soon' } };
    await writeFile(join(folder, 'galley.yaml'), JSON.stringify({ sites: { docs: site } }));
  });

  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  test.each(['api', 'worker', 'up'])('ends galley %s with 2, naming the key and what was expected', async (program) => {
    const variables = {
      GALLEY_CONFIG: join(folder, 'galley.yaml'),
      GALLEY_HOME: join(folder, 'home'),
      ADMIN_API_URL: 'http://127.0.0.1:1',
      ADMIN_API_KEY: 'galley_key',
    };
    const { code, stderr } = await galley([program], variables, folder);
    expect(stderr).toContain('sites.docs.export.quietPeriod: expected a duration such as');
    expect(stderr).not.toContain('    at ');
    expect(code).toBe(2);
  });
});
