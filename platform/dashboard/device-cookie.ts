import { randomBytes } from 'node:crypto';
import { parseCookie } from 'cookie';
import type { Request, Response } from 'express';
import { equalInConstantTime } from '../../base/equal-in-constant-time.ts';
import { secretOf } from './access.ts';
import type { DashboardContext } from './dashboard-context.ts';

/** Browsers keep no cookie for longer. */
const LONGEST_MS = 400 * 86_400_000;

function nameOf({ publicUrl }: DashboardContext): { name: string; secure: boolean } {
  const secure = publicUrl().startsWith('https:');
  return { name: secure ? '__Host-galley_device' : 'galley_device', secure };
}

const sign = (context: DashboardContext, device: string, email: string): string =>
  secretOf(context, `device ${device} of ${email.toLowerCase()}`);

/**
 * Marks a browser as one that has signed in to the account: its attempts to sign in are not slowed by those of others
 * (https://owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies). It opens nothing.
 */
export function keepDevice(context: DashboardContext, response: Response, email: string): void {
  const device = randomBytes(16).toString('base64url');
  const { name, secure } = nameOf(context);
  const options = { httpOnly: true, secure, sameSite: 'strict', path: '/', maxAge: LONGEST_MS } as const;
  response.cookie(name, `${device}.${sign(context, device, email)}`, options);
}

/** The browser's id, if it has signed in to the account before. */
export function knownDevice(context: DashboardContext, request: Request, email: string): string | undefined {
  const value = parseCookie(request.get('cookie') ?? '')[nameOf(context).name] ?? '';
  const [device = '', signature = ''] = value.split('.', 2);
  return equalInConstantTime(signature, sign(context, device, email)) ? device : undefined;
}
