import type { Request, Response, Router } from 'express';
import type { VNode } from 'preact';
import { startEventStream } from '../../web/event-stream.ts';
import { renderBounded } from '../../web/render-bounded.ts';
import { addRoute } from '../api/add-route.ts';
import type { Membership } from '../store/members.ts';
import { withoutValues } from '../store/query-error.ts';
import { findSigned, type SignedMember, signedOf } from './access.ts';
import type { DashboardContext } from './dashboard-context.ts';

const EVERY_MS = 1_000;
/** A session or membership that ended in the meantime sees nothing more after this time. */
const CHECK_SESSION_MS = 10_000;

type Exchange = { request: Request; response: Response };

type ReadPart = () => Promise<{ html: string; isOver: boolean }>;

type Changes = Pick<DashboardContext, 'logger' | 'stopped'> & {
  isSigned: () => Promise<boolean>;
  read: ReadPart;
  everyMs?: number | undefined;
};

type LivePart = {
  /** Of its events. */
  path: string;
  everyMs?: number | undefined;
  show: (request: Request, signed: SignedMember) => Promise<VNode>;
};

/** Sends a list, or another part of a page, again whenever it changes, for as long as its page is open. */
export function addLivePart(router: Router, context: DashboardContext, { path, everyMs, show }: LivePart): void {
  addRoute(router, path, {
    get: async (request, response) => {
      const signed = signedOf(request);
      // A wrong query is rejected before the stream starts; what was read for that is sent first.
      let first: VNode | undefined = await show(request, signed);
      const read = async () => {
        const part = first ?? (await show(request, signed));
        first = undefined;
        return { html: await renderBounded(part), isOver: false };
      };
      streamPart(context, { request, response }, read, everyMs);
    },
  });
}

/** `streamChanges` for the session of a request. */
export function streamPart(context: DashboardContext, exchange: Exchange, read: ReadPart, everyMs?: number): void {
  const { logger, stopped } = context;
  const { membership } = signedOf(exchange.request);
  const isSigned = () => isStill(context, exchange.request, membership);
  streamChanges(exchange, { logger, stopped, isSigned, read, everyMs });
}

/**
 * Reads a part of a page every second, or after `everyMs`, and sends it if it has changed. Ends after the last state of what
 * it shows, or when the session ends, the person leaves the page's organization or has another role there, or the browser
 * leaves. The page then stays as it is, unless its browser may open the stream again.
 */
export function streamChanges(
  { request, response }: Exchange,
  { logger, stopped, isSigned, read, everyMs = EVERY_MS }: Changes,
): void {
  let timer: NodeJS.Timeout | undefined;
  let ended = false;
  let last = '';
  let turns = 0;
  const stream = startEventStream(request, response, {
    stopped,
    onEnd: () => {
      ended = true;
      clearTimeout(timer);
    },
  });
  const turn = async (): Promise<void> => {
    try {
      turns += 1;
      if (turns % Math.ceil(CHECK_SESSION_MS / everyMs) === 0 && !(await isSigned())) {
        response.end();
        return;
      }
      const { html, isOver } = await read();
      const isCurrent = html === last || stream.send(html);
      if (isCurrent) last = html;
      // A stream that only ends would be connected again: silence costs less than a poll.
      const isDone = isOver && isCurrent;
      if (!ended && !response.writableEnded && !isDone) schedule();
    } catch (error) {
      logger.warn({ err: withoutValues(error) }, 'A live part of a page could not be rendered');
      response.end();
    }
  };
  const schedule = (): void => {
    timer = setTimeout(() => void turn(), everyMs).unref();
  };
  void turn();
}

/** The person may have made another organization the active one. */
async function isStill(context: DashboardContext, request: Request, membership: Membership): Promise<boolean> {
  const { organizationId, role } = membership;
  const signed = await findSigned(context, request);
  if (signed?.membership === undefined) return false;
  return signed.memberships.some((own) => own.organizationId === organizationId && own.role === role);
}
