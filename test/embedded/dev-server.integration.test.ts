import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../../contract/names.ts';
import { startDevServer as startBare } from '../../embedded/temporal/dev-server.ts';
import { locateDevServer } from '../../embedded/temporal/locate-dev-server.ts';
import { PATIENT_CONNECTION } from '../helpers/patient-connection.ts';
import { waitFor } from '../helpers/system/wait-for.ts';
import { startDevServer } from '../helpers/temporal.ts';
import { emptiedFolder } from '../helpers/temporary-folder.ts';

async function answers(address: string): Promise<boolean> {
  const connection = Connection.lazy({ address, ...PATIENT_CONNECTION });
  try {
    await connection.withDeadline(Date.now() + 1_000, () => connection.workflowService.getSystemInfo({}));
    return true;
  } catch {
    return false;
  } finally {
    await connection.close();
  }
}

const folder = emptiedFolder();

/** A program that replaces `temporal`. */
async function script(commands: string): Promise<string> {
  const path = join(folder, 'temporal');
  await writeFile(path, `#!/bin/sh\n${commands}\n`, { mode: 0o755 });
  return path;
}

describe('the embedded Temporal dev server', () => {
  test('responds with the search attributes registered and its UI served, and is gone after stop', async () => {
    const server = await startDevServer();
    try {
      const { customAttributes } = await server.client.connection.operatorService.listSearchAttributes({
        namespace: server.namespace,
      });
      expect(Object.keys(customAttributes ?? {})).toEqual(expect.arrayContaining(Object.values(SEARCH_ATTRIBUTES)));
      expect((await fetch(server.uiUrl)).status).toBe(200);
    } finally {
      await server.stop();
    }
    expect(await answers(server.address)).toBe(false);
  });

  test('keeps its state in the SQLite file across a crash and a restart on the same port', async () => {
    const dbFilename = join(folder, 'temporal.db');
    const first = await startDevServer({ dbFilename });
    try {
      await first.client.workflow.start('someType', { taskQueue: 'nobody', workflowId: 'kept' });
      await first.kill();
      const second = await startDevServer({ dbFilename, port: Number(first.address.split(':')[1]) });
      try {
        expect(second.address).toBe(first.address);
        expect((await second.client.workflow.getHandle('kept').describe()).type).toBe('someType');
      } finally {
        await second.stop();
      }
    } finally {
      await first.kill();
    }
  });

  test('is copied as of one moment while it works, and goes on', async () => {
    const dbFilename = join(folder, 'copied.db');
    const server = await startDevServer({ dbFilename });
    const started: string[] = [];
    let isOver = false;
    const startMany = async () => {
      for (let index = 0; !isOver; index += 1) {
        await server.client.workflow.start('someType', { taskQueue: 'nobody', workflowId: `one-${index}` });
        started.push(`one-${index}`);
      }
    };
    const work = startMany();
    await waitFor(() => started.length >= 20, { describe: 'started some' });
    const before = [...started];
    const copies = join(folder, 'copies');
    await mkdir(copies);
    await server.copyTo(copies);
    const after = started.length;
    await waitFor(() => started.length > after, { describe: 'went on' });
    isOver = true;
    await work;
    await server.stop();
    const copy = await startDevServer({ dbFilename: join(copies, 'copied.db') });
    try {
      for (const id of before) expect((await copy.client.workflow.getHandle(id).describe()).type).toBe('someType');
    } finally {
      await copy.stop();
    }
  });

  test('names the variable to set if its port is in use', async () => {
    const taken = createServer();
    await once(taken.listen(0, '127.0.0.1'), 'listening');
    const address = taken.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    try {
      const executable = await locateDevServer();
      await expect(startBare({ executable, port })).rejects.toThrow(
        /^Port \d+ on 127\.0\.0\.1 is in use.*TEMPORAL_PORT/,
      );
      await expect(startBare({ executable, uiPort: port })).rejects.toThrow(/TEMPORAL_UI_PORT/);
    } finally {
      taken.close();
    }
  });

  test('dies with its parent, even if the parent is killed', async () => {
    const parent = spawn(
      process.execPath,
      ['--import', './scripts/typescript.js', 'test/embedded/dev-server-parent.ts', await locateDevServer()],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const [chunk] = await once(parent.stdout, 'data');
    const address = String(chunk).trim();
    await waitFor(() => answers(address), { describe: 'answered' });
    parent.kill('SIGKILL');
    await waitFor(async () => !(await answers(address)), { describe: 'stopped' });
  });

  test('reports the output of a program that cannot start, also after a long stack trace', async () => {
    const executable = await script('echo "panic: the reason"; seq 1 5000; exit 2');
    await expect(startBare({ executable })).rejects.toThrow(/ended at start: panic: the reason\n1\n.*\n…\n.*\n5000$/s);
  });

  test('retries if the program panics once, as it does if its own random port is taken', async () => {
    const executable = await script(
      `[ -e "$0.panicked" ] && exec '${await locateDevServer()}' "$@"; touch "$0.panicked"; exit 2`,
    );
    const server = await startBare({ executable });
    await waitFor(() => answers(server.address), { describe: 'answered' });
    await server.stop();
  });
});
