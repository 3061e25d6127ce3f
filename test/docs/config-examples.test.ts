import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseGalleyConfig } from '../../cli/config.ts';

/** What the examples name, each with a value that its place takes. */
const env: Record<string, string> = {
  ADMIN_API_URL: 'http://127.0.0.1:3100',
  ADMIN_API_KEY: 'galley_key',
  CONTENTFUL_SECRET: 'c'.repeat(64),
  GITHUB_WEBHOOK_SECRET: 'octo',
  GITHUB_TOKEN: 'token',
  SMTP_URL: 'smtp://127.0.0.1:1025',
  STANDARD_WEBHOOK_SECRET: 'whsec_c2VjcmV0',
  SANITY_WEBHOOK_SECRET: 'sane',
  GHOST_WEBHOOK_SECRET: 'boo',
  STORYBLOK_WEBHOOK_SECRET: 'story',
  HYGRAPH_WEBHOOK_SECRET: 'graph',
  KONTENT_WEBHOOK_SECRET: 'tent',
  WEBFLOW_SITE_PUBLISH_KEY: 'flow',
  WEBFLOW_ITEM_UNPUBLISHED_KEY: 'flow',
  WOOCOMMERCE_SECRET: 'shop',
  PRISMIC_SECRET: 'hush',
  STRAPI_TOKEN: 'token',
  DIRECTUS_TOKEN: 'token',
  PAYLOAD_TOKEN: 'token',
  WORDPRESS_TOKEN: 'token',
  WEBHOOK_TOKEN: 'token',
  WEBHOOK_SECRET: 'hush',
};

const sources = readdirSync('docs/sources').map((name) => join('docs/sources', name));
const pages = ['docs/configuration.md', 'docs/getting-started.md', ...sources];

const examples = pages.flatMap((page) =>
  [...readFileSync(page, 'utf8').matchAll(/^( *)```yaml\n([\s\S]*?)^\1```$/gm)].map(
    ([, indent = '', text = ''], index) => ({
      name: `${page} (${index + 1})`,
      text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  ),
);

describe('the documented configurations', () => {
  test('are found: at least one for each source', () => {
    expect(examples.length).toBeGreaterThan(sources.length);
  });

  test.each([...examples, { name: 'galley.example.yaml', text: readFileSync('galley.example.yaml', 'utf8') }])(
    'are valid: $name',
    ({ text }) => {
      const { sites } = parseGalleyConfig({ text, file: '/etc/galley/galley.yaml', env });
      expect(Object.keys(sites)).toEqual(['handbook']);
    },
  );

  test('cover every source that has a page', () => {
    const configured = examples.flatMap(({ text }) =>
      Object.keys(parseGalleyConfig({ text, file: '/etc/galley/galley.yaml', env }).sites.handbook?.webhooks ?? {}),
    );
    expect([...new Set(configured)].sort()).toEqual(sources.map((page) => basename(page, '.md')).sort());
  });
});
