import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createFileCache } from '../../../deployment/serve/file-cache.ts';
import { createHeaderPolicy } from '../../../deployment/serve/header-policy.ts';
import { createRepresentations } from '../../../deployment/serve/representation.ts';
import { respondFile } from '../../../deployment/serve/respond-file.ts';
import { createSite } from '../../../deployment/site.ts';
import { type HttpService, serve } from '../../../programs/process/serve.ts';
import { createGate } from '../../helpers/system/gate.ts';
import { emptiedFolder } from '../../helpers/temporary-folder.ts';
import { manifestOf } from '../bundles.ts';

const REQUESTS = 300;
const BIG = Buffer.alloc(8 * 1024 ** 2);

const folder = emptiedFolder();
let service: HttpService | undefined;
beforeEach(async () => {
  await writeFile(join(folder, 'big.bin'), BIG);
});
afterEach(async () => {
  await service?.stop();
});

function openFiles(): number {
  return readdirSync('/dev/fd').length;
}

/** A server that responds to each request with the large file, and counts responses that were closed. */
async function serveBigFile() {
  const site = createSite(folder, 'archive', manifestOf({ files: { 'big.bin': BIG } }));
  const file = site.file('big.bin');
  if (file === undefined) throw new Error('the file is missing');
  const policy = createHeaderPolicy({ kind: 'client-hosted', rules: {}, apiPlayground: false });
  const representations = createRepresentations(policy, false);
  const cache = createFileCache(1024 ** 2);
  const allReceived = createGate();
  const faults: unknown[] = [];
  const seen = { received: 0, closed: 0, openBefore: 0 };
  const app: RequestListener = (req, res) => {
    if (seen.received === 0) seen.openBefore = openFiles();
    seen.received += 1;
    res.on('close', () => {
      seen.closed += 1;
    });
    const fault = (error: unknown): number => faults.push(error);
    respondFile({ cache, representations: () => representations, fault }, { req, res, site, file, status: 200 });
    if (seen.received === REQUESTS) allReceived.open();
  };
  service = await serve(app, { host: '127.0.0.1', port: 0, variable: 'PORT' });
  return { port: service.port, site, allReceived, faults, seen };
}

describe('pipelined requests for a large file', () => {
  it('open the file one after the other, and release its version when the client disconnects', async () => {
    const { port, site, allReceived, faults, seen } = await serveBigFile();
    const client = connect(port, '127.0.0.1');
    client.write('GET /big.bin HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(REQUESTS));
    await allReceived.pass();
    await once(client, 'readable');
    // Everything that was to be opened is open by then: file operations run in the order in which they are requested.
    await Promise.all(Array.from({ length: REQUESTS }, () => stat(folder)));
    expect(openFiles() - seen.openBefore).toBeLessThan(10);

    client.destroy();
    await site.idle();
    await service?.stop();
    expect({ closed: seen.closed, faults }).toEqual({ closed: REQUESTS, faults: [] });
  });

  it('are all answered if the client reads them', async () => {
    const { port, site, faults } = await serveBigFile();
    const client = connect(port, '127.0.0.1');
    const request = 'GET /big.bin HTTP/1.1\r\nHost: x\r\n\r\n';
    client.write(request.repeat(2) + request.replace('Host: x', 'Host: x\r\nConnection: close'));
    let received = 0;
    for await (const chunk of client) received += Buffer.from(chunk).length;
    expect(received).toBeGreaterThan(3 * BIG.length);
    await site.idle();
    expect(faults).toEqual([]);
  });
});
