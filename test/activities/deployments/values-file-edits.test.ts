import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createValuesFileTarget } from '../../../activities/deployments/values-file.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';
import { deploymentWrite } from './deployment-write.ts';
import { EDITED, LINK, REJECTED } from './values-file-table.ts';

const folder = temporaryFolder();

const MARK = /⟦([^⟧]*?)⇒([^⟧]*?)⟧/g;
const before = (marked: string): string => marked.replace(MARK, (_, old: string) => old);
const after = (marked: string): string =>
  marked.replace(MARK, (_, __, edited: string) => edited.replaceAll('LINK', LINK));

const deploy = deploymentWrite({ bundleUrl: LINK });

it.each(EDITED)('a deploy changes only `enabled` and `bundleUrl`: $name', async ({ name, marked }) => {
  const file = join(folder, `${EDITED.findIndex((each) => each.name === name)}.yaml`);
  await writeFile(file, before(marked));
  // The row with a pin keeps it, so its version is the one that is deployed.
  const { pin } = await createValuesFileTarget(file).readSwitches();
  const report = await createValuesFileTarget(file).write({ ...deploy, version: pin });
  expect(report.outcome).toBe('written');
  const edited = await readFile(file);
  expect(edited.toString()).toBe(after(marked));
  expect(edited.equals(Buffer.from(after(marked)))).toBe(true);
});

it.each(REJECTED)('a malformed file is an error with its place, and nothing is written: $name', async (row) => {
  const alone = await mkdtemp(join(folder, 'rejected-'));
  const file = join(alone, 'values.yaml');
  await writeFile(file, row.text);
  const failed = await createValuesFileTarget(file)
    .write(deploy)
    .catch((error: unknown) => error);
  expect(failed).toMatchObject({ name: 'ValuesFileError', message: expect.stringContaining(row.error) });
  expect(failed).toMatchObject({ message: expect.stringMatching(/at line \d+, column \d+/) });
  expect(await readFile(file)).toEqual(Buffer.from(row.text));
  expect(await readdir(alone)).toEqual(['values.yaml']);
});
