import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { constructFile, OUTSIDE, OUTSIDE_FOLDER, SITE_FOLDER } from '../construct-site.ts';
import { brokenReferences, bundleOrigin, type Origin, simulateExport } from '../simulated-export.ts';
import { SITE } from './engine.ts';

const origin: Origin = (url) => {
  if (url === 'https://docs.example.com/old') return { redirect: 'https://docs.example.com/guides/start' };
  const { pathname, hostname } = new URL(url);
  if (hostname === 'docs.example.com') return constructFile(SITE_FOLDER, pathname);
  return url.startsWith(`${OUTSIDE}/`) ? constructFile(OUTSIDE_FOLDER, pathname) : undefined;
};

const exported = simulateExport(SITE, origin);

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

describe('a site that uses every construct', () => {
  it('is exported to the last file, source maps and what is only asked for unnamed apart', () => {
    const own = [...filesOf(SITE_FOLDER), 'styles/face.woff2'].filter((path) => !/\.map$|^robots|^favicon/.test(path));
    const outside = [...filesOf(OUTSIDE_FOLDER), 'fonts/outside.woff2'].map(
      (path) => `_external/outside.example.org/${path}`,
    );
    // What has a query has its own name; everything else keeps the origin's.
    const found = [...exported.files.keys()].map((path) => path.replace(/\.[0-9a-f]{12}(?=\.|$)/, ''));
    expect([...new Set(found)].sort()).toEqual([...own, ...outside].sort());
  });

  it('names the other host only where a reader goes there', () => {
    const named = [...exported.files].filter(([, bytes]) => Buffer.from(bytes).includes(OUTSIDE)).map(([path]) => path);
    expect(named).toEqual(['outside.html']);
    const page = Buffer.from(exported.files.get('outside.html') ?? []).toString('utf8');
    const policy = /<meta http-equiv[^>]*>/.exec(page)?.[0] ?? '';
    expect(page.replace(policy, '').match(new RegExp(`${OUTSIDE}[^"]*`, 'g'))).toEqual([`${OUTSIDE}/reading`]);
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
