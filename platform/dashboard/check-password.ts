import type { Request } from 'express';
import { clientNetwork } from '../../base/ip-address.ts';
import { clientAddress } from '../../web/client-address.ts';
import { HttpError } from '../../web/http-error.ts';
import { retryAfter } from '../../web/retry-after.ts';
import { asSession } from './access.ts';
import type { DashboardContext } from './dashboard-context.ts';
import { knownDevice } from './device-cookie.ts';
import { accountLane, deviceLane, memberLane } from './sign-in-lanes.ts';

/** Signs in with a password. Returns Better Auth's response with its cookies; undefined: email or password is wrong. */
export async function signInWithPassword(
  context: DashboardContext,
  request: Request,
  body: { email: string; password: string },
): Promise<globalThis.Response | undefined> {
  const check = async () => ifRight(await (await context.auth()).api.signInEmail({ body, ...asSession(request) }));
  const device = knownDevice(context, request, body.email);
  if (device !== undefined) return context.guess(deviceLane(device), check);
  const network = clientNetwork(clientAddress(request));
  // One hash at a time per network, because anyone may ask for this costly work.
  return context.guess(accountLane(body.email, network), () => context.anonymousTurns(network, check));
}

/** Changes the password of the session's user. Undefined: the current one is wrong, or there is none. */
export async function changePassword(
  context: DashboardContext,
  request: Request,
  { userId, ...passwords }: { userId: string; currentPassword: string; newPassword: string },
): Promise<globalThis.Response | undefined> {
  const body = { ...passwords, revokeOtherSessions: true };
  return context.guess(memberLane(userId), async () =>
    ifRight(await (await context.auth()).api.changePassword({ body, ...asSession(request) })),
  );
}

/** Whether it is the password of the session's user. */
export async function isOwnPassword(
  context: DashboardContext,
  request: Request,
  { userId, password }: { userId: string; password: string },
): Promise<boolean> {
  const right = await context.guess(memberLane(userId), async () =>
    ifRight(await (await context.auth()).api.verifyPassword({ body: { password }, ...asSession(request) })),
  );
  return right !== undefined;
}

function ifRight(answer: globalThis.Response): globalThis.Response | undefined {
  if (answer.status >= 500) throw new HttpError(503, 'Passwords can not be checked now', retryAfter(5));
  return answer.ok ? answer : undefined;
}
