import pg from 'pg';
import { startEmbeddedDatabase } from '../../embedded/database/embedded-database.ts';

// A process that database.integration.test.ts starts and kills.
const [home] = process.argv.slice(2);
if (home === undefined) throw new Error('expected the folder');
const database = await startEmbeddedDatabase(home);
const client = new pg.Client({ connectionString: database.url });
await client.connect();
await client.query('create table kept (n int); insert into kept values (1)');
process.stdout.write('written\n');
