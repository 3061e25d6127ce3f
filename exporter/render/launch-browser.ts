import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';

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

export type LaunchOptions = {
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
  const home = await mkdtemp(join(tmpdir(), 'galley-chromium-'));
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
