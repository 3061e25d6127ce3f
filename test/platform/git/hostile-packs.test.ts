import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { fetchCommit } from '../../../forge/git/fetch-commit.ts';
import { createGit } from '../../../forge/git/git.ts';
import { admitPack } from '../../../platform/git/admit-pack.ts';
import { type AgentRepository, createAgentRepository } from '../../helpers/agent-repository.ts';
import { temporaryFolder } from '../../helpers/temporary-folder.ts';

const git = createGit({ signal: new AbortController().signal });
const MIB = 1024 * 1024;

const folder = temporaryFolder();
let dir: string;
let repository: AgentRepository;

// All tests share the repository, because a rejected pack leaves nothing in it.
beforeAll(async () => {
  repository = await createAgentRepository();
  dir = join(folder, 'repository.git');
  const commit = (await repository.head('main')) ?? '';
  await fetchCommit(git, { dir, remote: { repository: repository.url, credentials: null }, commit, branches: [] });
});

afterAll(async () => {
  await repository.remove();
});

type PackedObject = { type: 'tree' | 'blob'; content: Buffer };

const TYPES = { tree: 2, blob: 3 } as const;

function idOf({ type, content }: PackedObject): string {
  return createHash('sha1').update(`${type} ${content.length}\0`).update(content).digest('hex');
}

function blob(text: string): PackedObject {
  return { type: 'blob', content: Buffer.from(text) };
}

function tree(entries: [mode: string, name: string, id: string][]): PackedObject {
  const parts = entries.map(([mode, name, id]) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')]);
  return { type: 'tree', content: Buffer.concat(parts.flat()) };
}

/** A pack in git's documented format, built by hand because git refuses to create most of these. */
function pack(objects: PackedObject[]): Buffer {
  const header = Buffer.concat([Buffer.from('PACK'), Buffer.from([0, 0, 0, 2, 0, 0, 0, objects.length])]);
  const body = objects.flatMap(({ type, content }) => {
    const bytes: number[] = [];
    let rest = content.length >> 4;
    bytes.push((TYPES[type] << 4) | (content.length & 15) | (rest > 0 ? 128 : 0));
    while (rest > 0) {
      bytes.push((rest & 127) | (rest >> 7 > 0 ? 128 : 0));
      rest >>= 7;
    }
    return [Buffer.from(bytes), deflateSync(content)];
  });
  const all = Buffer.concat([header, ...body]);
  return Buffer.concat([all, createHash('sha1').update(all).digest()]);
}

async function admit(bytes: Buffer, treeId: string, maxBytes = MIB): Promise<void> {
  const packFile = join(folder, 'change.pack');
  await writeFile(packFile, bytes);
  await admitPack(git, { dir, packFile, tree: treeId, maxBytes });
}

const text = blob('text\n');
const inside = tree([['100755', 'x', idOf(text)]]);

describe('an untrusted pack', () => {
  it('is accepted if it is valid', async () => {
    const root = tree([
      ['120000', 'link', idOf(text)],
      ['40000', 'sub', idOf(inside)],
    ]);
    await admit(pack([text, inside, root]), idOf(root));
    expect((await git(['cat-file', '-p', `${idOf(root)}:sub/x`], { dir })).stdout).toBe('text\n');
  });

  it.each([
    ['a folder .git', tree([['40000', '.git', idOf(inside)]])],
    ['a folder .GIT', tree([['40000', '.GIT', idOf(inside)]])],
    ['a folder .Git with dots and spaces', tree([['40000', '.Git. .', idOf(inside)]])],
    ['a folder named .git on Windows', tree([['40000', 'git~1', idOf(inside)]])],
    ['a folder named .git on macOS', tree([['40000', '.g\u200cit', idOf(inside)]])],
    ['a folder .git with a stream of Windows', tree([['40000', '.git::$INDEX_ALLOCATION', idOf(inside)]])],
    ['a symlink .git', tree([['120000', '.git', idOf(text)]])],
    ['a symlink .gitmodules', tree([['120000', '.gitmodules', idOf(text)]])],
    ['a file ..', tree([['100644', '..', idOf(text)]])],
    ['a file .', tree([['100644', '.', idOf(text)]])],
    ['a path .git/hooks/x as one name', tree([['100755', '.git/hooks/x', idOf(text)]])],
    ['a path ../x as one name', tree([['100644', '../x', idOf(text)]])],
    ['a name that is empty', tree([['100644', '', idOf(text)]])],
    [
      'two entries of one name',
      tree([
        ['100644', 'a', idOf(text)],
        ['100644', 'a', idOf(text)],
      ]),
    ],
    ['a mode that git does not know', tree([['104755', 'a', idOf(text)]])],
    ['an entry whose object is missing', tree([['100644', 'a', '12'.repeat(20)]])],
  ])('is rejected with %s', async (_what, root) => {
    const admitted = admit(pack([text, inside, root]), idOf(root));
    await expect(admitted).rejects.toMatchObject({ name: 'GitError', reason: 'broken', retryable: false });
    const { exitCode } = await git(['cat-file', '-e', idOf(root)], { dir, accept: [1, 128] });
    expect(exitCode).not.toBe(0);
  });

  it('is rejected with a submodule whose URL or name would run a command', async () => {
    for (const modules of [
      '[submodule "a"]\n\tpath = a\n\turl = --upload-pack=touch /tmp/x\n',
      '[submodule "../../hooks"]\n\tpath = a\n\turl = https://example.com/a\n',
      '[submodule "a"]\n\tpath = -x\n\turl = https://example.com/a\n',
      '[submodule "a"]\n\tpath = a\n\turl = https://example.com/a\n\tupdate = !touch /tmp/x\n',
    ]) {
      const file = blob(modules);
      const root = tree([['100644', '.gitmodules', idOf(file)]]);
      await expect(admit(pack([file, root]), idOf(root))).rejects.toMatchObject({ reason: 'broken' });
    }
  });

  it('is rejected if it is larger than the limit', async () => {
    const noise = blob(createHash('sha512').update('x').digest('hex').repeat(400));
    const root = tree([['100644', 'a', idOf(noise)]]);
    const bytes = pack([noise, root]);
    await expect(admit(bytes, idOf(root), 100)).rejects.toMatchObject({ reason: 'broken' });
  });

  it('is rejected if it is damaged, truncated, or not a pack', async () => {
    const root = tree([['100644', 'a', idOf(text)]]);
    const bytes = pack([text, root]);
    const damaged = Buffer.from(bytes);
    damaged[20] = (damaged[20] ?? 0) ^ 255;
    for (const wrong of [damaged, bytes.subarray(0, -8), Buffer.alloc(0), Buffer.from('not a pack')]) {
      await expect(admit(wrong, idOf(root))).rejects.toMatchObject({ reason: 'broken' });
    }
  });

  it('is rejected if the named object is not a tree in it', async () => {
    const root = tree([['100644', 'a', idOf(text)]]);
    const commit = (await repository.head('main')) ?? '';
    for (const wrong of [idOf(text), commit, '0'.repeat(40), 'main', '--help', `${idOf(root)}\n`]) {
      await expect(admit(pack([text, root]), wrong)).rejects.toMatchObject({ reason: 'broken' });
    }
  });
});
