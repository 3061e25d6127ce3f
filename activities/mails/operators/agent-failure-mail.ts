import type { OperatorMailInput } from '../mail-input.ts';
import type { OutgoingMail, Sender } from '../message/compose-mail.ts';
import { plainLine } from '../message/compose-mail.ts';
import { composeOperatorMail, type OperatorText } from './operator-mail.ts';

/** Composes the mail to operators about a failed agent job, or a change that a person has to take over. */
export function composeAgentFailureMail(
  input: OperatorMailInput,
  context: { sender: Sender; date: Date },
): OutgoingMail {
  const text = input.event === 'job-failed' ? failureText(input) : personText(input);
  return composeOperatorMail({ ...input, isThread: false }, text, context);
}

function personText({ site, rule, changeId, message, prLink = null }: OperatorMailInput): OperatorText {
  const link = plainLine(prLink ?? 'unknown', 2_000);
  return {
    subject: `A change by ${rule} needs a person`,
    heading: 'A pull request needs a person',
    lead: `A reviewer requested changes to a pull request by the rule “${rule}” of the site “${site}”, but the coding agent can’t make them. No reviewer has a mail address, so you are asked.`,
    facts: [
      { label: 'Pull request', value: link, ...(/^https?:/i.test(link) && { href: link }) },
      { label: 'Site and rule', value: `${site} / ${rule}` },
      { label: 'Workflow', value: plainLine(changeId, 300) },
    ],
    error: message,
    paragraphs: ['What to do: make the changes on the pull request’s branch, or close it.'],
  };
}

function failureText({ site, rule, jobId, changeId, message }: OperatorMailInput): OperatorText {
  return {
    subject: `Agent job of ${rule} failed`,
    heading: 'An agent job failed',
    lead: `The rule “${rule}” of the site “${site}” opened no pull request for its last publish. No reviewer was notified.`,
    facts: [
      { label: 'Job', value: jobId === null ? 'none: it was never accepted' : plainLine(jobId, 200) },
      { label: 'Site and rule', value: `${site} / ${rule}` },
      { label: 'Workflow', value: plainLine(changeId, 300) },
    ],
    error: message,
    paragraphs: [
      jobId === null
        ? 'What to do: fix what this response names, such as the project’s repository, the prompt, or the Admin API’s address and key in galley.yaml.'
        : 'What to do: read the job’s log (GET /v2/agent/{projectId}/job/{id}/log of the Admin API), and fix what it names: the prompt in galley.yaml, the agent’s command line, or access to the repository.',
      'The next publish starts a new job. The workflow named above shows each step in the Temporal UI.',
    ],
  };
}
