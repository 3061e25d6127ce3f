import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startConstructSite } from '../exporter/construct-site.ts';
import { type DirectRig, startDirectRig } from '../helpers/direct-export.ts';
import { galley } from '../helpers/galley.ts';
import { readBundleArchive } from '../helpers/read-bundle.ts';
import { temporaryFolder } from '../helpers/temporary-folder.ts';

let fixture: DirectRig;
let origin: Awaited<ReturnType<typeof startConstructSite>>;
const folder = temporaryFolder();

beforeAll(async () => {
  origin = await startConstructSite();
  fixture = await startDirectRig();
});

afterAll(async () => {
  await origin?.close();
  await fixture?.stop();
});

it('galley export and the service create the same bundle for a site', async () => {
  const out = join(folder, 'site.tar.gz');
  const args = ['export', 'docs.example.com', '--origin', origin.site.origin, '--out', out, '--json'];
  const { code, stdout, stderr } = await galley(args, { LOG_LEVEL: 'error' });
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.anything() });
  const ours = await readBundleArchive(await readFile(out));
  const service = await fixture.run(await fixture.addProject(origin.site.origin));

  const contentOf = ({ manifest }: typeof ours) => {
    const { jobId: _, createdAt: _createdAt, version: _version, ...content } = manifest;
    return content;
  };
  expect(contentOf(ours)).toEqual(contentOf(service));
  expect(ours.files).toEqual(service.files);
  expect(ours.files.size).toBeGreaterThan(50);
  const { contentSha256, brokenLinks } = JSON.parse(stdout);
  expect(contentSha256).toBe(service.row.contentSha256);
  expect(brokenLinks).toEqual(service.report.brokenLinks);
});
