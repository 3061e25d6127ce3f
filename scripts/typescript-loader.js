import { fileURLToPath } from 'node:url';

/** Node's module loading hook: a `.ts` file is stripped of its types by the compiler that jest uses. */
export async function load(url, context, nextLoad) {
  if (!url.startsWith('file:') || !new URL(url).pathname.endsWith('.ts')) return await nextLoad(url, context);
  // Only now: it is a large library, and many a process that could import TypeScript never does.
  const { transformFile } = await import('@swc/core');
  const { code } = await transformFile(fileURLToPath(url));
  return { format: 'module', source: code, shortCircuit: true };
}
