import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode } from '../../../../../contract/error-code.ts';
import { type Found, findInCheckout } from './checkout-path.ts';
import { ToolRefusal } from './tool-refusal.ts';

/** The most lines of a listing or a search; the model can ask for parts. */
const MAX_LISTED = 1000;
const MAX_HITS = 200;
const MAX_HIT_LENGTH = 300;

export type CheckoutFiles = {
  list: (path: string) => Promise<string>;
  read: (path: string) => Promise<string>;
  search: (text: string, path: string) => Promise<string>;
  write: (path: string, content: string) => Promise<string>;
  replace: (path: string, before: string, after: string) => Promise<string>;
  remove: (path: string) => Promise<string>;
};

/**
 * File tools for one checkout. Each resolves to text for the model or throws a ToolRefusal; searches reject with the
 * signal's reason when it fires.
 */
export function createCheckoutFiles(root: string, maxFileBytes: number, signal: AbortSignal): CheckoutFiles {
  const read = async (path: string): Promise<{ found: Found; text: string }> => {
    const found = await findFile(root, path);
    if ((found.info?.size ?? 0) > maxFileBytes) {
      throw new ToolRefusal(`${found.path} has ${found.info?.size} bytes; at most ${maxFileBytes} can be read`);
    }
    const text = asText(await readFile(found.file));
    if (text === undefined) throw new ToolRefusal(`${found.path} is not a text file in UTF-8`);
    return { found, text };
  };
  const write = async (path: string, content: string): Promise<string> => {
    const sizeBytes = Buffer.byteLength(content);
    if (sizeBytes > maxFileBytes) throw new ToolRefusal(`${sizeBytes} bytes; at most ${maxFileBytes} can be written`);
    const { file, path: name, info } = await findInCheckout(root, path);
    if (info !== undefined && !info.isFile()) throw new ToolRefusal(`${name} is not a file`);
    try {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content);
    } catch (error) {
      throw new ToolRefusal(`${name}: ${errorCode(error) ?? 'not writable'}`);
    }
    return `${name}: written, ${sizeBytes} bytes`;
  };

  return {
    list: async (path) => {
      const paths = await filesBelow({ root, signal }, path, MAX_LISTED + 1);
      if (paths.length <= MAX_LISTED) return paths.length === 0 ? 'no files' : paths.join('\n');
      return `${paths.slice(0, MAX_LISTED).join('\n')}\n… more than ${MAX_LISTED} files: list a folder of them`;
    },
    read: async (path) => (await read(path)).text,
    search: async (text, path) => {
      const hits: string[] = [];
      for (const file of await filesBelow({ root, signal }, path, Number.POSITIVE_INFINITY)) {
        signal.throwIfAborted();
        const content = await read(file).catch(unreadable);
        hits.push(...hitsIn(file, content?.text ?? '', text, MAX_HITS + 1 - hits.length));
        if (hits.length > MAX_HITS) return `${hits.slice(0, MAX_HITS).join('\n')}\n… more than ${MAX_HITS} lines`;
      }
      return hits.length === 0 ? 'found nowhere' : hits.join('\n');
    },
    write,
    replace: async (path, before, after) => {
      const { found, text } = await read(path);
      const parts = text.split(before);
      if (parts.length !== 2) {
        throw new ToolRefusal(
          `${found.path}: expected the text to replace exactly once, found ${parts.length - 1} times`,
        );
      }
      return await write(path, parts.join(after));
    },
    remove: async (path) => {
      const found = await findFile(root, path);
      await rm(found.file);
      return `${found.path}: deleted`;
    },
  };
}

async function findFile(root: string, path: string): Promise<Found> {
  const found = await findInCheckout(root, path);
  if (found.info === undefined) throw new ToolRefusal(`${found.path}: no such file`);
  if (!found.info.isFile()) throw new ToolRefusal(`${found.path} is not a file`);
  return found;
}

type Checkout = { root: string; signal: AbortSignal };

/** Regular files below a folder, sorted by path, without git's own. Symbolic links are neither followed nor listed. */
async function filesBelow(checkout: Checkout, path: string, limit: number): Promise<string[]> {
  const { root, signal } = checkout;
  signal.throwIfAborted();
  const { file, path: name, info } = await findInCheckout(root, path);
  if (info === undefined) throw new ToolRefusal(`${name}: no such folder`);
  if (info.isFile()) return [name];
  const found: string[] = [];
  for (const entry of (await readdir(file, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.name.toLowerCase() === '.git' || found.length >= limit) continue;
    const below = name === '.' ? entry.name : join(name, entry.name);
    if (entry.isFile()) found.push(below);
    if (!entry.isDirectory()) continue;
    for (const each of await filesBelow(checkout, below, limit - found.length)) found.push(each);
  }
  return found;
}

function hitsIn(file: string, content: string, text: string, limit: number): string[] {
  if (!content.includes(text)) return [];
  return content
    .split('\n')
    .flatMap((line, index) => (line.includes(text) ? [`${file}:${index + 1}: ${line.slice(0, MAX_HIT_LENGTH)}`] : []))
    .slice(0, limit);
}

/** Undefined if the bytes aren't UTF-8 or hold a zero: writing them back would change them. */
function asText(bytes: Buffer): string | undefined {
  const text = bytes.toString('utf8');
  return text.includes('\0') || !Buffer.from(text, 'utf8').equals(bytes) ? undefined : text;
}

function unreadable(error: unknown): undefined {
  if (error instanceof ToolRefusal) return undefined;
  throw error;
}
