import { readFile, rm } from 'node:fs/promises';
import { execa } from 'execa';
import type { Browser, CDPSession } from 'playwright-core';
import { makeTemporaryFolder } from '../../base/temporary-folder.ts';

/** Nothing listens here, so contexts without their own proxy have no network. */
const NOWHERE = 'http://127.0.0.1:9';

/**
 * Closes every way around the proxy: DNS lookups by the browser, QUIC, WebRTC and WebTransport over UDP, prefetch
 * hints and background reports. Playwright sends loopback through the proxy too.
 */
const ARGUMENTS = [
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
  '--disable-quic',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--force-webrtc-ip-handling-policy',
  '--dns-prefetch-disable',
  '--no-pings',
  '--disable-domain-reliability',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
  '--disable-gpu',
  '--mute-audio',
];

type LaunchOptions = {
  executablePath: string;
  /** Chromium's own sandbox, which isolates pages from the rest of the machine. */
  sandbox: boolean;
  /** The PATH for the browser's launch script; it gets nothing else of the environment. */
  searchPath: string;
};

export type Launched = {
  browser: Browser;
  /** Removes the browser's files after it has ended. Never throws. */
  clear(): Promise<void>;
};

/** Starts a headless browser without network access of its own. It always ends with this process. */
export async function launchBrowser({ executablePath, sandbox, searchPath }: LaunchOptions): Promise<Launched> {
  // Imported lazily, because most workers never render a page.
  const { chromium } = await import('playwright-core');
  // The browser also writes outside its profile, so it gets its own HOME.
  const home = await makeTemporaryFolder('chromium');
  // Retries, because a browser process may still be writing.
  const clear = () => rm(home, { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined);
  try {
    const browser = await chromium.launch({
      executablePath,
      chromiumSandbox: sandbox,
      headless: true,
      proxy: { server: NOWHERE },
      args: ARGUMENTS,
      // Keeps the popup blocker on, as in a visitor's browser.
      ignoreDefaultArgs: ['--disable-popup-blocking'],
      env: { PATH: searchPath, HOME: home, LANG: 'C.UTF-8' },
      handleSIGHUP: false,
      handleSIGINT: false,
      handleSIGTERM: false,
      // Long enough for a busy machine.
      timeout: 60_000,
    });
    return { browser, clear };
  } catch (error) {
    await clear();
    throw error;
  }
}

type BrowserProcess = { pid: number; isTab: boolean; sizeBytes: number };

const KIB = 1024;

/** A process's private memory; undefined if the process has ended. */
async function memoryOnLinux(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kibibytes = /^RssAnon:\s+(\d+) kB/m.exec(status)?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) * KIB;
}

async function memoryElsewhere(pid: number): Promise<number | undefined> {
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
