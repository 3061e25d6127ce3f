import { type AdminApiError, isRedirect } from '../client/admin-api-error.ts';
import { CommandError, UsageError } from './command-error.ts';

/**
 * What a failed request to the Admin API means for a person, and what to do about it.
 * @param missing what to say if the service has no such thing, such as "no export job se_1: …"
 */
export function adminApiFailure({ status, reason }: AdminApiError, url?: string, missing?: string): Error {
  const service = `The Admin API${url === undefined ? '' : ` at ${url}`}`;
  if (status === null) return new CommandError(`${service} can't be reached: ${reason}. See ADMIN_API_URL`);
  if (isRedirect(status)) return new UsageError('ADMIN_API_URL redirects elsewhere: expected the final URL');
  if (status === 400) return new UsageError(reason);
  if (status === 401) return new CommandError(`ADMIN_API_KEY: ${service} rejects the key: ${reason}`);
  if (status === 409)
    return new CommandError(`${reason}. galley exports show and galley agents show say more of a job`);
  if (status === 404 && missing !== undefined) return new CommandError(`${service} has ${missing}`);
  return new CommandError(`${service} refuses (${status}): ${reason}. See ADMIN_API_URL`);
}
