import { readFile } from 'node:fs/promises';
import { PLANTED } from './planted.ts';

it.each(PLANTED)('$name can be planted: $what', async ({ file, find }) => {
  expect((await readFile(file, 'utf8')).split(find)).toHaveLength(2);
});
