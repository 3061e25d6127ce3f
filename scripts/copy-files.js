// tsc handles only TypeScript. This copies the other files that the product reads: the migrations
// (platform/store/migrate.ts), the pages' assets (ui/assets.ts, exporter/search/shortcut.ts) and the failure converter (programs/temporal/temporal.ts).
import { cp } from 'node:fs/promises';

for (const path of [
  'platform/store/migrations/',
  'ui/assets/',
  'exporter/search/assets/',
  'programs/temporal/encrypted-failures.cjs',
]) {
  const at = (folder) => new URL(`../${folder}${path}`, import.meta.url);
  await cp(at(''), at('dist/'), { recursive: true });
}
