import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js';
import { Client, Connection } from '@temporalio/client';
import pino from 'pino';
import { RECEIVER_CONNECTION } from '../../api/temporal-connection.ts';
import { registerSearchAttributes } from '../../programs/temporal/search-attributes.ts';

type Refusals = { list?: number; add?: number; count?: number };

const stops: Array<() => Promise<void> | void> = [];

afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

/** A gRPC server that responds with empty messages or the given codes, like a cloud with few permissions. */
async function startServer(refusals: Refusals): Promise<{ client: Client; calls: string[] }> {
  const calls: string[] = [];
  const answers = {
    '/temporal.api.workflowservice.v1.WorkflowService/GetSystemInfo': undefined,
    '/temporal.api.workflowservice.v1.WorkflowService/CountWorkflowExecutions': refusals.count,
    '/temporal.api.operatorservice.v1.OperatorService/ListSearchAttributes': refusals.list,
    '/temporal.api.operatorservice.v1.OperatorService/AddSearchAttributes': refusals.add,
  };
  const raw = (bytes: Buffer): Buffer => bytes;
  const codec = { requestSerialize: raw, requestDeserialize: raw, responseSerialize: raw, responseDeserialize: raw };
  const paths = Object.keys(answers);
  const service = Object.fromEntries(
    paths.map((path) => [path, { path, requestStream: false, responseStream: false, ...codec }]),
  );
  const handlers = Object.fromEntries(
    Object.entries(answers).map(([path, code]) => [
      path,
      (_call: ServerUnaryCall<Buffer, Buffer>, respond: sendUnaryData<Buffer>) => {
        calls.push(path.split('/').at(-1) ?? '');
        if (code === undefined) respond(null, Buffer.alloc(0));
        else respond({ code, details: 'no such luck' });
      },
    ]),
  );
  const server = new Server();
  server.addService(service, handlers);
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  const connection = Connection.lazy({ address: `127.0.0.1:${port}`, ...RECEIVER_CONNECTION });
  stops.push(
    () => server.forceShutdown(),
    () => connection.close(),
  );
  return { client: new Client({ connection }), calls };
}

async function register(refusals: Refusals, timeoutMs = 60_000) {
  const { client, calls } = await startServer(refusals);
  const lines: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line) => void lines.push(line) });
  const stopping = new AbortController();
  stops.push(() => stopping.abort());
  const attributes = registerSearchAttributes({
    client,
    namespace: 'docs',
    logger,
    signal: stopping.signal,
    timeoutMs,
  });
  await attributes.settled();
  return { ready: attributes.ready(), warnings: lines.length, text: lines.join(''), calls };
}

describe('the search attributes', () => {
  it('are used if an administrator added them, even without the permission to add them', async () => {
    const { ready, warnings } = await register({ list: status.PERMISSION_DENIED });
    expect({ ready, warnings }).toEqual({ ready: true, warnings: 0 });
  });

  it.each([
    ['may not register them', { add: status.PERMISSION_DENIED, count: status.INVALID_ARGUMENT }],
    ['finds no way to register them', { list: status.UNIMPLEMENTED, count: status.INVALID_ARGUMENT }],
  ])('are not used, with one log line, if the product %s', async (_why, refusals) => {
    const { ready, warnings, text } = await register(refusals);
    expect({ ready, warnings }).toEqual({ ready: false, warnings: 1 });
    expect(text).toContain('temporal operator search-attribute create');
  });

  it('are awaited only for a limited time if the server keeps failing', async () => {
    const { ready, warnings, calls } = await register({ add: status.INTERNAL, count: status.INVALID_ARGUMENT }, 1_000);
    expect({ ready, warnings }).toEqual({ ready: false, warnings: 1 });
    expect(calls.filter((call) => call === 'AddSearchAttributes').length).toBeGreaterThan(1);
  });
});
