import { randomBytes } from 'node:crypto';

/** An agent job of the specification's service. */
export interface SeedAgentJob {
  id: string;
  projectId: string;
  prompt: string;
  /** The remaining status words, one per request. */
  words: string[];
  /** The final `prLink`: null if the job changes no file. */
  prLink: string | null;
}

export interface SeedAgentJobs {
  jobs: SeedAgentJob[];
  /** The response to an agent request. `undefined` for any other path. */
  answer(method: string, pathname: string, body: string): { status: number; body: unknown } | undefined;
}

/** Jobs of this project change nothing. */
export const UNCHANGING_PROJECT = 'prj_unchanging';

/**
 * The agent endpoints of the specification: create and get, with only the specified fields. No idempotency and no error
 * texts. Ids contain characters that need escaping. The path of get is our own decision.
 */
export function createSeedAgentJobs(statusWords: readonly string[]): SeedAgentJobs {
  const jobs: SeedAgentJob[] = [];

  const view = (job: SeedAgentJob): object => {
    const status = job.words.shift() ?? 'completed';
    return {
      id: job.id,
      status,
      source: { repository: 'https://forge.example.test/acme/docs', ref: null },
      model: 'somebody else’s',
      prLink: status === 'completed' ? job.prLink : null,
      createdAt: '2026-11-21 08:00:00Z',
      archivedAt: null,
      surprise: [{}],
    };
  };

  return {
    jobs,
    answer(method, pathname, body) {
      const [, project, id] = /^\/v2\/agent\/([^/]+)\/job(?:\/([^/]+))?$/.exec(pathname) ?? [];
      if (project === undefined) return undefined;
      if (method === 'POST' && id === undefined) {
        const parsed: unknown = JSON.parse(body);
        const prompt: unknown = typeof parsed === 'object' && parsed !== null ? Reflect.get(parsed, 'prompt') : '';
        if (typeof prompt !== 'string' || prompt === '') return { status: 400, body: { error: 'prompt is empty' } };
        const projectId = decodeURIComponent(project);
        const number = jobs.length + 1;
        const prLink = projectId === UNCHANGING_PROJECT ? null : `https://forge.example.test/acme/docs/pull/${number}`;
        const job = { id: `job №${number}/${randomBytes(4).toString('hex')}`, projectId, prompt, prLink };
        jobs.push({ ...job, words: [...statusWords] });
        return { status: 201, body: { ...view({ ...job, words: ['active'] }) } };
      }
      const found = jobs.find((job) => job.id === decodeURIComponent(id ?? ''));
      if (method !== 'GET' || found === undefined) return undefined;
      return { status: 200, body: view(found) };
    },
  };
}
