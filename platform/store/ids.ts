import { randomBytes } from 'node:crypto';

/** Random identifiers, each with the prefix that tells people what it names. */
export const newId = {
  organization: (): string => `org_${randomBytes(8).toString('hex')}`,
  apiKey: (): string => `key_${randomBytes(8).toString('hex')}`,
  exportJob: (): string => `se_${randomBytes(8).toString('hex')}`,
  agentJob: (): string => `aj_${randomBytes(8).toString('hex')}`,
} as const;
