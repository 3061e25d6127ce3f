import { existsSync, realpathSync } from 'node:fs';
import { brokenReferences, folderOrigin, type SimulatedExport, simulateExport } from './simulated-export.ts';

const SITE = { domain: 'docs.example.com', origin: 'http://127.0.0.1:8080' };

/** A documentation package as Debian installs it; a missing one is a failure that names the command. */
function exportPackage(folder: string): SimulatedExport {
  if (!existsSync(folder)) throw new Error(`${folder} is missing. Run: npm run setup:system`);
  return simulateExport(SITE, folderOrigin(realpathSync(folder), { cleanUrls: false }));
}

describe.each([
  ['PostgreSQL’s', '/usr/share/doc/postgresql-doc-15/html', 1169],
  ['Python’s', '/usr/share/doc/python3.11/html', 500],
])('%s manual', (_, folder, pages) => {
  let exported: SimulatedExport;
  beforeAll(() => {
    exported = exportPackage(folder);
  });

  it('is exported whole', () => {
    const found = [...exported.files.keys()].filter((path) => path.endsWith('.html'));
    expect(found.length).toBeGreaterThanOrEqual(pages);
  });

  it('leads nowhere that the origin doesn’t', () => {
    const missing = new Set(exported.missing.map((url) => decodeURIComponent(new URL(url).pathname.slice(1))));
    const broken = brokenReferences(exported.files).filter((each) => !missing.has(each.split(' → ')[1] ?? ''));
    expect(broken).toEqual([]);
  });
});

describe('PostgreSQL’s manual, whose links are all relative', () => {
  it('is exported byte by byte as it was', () => {
    const folder = '/usr/share/doc/postgresql-doc-15/html';
    const origin = folderOrigin(realpathSync(folder), { cleanUrls: false });
    const changed = [...exportPackage(folder).files].filter(([path, bytes]) => {
      const answer = origin(`https://docs.example.com/${encodeURI(path)}`);
      return answer === undefined || !('bytes' in answer) || !Buffer.from(bytes).equals(answer.bytes);
    });
    expect(changed.map(([path]) => path)).toEqual([]);
  });
});
