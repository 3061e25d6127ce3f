import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { z } from 'zod';
import { locateRealTool } from './real-tool.ts';

const AXE = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };

/** The first theme is examined. Words of more characters, such as URLs, may be broken. */
const LOOKS = [
  { device: 'desktop', viewport: DESKTOP, longestWord: 40, themes: ['light', 'dark'] },
  { device: 'phone', viewport: PHONE, longestWord: 20, themes: ['dark', 'light'] },
] as const;

/** Only ends what hangs: a busy machine takes long for a page. */
const TIMEOUT_MS = 300_000;

/** The user's browser. Close it in afterAll. */
export async function launchChromium(executablePath?: string): Promise<Browser> {
  return await chromium.launch({
    executablePath: executablePath ?? (await locateRealTool('chromium')),
    args: ['--no-sandbox'],
  });
}

/** A page whose errors, such as violations of its content security policy, are collected. */
export async function openPage(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; errors: string[] }> {
  const page = await (await browser.newContext({ reducedMotion: 'reduce', ...options })).newPage();
  page.setDefaultTimeout(TIMEOUT_MS);
  const errors: string[] = [];
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(String(error)));
  return { page, errors };
}

/** The device that keeps passkeys, whose user always agrees. */
export async function addAuthenticator(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true },
      ...{ isUserVerified: true, automaticPresenceSimulation: true },
    },
  });
}

/** What axe finds wrong. Evaluated by the debugger, which no policy of the page forbids. */
export async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const found = await page.evaluate(
    'axe.run({ rules: { "target-size": { enabled: true } } }).then(({ violations }) => violations.map(({ id, nodes }) => id + " " + nodes[0].html))',
  );
  return z.array(z.string()).parse(found);
}

/** Whether a page scrolls sideways. */
export async function isTooWide(page: Page): Promise<boolean> {
  return z.boolean().parse(await page.evaluate('document.documentElement.scrollWidth > innerWidth'));
}

/** Words of tables and lists of facts that stand on two lines although they aren't long, such as `standar` and `d`. */
export async function brokenWordsOf(page: Page, longestWord: number = LOOKS[0].longestWord): Promise<string[]> {
  const broken =
    await page.evaluate(`[...document.querySelectorAll('.table :is(td, th), .definitions div')].flatMap((cell) => {
    const found = [];
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      for (const { 0: word, index } of texts.currentNode.data.matchAll(/[^\\s-]+/g)) {
        const [before, after] = [texts.currentNode.data.slice(0, index), texts.currentNode.data.slice(index)];
        if ((/\\S*$/.exec(before)[0] + /^\\S*/.exec(after)[0]).length > ${longestWord}) continue;
        const range = document.createRange();
        range.setStart(texts.currentNode, index);
        range.setEnd(texts.currentNode, index + word.length);
        if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) found.push(word);
      }
    }
    return found;
  })`);
  return z.array(z.string()).parse(broken);
}

/**
 * What is wrong with a page on a desktop in the light theme, and on a phone in the dark one. With `SCREENSHOTS=folder`,
 * its pictures in both themes are stored there.
 */
export async function problemsOf(page: Page, name: string): Promise<string[]> {
  const folder = process.env.SCREENSHOTS;
  const problems: string[] = [];
  for (const { device, viewport, longestWord, themes } of LOOKS) {
    await page.setViewportSize(viewport);
    for (const [index, colorScheme] of themes.entries()) {
      await page.emulateMedia({ colorScheme });
      if (folder !== undefined) {
        await mkdir(folder, { recursive: true });
        await page.screenshot({ path: join(folder, `${name}-${device}-${colorScheme}.png`), fullPage: true });
      }
      if (index > 0) continue;
      const found = await violationsOf(page);
      if (await isTooWide(page)) found.push('scrolls sideways');
      found.push(...(await brokenWordsOf(page, longestWord)).map((word) => `breaks ${word}`));
      problems.push(...found.map((each) => `${name}, ${device}, ${colorScheme}: ${each}`));
    }
  }
  await page.setViewportSize(DESKTOP);
  await page.emulateMedia({ colorScheme: null });
  return problems;
}
