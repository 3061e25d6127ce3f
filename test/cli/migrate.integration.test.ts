import { pino } from 'pino';
import { connectDatabase } from '../../platform/store/database.ts';
import { galley } from '../helpers/galley.ts';
import { createDatabase } from '../helpers/test-database.ts';

it('galley migrate makes the tables of an empty database and exits, and changes nothing the second time', async () => {
  const server = await createDatabase({ empty: true });
  const db = connectDatabase({ url: server.url, logger: pino({ level: 'silent' }) });
  try {
    for (const _time of ['first', 'second']) {
      const { code, stdout, stderr } = await galley(['migrate'], { DATABASE_URL: server.url });
      expect([code, stdout, stderr]).toEqual([0, 'the database is migrated\n', '']);
      const { rows } = await db.pool.query("select to_regclass('projects') is not null as made");
      expect(rows).toEqual([{ made: true }]);
    }
  } finally {
    await db.close();
    await server.stop();
  }
});
