import { fileURLToPath } from 'node:url';
import { transformFile } from '@swc/core';

/** Node's module loading hook: a `.ts` file is stripped of its types by the compiler that jest uses. */
export async function load(url, context, nextLoad) {
  if (!url.startsWith('file:') || !new URL(url).pathname.endsWith('.ts')) return await nextLoad(url, context);
  const { code } = await transformFile(fileURLToPath(url));
  return { format: 'module', source: code, shortCircuit: true };
}
