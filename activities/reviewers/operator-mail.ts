import { composeMail, type OutgoingMail, type Sender } from './compose-mail.ts';
import { errorLines } from './error-lines.ts';
import type { MailContent } from './mail-content.ts';
import { listId, messageId } from './mail-identity.ts';
import type { OperatorMailInput } from './mail-input.ts';
import { plainLine } from './plain-line.ts';

/** Composes the mail about a failed job. */
export function composeOperatorMail(
  input: OperatorMailInput,
  { sender, date }: { sender: Sender; date: Date },
): OutgoingMail {
  const { site, rule, to } = input;
  return composeMail({
    sender,
    to,
    date,
    subject: `[${site}] Agent job of ${rule} failed`,
    messageId: messageId(input, sender.domain),
    threadId: null,
    list: { name: `Operators of ${site}`, id: listId({ site, rule: 'operators' }, sender.domain) },
    unsubscribeLink: null,
    content: contentOf(input),
  });
}

function contentOf({ site, rule, jobId, changeId, message }: OperatorMailInput): MailContent {
  const lines = errorLines(message);
  return {
    preview: lines.join(' ').slice(0, 200),
    heading: 'An agent job failed',
    lead: `The rule “${rule}” of the site “${site}” opened no pull request for its last publish. No reviewer was notified.`,
    action: null,
    facts: [
      { label: 'Job', value: jobId === null ? 'none: it was never accepted' : plainLine(jobId, 200), href: null },
      { label: 'Site and rule', value: `${site} / ${rule}`, href: null },
      { label: 'Workflow', value: plainLine(changeId, 300), href: null },
    ],
    output: lines,
    paragraphs: [
      jobId === null
        ? 'What to do: fix what this response names, such as the project’s repository, the prompt, or the Admin API’s address and key in galley.yaml.'
        : 'What to do: read the job’s log (GET /v2/agent/{projectId}/job/{id}/log of the Admin API), and fix what it names: the prompt in galley.yaml, the agent’s command line, or access to the repository.',
      'The next publish starts a new job. The workflow named above shows each step in the Temporal UI.',
    ],
    footer: 'You get this mail because galley.yaml lists you under operators.',
    stop: null,
  };
}
