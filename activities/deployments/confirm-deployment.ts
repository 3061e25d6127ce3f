import type { ReadSite } from '../sites/read-site.ts';
import { type AskDeploymentInput, createAskDeployment } from './ask-deployment.ts';

type ConfirmDeploymentInput = Pick<AskDeploymentInput, 'site' | 'valuesFile' | 'jobId' | 'version'>;

/** Returns once a deployment serves the job: `askDeployment` without a verdict. */
export function createConfirmDeployment(readSite: ReadSite) {
  const ask = createAskDeployment(readSite);
  return async function confirmDeployment(input: ConfirmDeploymentInput): Promise<void> {
    await ask({ ...input, bundlePath: null, withinMs: 300_000, until: 'served' });
  };
}
