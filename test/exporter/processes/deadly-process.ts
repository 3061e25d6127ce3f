/** A task process that ends for `please-abort`, for `please-kill FILE;` (three times, as counted in the file) and never for `please-hang`. */
import { appendFileSync, readFileSync } from 'node:fs';
import { serialize } from 'node:v8';

const KILLS = 3;

await import('../../../exporter/processes/process.ts');

process.prependListener('message', (batch) => {
  const text = serialize(batch).toString('latin1');
  if (text.includes('please-abort')) process.abort();
  if (text.includes('please-hang')) while (true);
  const [, file] = /please-kill (.+?);/.exec(text) ?? [];
  if (file === undefined) return;
  appendFileSync(file, '.');
  if (readFileSync(file).length <= KILLS) process.kill(process.pid, 'SIGKILL');
});
