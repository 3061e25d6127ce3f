import { galley } from '../helpers/galley.ts';

test('a command says in one line that DATABASE_URL leads nowhere', async () => {
  const { code, stdout, stderr } = await galley(['keys', 'list'], {
    DATABASE_URL: 'postgres://nobody@127.0.0.1:9/nothing',
    LOG_LEVEL: '',
  });
  expect({ code, stdout, stderr }).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^galley: The database can't be reached .*: see DATABASE_URL\n$/),
  });
});
