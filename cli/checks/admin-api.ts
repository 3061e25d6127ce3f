import { type Finding, fail, ok, warn } from './finding.ts';
import { probe } from './probe.ts';
import { reasonOf } from './site-origin.ts';

/** A job that doesn't exist: any service with the Admin API has this path, and checks the key first. */
const PROBE = '/v1/static-export/jobs/se_0000000000000000';

/** Whether the Admin API responds and accepts the key for static exports. Starts nothing. */
export async function checkAdminApi({ url, key }: { url: string; key: string }): Promise<Finding> {
  const check = 'admin-api';
  try {
    const finding = describeStatus(check, url, await statusOf(url, key));
    if (finding.status !== 'ok' || (await statusOf(url, 'galley_not-a-key')) === 401) return finding;
    return warn(check, `${url} accepts any key`, 'Check ADMIN_API_URL: this may be no Admin API.');
  } catch (error) {
    return fail(
      check,
      `${url} can't be reached (${reasonOf(error)})`,
      'Check ADMIN_API_URL and that the service runs.',
    );
  }
}

async function statusOf(url: string, key: string): Promise<number> {
  const { status } = await probe(url.replace(/\/+$/, '') + PROBE, { authorization: `Bearer ${key}` });
  return status;
}

function describeStatus(check: string, url: string, status: number): Finding {
  if (status === 401) return fail(check, `${url} rejects the key (401)`, 'Set ADMIN_API_KEY to a valid key.');
  if (status === 403)
    return fail(check, `${url} allows no static exports (403)`, 'They need an Enterprise plan of the organization.');
  if (status === 200 || status === 400 || status === 404) return ok(check, `${url} accepts the key`);
  if (status >= 300 && status < 400)
    return fail(check, `${url} redirects (${status})`, 'Set ADMIN_API_URL to the URL that it redirects to.');
  return warn(check, `${url} responds ${status}`, 'Try again; if it lasts, ask the operators of the service.');
}
