// tsc copies only TypeScript: what the product looks for beside itself otherwise goes to dist/ by this. The migrations are
// read by platform/store/migrate.ts, the pages' assets by ui/assets.ts, the failure converter by cli/temporal.ts.
import { cp } from 'node:fs/promises';

for (const path of ['platform/store/migrations/', 'ui/assets/', 'cli/encrypted-failures.cjs']) {
  const at = (folder) => new URL(`../${folder}${path}`, import.meta.url);
  await cp(at(''), at('dist/'), { recursive: true });
}
