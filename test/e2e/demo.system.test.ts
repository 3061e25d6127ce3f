import { readdir } from 'node:fs/promises';
import { galley } from '../helpers/galley.ts';
import { emptiedFolder } from '../helpers/temporary-folder.ts';

/** A temporary folder of its own, so that what the demo leaves there is seen. */
const temporary = emptiedFolder();

test('the demo sees every step of a publish, to the refreshed links and to the merged pull request, and leaves nothing behind', async () => {
  const { code, stdout, stderr } = await galley(['demo', '--once'], { LOG_LEVEL: 'error', TMPDIR: temporary });
  expect({ code, stderr: stderr.split('\n').filter((line) => line.startsWith('galley:')) }).toEqual({
    code: 0,
    stderr: [],
  });
  expect(stdout).toMatch(/Contentful publishes "Handbook": 202 after \d+ ms/);
  expect(stdout).toMatch(/Temporal UI: http:\/\/\S+\/namespaces\/default\/workflows\/export%3Ahandbook/);
  expect(stdout).toMatch(/Temporal UI: http:\/\/\S+\/workflows\/se_[0-9a-f]{16}/);
  expect(stderr).toMatch(/export 100 % \| \d+ pages \| live/);
  expect(stdout).toMatch(/served: http:\/\/\S+ says "Edited by the demo at .*"/);
  expect(stdout).toMatch(/[\d.]+ s from the signed publish to the new text served/);
  expect(stdout).toMatch(/refresh 2: a fresh link in the values file/);
  expect(stdout).toMatch(/its agent job: {2}http:\/\/\S+\/workflows\/aj_[0-9a-f]{16}/);
  expect(stdout).toMatch(/pull request: http:\/\/127\.0\.0\.1:\d+\/pulls\/\S+ "Add "Handbook" to the changelog"/);
  for (const address of ['ada@example.com', 'grace@example.com'])
    expect(stdout).toMatch(new RegExp(`".*Add "Handbook" to the changelog" to ${address}: http://`));
  expect(stdout).toMatch(/workflow completed: merged, approved by ada@example\.com, 2 mails/);
  expect(stdout).toMatch(/CHANGELOG\.md of main now says: \* "Handbook" was published/);
  expect(stdout.trimEnd().endsWith('Every step succeeded.')).toBe(true);
  expect((await readdir(temporary)).filter((name) => name.startsWith('galley-'))).toEqual([]);
}, 400_000);
