import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportSummary, failureOf, type SavedExport } from '../../cli/export/export-summary.ts';
import { unpackTo } from '../../cli/export/output.ts';
import { MANIFEST_PATH } from '../../contract/bundle.ts';

const LINK = { url: 'https://docs.example.com/gone', reason: 'HTTP 404', status: 404 };
const REPORT = {
  jobId: 'se_0123456789abcdef',
  brokenLinks: [{ ...LINK, referrers: ['/', '/a', '/b', '/c'].map((path) => `https://docs.example.com${path}`) }],
  ...{ brokenAnchors: [], redirects: [], skippedPages: [], unread: [], originUrls: [], notices: [], truncated: false },
  leftOut: [
    { rule: 'nofollow', reason: 'only links with nofollow lead to it', count: 2, examples: [] },
    { rule: 'robots', reason: 'robots.txt disallows it', count: 1500, examples: [] },
  ],
  counts: { brokenLinks: 12, brokenAnchors: 0, redirects: 0, skippedPages: 1502, originUrls: 0 },
};
const ENDED: SavedExport = {
  ...{ jobId: REPORT.jobId, contentSha256: 'sha' },
  ...{ pageCount: 7, fileCount: 31, sizeBytes: 6, reusedFiles: 0, out: 'site.tar.gz', reportFile: 'report.json' },
  report: REPORT,
};

describe('the summary of an export', () => {
  it('aligns the rules by their counts and shortens long lists', () => {
    expect(exportSummary(ENDED).split('\n')).toEqual([
      'site.tar.gz: 7 pages, 31 files, 6 bytes',
      'Left out: 1502 URLs',
      '  1500  robots.txt disallows it',
      '     2  only links with nofollow lead to it',
      'Broken links: 12',
      '  https://docs.example.com/gone (HTTP 404) on https://docs.example.com/, https://docs.example.com/a, ' +
        'https://docs.example.com/b and 1 more',
      '  … and 11 more',
      'Report: report.json',
      '',
    ]);
  });

  it('counts the pages in Markdown', () => {
    const report = { ...REPORT, markdown: { fetched: 2, made: 5 } };
    expect(exportSummary({ ...ENDED, report })).toContain('Pages in Markdown: 2 of the origin, 5 made\n');
  });

  it('counts what is left of the origin', () => {
    const originUrls = [{ url: 'https://docs.example.com/a', count: 3 }];
    const left = { ...REPORT, originUrls, counts: { ...REPORT.counts, originUrls: 3 } };
    expect(exportSummary({ ...ENDED, report: left })).toContain(
      "Left in text and code: the origin's address, 3 times in 1 files\n",
    );
  });

  it('names broken anchors, and fails for them if that is wished', () => {
    const brokenAnchors = [{ url: 'https://docs.example.com/a#b', referrers: ['https://docs.example.com/'] }];
    const broken = { ...REPORT, brokenAnchors, counts: { ...REPORT.counts, brokenAnchors: 2 } };
    expect(exportSummary({ ...ENDED, report: broken })).toContain(
      'Broken anchors: 2\n  https://docs.example.com/a#b on https://docs.example.com/\n  … and 1 more\n',
    );
    expect(failureOf(broken, ['broken-anchors'])).toBe('--fail-on broken-anchors: 2 broken anchors');
    expect(failureOf(REPORT, ['broken-anchors'])).toBeUndefined();
  });

  it('names documents that were not read', () => {
    const unread = [{ url: 'https://docs.example.com/a.js', reason: 'the script nests too deep' }];
    expect(exportSummary({ ...ENDED, report: { ...REPORT, unread } })).toContain(
      'Not read, or not to the end: 1\n  https://docs.example.com/a.js (the script nests too deep)\n',
    );
    expect(failureOf({ ...REPORT, unread }, ['left-out', 'unread'])).toBe(
      '--fail-on left-out,unread: 1502 URLs left out, 1 documents not read',
    );
  });

  it('fails only for the named conditions', () => {
    expect(failureOf(REPORT, [])).toBeUndefined();
    expect(failureOf(REPORT, ['left-out'])).toBe('--fail-on left-out: 1502 URLs left out');
    expect(failureOf({ ...REPORT, leftOut: [] }, ['left-out'])).toBeUndefined();
  });
});

describe('an output folder', () => {
  it('keeps the earlier export if the new one is not valid', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'galley-output-'));
    try {
      await mkdir(join(folder, 'site/.galley'), { recursive: true });
      await writeFile(join(folder, 'site', MANIFEST_PATH), 'earlier');
      await writeFile(join(folder, 'broken.tar.gz'), 'no archive');
      const { signal } = new AbortController();
      const unpacking = unpackTo(join(folder, 'site'), join(folder, 'broken.tar.gz'), signal);
      await expect(unpacking).rejects.toThrow("The bundle can't be unpacked");
      expect(await readFile(join(folder, 'site', MANIFEST_PATH), 'utf8')).toBe('earlier');
      expect((await readdir(folder)).sort()).toEqual(['broken.tar.gz', 'site']);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
