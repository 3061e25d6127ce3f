import { randomBytes } from 'node:crypto';

/** Random identifiers, each with the prefix that tells people what it names. */
export const newId = {
  organization: (): string => `org_${randomBytes(8).toString('hex')}`,
  apiKey: (): string => `key_${randomBytes(8).toString('hex')}`,
  exportJob: (): string => `se_${randomBytes(8).toString('hex')}`,
  agentJob: (): string => `aj_${randomBytes(8).toString('hex')}`,
  /** 128 bits, because whoever has the link of a pull request may read it. */
  pullRequest: (): string => `pr_${randomBytes(16).toString('hex')}`,
} as const;
