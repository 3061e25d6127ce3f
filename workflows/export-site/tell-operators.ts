import { condition, isCancellation, patched, workflowInfo } from '@temporalio/workflow';
import type { SiteMailInput } from '../../activities/reviewers/mail-input.ts';
import { waitAtMost } from '../coroutines/wait-at-most.ts';
import { eachOnce, mailRecord, withoutAnswer } from '../mails/mail-record.ts';
import { sendSiteMail } from './activity-proxies.ts';
import { firstToExpire } from './live-job.ts';
import { lastErrorOf } from './phase.ts';
import type { SiteRun } from './site-run.ts';

/** What is remembered of mails has to stay small. */
const MAX_OPERATORS = 50;

/**
 * Tells the operators of trouble that doesn't go away by itself, once for each trouble, and those who were told of its
 * end. Without operators or a mail server it does nothing at all.
 */
export async function tellOperators(run: SiteRun): Promise<void> {
  const { memory } = run;
  for (;;) {
    await condition(() => operatorsOf(run).length > 0 && (isInTrouble(run) || memory.trouble !== null));
    // A run that an earlier release played up to here told nobody, and has to be replayed as it was.
    if (!patched('tell-operators-2026-11')) return;
    memory.trouble ??= { sinceMs: Date.now(), mails: [] };
    if (await lasts(run, memory.trouble.sinceMs)) await mail(run, 'site-trouble', operatorsOf(run));
    await condition(() => !isInTrouble(run));
    await mail(run, 'site-recovered', told(run));
    memory.trouble = null;
  }
}

function operatorsOf({ settings }: SiteRun): string[] {
  return eachOnce(settings.operators ?? []);
}

function isInTrouble({ memory }: SiteRun): boolean {
  return lastErrorOf(memory) !== null;
}

/** Waits for as long as trouble is left alone: much of it is over with the next try. False where it is over. */
async function lasts(run: SiteRun, sinceMs: number): Promise<boolean> {
  const waitMs = sinceMs + (run.settings.tellAfterMs ?? 0) - Date.now();
  const summary = 'how long a failure lasts before the operators get a mail';
  if (waitMs > 0) await waitAtMost(() => !isInTrouble(run), waitMs, summary);
  return isInTrouble(run);
}

/** Whoever may have got the first mail. */
function told({ memory }: SiteRun): string[] {
  const mails = memory.trouble?.mails ?? [];
  return mails.filter(({ event, outcome }) => event === 'site-trouble' && outcome !== 'refused').map(({ to }) => to);
}

/**
 * One mail to each address that had none for this yet. Its outcome is in the memory. Where the run ends meanwhile, a mail
 * that is on its way is waited for, and one that wasn't begun is left to the next run.
 */
async function mail(run: SiteRun, event: SiteMailInput['event'], addresses: readonly string[]): Promise<void> {
  const { memory, site, settings } = run;
  const { trouble } = memory;
  if (trouble === null) return;
  const about = {
    site,
    domain: settings.domain,
    workflowId: workflowInfo().workflowId,
    event,
    since: new Date(trouble.sinceMs).toISOString(),
    error: lastErrorOf(memory),
    version: memory.live?.version ?? null,
    linkExpiresAt: firstToExpire(memory)?.expiresAt ?? null,
  };
  const done = new Set(trouble.mails.filter((sent) => sent.event === event).map(({ to }) => to));
  const wanted = addresses.filter((to) => !done.has(to)).slice(0, Math.max(MAX_OPERATORS - done.size, 0));
  const sent = await Promise.allSettled(
    wanted.map(async (to) => {
      const summary = `${event} to ${to}`.slice(0, 200);
      const result = await sendSiteMail.executeWithOptions({ summary }, [{ ...about, to }]).catch((error: unknown) => {
        if (isCancellation(error)) throw error;
        return withoutAnswer(error);
      });
      trouble.mails.push(mailRecord(event, to, result));
    }),
  );
  for (const each of sent) if (each.status === 'rejected') throw each.reason;
}
