import { randomBytes } from 'node:crypto';

/** Random ids, each with a prefix that shows its kind. */
export const newId = {
  organization: (): string => `org_${randomBytes(8).toString('hex')}`,
  project: (): string => `prj_${randomBytes(8).toString('hex')}`,
  apiKey: (): string => `key_${randomBytes(8).toString('hex')}`,
  exportJob: (): string => `se_${randomBytes(8).toString('hex')}`,
  agentJob: (): string => `aj_${randomBytes(8).toString('hex')}`,
  /** 128 bits, because anyone with a pull request's link may read it. */
  pullRequest: (): string => `pr_${randomBytes(16).toString('hex')}`,
} as const;
