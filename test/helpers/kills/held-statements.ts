import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/** Where to block a process: before it writes a row of this table that fulfills the condition. */
export type HoldPoint = {
  table: string;
  /** SQL condition on `new`, the row to be written. */
  when: string;
};

export type HeldStatements = {
  /** Waits until a process is blocked at each point. */
  untilAllHeld(): Promise<void>;
  /** Rolls back the blocked statements, whose processes were killed, and blocks no more processes. */
  giveUp(): Promise<void>;
};

const LOCK = 4_711;
const WAITING = `select pid from pg_locks where locktype = 'advisory' and objid = ${LOCK} and not granted`;

/** Blocks processes at certain database writes, so that a test can kill them there. */
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

  async function until(condition: (heldCount: number) => boolean): Promise<void> {
    while (!condition((await client.query(WAITING)).rows.length)) await sleep(20);
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
