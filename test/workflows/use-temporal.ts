import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { DefaultLogger, type NativeConnection, Runtime } from '@temporalio/worker';
import { distinctRuns, type FetchedRun, replayErrors, runsOf } from '../helpers/replay.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { connectTemporal, startTimeSkipping, type TestTemporal } from '../helpers/temporal.ts';
import { workflowBundles } from '../helpers/workflow-bundles.ts';
import { recordRuns } from '../replay/record-runs.ts';

// Activities fail in many of these tests, and the SDK would log each failure.
Runtime.install({ logger: new DefaultLogger('ERROR') });

export type WorkflowServer = {
  client: Client;
  connection: NativeConnection;
  /** The server's time in milliseconds. */
  now: () => number | Promise<number>;
  /** Waits in the server's time. The time-skipping server skips the wait. */
  sleep: (ms: number) => Promise<void>;
  skipsTime: boolean;
  stop: () => Promise<void>;
};

/** Workflows that a test started on the server. */
type Started = { workflowIds(): string[]; close(): Promise<void> };

export type TemporalFixture = {
  server: () => WorkflowServer;
  /** Closes it after the test (after the file if the test is concurrent). Its workflows are replayed at the end. */
  closeLater: <T extends Started>(started: T) => T;
  /** Runs `stop` after everything from closeLater is closed. */
  atTheEnd: (stop: () => Promise<void>) => void;
};

/** A Temporal server for a test file. At the end, every distinct run of the tests must replay. */
export function useTemporal(kind: 'dev-server' | 'time-skipping'): TemporalFixture {
  let running: WorkflowServer | undefined;
  const open: Started[] = [];
  const stops: (() => Promise<void>)[] = [];
  const runs: FetchedRun[] = [];
  const server = (): WorkflowServer => {
    if (running === undefined) throw new Error('The server is not started yet');
    return running;
  };

  async function closeAll(): Promise<void> {
    const closing = open.splice(0);
    if (closing.length === 0) return;
    // A workflow that is terminated during a call would keep the time-skipping server from skipping time.
    if (kind === 'time-skipping') await server().sleep(10_000);
    for (const each of closing) {
      for (const id of each.workflowIds()) runs.push(...(await runsOf(server().client, id)));
    }
    await Promise.all(closing.map((each) => each.close()));
  }

  beforeAll(async () => {
    running = kind === 'dev-server' ? asWorkflowServer(await connectTemporal()) : await timeSkippingServer();
  });
  afterEach(closeAll);
  afterAll(async () => {
    await closeAll();
    for (const stop of stops) await stop();
    // Replays before the last connection closes, since that ends the SDK's runtime, and replays in a new runtime may stall.
    const errors = await replayErrors(workflowBundles.orchestrator, distinctRuns(runs));
    await running?.stop();
    expect(errors.filter((error) => error !== undefined)).toEqual([]);
    await recordRuns(runs);
  });

  return {
    server,
    closeLater(started) {
      open.push(started);
      return started;
    },
    atTheEnd: (stop) => void stops.push(stop),
  };
}

function asWorkflowServer({ client, nativeConnection, stop }: TestTemporal): WorkflowServer {
  return { client, connection: nativeConnection, now: Date.now, sleep: (ms) => sleep(ms), skipsTime: false, stop };
}

async function timeSkippingServer(): Promise<WorkflowServer> {
  const env = await startTimeSkipping();
  return {
    client: env.client,
    connection: env.nativeConnection,
    now: () => env.currentTimeMs(),
    sleep: (ms) => env.sleep(ms),
    skipsTime: true,
    stop: () => env.teardown(),
  };
}

/** Reads a workflow's state until `holds`, while the server's time passes. */
export async function untilState<State>(options: {
  server: WorkflowServer;
  description: string;
  read: () => Promise<State>;
  holds: (state: State) => boolean;
}): Promise<State> {
  const { server, description, read, holds } = options;
  const probe = async (): Promise<State> => {
    const state = await read();
    if (holds(state)) return state;
    if (server.skipsTime) await server.sleep(1_000);
    throw new Error(JSON.stringify(state));
  };
  return await waitFor(probe, { describe: description, ...(server.skipsTime && { everyMs: 1 }) });
}
