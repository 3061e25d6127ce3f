import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/** Where a process is to be held: as it is about to write a row of this table of which the condition is true. */
export type HoldPoint = {
  table: string;
  /** SQL over `new`, the row as it is to be. */
  when: string;
};

export type HeldStatements = {
  /** Waits until a process waits at each of the points. */
  untilAllHeld(): Promise<void>;
  /** Ends the statements of processes that were killed meanwhile, undone, and holds nobody from here on. */
  giveUp(): Promise<void>;
};

const LOCK = 4_711;
const WAITING = `select pid from pg_locks where locktype = 'advisory' and objid = ${LOCK} and not granted`;

/** Holds processes at points of their work on a database, so that a test can kill them right there. */
export async function holdStatements(databaseUrl: string, points: readonly HoldPoint[]): Promise<HeldStatements> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(`select pg_advisory_lock(${LOCK})`);
  for (const [index, { table, when }] of points.entries()) {
    const name = `hold_${index}`;
    await client.query(`
      create function ${name}() returns trigger language plpgsql as $$ begin
        if ${when} then perform pg_advisory_xact_lock_shared(${LOCK}); end if;
        return new;
      end $$;
      create trigger ${name} before insert or update on ${table} for each row execute function ${name}()`);
  }

  async function until(isSo: (heldCount: number) => boolean): Promise<void> {
    while (!isSo((await client.query(WAITING)).rows.length)) await sleep(20);
  }

  return {
    untilAllHeld: () => until((heldCount) => heldCount >= points.length),
    async giveUp() {
      await client.query(`select pg_terminate_backend(pid) from (${WAITING}) held`);
      await until((heldCount) => heldCount === 0);
      for (const index of points.keys()) await client.query(`drop function hold_${index} cascade`);
      await client.end();
    },
  };
}
