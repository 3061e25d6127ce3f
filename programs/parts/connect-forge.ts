import { webhooksSection } from '../../api/webhooks/registry.ts';
import type { GalleyConfig } from '../../contract/galley-config.ts';
import type { Admin } from '../../platform/admin/admin.ts';

/** The source whose webhooks the embedded forge sends. */
const SOURCE = 'github';

/** The sites with agent rules can be told of pull requests by the platform's own forge, with this secret. */
export function withForgeWebhooks(sites: GalleyConfig['sites'], secret: string): GalleyConfig['sites'] {
  const own = webhooksSection.parse({ [SOURCE]: { secret } });
  return Object.fromEntries(
    Object.entries(sites).map(([name, site]) => [
      name,
      site.agent.length === 0 ? site : { ...site, webhooks: { ...own, ...site.webhooks } },
    ]),
  );
}

/**
 * Makes the platform's own forge tell these sites of their pull requests. A webhook that an operator set to another place
 * stays.
 */
export async function connectForge(
  { admin, organization }: { admin: Admin; organization: string },
  sites: GalleyConfig['sites'],
  apiUrl: string,
): Promise<void> {
  const projects = new Map(
    (await admin.listProjects({ organization })).map(({ project, settings }) => [project, settings]),
  );
  for (const [name, { agent, projectId = '', webhooks }] of Object.entries(sites)) {
    const [secret] = [webhooks[SOURCE]?.secret ?? []].flat();
    const project = projects.get(projectId);
    if (agent.length === 0 || secret === undefined || project === undefined) continue;
    const webhookUrl = new URL(`/webhooks/${name}/${SOURCE}`, apiUrl).href;
    if (project.webhookUrl === null || isOfEarlierStart(project.webhookUrl, webhookUrl))
      await admin.setProject({ project: projectId, settings: { webhookUrl, webhookSecret: secret } });
  }
}

/** The same but for the port, which may differ at each start. */
function isOfEarlierStart(known: string, now: string): boolean {
  const withoutPort = (url: string): string =>
    URL.canParse(url) ? Object.assign(new URL(url), { port: '' }).href : '';
  return withoutPort(known) === withoutPort(now);
}
