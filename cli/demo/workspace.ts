import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';

/** The demo's one site. The domain needs no DNS: its project names the origin on this machine. */
export const SITE = 'handbook';
export const DOMAIN = 'handbook.example.com';

/** Read from the environment, as in any galley.yaml. */
const CONTENTFUL_SECRET = `\${CONTENTFUL_SECRET}`;

/** The demo's own folder: configuration, values file, state. Gone at its end. */
export interface Workspace {
  folder: string;
  configFile: string;
  valuesFile: string;
  contentfulSecret: string;
  remove(): Promise<void>;
}

const VALUES = `# The values file of the demo's deployment. The orchestrator changes staticExport.enabled and bundleUrl, nothing else.
staticExport:
  enabled: false
`;

export async function createWorkspace(): Promise<Workspace> {
  const folder = await mkdtemp(join(tmpdir(), 'galley-demo-'));
  const configFile = join(folder, 'galley.yaml');
  const valuesFile = join(folder, 'values.yaml');
  // Contentful's secrets have 64 characters.
  const contentfulSecret = randomBytes(32).toString('hex');
  const site = {
    domain: DOMAIN,
    webhooks: { contentful: { secret: CONTENTFUL_SECRET } },
    export: { quietPeriod: '500ms', maxWait: '5s', deployments: [{ valuesFile: 'values.yaml' }] },
  };
  await writeFile(configFile, stringify({ sites: { [SITE]: site } }));
  await writeFile(valuesFile, VALUES);
  return {
    folder,
    configFile,
    valuesFile,
    contentfulSecret,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
