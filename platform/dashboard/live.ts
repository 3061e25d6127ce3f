import type { Request, Response } from 'express';
import { startEventStream } from '../../ui/event-stream.ts';
import { withoutValues } from '../store/query-error.ts';
import { findSigned, signedOf } from './access.ts';
import type { DashboardContext } from './dashboard-context.ts';

const EVERY_MS = 1_000;
/** A session or membership that ended in the meantime sees nothing more after this time. */
const CHECK_SESSION_EVERY = 10;

type Exchange = { request: Request; response: Response };

/**
 * Sends a part of a page again each second if it has changed, until what it shows is over, the session ends, the person
 * leaves the page's organization or the browser leaves. The page then stays as it is.
 */
export function streamPart(
  context: DashboardContext,
  { request, response }: Exchange,
  read: () => Promise<{ html: string; isOver: boolean }>,
): void {
  const { organizationId } = signedOf(request).membership;
  let timer: NodeJS.Timeout | undefined;
  let ended = false;
  let last = '';
  let turns = 0;
  const stream = startEventStream(request, response, {
    stopped: context.stopped,
    onEnd: () => {
      ended = true;
      clearTimeout(timer);
    },
  });
  const turn = async (): Promise<void> => {
    try {
      turns += 1;
      const isSigned = turns % CHECK_SESSION_EVERY !== 0 || (await isMember(context, request, organizationId));
      const { html, isOver } = isSigned ? await read() : { html: last, isOver: true };
      if (html !== last) stream.send(html);
      last = html;
      // A stream that only ends would be connected again: silence costs less than a poll.
      if (!isSigned) response.end();
      else if (!ended && !isOver) schedule();
    } catch (error) {
      context.logger.warn({ err: withoutValues(error) }, 'A live part of a page could not be rendered');
      response.end();
    }
  };
  const schedule = (): void => {
    timer = setTimeout(() => void turn(), EVERY_MS).unref();
  };
  void turn();
}

/** The person may have made another organization the active one. */
async function isMember(context: DashboardContext, request: Request, organizationId: string): Promise<boolean> {
  const signed = await findSigned(context, request);
  return signed?.membership !== undefined && signed.memberships.some((own) => own.organizationId === organizationId);
}
