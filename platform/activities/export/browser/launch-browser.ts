import { tmpdir } from 'node:os';
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

/** Starts a headless browser that can reach nothing by itself. It ends with this process, whatever ends that one. */
export async function launchBrowser({ executablePath, sandbox, searchPath }: LaunchOptions): Promise<Browser> {
  // Loaded when it is needed: most workers never draw a page.
  const { chromium } = await import('playwright-core');
  return chromium.launch({
    executablePath,
    chromiumSandbox: sandbox,
    headless: true,
    proxy: { server: NOWHERE },
    args: ARGUMENTS,
    // A visitor's browser blocks windows that open by themselves.
    ignoreDefaultArgs: ['--disable-popup-blocking'],
    env: { PATH: searchPath, HOME: tmpdir(), LANG: 'C.UTF-8' },
    handleSIGHUP: false,
    handleSIGINT: false,
    handleSIGTERM: false,
    timeout: 30_000,
  });
}
