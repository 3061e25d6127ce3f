import { Context } from '@temporalio/activity';
import {
  ActivityCancelledError,
  ActivityNotFoundError,
  ActivityPausedError,
  ActivityResetError,
  type Client,
} from '@temporalio/client';
import { z } from 'zod';
import { mailOutcome } from '../../../contract/agent-state.ts';
import type { MailResult } from '../mail-input.ts';

/**
 * The note that an attempt stores in Temporal (its heartbeat details) for later attempts. It makes sure that a mail is
 * sent at most once: `sending` is stored before the message's last line goes out, and an attempt that finds it sends
 * nothing. If something fails:
 * - The process dies before the note is stored: no last line went out, so the next attempt may send.
 * - It dies after that: the next attempt finds `sending` and reports "unknown", even if the last line never went out.
 * - The note isn't confirmed as stored: nothing is sent. It may be stored anyway, so it is cleared before the attempt
 *   ends.
 * - Temporal has given up this attempt (a partition, a pause): it rejects the heartbeat, so nothing is sent.
 * `Context.heartbeat` gives no confirmation, so the note goes through a client. The worker sends its own heartbeats
 * with a delay, so an older one could overwrite the note: the attempt doesn't heartbeat until the note is stored, and
 * then repeats it.
 */
type SendingMark = {
  /** Stores `sending`. Resolves once Temporal has it; rejects if that isn't certain. */
  set(): Promise<void>;
  /** Replaces the mark, if there may be one, and waits as long as useful. Never rejects. */
  replace(note: Exclude<Note, { stage: 'sending' }>): Promise<void>;
  /** Stops the heartbeats. */
  stop(): void;
};

type Note =
  /** The mail server may have the message. */
  | { stage: 'sending' }
  /** It certainly doesn't have it. */
  | { stage: 'not-sent' }
  /** The server has responded. */
  | { stage: 'answered'; result: MailResult };

/** Longer than Temporal needs, shorter than a mail server waits in the middle of a message. */
const STORE_TIMEOUT_MS = 5_000;

const REPLACE_ATTEMPTS = 3;

/** Well within the heartbeat timeout. */
const EVERY_MS = 1_500;

export type HeartbeatClient = Pick<Client, 'activity' | 'withDeadline'>;

const mailResult = z.object({ outcome: mailOutcome, detail: z.string().nullable() });

/** Makes the mark of the current attempt. */
export function createSendingMark(client: HeartbeatClient): SendingMark {
  const context = Context.current();
  const { taskToken } = context.info;
  let asked: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let ended = false;

  const stop = (): void => {
    ended = true;
    clearInterval(timer);
  };

  const store = (note: Note): Promise<void> =>
    client.withDeadline(Date.now() + STORE_TIMEOUT_MS, () => client.activity.heartbeat(taskToken, note));

  return {
    async set() {
      const note: Note = { stage: 'sending' };
      asked = store(note);
      await asked;
      // The attempt may have ended meanwhile: an old note must not follow the last one.
      if (!ended) timer = setInterval(() => context.heartbeat(note), EVERY_MS);
    },
    async replace(note) {
      stop();
      if (asked === undefined) return;
      // An older request must not arrive after this one.
      await asked.catch(() => {});
      // The worker puts the last heartbeat into the report of a failed attempt, in case the requests below are lost.
      context.heartbeat(note);
      for (let attempt = 1; attempt <= REPLACE_ATTEMPTS; attempt++) {
        if (await store(note).then(() => true, isSettled)) return;
      }
    },
    stop,
  };
}

/** Temporal has stored it, or never will because it has given up this attempt. */
function isSettled(error: unknown): boolean {
  return [ActivityCancelledError, ActivityPausedError, ActivityResetError, ActivityNotFoundError].some(
    (kind) => error instanceof kind,
  );
}

/**
 * The note of an earlier attempt; null if there is none or it certainly sent nothing. An unreadable note counts as
 * `sending`: no mail is better than two.
 */
export function readNote(details: unknown): Exclude<Note, { stage: 'not-sent' }> | null {
  if (details === undefined || details === null) return null;
  const read = (name: string): unknown => (typeof details === 'object' ? Reflect.get(details, name) : undefined);
  if (read('stage') === 'not-sent') return null;
  const result = mailResult.safeParse(read('result'));
  return read('stage') === 'answered' && result.success
    ? { stage: 'answered', result: result.data }
    : { stage: 'sending' };
}
