import { readFile } from 'node:fs/promises';
import type { CDPSession } from 'playwright-core';

export type BrowserProcess = { pid: number; isTab: boolean; sizeBytes: number };

const KIB = 1024;

/** A process's private memory; undefined if the process has ended. */
async function memoryOnLinux(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kibibytes = /^RssAnon:\s+(\d+) kB/m.exec(status)?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) * KIB;
}

async function memoryElsewhere(pid: number): Promise<number | undefined> {
  // Loaded here, because few exports need a browser.
  const { execa } = await import('execa');
  const { stdout } = await execa('ps', ['-o', 'rss=', '-p', String(pid)], { reject: false });
  return /^\s*\d+\s*$/.test(stdout) ? Number(stdout) * KIB : undefined;
}

/** The browser's processes and their memory. */
export async function browserProcesses(session: CDPSession): Promise<BrowserProcess[]> {
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const read = process.platform === 'linux' ? memoryOnLinux : memoryElsewhere;
  const processes = await Promise.all(
    processInfo.map(async ({ id, type }) => {
      const sizeBytes = await read(id);
      return sizeBytes === undefined ? [] : [{ pid: id, isTab: type === 'renderer', sizeBytes }];
    }),
  );
  return processes.flat();
}
