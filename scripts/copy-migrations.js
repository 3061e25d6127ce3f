// tsc copies no SQL: the migrations that platform/store/migrate.ts looks for beside itself go to dist/ by this.
import { cp } from 'node:fs/promises';

const folder = (name) => new URL(`../${name}platform/store/migrations/`, import.meta.url);
await cp(folder(''), folder('dist/'), { recursive: true });
