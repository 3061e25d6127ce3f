import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';

/** Nothing listens here: what isn't in a context with a proxy of its own gets nowhere. */
const NOWHERE = 'http://127.0.0.1:9';

/**
 * Ways past a proxy, each closed: names looked up by the browser itself, QUIC, WebRTC and WebTransport over UDP, hints
 * and reports sent beside the page. Loopback goes through the proxy too, which Playwright sees to.
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
  /** Chromium's own sandbox, which keeps a page apart from the rest of this machine. */
  sandbox: boolean;
  /** The PATH the browser's starter may use; nothing else of the environment reaches it. */
  searchPath: string;
};

export type Launched = {
  browser: Browser;
  /** Removes what the browser left on the disk; for when it has ended. Never throws. */
  clear(): Promise<void>;
};

/** Starts a headless browser that can reach nothing by itself. It ends with this process, whatever ends that one. */
export async function launchBrowser({ executablePath, sandbox, searchPath }: LaunchOptions): Promise<Launched> {
  // Loaded when it is needed: most workers never draw a page.
  const { chromium } = await import('playwright-core');
  // Beside its profile it keeps files in the home of whoever starts it.
  const home = await mkdtemp(join(tmpdir(), 'galley-chromium-'));
  // A process of its may still be writing.
  const clear = () => rm(home, { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined);
  try {
    const browser = await chromium.launch({
      executablePath,
      chromiumSandbox: sandbox,
      headless: true,
      proxy: { server: NOWHERE },
      args: ARGUMENTS,
      // A visitor's browser blocks windows that open by themselves.
      ignoreDefaultArgs: ['--disable-popup-blocking'],
      env: { PATH: searchPath, HOME: home, LANG: 'C.UTF-8' },
      handleSIGHUP: false,
      handleSIGINT: false,
      handleSIGTERM: false,
      // A busy machine takes its time.
      timeout: 60_000,
    });
    return { browser, clear };
  } catch (error) {
    await clear();
    throw error;
  }
}
