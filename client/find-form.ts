import type { StaticExportForm } from '../contract/admin-api.ts';
import { AdminApiError } from './admin-api-error.ts';
import { segment } from './read-response.ts';
import type { RequestOptions, SendRequest } from './send-request.ts';

/** Which of these a service has no endpoint for. */
const ABSENT = [404, 405, 501];
/** The service can't say at the moment. */
const UNDECIDED = [401, 408, 425, 429];

/**
 * Finds out which form of static export a service has, by starts with an invalid body: nothing is started. `domain` is tried
 * first; `project` needs a project's id.
 * @throws AdminApiError if neither is there (no status), the key is rejected, or the service can't be asked
 */
export async function findForm(
  send: SendRequest,
  projectId: string | undefined,
  options: RequestOptions = {},
): Promise<StaticExportForm> {
  const domainPath = '/v1/static-export/jobs';
  if (await exists(send, domainPath, { domain: 0 }, options)) return 'domain';
  if (projectId === undefined) throw noForm(domainPath, 'the form `project` was not tried, because it needs projectId');
  const projectPath = `/v1/static-export/${segment('projectId', projectId)}/jobs`;
  if (await exists(send, projectPath, { basePath: 0 }, options)) return 'project';
  throw noForm(
    projectPath,
    `there is no static export, neither here nor at ${domainPath}: check adminApi.url and projectId`,
  );
}

async function exists(send: SendRequest, path: string, body: object, options: RequestOptions): Promise<boolean> {
  try {
    await send({ method: 'POST', path, body }, options);
    return true;
  } catch (error) {
    if (!(error instanceof AdminApiError) || error.status === null || error.status >= 500) throw error;
    if (ABSENT.includes(error.status)) return false;
    if (error.status < 400 || UNDECIDED.includes(error.status)) throw error;
    return true;
  }
}

function noForm(path: string, reason: string): AdminApiError {
  return new AdminApiError(`POST ${path}`, { status: null, reason });
}
