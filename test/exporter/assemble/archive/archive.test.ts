import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gunzipSync, gzipSync } from 'node:zlib';
import { MANIFEST_PATH } from '../../../../contract/bundle.ts';
import { gzipMember, measuredMember, trailerMember } from '../../../../exporter/assemble/archive/members.ts';
import { manifestText } from '../../../../exporter/assemble/manifest.ts';

const LONG = `${'folder/'.repeat(30)}${'n'.repeat(150)}.html`;
const ENTRIES = [
  { path: 'index.html', bytes: Buffer.from('<p>home'), contentType: 'text/html' },
  { path: 'empty.txt', bytes: new Uint8Array(), contentType: 'text/plain' },
  { path: 'exact.bin', bytes: Buffer.alloc(512, 7), contentType: 'application/octet-stream' },
  { path: LONG, bytes: Buffer.from('deep'), contentType: 'text/html' },
  { path: 'über/日本 %.html', bytes: Buffer.from('é'), contentType: 'text/html' },
];
const HEAD = {
  formatVersion: 1,
  jobId: 'se_0123456789abcdef',
  domain: 'docs.example.com',
  version: 'v1',
  createdAt: '2026-01-01T00:00:00Z',
  contentSha256: 'a'.repeat(64),
  pageCount: 3,
} as const;

async function bytesOf(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const collected: Buffer[] = [];
  for await (const chunk of chunks) collected.push(chunk);
  return Buffer.concat(collected);
}

/** The whole archive, joined from members as packing does it. */
async function archive(): Promise<{ bytes: Buffer; manifest: Buffer }> {
  const members = [await gzipMember(ENTRIES.slice(0, 2)), await gzipMember(ENTRIES.slice(2), { level: 1 })];
  async function* files() {
    for (const member of members) yield member.files;
  }
  const manifest = await bytesOf(manifestText(HEAD, files(), []));
  const source = manifestText(HEAD, files(), []);
  const head = await measuredMember({ path: MANIFEST_PATH, source }, { level: 6 });
  return { bytes: Buffer.concat([...head, ...members.map(({ bytes }) => bytes), await trailerMember()]), manifest };
}

describe('the archive', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'galley-archive-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is readable by tar, with the manifest first, also with long and non-ASCII names', async () => {
    const file = join(folder, 'bundle.tar.gz');
    const { bytes, manifest } = await archive();
    writeFileSync(file, bytes);
    const environment = { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C.UTF-8' } } as const;
    const listed = execFileSync('tar', ['--quoting-style=literal', '-tzf', file], environment);
    expect(listed.trimEnd().split('\n')).toEqual(['.galley/manifest.json', ...ENTRIES.map(({ path }) => path)]);
    execFileSync('tar', ['-xzf', file, '-C', folder], environment);
    for (const entry of ENTRIES) expect(readFileSync(join(folder, entry.path))).toEqual(Buffer.from(entry.bytes));
    expect(statSync(join(folder, 'index.html')).mtimeMs).toBe(0);
    expect(readFileSync(join(folder, MANIFEST_PATH))).toEqual(manifest);
    const details = execFileSync('tar', ['--numeric-owner', '-tvzf', file], environment).trimEnd().split('\n');
    expect(details.filter((line) => !line.startsWith('-rw-r--r-- 0/0 '))).toEqual([]);
  });

  it.each([0, 1, 511, 512, 513, 200_000])(
    'can contain a stream of %d bytes whose size is unknown',
    async (sizeBytes) => {
      const text = Buffer.alloc(sizeBytes, 'galley ');
      const half = Math.floor(sizeBytes / 2);
      const source = Readable.from([text.subarray(0, half), text.subarray(half)]);
      const member = Buffer.concat(await measuredMember({ path: MANIFEST_PATH, source }, { level: 6 }));
      const { bytes } = await gzipMember([{ path: MANIFEST_PATH, bytes: text, contentType: 'application/json' }]);
      expect(gunzipSync(member)).toEqual(gunzipSync(bytes));
    },
  );

  it('fails with the error of a streamed file', async () => {
    async function* broken(): AsyncGenerator<Buffer> {
      yield Buffer.from('so far');
      throw new Error('no further');
    }
    const member = measuredMember({ path: MANIFEST_PATH, source: broken() }, { level: 6 });
    await expect(member).rejects.toThrow('no further');
  });

  it('has the same bytes for the same files', async () => {
    const [one, two] = [await archive(), await archive()];
    expect(one.bytes.equals(two.bytes)).toBe(true);
  });

  it('compresses a member as gzip does, also one of many chunks', async () => {
    const bytes = Buffer.concat([randomBytes(300_000), Buffer.alloc(300_000, 'compressible ')]);
    const member = await gzipMember([{ path: 'large.bin', bytes, contentType: 'application/octet-stream' }]);
    const blocks = gunzipSync(member.bytes);
    expect(blocks.subarray(512, 512 + bytes.length).equals(bytes)).toBe(true);
    const whole = gzipSync(blocks, { level: 6 });
    // gzip notes the operating system there.
    whole[9] = 255;
    expect(whole.equals(member.bytes)).toBe(true);
  });

  it('reports the size, hash and type of each file', async () => {
    const { files } = await gzipMember(ENTRIES);
    expect(files[0]).toEqual({
      path: 'index.html',
      size: 7,
      sha256: createHash('sha256').update('<p>home').digest('hex'),
      contentType: 'text/html',
    });
    expect(files.map(({ path }) => path)).toEqual(ENTRIES.map(({ path }) => path));
  });

  it('consists of only the trailer if there are no files', async () => {
    const { bytes } = await gzipMember([]);
    expect(gunzipSync(Buffer.concat([bytes, await trailerMember()]))).toEqual(Buffer.alloc(1024));
  });
});
