import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

export interface Project {
  id: string;
  domain: string;
  /** A key of an organization of its own, so that hourly limits don't apply. */
  key: string;
}

export interface FinishedExport {
  jobId: string;
  pageCount: number;
  /** From the start request to the first response to the bundle's link. */
  seconds: number;
  sizeBytes: number;
}

const job = z.object({ jobId: z.string(), status: z.string(), pageCount: z.number(), error: z.string().nullable() });
const bundle = z.object({ bundleUrl: z.string(), sizeBytes: z.number() });

/** Poll intervals: short at first, so that a short export's time is mostly not waiting. */
export const POLL_MS = { young: 50, old: 250, oldAfter: 5_000 } as const;

/** Exports a project as a client of the Admin API does: start, poll, ask for the link, fetch from it. */
export async function exportOverHttp(url: string, project: Project, signal: AbortSignal): Promise<FinishedExport> {
  const headers = { authorization: `Bearer ${project.key}`, 'content-type': 'application/json' };
  const ask = async (method: string, path: string, body?: object): Promise<unknown> => {
    const answer = await fetch(`${url}/v1/static-export/jobs${path}`, {
      method,
      headers,
      signal,
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${await answer.text()}`);
    return await answer.json();
  };
  const startedMs = performance.now();
  let current = job.parse(await ask('POST', '', { domain: project.domain }));
  const path = `/${current.jobId}`;
  while (current.status === 'queued' || current.status === 'running') {
    const age = performance.now() - startedMs;
    await sleep(age < POLL_MS.oldAfter ? POLL_MS.young : POLL_MS.old, undefined, { signal });
    current = job.parse(await ask('GET', path));
  }
  if (current.status !== 'completed') throw new Error(`The export ended as ${current.status}: ${current.error}`);
  const { bundleUrl, sizeBytes } = bundle.parse(await ask('POST', `${path}/bundle`));
  const link = await fetch(bundleUrl, { headers: { range: 'bytes=0-0' }, signal });
  await link.arrayBuffer();
  if (!link.ok) throw new Error(`The bundle's link was answered ${link.status}`);
  const seconds = (performance.now() - startedMs) / 1_000;
  return { jobId: current.jobId, pageCount: current.pageCount, seconds, sizeBytes };
}
