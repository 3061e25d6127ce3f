import { checkConfiguration } from '../../programs/config/check-configuration.ts';
import { ensureProjects, OWN_ORGANIZATION } from '../../programs/parts/ensure-projects.ts';
import { createContext } from '../../programs/process/context.ts';
import { withAdmin } from '../admin/with-admin.ts';
import { UsageError } from '../command-error.ts';
import { printJson } from '../output.ts';

/**
 * Lets the key that `api` and `worker` use open the Admin API here, and makes the projects that the sites of galley.yaml
 * lack. What is there stays.
 */
export async function syncProjects({ json }: { json?: boolean }): Promise<void> {
  const { settings } = createContext({ quiet: true });
  const key = settings.adminApiKey;
  if (key === undefined) throw new UsageError('ADMIN_API_KEY: expected the key of galley api and galley worker');
  const { sites } = await checkConfiguration(settings);
  await withAdmin(async (admin) => {
    const { id, organization } = await admin.createKey({ organization: OWN_ORGANIZATION, name: 'orchestrator', key });
    const ensured = Object.entries(await ensureProjects(admin, sites, organization));
    const projects = ensured.map(([site, { projectId, domain }]) => ({ site, project: projectId, domain }));
    if (json) return printJson({ key: id, organization, projects });
    process.stdout.write(`Key ${id} of ${organization} opens the Admin API.\n`);
    for (const { site, project, domain } of projects)
      process.stdout.write(`${site} is exported as ${project} (${domain}).\n`);
  });
}
