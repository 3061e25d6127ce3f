import { defineConfig } from 'drizzle-kit';

// `npx drizzle-kit generate --config platform/store/drizzle.config.ts` compares the tables with the newest snapshot and
// writes the next migration. Paths are relative to the repository.
export default defineConfig({
  dialect: 'postgresql',
  schema: './platform/store/schema/*.ts',
  out: './platform/store/migrations',
});
