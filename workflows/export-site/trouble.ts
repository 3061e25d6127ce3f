import { workflowInfo } from '@temporalio/workflow';
import type { SiteMailInput } from '../../activities/reviewers/mail-input.ts';
import type { TroubleSource } from '../mails/tell-operators.ts';
import { sendSiteMail } from './activity-proxies.ts';
import { firstToExpire } from './live-job.ts';
import { lastErrorOf } from './phase.ts';
import type { SiteRun } from './site-run.ts';

/** A site is in trouble while something is wrong with it. */
export function siteTrouble(run: SiteRun): TroubleSource<SiteMailInput['event']> {
  const { memory, site } = run;
  return {
    memory,
    isInTrouble: () => lastErrorOf(memory) !== null,
    operators: () => run.settings.operators ?? [],
    tellAfterMs: () => run.settings.tellAfterMs ?? 0,
    events: { trouble: 'site-trouble', recovered: 'site-recovered' },
    patch: 'tell-operators-2026-11',
    send(event, since) {
      const about = {
        site,
        domain: run.settings.domain,
        workflowId: workflowInfo().workflowId,
        event,
        since: since.toISOString(),
        error: lastErrorOf(memory),
        version: memory.live?.version ?? null,
        linkExpiresAt: firstToExpire(memory)?.expiresAt ?? null,
      };
      return (to, summary) => sendSiteMail.executeWithOptions({ summary }, [{ ...about, to }]);
    },
  };
}
