import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openExportState } from '../../cli/export/export-state.ts';
import { galley, galleyHere } from '../helpers/galley.ts';
import { type HttpSite, startHttpSite } from '../helpers/http-site.ts';
import { emptiedFolder } from '../helpers/temporary-folder.ts';

const folder = emptiedFolder();
let site: HttpSite;
let pages: Record<string, string>;
/** The paths that the origin sent with a body. */
let sent: string[];

const FULL = 'this is a full export';

beforeEach(async () => {
  pages = { '/': '<a href="/a">A</a><a href="/b">B</a>', '/a': '<a href="/">Start</a>', '/b': '<p>b' };
  sent = [];
  site = await startHttpSite((request, response) => {
    const body = pages[request.url ?? ''];
    if (body === undefined) return response.writeHead(404).end();
    const etag = `"${createHash('sha256').update(body).digest('hex')}"`;
    if (request.headers['if-none-match'] === etag) return response.writeHead(304, { etag }).end();
    sent.push(request.url ?? '');
    return response.writeHead(200, { 'content-type': 'text/html', etag }).end(body);
  });
});

afterEach(async () => {
  await site.close();
});

type Result = { code: number | null; stderr: string; sent: string[]; content: string; reused: number };

/** Exports the site and returns what the origin sent. */
const exported = (...options: string[]) => exportedBy(galleyHere, ...options);

async function exportedBy(run: typeof galley, ...options: string[]): Promise<Result> {
  sent = [];
  const args = ['export', 'docs.example.com', '--origin', site.origin, '--out', 'site.tar.gz', '--json', ...options];
  const { code, stdout, stderr } = await run(args, { LOG_LEVEL: 'error' }, folder);
  const { contentSha256, reusedFileCount } = code === 0 ? JSON.parse(stdout) : {};
  return { code, stderr, sent, content: contentSha256, reused: reusedFileCount };
}

const incrementally = () => exported('--incremental', 'state');

describe('galley export --incremental', () => {
  it('revalidates the previous export, and has the same content as a full export', async () => {
    const first = await incrementally();
    expect([first.code, first.reused]).toEqual([0, 0]);
    const second = await incrementally();
    expect(second).toMatchObject({ code: 0, content: first.content, sent: ['/'] });
    expect(second.reused).toBeGreaterThan(0);
    expect(second.stderr).not.toContain(FULL);

    pages['/b'] = '<p>changed <a href="/c">';
    pages['/c'] = '<p>new';
    const third = await incrementally();
    expect(third.sent.sort()).toEqual(['/', '/b', '/c']);
    expect(third.content).toBe((await exported()).content);
    expect(third.content).not.toBe(first.content);
    expect((await readdir(join(folder, 'state'))).sort()).toEqual(['last-export.jsonl', 'lock', 'objects']);
    expect(await readdir(join(folder, 'state/objects/bundles'))).toHaveLength(1);
  });

  it('exports in full and reports that if the state is broken, has other options or lost its objects', async () => {
    const { content } = await incrementally();
    const file = join(folder, 'state/last-export.jsonl');
    await truncate(file, (await readFile(file)).length - 10);
    const broken = await incrementally();
    expect(broken).toMatchObject({ code: 0, content, reused: 0 });
    expect(broken.stderr).toContain(`incomplete or damaged; ${FULL}`);

    const otherOrigin = ['--origin', site.origin.replace('127.0.0.1', 'localhost')];
    const other = await exported(...otherOrigin, '--incremental', 'state');
    expect(other).toMatchObject({ code: 0, content, reused: 0 });
    expect(other.stderr).toContain(`another version of Galley or with other options; ${FULL}`);

    await rm(join(folder, 'state/objects/exports'), { recursive: true });
    const gone = await exported(...otherOrigin, '--incremental', 'state');
    expect(gone).toMatchObject({ code: 0, content, reused: 0 });
    expect(gone.stderr).toContain(`incomplete or damaged; ${FULL}`);
  });

  it('keeps the state if an export fails, and leaves no folder if there was none', async () => {
    const start = pages['/'] ?? '';
    delete pages['/'];
    expect((await incrementally()).code).toBe(1);
    expect(await readdir(folder)).toEqual([]);
    pages['/'] = start;
    const { content } = await incrementally();
    const before = await readdir(join(folder, 'state'), { recursive: true });
    delete pages['/'];
    expect((await incrementally()).code).toBe(1);
    expect(await readdir(join(folder, 'state'), { recursive: true })).toEqual(before);
    pages['/'] = start;
    expect(await incrementally()).toMatchObject({ code: 0, content, sent: ['/'] });
  });

  it('rejects a folder with other files, and one that another export uses', async () => {
    await mkdir(join(folder, 'state'));
    await writeFile(join(folder, 'state/mine.txt'), 'mine');
    const refused = await incrementally();
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringMatching(/--incremental: .*state holds something/),
    ]);
    await rm(join(folder, 'state'), { recursive: true });
    const state = await openExportState(join(folder, 'state'));
    const busy = await exportedBy(galley, '--incremental', 'state');
    expect([busy.code, busy.stderr]).toEqual([1, expect.stringMatching(/another export uses .*state/)]);
    await state.close();
  });
});
