import { spawnSync } from 'node:child_process';

const SCRIPT = `
import { createLogger } from './programs/process/context.ts';
const logger = createLogger({ level: 'info', terminal: process.argv[1] === 'terminal' });
logger.info({ site: 'handbook', secret: 'hush1', request: { authorization: 'hush2' }, adminApi: { key: 'hush3' } }, 'seen');
logger.debug('not at this level');
`;

test.each(['pipe', 'terminal'])('logs to standard error without secrets, for a %s', (kind) => {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', './scripts/typescript.js', '--input-type=module', '-e', SCRIPT, kind],
    { encoding: 'utf8' },
  );
  expect(stdout).toBe('');
  expect(stderr).toMatch(/seen/);
  expect(stderr).toMatch(/handbook/);
  expect(stderr).not.toMatch(/hush|not at this level/);
});

const TROUBLE = `
import { createLogger } from './programs/process/context.ts';
const logger = createLogger({ level: 'info', terminal: false });
logger.warn({ err: Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }) }, 'away');
logger.error({ err: new TypeError('a fault of ours') }, 'broken');
const client = { connectionParameters: { user: 'galley' }, secretKey: 123456789 };
logger.warn({ err: Object.assign(new Error('terminated'), { code: 'ECONNRESET', client, cause: client }) }, 'a connection broke');
`;

test('logs a stack only for errors that may be bugs of Galley, and no objects of libraries', () => {
  const args = ['--import', './scripts/typescript.js', '--input-type=module', '-e', TROUBLE];
  const [away, broken, connection] = spawnSync(process.execPath, args, { encoding: 'utf8' }).stderr.split('\n');
  expect(JSON.parse(away ?? '').err).toEqual({ type: 'Error', message: 'connect ECONNREFUSED', code: 'ECONNREFUSED' });
  expect(JSON.parse(broken ?? '').err).toMatchObject({ type: 'TypeError', stack: expect.stringContaining(' at ') });
  // A library attaches its connection, which has the key to cancel its queries.
  expect(JSON.parse(connection ?? '').err).toEqual({ type: 'Error', message: 'terminated', code: 'ECONNRESET' });
});
