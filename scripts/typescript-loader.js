import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { swcOptions } from './swc-options.js';

/** Compiled files by the hash of their source. A program has hundreds of files, and tests start it many times. */
const CACHE = new URL('../.cache/typescript/', import.meta.url);

const require = createRequire(import.meta.url);

/** Further inputs of the cache key. */
const COMPILER = [
  require('@swc/core/package.json').version,
  JSON.stringify([true, false].map((tsx) => swcOptions({ tsx }))),
].join('\n');

/** Node's module loading hook: compiles `.ts` and `.tsx` files with the compiler that jest uses. */
export function load(url, context, nextLoad) {
  if (!url.startsWith('file:') || !/\.tsx?$/.test(new URL(url).pathname)) return nextLoad(url, context);
  const text = readFileSync(new URL(url), 'utf8');
  const cached = new URL(
    `${createHash('sha256').update(COMPILER).update(extname(url)).update(text).digest('hex')}.js`,
    CACHE,
  );
  return { format: 'module', source: readCached(cached) ?? compile(url, text, cached), shortCircuit: true };
}

function readCached(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function compile(url, text, cached) {
  // Loaded lazily: the library is large, and with a warm cache it isn't needed.
  const { transformSync } = require('@swc/core');
  const { code } = transformSync(text, { ...swcOptions({ tsx: url.endsWith('x') }), filename: fileURLToPath(url) });
  // Never half a file: other processes begin at the same time.
  const part = new URL(`${cached.href}.${randomUUID()}`);
  try {
    mkdirSync(CACHE, { recursive: true });
    writeFileSync(part, code);
    renameSync(part, cached);
  } catch {
    // It can't be cached here, so it is compiled each time.
  }
  return code;
}
