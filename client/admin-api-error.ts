/** What is known about a failed request. */
export type AdminApiFailure = {
  status: number | null;
  reason: string;
  requestId?: string | null;
  retryAfterMs?: number | null;
};

/**
 * Thrown if a request didn't succeed: another status than 2xx, a 2xx that lacks a required field, or no complete
 * response. Also thrown if a job didn't end in time. Its texts never contain the key.
 */
export class AdminApiError extends Error {
  override readonly name = 'AdminApiError';
  /** Null without a complete response. 2xx if the response lacks a required field. */
  readonly status: number | null;
  /** The service's own message, or what is wrong with its response. */
  readonly reason: string;
  /** The response's `X-Request-Id`. */
  readonly requestId: string | null;
  /** How long the service asked to wait, in milliseconds, at most an hour. */
  readonly retryAfterMs: number | null;

  /** @param subject what failed, such as "GET /v1/static-export/jobs" */
  constructor(subject: string, { status, reason, requestId = null, retryAfterMs = null }: AdminApiFailure) {
    const redirect = isRedirect(status) ? ', a redirect' : '';
    super(`${subject}${status === null ? '' : ` was answered ${status}${redirect}`}: ${reason}`);
    this.status = status;
    this.reason = reason;
    this.requestId = requestId;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The client follows no redirect: the key belongs to the configured URL. */
export function isRedirect(status: number | null): boolean {
  return status !== null && status >= 300 && status < 400;
}

export function isSuccess(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300;
}

/** Whether the same request may succeed later. */
export function isTemporary({ status }: AdminApiError): boolean {
  if (status === null) return true;
  return [408, 425, 429].includes(status) || (status >= 500 && status !== 501);
}
