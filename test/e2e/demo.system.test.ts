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
  expect(stdout).toMatch(/the site's workflow:\s+http:\/\/\S+\/namespaces\/default\/workflows\/export%3Ahandbook/);
  expect(stdout).toMatch(/the export job's workflow:\s+http:\/\/\S+\/workflows\/se_[0-9a-f]{16}/);
  expect(stderr).toMatch(/export 100 % \| \d+ pages \| live/);
  expect(stdout).toMatch(/served:\s+http:\/\/\S+\s+"Edited by the demo at .*"/);
  expect(stdout).toMatch(/[\d.]+ s from the signed publish to the new text served/);
  expect(stdout).toMatch(/refresh 2: a fresh link in the values file/);
  expect(stdout).toMatch(/its agent job:\s+http:\/\/\S+\/workflows\/aj_[0-9a-f]{16}/);
  expect(stdout).toMatch(/the pull request, Add "Handbook" to the changelog:\s+http:\/\/localhost:\d+\/pulls\//);
  for (const address of ['ada@example.com', 'grace@example.com'])
    expect(stdout).toMatch(new RegExp(`mail to ${address}:\\s+http://\\S+\\s+.*Add "Handbook" to the changelog`));
  expect(stdout).toMatch(/workflow completed: merged, approved by ada@example\.com, 2 mails/);
  expect(stdout).toMatch(/CHANGELOG\.md of main now says:\s+\* "Handbook" was published/);
  // Only a URL may be longer than a line of a terminal.
  expect(stdout.split('\n').filter((line) => line.length > 80 && !/^ {4}\S+$/.test(line))).toEqual([]);
  expect(stdout.trimEnd().endsWith('Every step succeeded.')).toBe(true);
  expect((await readdir(temporary)).filter((name) => name.startsWith('galley-'))).toEqual([]);
}, 400_000);
