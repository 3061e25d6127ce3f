import { withAdmin } from '../../cli/admin/with-admin.ts';
import { createContext } from '../../programs/process/context.ts';

const { DATABASE_URL, LOG_LEVEL } = process.env;

afterEach(() => {
  for (const [name, value] of Object.entries({ DATABASE_URL, LOG_LEVEL })) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
});

test('a command fails for an unreachable DATABASE_URL, and names the variable', async () => {
  process.env.DATABASE_URL = 'postgres://nobody@127.0.0.1:9/nothing';
  await expect(withAdmin(async () => undefined, 200)).rejects.toThrow(
    /^The database can't be reached, or its migrations aren't done \(tried for 0.2 s\): see DATABASE_URL$/,
  );
});

test('a command that prints its own result logs errors only, unless LOG_LEVEL asks for more', () => {
  delete process.env.LOG_LEVEL;
  expect(createContext({ quiet: true }).logger.level).toBe('error');
  process.env.LOG_LEVEL = 'warn';
  expect(createContext({ quiet: true }).logger.level).toBe('warn');
});
