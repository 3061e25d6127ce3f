import { dirname, resolve } from 'node:path';
import { checkAdminApi } from '../checks/admin-api.ts';
import type { Finding } from '../checks/finding.ts';
import { checkSiteOrigin } from '../checks/site-origin.ts';
import { checkTemporal } from '../checks/temporal.ts';
import { checkValuesFile } from '../checks/values-file.ts';
import type { Answers } from './answers.ts';

/** Checks single answers against the world: servers, files. */
export const CHECK_ANSWER = {
  /** Whether the start page answers. With a hosted Admin API, that service decides where the site is exported from. */
  origin: async ({ domain, origin }: Pick<Answers, 'domain' | 'origin'>): Promise<Finding[]> => [
    await checkSiteOrigin('origin', { domain, origin }),
  ],
  valuesFile: async (valuesFile: string, configFile: string): Promise<Finding[]> => [
    await checkValuesFile('values file', resolve(dirname(configFile), valuesFile)),
  ],
  adminApi: async (adminApi: NonNullable<Answers['adminApi']>): Promise<Finding[]> => [await checkAdminApi(adminApi)],
  temporal: async ({ address, namespace, apiKey }: NonNullable<Answers['temporal']>): Promise<Finding[]> => {
    const variables = { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace, TEMPORAL_API_KEY: apiKey };
    return await checkTemporal({ settings: { variables, encryptionKeys: [] } });
  },
};

/** Checks all answers, in the order of the questions; without a `configFile` none about files of this machine. */
export async function checkAnswers(answers: Answers, configFile: string | undefined): Promise<Finding[]> {
  const { adminApi, temporal, valuesFile } = answers;
  return [
    ...(adminApi === undefined ? await CHECK_ANSWER.origin(answers) : await CHECK_ANSWER.adminApi(adminApi)),
    ...(configFile === undefined ? [] : await CHECK_ANSWER.valuesFile(valuesFile, configFile)),
    ...(temporal === undefined ? [] : await CHECK_ANSWER.temporal(temporal)),
  ];
}
