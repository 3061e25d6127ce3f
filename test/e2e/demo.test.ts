import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { galley } from '../helpers/galley.ts';

async function demoFolders(): Promise<string[]> {
  return (await readdir(tmpdir())).filter((name) => name.startsWith('galley-demo-'));
}

test('the demo sees every step of a publish, with the links refreshed twice, and leaves nothing behind', async () => {
  const before = await demoFolders();
  const { code, stdout, stderr } = await galley(['demo', '--once'], { LOG_LEVEL: 'error' });
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
  expect(stdout.trimEnd().endsWith('Every step was seen.')).toBe(true);
  expect(await demoFolders()).toEqual(before);
}, 400_000);
