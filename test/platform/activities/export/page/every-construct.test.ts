import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { brokenReferences, bundleOrigin, folderOrigin, type Origin, simulateExport } from '../simulated-export.ts';
import { SITE } from './engine.ts';

const FOLDER = join(process.cwd(), 'test/fixtures/every-construct');
const files = folderOrigin(FOLDER, { cleanUrls: true });
const origin: Origin = (url) =>
  url === 'https://docs.example.com/old' ? { redirect: 'https://docs.example.com/guides/start' } : files(url);

const exported = simulateExport(SITE, origin);

describe('a site that uses every construct', () => {
  it('is exported to the last file', () => {
    const expected = readdirSync(FOLDER, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(FOLDER.length + 1));
    // What has a query has its own name; everything else keeps the origin's.
    const found = [...exported.files.keys()].map((path) => path.replace(/\.[0-9a-f]{12}\./, '.'));
    expect(found.sort()).toEqual(expected.sort());
  });

  it('misses only what the origin has not', () => {
    expect(exported.missing).toEqual([]);
    expect(brokenReferences(exported.files)).toEqual([]);
  });

  it('names neither the origin nor the root in any page', () => {
    for (const [path, bytes] of exported.files) {
      const text = Buffer.from(bytes)
        .toString('utf8')
        .replaceAll(/<!--.*?-->|<script>window.*?<\/script>/g, '');
      expect(text).not.toContain('127.0.0.1');
      if (path.endsWith('.html')) expect(text.replace('b.href="/"', '')).not.toMatch(/(?:href|src)=["']?\//i);
    }
  });

  it('is exported to the same bytes a second time', () => {
    const again = simulateExport(SITE, origin);
    expect([...again.files.keys()]).toEqual([...exported.files.keys()]);
    for (const [path, bytes] of again.files)
      expect(Buffer.from(bytes).equals(exported.files.get(path) ?? bytes)).toBe(true);
  });

  it('is left as it is when it is exported from its own export', () => {
    const page = simulateExport(SITE, bundleOrigin(exported.files)).files.get('index.html');
    expect(Buffer.from(page ?? []).toString('utf8')).toBe(
      Buffer.from(exported.files.get('index.html') ?? []).toString('utf8'),
    );
  });
});
