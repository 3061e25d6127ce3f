import { type AdminApiClient, AdminApiError, createAdminApiClient } from '../../client/admin-api-client.ts';
import type { StaticExportForm } from '../../contract/admin-api.ts';
import { type Finding, fail, ok, warn } from './finding.ts';
import { PROBE_TIMEOUT_MS } from './probe.ts';

type Checked = { url: string; key: string; projectId?: string | undefined; staticExport?: StaticExportForm | 'auto' };

/**
 * Whether the Admin API responds, accepts the key for static exports, and in which form. Its calls are starts with an invalid
 * body, which start nothing.
 */
export async function checkAdminApi({ url, key, projectId, staticExport = 'auto' }: Checked): Promise<Finding> {
  const check = 'admin-api';
  const clientOf = (own: string): AdminApiClient =>
    createAdminApiClient({ url, key: own, timeoutMs: PROBE_TIMEOUT_MS, retry: false });
  try {
    const form = await clientOf(key).findForm(projectId);
    if (staticExport !== 'auto' && staticExport !== form)
      return fail(
        check,
        `${url} has form ${form} of static export`,
        `Set adminApi.staticExport to ${form}, or to auto.`,
      );
    const isOpen = await acceptsKey(clientOf('galley_not-a-key'), projectId);
    if (isOpen) return warn(check, `${url} accepts any key`, 'Check ADMIN_API_URL: this may be no Admin API.');
    return ok(check, `${url} accepts the key; it has form ${form} of static export`);
  } catch (error) {
    if (!(error instanceof AdminApiError)) throw error;
    return describeError(check, url, error);
  }
}

async function acceptsKey(client: AdminApiClient, projectId: string | undefined): Promise<boolean> {
  try {
    await client.findForm(projectId);
    return true;
  } catch (error) {
    if (error instanceof AdminApiError) return false;
    throw error;
  }
}

function describeError(check: string, url: string, { status, reason }: AdminApiError): Finding {
  if (status === 401) return fail(check, `${url} rejects the key (401)`, 'Set ADMIN_API_KEY to a valid key.');
  if (status === null && reason.includes('projectId'))
    return warn(check, `${url}: ${reason}`, 'Check ADMIN_API_URL, and set projectId of each site in galley.yaml.');
  if (status === null)
    return fail(check, `${url} can't be reached (${reason})`, 'Check ADMIN_API_URL and that the service runs.');
  if (status >= 300 && status < 400)
    return fail(check, `${url} redirects (${status})`, 'Set ADMIN_API_URL to the URL that it redirects to.');
  return warn(check, `${url} responds ${status}`, 'Try again; if it lasts, ask the operators of the service.');
}
