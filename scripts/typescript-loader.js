import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { swcOptions } from './swc-options.js';

/** What was compiled, by the text it was made from: a program has hundreds of files, and a test starts it many times. */
const KEPT = new URL('../.cache/typescript/', import.meta.url);

/** What else decides the result. */
const COMPILER = [
  createRequire(import.meta.url)('@swc/core/package.json').version,
  JSON.stringify([true, false].map((tsx) => swcOptions({ tsx }))),
].join('\n');

/** Node's module loading hook: a `.ts` or `.tsx` file is stripped of its types by the compiler that jest uses. */
export async function load(url, context, nextLoad) {
  if (!url.startsWith('file:') || !/\.tsx?$/.test(new URL(url).pathname)) return await nextLoad(url, context);
  const text = await readFile(new URL(url), 'utf8');
  const kept = new URL(
    `${createHash('sha256').update(COMPILER).update(extname(url)).update(text).digest('hex')}.js`,
    KEPT,
  );
  const source = await readFile(kept, 'utf8').catch(() => compile(url, text, kept));
  return { format: 'module', source, shortCircuit: true };
}

async function compile(url, text, kept) {
  // Only now: it is a large library, and many a process that could import TypeScript never has to compile any.
  const { transform } = await import('@swc/core');
  const { code } = await transform(text, { ...swcOptions({ tsx: url.endsWith('x') }), filename: fileURLToPath(url) });
  // Never half a file: other processes begin at the same time. Where nothing can be kept, it is compiled each time.
  const part = new URL(`${kept.href}.${randomUUID()}`);
  await mkdir(KEPT, { recursive: true })
    .then(() => writeFile(part, code))
    .then(() => rename(part, kept))
    .catch(() => {});
  return code;
}
