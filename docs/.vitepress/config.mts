import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';

const docs = fileURLToPath(new URL('..', import.meta.url));

/** A page for each webhook source and each decision: listed from the folder, so that none is forgotten. */
function pagesOf(folder: string): { text: string; link: string }[] {
  const names = readdirSync(docs).includes(folder) ? readdirSync(`${docs}/${folder}`) : [];
  return names
    .filter((name) => name.endsWith('.md') && name !== 'index.md')
    .sort()
    .map((name) => name.slice(0, -'.md'.length))
    .map((name) => ({ text: titleOf(name), link: `/${folder}/${name}` }));
}

function titleOf(name: string): string {
  const text = name.replace(/^\d+-/, '').replaceAll('-', ' ');
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

export default defineConfig({
  title: 'Galley',
  description: 'Galley keeps self-hosted docs in sync with your CMS.',
  lang: 'en',
  // Addresses without .html, as most documentation hosts have them: the demo exports this very site, and this is the
  // form that an export has most to do for.
  cleanUrls: true,
  lastUpdated: false,
  themeConfig: {
    search: {
      provider: 'local',
      // Why Galley is as it is, for its developers: users search for how to do something.
      options: {
        _render: (text, env, markdown) =>
          /^(decisions|development)/.test(env.relativePath) ? '' : markdown.render(text, env),
      },
    },
    outline: [2, 3],
    nav: [
      { text: 'Guide', link: '/getting-started' },
      { text: 'Operate', link: '/operate/production' },
      { text: 'Reference', link: '/reference/cli' },
    ],
    sidebar: [
      {
        text: 'Guide',
        items: [
          { text: 'Getting started', link: '/getting-started' },
          { text: 'Concepts', link: '/concepts' },
          { text: 'A hosted Admin API', link: '/guide/hosted-admin-api' },
          { text: 'The TypeScript client', link: '/guide/client' },
          { text: 'Export one site now', link: '/guide/one-shot-export' },
          { text: 'What an export holds', link: '/guide/what-an-export-holds' },
          { text: 'Search without a network', link: '/guide/offline-search' },
          { text: 'Site generators', link: '/guide/site-generators' },
          { text: 'Rendering in a browser', link: '/guide/browser' },
          { text: 'Incremental exports', link: '/guide/incremental-exports' },
          { text: 'The self-hosted deployment', link: '/guide/deployment' },
          { text: 'Deployment targets', link: '/guide/deployment-targets' },
        ],
      },
      {
        text: 'Agents and reviewers',
        items: [
          { text: 'Agent rules and changes', link: '/guide/agent-rules' },
          { text: 'Agent jobs', link: '/guide/agent-jobs' },
          { text: 'Coding agents', link: '/guide/agents' },
          { text: 'GitHub and Gitea', link: '/guide/forges' },
          { text: 'The embedded forge', link: '/guide/embedded-forge' },
          { text: 'Mail to reviewers', link: '/guide/reviewer-mail' },
          { text: 'Notifications', link: '/guide/notifications' },
        ],
      },
      {
        text: 'Operate',
        items: [
          { text: 'Production', link: '/operate/production' },
          { text: 'Kubernetes', link: '/operate/kubernetes' },
          { text: 'Monitoring', link: '/operate/monitoring' },
          { text: 'Traces', link: '/operate/traces' },
          { text: 'Queries', link: '/operate/queries' },
          { text: 'The sites page', link: '/operate/sites-page' },
          { text: "The platform's dashboard", link: '/operate/dashboard' },
          { text: 'States of a site', link: '/operate/states' },
          { text: 'When something fails', link: '/operate/failures' },
          { text: 'Backup and upgrades', link: '/operate/backup-and-upgrades' },
          { text: 'Retention', link: '/operate/retention' },
          { text: 'Benchmarks', link: '/operate/benchmarks' },
          { text: 'Security', link: '/security' },
          { text: 'Conformance', link: '/conformance' },
        ],
      },
      {
        text: 'Reference',
        items: [
          { text: 'Command line', link: '/reference/cli' },
          { text: 'galley.yaml', link: '/configuration' },
          { text: 'Environment', link: '/reference/environment' },
          { text: 'Values file', link: '/reference/values-file' },
          { text: 'HTTP of the orchestrator', link: '/reference/http' },
          { text: 'Admin API', link: '/reference/admin-api' },
          { text: 'Bundle format', link: '/reference/bundle-format' },
          { text: 'Crawl rules', link: '/reference/crawl-rules' },
          { text: 'Dependencies', link: '/dependencies' },
          { text: 'Development', link: '/development' },
        ],
      },
      { text: 'Webhook sources', collapsed: true, link: '/sources/', items: pagesOf('sources') },
      { text: 'Decisions', collapsed: true, link: '/decisions/', items: pagesOf('decisions') },
    ],
  },
});
