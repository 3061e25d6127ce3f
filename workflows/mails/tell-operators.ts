import { condition, isCancellation, patched } from '@temporalio/workflow';
import { z } from 'zod';
import type { MailResult } from '../../activities/reviewers/mail-input.ts';
import { mailRecord as mailRecordSchema } from '../../contract/agent-state.ts';
import { waitAtMost } from '../coroutines/wait-at-most.ts';
import { eachOnce, mailRecord, withoutAnswer } from './mail-record.ts';

/** What is remembered of mails has to stay small. */
const MAX_OPERATORS = 50;

/** Since when something is wrong, and what became of the mails about it. */
export const trouble = z.object({ sinceMs: z.number(), mails: z.array(mailRecordSchema).max(100) });
export type Trouble = z.infer<typeof trouble>;

/** What is watched for trouble, and how its operators are told. */
export type TroubleSource<Event extends string> = {
  /** Remembered across runs. */
  memory: { trouble: Trouble | null };
  isInTrouble: () => boolean;
  operators: () => readonly string[];
  /** How long trouble is left alone: much of it is over with the next try. */
  tellAfterMs: () => number;
  events: { trouble: Event; recovered: Event };
  /** The patch that guards these commands: histories that are older have none of them. */
  patch: string;
  /** Sends one mail to one address. */
  send: (event: Event, since: Date) => (to: string, summary: string) => Promise<MailResult>;
};

/**
 * Tells the operators of trouble that doesn't go away by itself, once for each trouble, and those who were told of its
 * end. Without operators or a mail server it does nothing at all.
 */
export async function tellOperators<Event extends string>(source: TroubleSource<Event>): Promise<void> {
  const { memory, isInTrouble, events } = source;
  const operators = (): string[] => eachOnce(source.operators());
  for (;;) {
    await condition(() => operators().length > 0 && (isInTrouble() || memory.trouble !== null));
    // A run that an earlier release played up to here told nobody, and has to be replayed as it was.
    if (!patched(source.patch)) return;
    memory.trouble ??= { sinceMs: Date.now(), mails: [] };
    if (await lasts(source, memory.trouble.sinceMs)) await mail(source, events.trouble, operators());
    await condition(() => !isInTrouble());
    await mail(source, events.recovered, told(source));
    memory.trouble = null;
  }
}

/** Waits for as long as trouble is left alone. False if it is over. */
async function lasts<E extends string>(source: TroubleSource<E>, sinceMs: number): Promise<boolean> {
  const { isInTrouble } = source;
  const waitMs = sinceMs + source.tellAfterMs() - Date.now();
  const summary = 'how long a failure lasts before the operators get a mail';
  if (waitMs > 0) await waitAtMost(() => !isInTrouble(), waitMs, summary);
  return isInTrouble();
}

/** Whoever may have got the first mail. */
function told<E extends string>({ memory, events }: TroubleSource<E>): string[] {
  const mails = memory.trouble?.mails ?? [];
  return mails.filter(({ event, outcome }) => event === events.trouble && outcome !== 'refused').map(({ to }) => to);
}

/**
 * One mail to each address that had none for this yet. Its outcome is in the memory. Where the run ends meanwhile, a mail
 * that is on its way is waited for, and one that wasn't begun is left to the next run.
 */
async function mail<E extends string>(source: TroubleSource<E>, event: E, addresses: readonly string[]): Promise<void> {
  const { trouble } = source.memory;
  if (trouble === null) return;
  const send = source.send(event, new Date(trouble.sinceMs));
  const done = new Set(trouble.mails.filter((sent) => sent.event === event).map(({ to }) => to));
  const wanted = addresses.filter((to) => !done.has(to)).slice(0, Math.max(MAX_OPERATORS - done.size, 0));
  const sent = await Promise.allSettled(
    wanted.map(async (to) => {
      const summary = `${event} to ${to}`.slice(0, 200);
      const result = await send(to, summary).catch((error: unknown) => {
        if (isCancellation(error)) throw error;
        return withoutAnswer(error);
      });
      trouble.mails.push(mailRecord(event, to, result));
    }),
  );
  for (const each of sent) if (each.status === 'rejected') throw each.reason;
}
