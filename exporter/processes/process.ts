/** The program of a task process (task-process.ts). It runs the batches that it gets, in their order. */
import { z } from 'zod';
import { endWithParent } from '../../base/job-program.ts';
import { errorMessage } from '../fetch/error-code.ts';
import { TASK_NAMES, TASKS } from './tasks.ts';

const batch = z.array(z.object({ name: z.enum(TASK_NAMES), input: z.any() }));

type Outcome = { result: unknown } | { error: string };

async function runTask({ name, input }: z.infer<typeof batch>[number]): Promise<Outcome> {
  try {
    return { result: await TASKS[name](input) };
  } catch (error) {
    return { error: errorMessage(error) };
  }
}

let running = Promise.resolve();

process.on('message', (received) => {
  running = running.then(async () => {
    const outcomes = await Promise.all(batch.parse(received).map(runTask));
    process.send?.(outcomes);
  });
});
endWithParent();
process.send?.('ready');
