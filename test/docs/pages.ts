import { readdirSync, readFileSync } from 'node:fs';

/**
 * Pages, or one of their sections, whose commands run one after the other in page-commands.system.test.ts: a later page
 * continues an earlier one.
 */
export const RUN_HERE = [
  'docs/getting-started.md',
  'docs/reference/cli.md',
  'docs/reference/admin-api.md',
  'docs/sources/hmac.md',
  'docs/guide/agents.md',
  'docs/guide/embedded-forge.md',
  'docs/guide/agent-rules.md',
  'docs/guide/one-shot-export.md',
  'docs/guide/offline-search.md',
  'docs/guide/what-an-export-holds.md',
  'docs/guide/incremental-exports.md',
  'docs/reference/crawl-rules.md',
  'docs/guide/deployment.md',
  'docs/reference/bundle-format.md',
  'docs/guide/browser.md',
  'docs/operate/states.md',
  'docs/operate/traces.md',
  'docs/guide/client.md',
  'docs/operate/production.md#Without containers',
  'docs/security.md',
  'docs/operate/backup-and-upgrades.md',
  'README.md',
];

/** Pages whose commands need a service, an engine or a cluster of their own, and the file that takes them from the page. */
export const RUN_ELSEWHERE: Readonly<Record<string, string>> = {
  'docs/guide/hosted-admin-api.md': 'test/e2e/hosted-quick-start.system.test.ts',
  'docs/operate/production.md': 'test/containers/stack.ts',
  'docs/operate/kubernetes.md': 'test/cluster/page.ts',
};

/** How many blocks each section about containers has. The tests of containers take them by number, in order. */
export const CONTAINER_BLOCKS: Readonly<Record<string, number>> = {
  'docs/operate/production.md#With containers': 3,
  'docs/operate/production.md#Upgrade the containers': 1,
  'docs/operate/production.md#Back up the containers': 2,
};

/** Pages that no test can run, with the reason. A new page belongs into one of the lists above. */
export const NOT_RUN: Readonly<Record<string, string>> = {
  'docs/conformance.md': 'it runs tests',
  'docs/development.md': 'it runs tests, and changes the checkout',
  'docs/operate/benchmarks.md': 'it measures for hours, on a machine that does nothing else',
  'docs/sources/webflow.md': "it calls Webflow's API with an account's token",
};

/** Single commands of pages that run, which other tests run. */
export const RUN_BY_OTHER_TESTS: Readonly<Record<string, string>> = {
  'npm ci && npm run demo': 'test/e2e/demo.system.test.ts',
  'npm run demo': 'test/e2e/demo.system.test.ts',
  'npm ci && npm test': 'package.json',
};

/** The blocks of shell commands of a page or one of its sections without those below it, in order. */
export function blocksOf(page: string): string[] {
  const [file = '', section] = page.split('#');
  const text = readFileSync(file, 'utf8');
  const [own = ''] =
    section === undefined ? [text] : (text.split(new RegExp(`\n#+ ${section}\n`))[1] ?? '').split(/\n#+ /);
  const blocks = own.matchAll(/^( *)```(?:sh|bash|shell|console)\n([\s\S]*?)^\1```$/gm);
  return [...blocks].map(([, indent = '', text = '']) => text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''));
}

/** The block with this number in a section. Throws if there is none. */
export function blockOf(section: string, index: number): string {
  const block = blocksOf(section)[index];
  if (block === undefined) throw new Error(`${section}: has no commands with the number ${index}`);
  return block;
}

/** The lines of a block as a shell reads them: without comments, and with what `\` continues. */
export function linesOf(block: string): string[] {
  const lines = block.replaceAll(/\\\n\s*/g, ' ').split('\n');
  return lines.map((line) => line.replace(/(^|\s+)# .*/, '').trimEnd()).filter((line) => line !== '');
}

export function pagesWithCommands(): string[] {
  const pages = readdirSync('docs', { recursive: true, encoding: 'utf8' }).map((file) => `docs/${file}`);
  return ['README.md', ...pages].filter((page) => page.endsWith('.md') && blocksOf(page).length > 0).sort();
}
