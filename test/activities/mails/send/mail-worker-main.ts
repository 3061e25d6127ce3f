// A worker process that a test kills while it sends. Takes its task as a JSON argument, and prints a line for each
// scenario that has reached the step at which it stops.
import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { PATIENT_CONNECTION } from '../../../helpers/patient-connection.ts';
import { createMailWorker, interceptHeartbeats, Scenarios } from './mail-fixture.ts';

/** The step at which a scenario stops: before or after Temporal has stored the mark, or the outcome. */
export type PauseAt = 'before-mark' | 'after-mark' | 'before-answer-note' | 'after-answer-note';

export type MailWorkerOptions = {
  address: string;
  namespace: string;
  taskQueue: string;
  scenarios: { name: string; smtpUrl: string; pauseAt: PauseAt | null }[];
};

const options: MailWorkerOptions = JSON.parse(process.argv[2] ?? '');
const connection = await Connection.connect({ address: options.address, ...PATIENT_CONNECTION });
const { namespace } = options;
const scenarios = new Scenarios();
for (const { name, smtpUrl, pauseAt } of options.scenarios) {
  const client = interceptHeartbeats(new Client({ connection, namespace }), async (real, details) => {
    const step = JSON.stringify(details).includes('sending') ? 'mark' : 'answer-note';
    if (pauseAt === `before-${step}`) await stopForGood(name);
    await real();
    if (pauseAt === `after-${step}`) await stopForGood(name);
  });
  scenarios.add(name, { smtpUrl, client, socketTimeoutMs: 60_000 });
}

async function stopForGood(name: string): Promise<void> {
  console.log(name);
  await new Promise(() => {});
}

const nativeConnection = await NativeConnection.connect({ address: options.address });
const worker = await createMailWorker({ nativeConnection, namespace }, options.taskQueue, scenarios);
console.log('ready');
await worker.run();
