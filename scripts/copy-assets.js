// Copies what the compiler leaves behind but the product reads at run time: dist/ then stands by itself.
import { cp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Product folders; everything in them that isn't TypeScript is an asset (SQL migrations, templates). */
const FOLDERS = [
  'contract',
  'api',
  'workflows',
  'activities',
  'worker',
  'forge',
  'platform',
  'deployment',
  'cli',
  'embedded',
];

for (const folder of FOLDERS) {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (!entry.isFile() || entry.name.endsWith('.ts')) continue;
    const source = join(entry.parentPath, entry.name);
    await cp(source, join(root, 'dist', source.slice(root.length)));
  }
}
