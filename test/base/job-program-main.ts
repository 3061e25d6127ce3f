// The program of the processes in job-process.test.ts.
import { once } from 'node:events';
import { serveJobs } from '../../base/job-program.ts';

export type TestWork = {
  job: 'greet' | 'wait for abort';
  result: string;
  notice: { asks: string };
  reply: string;
};

serveJobs<TestWork>(async (job, { signal, ask }) => {
  if (job === 'greet') return `Hello ${await ask({ asks: 'name' })}`;
  await once(signal, 'abort');
  return 'aborted';
});
setInterval(() => undefined, 1_000);
