import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import { sources } from '../../api/webhooks/registry.ts';
import { EXPORT_DEFAULTS } from '../../contract/export-defaults.ts';
import { commonSettings } from '../../contract/webhook-settings.ts';
import { parseGalleyConfig } from '../../programs/config/galley-yaml.ts';

const sourcePages = readdirSync('docs/sources')
  .filter((name) => name !== 'index.md')
  .map((name) => join('docs/sources', name));
const pages = ['docs/configuration.md', 'docs/getting-started.md', ...sourcePages];

const examples = pages.flatMap((page) =>
  [...readFileSync(page, 'utf8').matchAll(/^( *)```yaml\n([\s\S]*?)^\1```$/gm)].map(
    ([, indent = '', text = ''], index) => ({
      name: `${page} (${index + 1})`,
      text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  ),
);

/** Values for variables that must have a certain form. Any other variable is a secret. */
const FORMED: Record<string, string> = {
  ADMIN_API_URL: 'http://127.0.0.1:3100',
  SMTP_URL: 'smtp://127.0.0.1:1025',
  STANDARD_WEBHOOK_SECRET: 'whsec_c2VjcmV0',
  SLACK_URL: 'https://hooks.example.com/services/T0/B0/x',
  NOTIFY_SECRET: 'whsec_c2VjcmV0',
};

function parseExample(text: string) {
  const variables = [...`${text} \${ADMIN_API_URL} \${ADMIN_API_KEY}`.matchAll(/\$\{(\w+)\}/g)];
  const env = Object.fromEntries(variables.map(([, name = '']) => [name, FORMED[name] ?? 'hush']));
  return parseGalleyConfig({ text, file: '/etc/galley/galley.yaml', env });
}

describe('the documented configurations', () => {
  test('include at least one for each source', () => {
    expect(examples.length).toBeGreaterThan(sourcePages.length);
  });

  test.each([...examples, { name: 'galley.example.yaml', text: readFileSync('galley.example.yaml', 'utf8') }])(
    'are valid: $name',
    ({ text }) => {
      const { sites } = parseExample(text);
      // An example of a global section has no `sites`.
      expect(Object.keys(sites)).toEqual(/^sites:/m.test(text) ? ['docs'] : []);
    },
  );

  test('cover every source', () => {
    const configured = examples.flatMap(({ text }) => Object.keys(parseExample(text).sites.docs?.webhooks ?? {}));
    expect([...new Set(configured)].sort()).toEqual([...sources.keys()].sort());
  });
});

test('the documented defaults of `export` are those of the product', () => {
  const [, section = ''] = readFileSync('docs/configuration.md', 'utf8').split(/^## `export`$/m);
  const [table = ''] = section.split(/^## /m);
  const rows = [...table.matchAll(/^\| `(\w+)` \| `([^`]+)` \|/gm)].map(([, key, value]) => `${key}: ${value}`);
  expect(rows).toHaveLength(Object.keys(EXPORT_DEFAULTS).length);
  const documented = parseExample(`sites: {docs: {domain: docs.example.com, export: {${rows.join(', ')}}}}`);
  const shown = parseExample(readFileSync('galley.example.yaml', 'utf8'));
  // galley.yaml's keys name no unit.
  const defaults = Object.fromEntries(
    Object.entries(EXPORT_DEFAULTS).map(([key, value]) => [key.replace(/Ms$/, ''), value]),
  );
  for (const { sites } of [documented, shown]) expect(sites.docs?.export).toMatchObject(defaults);
});

describe('the pages of the webhook sources', () => {
  const frontMatter = z.strictObject({ system: z.string(), keys: z.array(z.string()) });

  test('are one for each source', () => {
    expect(sourcePages.map((page) => basename(page, '.md')).sort()).toEqual([...sources.keys()].sort());
  });

  test.each([...sources])('list the settings of the source: %s', (name, { settings }) => {
    const [, yaml = ''] = /^---\n([\s\S]*?)\n---\n/.exec(readFileSync(`docs/sources/${name}.md`, 'utf8')) ?? [];
    const keys = settings instanceof z.ZodObject ? Object.keys(settings.shape) : [];
    const own = keys.filter((key) => !(key in commonSettings));
    expect(frontMatter.parse(parseYaml(yaml)).keys.sort()).toEqual(own.sort());
  });
});
