import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PutBucketPolicyCommand, S3Client } from '@aws-sdk/client-s3';
import { type GuardedChild, spawnGuarded } from '../../embedded/guarded-child.ts';
import { freePort } from './free-port.ts';
import { locateRealTool } from './real-tool.ts';

const BUCKET = 'galley-bundles';

export type TestS3 = {
  /** The object store URL of its bucket. */
  url: string;
  endpoint: string;
  credentials: { accessKeyId: string; secretAccessKey: string };
  /** Where a browser, which knows any `….localhost`, finds the objects once `letAnyoneRead` was called. */
  bucketOrigin: string;
  letAnyoneRead(): Promise<void>;
  /** Kills it, like a crash. */
  kill(): Promise<void>;
  /** Restarts it with the same objects and port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
};

/** A real S3 server (versitygw) on a free port with one empty bucket, in a temporary folder. It ends with this process. */
export async function startS3(): Promise<TestS3> {
  const program = await locateRealTool('versitygw');
  const folder = await mkdtemp(join(tmpdir(), 'galley-s3-'));
  await mkdir(join(folder, BUCKET));
  const port = await freePort();
  const credentials = { accessKeyId: 'test-access', secretAccessKey: 'test-secret' };
  let child = await start(program, folder, port);
  const endpoint = `http://127.0.0.1:${port}`;
  return {
    url: `s3://${BUCKET}?endpoint=${encodeURIComponent(endpoint)}&region=us-east-1`,
    endpoint,
    credentials,
    bucketOrigin: `http://${BUCKET}.localhost:${port}`,
    async letAnyoneRead() {
      const client = new S3Client({ endpoint, credentials, region: 'us-east-1', forcePathStyle: true });
      const read = { Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: `arn:aws:s3:::${BUCKET}/*` };
      const Policy = JSON.stringify({ Statement: [read] });
      await client.send(new PutBucketPolicyCommand({ Bucket: BUCKET, Policy }));
      client.destroy();
    },
    kill: () => child.kill(),
    async restart() {
      child = await start(program, folder, port);
    },
    async stop() {
      await child.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function start(program: string, folder: string, port: number): Promise<GuardedChild> {
  const options = ['--port', `127.0.0.1:${port}`, '--virtual-domain', `localhost:${port}`, '--quiet'];
  const child = spawnGuarded(program, [...options, 'posix', folder], {
    PATH: process.env.PATH ?? '',
    ROOT_ACCESS_KEY: 'test-access',
    ROOT_SECRET_KEY: 'test-secret',
  });
  const deadline = Date.now() + 120_000;
  while (!(await accepts(port))) {
    if (child.process.exitCode !== null || Date.now() > deadline) throw new Error('versitygw did not start');
    await sleep(50);
  }
  return child;
}

async function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
