import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../../activities/create-activities.ts';
import type { RuleMailInput } from '../../activities/reviewers/mail-input.ts';
import type { TroubleSource } from '../mails/tell-operators.ts';
import { mailCall } from '../trouble/call-limits.ts';
import type { RuleRun } from './rule-run.ts';

const { sendRuleMail } = proxyActivities<Activities>(mailCall);

/** The wait of a rule whose settings nobody told. */
const TELL_AFTER_MS = 10 * 60_000;

/** A rule is in trouble while no worker that is asked knows it. */
export function ruleTrouble(run: RuleRun): TroubleSource<RuleMailInput['event']> {
  const { memory, site, rule } = run;
  return {
    memory,
    isInTrouble: () => memory.unconfigured !== null,
    operators: () => run.operators,
    tellAfterMs: () => run.settings?.tellAfterMs ?? TELL_AFTER_MS,
    events: { trouble: 'rule-trouble', recovered: 'rule-recovered' },
    patch: 'tell-operators-of-rule-2026-11',
    send(event, since) {
      const about = {
        site,
        rule,
        workflowId: workflowInfo().workflowId,
        event,
        since: since.toISOString(),
        error: memory.unconfigured,
        pendingCount: memory.waiting?.count ?? 0,
        keepsSettings: memory.settings !== null,
      };
      return (to, summary) => sendRuleMail.executeWithOptions({ summary }, [{ ...about, to }]);
    },
  };
}
