import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';

/** The demo's only site. Its domain needs no DNS, because its project sets the origin. */
export const SITE = 'handbook';
export const DOMAIN = 'handbook.example.com';

/** The demo's only agent rule. Its pull requests are reviewed by the rule's list and the repository's CODEOWNERS. */
export const RULE = 'changelog';
export const REVIEWER = 'ada@example.com';
export const OWNER = 'grace@example.com';

/** The repository whose changelog the rule's agent keeps. */
export const REPOSITORY_FILES = {
  'CHANGELOG.md': '# Changelog\n\n* The handbook begins.\n',
  CODEOWNERS: `*.md ${OWNER}\n`,
  'README.md': '# Handbook\n\nThe sources of a site that the demo exports.\n',
};

/**
 * The first line becomes the pull request's title. The example agent reads only the sentence after it
 * (examples/replace-agent.js); other agents take any text.
 */
const PROMPT = `Add "{{ event.title }}" to the changelog

Replace '# Changelog

' with '# Changelog

* "{{ event.title }}" was published at {{ event.at }}.
' in CHANGELOG.md`;

/** Read from the environment, as in any galley.yaml. */
const CONTENTFUL_SECRET = `\${CONTENTFUL_SECRET}`;
const FORGE_SECRET = `\${FORGE_SECRET}`;

/** The demo's temporary folder: configuration, values file, state. */
export interface Workspace {
  folder: string;
  configFile: string;
  valuesFile: string;
  contentfulSecret: string;
  /** Signs the embedded forge's webhooks. */
  forgeSecret: string;
  remove(): Promise<void>;
}

const VALUES = `# The values file of the demo's deployment. The orchestrator changes staticExport.enabled and bundleUrl, nothing else.
staticExport:
  enabled: false
`;

/** @param smtpUrl the mailbox's. */
export async function createWorkspace(smtpUrl: string): Promise<Workspace> {
  const folder = await mkdtemp(join(tmpdir(), 'galley-demo-'));
  const configFile = join(folder, 'galley.yaml');
  const valuesFile = join(folder, 'values.yaml');
  // Contentful's secrets have 64 characters.
  const contentfulSecret = randomBytes(32).toString('hex');
  const site = {
    domain: DOMAIN,
    webhooks: { contentful: { secret: CONTENTFUL_SECRET }, github: { secret: FORGE_SECRET } },
    export: { quietPeriod: '500ms', maxWait: '5s', deployments: [{ valuesFile: 'values.yaml' }] },
    // One prompt is enough: later publishes are collected and wait for the next hour.
    agent: [{ name: RULE, on: 'publish', prompt: PROMPT, reviewers: [REVIEWER], quietPeriod: '500ms', maxPerHour: 1 }],
  };
  const smtp = { url: smtpUrl, from: 'Galley <galley@example.com>' };
  await writeFile(configFile, stringify({ smtp, forge: { kind: 'embedded' }, sites: { [SITE]: site } }));
  await writeFile(valuesFile, VALUES);
  return {
    folder,
    configFile,
    valuesFile,
    contentfulSecret,
    forgeSecret: randomBytes(32).toString('hex'),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
