// Takes the screenshots in the README and the docs from a running Galley with one site:
//   npm run build && node --import ./scripts/typescript.js scripts/docs-screenshots.ts
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { galley, startGalley } from '../test/helpers/galley.ts';
import { serveFiles, startHttpSite } from '../test/helpers/http-site.ts';
import { waitFor } from '../test/helpers/system/wait-for.ts';

const FOLDER = 'docs/public';
const SITE = 'docs';
const VIEWPORT = { width: 1280, height: 800 };
const SECRET = `whsec_${Buffer.from('the secret of the site').toString('base64')}`;
const CONFIG = `
sites:
  ${SITE}:
    domain: docs.example.com
    webhooks: {standard: {secret: "${SECRET}"}}
    export: {quietPeriod: 1s, maxWait: 5s, deployments: [{valuesFile: values.yaml}]}
`;

const folder = await mkdtemp(join(tmpdir(), 'galley-screenshots-'));
await writeFile(join(folder, 'galley.yaml'), CONFIG);
const variables = {
  ...{ PORT: '0', PLATFORM_PORT: '0', DEPLOYMENT_PORT: '0', TEMPORAL_PORT: '0', TEMPORAL_UI_PORT: '0' },
  GALLEY_HOME: join(folder, 'state'),
};
const origin = await startHttpSite(siteOf('The first text.'));
const up = await startGalley(['up'], variables, folder);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
try {
  await run('projects', 'set', '--project', `prj_${SITE}`, '--origin', origin.origin);
  await publishAndWait(1);
  origin.setHandler(siteOf('The second text.'));
  await publishAndWait(2);
  await takePictures(browser);
} finally {
  await browser.close();
  await up.stop();
  await origin.close();
  await rm(folder, { recursive: true, force: true });
}

function siteOf(text: string) {
  const page = (title: string, body: string): string =>
    `<!doctype html><title>${title}</title><h1>${title}</h1>${body}`;
  const guides = Array.from({ length: 12 }, (_, index) => `/guides/${index + 1}`);
  const links = guides.map((path) => `<a href="${path}">${path}</a>`).join(' ');
  return serveFiles({
    '/': page('Docs', links),
    ...Object.fromEntries(guides.map((path) => [path, page(`Guide ${path}`, `<p>${text}</p><a href="/">Home</a>`)])),
  });
}

async function run(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await galley(args, variables, folder);
  if (code !== 0) throw new Error(`galley ${args.join(' ')}: ${stderr}`);
  return stdout;
}

async function publishAndWait(exports: number): Promise<void> {
  await run('webhook', 'send', SITE, 'standard', '--url', addressOf('api'));
  await waitFor(
    async () => {
      const state = JSON.parse(await run('sites', 'status', SITE, '--json'));
      return state.phase === 'live' && state.exports.length === exports;
    },
    { describe: `export ${exports} deployed` },
  );
}

/** Reads the part's URL from the line `ready api URL …`. */
function addressOf(part: string): string {
  const [, url] = new RegExp(` ${part} (\\S+)`).exec(up.ready) ?? [];
  if (url === undefined) throw new Error(`no ${part} in: ${up.ready}`);
  return url;
}

async function takePictures(browser: Browser): Promise<void> {
  const context = await browser.newContext({ viewport: VIEWPORT, colorScheme: 'light', reducedMotion: 'reduce' });
  const page = await context.newPage();
  const { url } = JSON.parse(await run('open', '--json', '--url', addressOf('api')));
  await page.goto(url);
  await page.getByLabel('Your name').fill('operator');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText(SITE).first().waitFor();
  await page.goto(new URL(`/ui/sites/${SITE}`, addressOf('api')).href);
  await page.screenshot({ path: join(FOLDER, 'site-page.png'), fullPage: true });
  const workflow = `namespaces/default/workflows/${encodeURIComponent(`export:${SITE}`)}`;
  await page.goto(`${addressOf('ui')}/${workflow}`);
  await page.getByText('Event History').first().waitFor();
  await page.getByText('writeDeployment').first().waitFor();
  await page.screenshot({ path: join(FOLDER, 'temporal-history.png') });
  await context.close();
}
