// The workflow of the test on a real server.
import { proxyActivities } from '@temporalio/workflow';
import type { AskDeploymentInput, DeploymentAnswer } from '../../../activities/deployments/ask-deployment.ts';

type AskActivities = { askDeployment(input: AskDeploymentInput): Promise<DeploymentAnswer> };

export async function ask(input: AskDeploymentInput): Promise<DeploymentAnswer> {
  const { askDeployment } = proxyActivities<AskActivities>({
    startToCloseTimeout: '20s',
    retry: { initialInterval: '1s', maximumInterval: '30s' },
  });
  return await askDeployment(input);
}
