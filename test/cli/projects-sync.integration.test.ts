import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeApiKey } from '../../platform/admin/api-key-text.ts';
import { galley } from '../helpers/galley.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';
import { createDatabase } from '../helpers/test-database.ts';

const CONFIG = `sites:
  docs: { domain: docs.example.com, projectId: prj_docs, webhooks: { token: { secret: "${'x'.repeat(32)}" } } }
  other: { domain: other.example.com, webhooks: { token: { secret: "${'y'.repeat(32)}" } } }
`;

const folder = temporaryFolder();

test('projects sync lets a key in and makes missing projects, once, in the organization of the key', async () => {
  const server = await createDatabase();
  try {
    const config = join(folder, 'galley.yaml');
    await writeFile(config, CONFIG);
    const key = makeApiKey();
    const env = {
      DATABASE_URL: server.url,
      GALLEY_CONFIG: config,
      ADMIN_API_KEY: key,
      ADMIN_API_URL: 'http://x.example',
    };
    const run = async (args: string[], more = {}) => await galley(args, { ...env, ...more });
    const json = async (...args: string[]): Promise<unknown> => JSON.parse((await run([...args, '--json'])).stdout);

    const synced = await json('projects', 'sync');
    expect(synced).toEqual({
      key: expect.stringMatching(/^key_/),
      organization: 'galley',
      projects: [
        { site: 'docs', project: 'prj_docs', domain: 'docs.example.com' },
        { site: 'other', project: 'prj_other', domain: 'other.example.com' },
      ],
    });
    expect(await json('projects', 'sync')).toEqual(synced);
    expect(await json('keys', 'list')).toMatchObject([{ organization: 'galley', prefix: key.slice(0, 13) }]);

    // An empty list would hide the mistake, and a question the answer.
    for (const args of [
      ['keys', 'list', '--organization', 'nosuch'],
      ['projects', 'list', '--organization', 'nosuch'],
      ['organizations', 'remove', 'nosuch'],
    ])
      expect(await run(args)).toMatchObject({
        ...{ code: 1, stdout: '' },
        stderr: expect.stringContaining('There is no organization nosuch: galley organizations list'),
      });

    // A key that was made by hand keeps its organization, where the projects are.
    const { stdout: made } = await run(['keys', 'create', '--organization', 'acme', '--json']);
    const acme = { ADMIN_API_KEY: (JSON.parse(made) as { key: string }).key };
    await writeFile(config, CONFIG.replaceAll('docs', 'third').replaceAll('other', 'fourth'));
    const { stdout } = await run(['projects', 'sync', '--json'], acme);
    expect(JSON.parse(stdout)).toMatchObject({
      organization: 'acme',
      projects: [{ project: 'prj_third' }, { project: 'prj_fourth' }],
    });

    const bad = await run(['projects', 'sync'], { ADMIN_API_KEY: 'galley_wrong' });
    expect(bad).toMatchObject({
      code: expect.any(Number),
      stderr: expect.stringContaining('key: expected a key that Galley made'),
    });
    const { key: id } = synced as { key: string };
    await run(['keys', 'revoke', id]);
    const revoked = await run(['projects', 'sync']);
    expect(revoked).toMatchObject({ code: 2, stderr: expect.stringContaining(`${id} was revoked`) });
  } finally {
    await server.stop();
  }
});
