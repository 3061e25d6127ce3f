import { deploymentPlace, type TargetConfig, targetOf } from '../../contract/deployment-config.ts';
import { notConfigured } from '../not-configured.ts';
import type { ReadSite } from '../sites/read-site.ts';

/**
 * The target of a deployment in this worker's galley.yaml. Throws `NotConfigured` (not-configured.ts).
 * @param site undefined: the name is the path of a values file that any worker can write
 */
export async function findTarget(readSite: ReadSite, name: string, site: string | undefined): Promise<TargetConfig> {
  if (site === undefined) return { kind: 'valuesFile', settings: name };
  const config = await readSite(site);
  const entry = config?.export.deployments.find((each) => deploymentPlace(each) === name);
  if (entry === undefined) throw notConfigured(`the deployment ${name} of the site ${site}`);
  return targetOf(entry);
}
