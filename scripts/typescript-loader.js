import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { swcOptions } from './swc-options.js';

/** Compiled files by the hash of their source. A program has hundreds of files, and tests start it many times. */
const CACHE = new URL('../.cache/typescript/', import.meta.url);

/** Further inputs of the cache key. */
const COMPILER = [
  createRequire(import.meta.url)('@swc/core/package.json').version,
  JSON.stringify([true, false].map((tsx) => swcOptions({ tsx }))),
].join('\n');

/** Node's module loading hook: compiles `.ts` and `.tsx` files with the compiler that jest uses. */
export async function load(url, context, nextLoad) {
  if (!url.startsWith('file:') || !/\.tsx?$/.test(new URL(url).pathname)) return await nextLoad(url, context);
  const text = await readFile(new URL(url), 'utf8');
  const cached = new URL(
    `${createHash('sha256').update(COMPILER).update(extname(url)).update(text).digest('hex')}.js`,
    CACHE,
  );
  const source = await readFile(cached, 'utf8').catch(() => compile(url, text, cached));
  return { format: 'module', source, shortCircuit: true };
}

async function compile(url, text, cached) {
  // Imported lazily: the library is large, and with a warm cache it isn't needed.
  const { transform } = await import('@swc/core');
  const { code } = await transform(text, { ...swcOptions({ tsx: url.endsWith('x') }), filename: fileURLToPath(url) });
  // Never half a file: other processes begin at the same time. Where nothing can be cached, it is compiled each time.
  const part = new URL(`${cached.href}.${randomUUID()}`);
  await mkdir(CACHE, { recursive: true })
    .then(() => writeFile(part, code))
    .then(() => rename(part, cached))
    .catch(() => {});
  return code;
}
