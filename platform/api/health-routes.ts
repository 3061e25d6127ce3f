import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import type { Express } from 'express';
import { HttpError } from '../../web/http-error.ts';
import { retryAfter } from '../../web/retry-after.ts';
import type { Database } from '../store/database.ts';
import { organizations } from '../store/schema/organizations.ts';
import { addRoute } from './add-route.ts';

/** A probe that hangs is worse than one that fails. */
const PROBE_TIMEOUT_MS = 2_000;

/** `/healthz`: the process responds. `/readyz`: the database responds too and is migrated. */
export function addHealthRoutes(app: Express, db: Database): void {
  addRoute(app, '/healthz', {
    get: (_request, response) => {
      response.json({ status: 'ok' });
    },
  });
  addRoute(app, '/readyz', {
    get: async (_request, response) => {
      const asked = db.select({ one: sql`1` }).from(organizations).limit(1);
      const answered = await Promise.race([
        asked.then(
          () => true,
          () => false,
        ),
        sleep(PROBE_TIMEOUT_MS, false, { ref: false }),
      ]);
      if (!answered) throw new HttpError(503, 'The database is away', retryAfter(5));
      response.json({ status: 'ready' });
    },
  });
}
