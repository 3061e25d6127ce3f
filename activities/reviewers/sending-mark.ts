import { Context } from '@temporalio/activity';
import {
  ActivityCancelledError,
  ActivityNotFoundError,
  ActivityPausedError,
  ActivityResetError,
  type Client,
} from '@temporalio/client';
import { z } from 'zod';
import { mailOutcome } from '../../contract/agent-state.ts';
import type { MailResult } from './mail-input.ts';

/**
 * The note that an attempt leaves in Temporal (its heartbeat details) for the attempts after it. It is why a mail is sent
 * at most once: `sending` is stored before the message's last line goes out, and whoever finds it there sends nothing.
 *
 * How each way of failing is met:
 * - The process dies before the note is stored: no last line went out, so the next attempt may send.
 * - It dies after that: the next attempt finds `sending` and reports "unknown", also where the last line never went out.
 * - The note can't be stored, or nobody says that it was: nothing is sent. It may be stored all the same, so it is
 *   cleared before the attempt ends.
 * - Temporal has given this attempt up meanwhile (a partition, a pause): its heartbeats are refused, so it can't send.
 *
 * `Context.heartbeat` tells nobody when it arrived, so the note goes through a client, which does. And it never runs
 * beside the note: the worker sends its heartbeats later, the older one possibly after ours, and would wipe the note out.
 * So an attempt is silent until the note is stored; from then on every heartbeat of the worker repeats it.
 */
export type SendingMark = {
  /** Stores `sending`. Resolves once Temporal has it; rejects where that isn't certain. */
  set(): Promise<void>;
  /** Replaces the note, if there may be one, and waits for that as long as it makes sense. Never rejects. */
  replace(note: Exclude<Note, { stage: 'sending' }>): Promise<void>;
  /** Ends the heartbeats. */
  stop(): void;
};

export type Note =
  /** The mail server may have the message. */
  | { stage: 'sending' }
  /** It certainly hasn't. */
  | { stage: 'not-sent' }
  /** The server has answered. */
  | { stage: 'answered'; result: MailResult };

/** Longer than Temporal ever needs, shorter than a mail server's patience in the middle of a message. */
const STORE_TIMEOUT_MS = 5_000;

const REPLACE_ATTEMPTS = 3;

/** Well within the heartbeat timeout. */
const EVERY_MS = 1_500;

/** The client's part that is needed here. */
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
      // The message may have come to its end while this was being stored: an old note mustn't follow the last one.
      if (!ended) timer = setInterval(() => context.heartbeat(note), EVERY_MS);
    },
    async replace(note) {
      stop();
      if (asked === undefined) return;
      // An older request mustn't arrive after this one.
      await asked.catch(() => {});
      // The worker keeps this one and puts it into the report of a failed attempt, should the requests below be lost.
      context.heartbeat(note);
      for (let attempt = 1; attempt <= REPLACE_ATTEMPTS; attempt++) {
        if (await store(note).then(() => true, isSettled)) return;
      }
    },
    stop,
  };
}

/** Stored, with news for us; or never to be stored, because this attempt has been given up. */
function isSettled(error: unknown): boolean {
  return [ActivityCancelledError, ActivityPausedError, ActivityResetError, ActivityNotFoundError].some(
    (kind) => error instanceof kind,
  );
}

/**
 * What an earlier attempt of this activity has left; null where it left nothing, or that it certainly sent nothing. What
 * can't be read counts as `sending`: better no mail than two.
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
