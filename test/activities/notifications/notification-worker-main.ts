// A notification worker process that a test kills. Takes its options as a JSON argument.
import { NativeConnection } from '@temporalio/worker';
import { pino } from 'pino';
import type { NotifyConfig } from '../../../contract/galley-config.ts';
import { createNotificationWorker } from '../../../worker/worker.ts';

export type NotificationWorkerOptions = {
  address: string;
  namespace: string;
  taskQueue: string;
  notify: NotifyConfig;
};

const { address, ...options }: NotificationWorkerOptions = JSON.parse(process.argv[2] ?? '');
const worker = await createNotificationWorker({
  ...options,
  connection: await NativeConnection.connect({ address }),
  logger: pino({ level: 'silent' }),
});
console.log('ready');
await worker.run();
