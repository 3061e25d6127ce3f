import { defineConfig } from 'drizzle-kit';

// `npx drizzle-kit generate` compares the tables below with the newest snapshot and writes the next migration.
export default defineConfig({
  dialect: 'postgresql',
  schema: './platform/store/schema/*.ts',
  out: './platform/store/migrations',
});
