import { composeMail, type OutgoingMail, type Sender } from './compose-mail.ts';
import { errorLines } from './error-lines.ts';
import type { MailContent } from './mail-content.ts';
import { listId, messageId, threadId } from './mail-identity.ts';
import type { RuleMailInput } from './mail-input.ts';
import { plainLine } from './plain-line.ts';

/** Composes the mail that no worker knows a rule, or that one does again. Both are in one thread. */
export function composeRuleMail(input: RuleMailInput, { sender, date }: { sender: Sender; date: Date }): OutgoingMail {
  const { site, rule, workflowId, event, to, since } = input;
  return composeMail({
    sender,
    to,
    date,
    subject: `[${site}] Agent rule ${rule} is not configured`,
    messageId: messageId({ changeId: `${workflowId}\n${since}`, event, to }, sender.domain),
    threadId: threadId(`${workflowId}\n${since}`, sender.domain),
    list: { name: `Operators of ${site}`, id: listId({ site, rule: 'operators' }, sender.domain) },
    unsubscribeLink: null,
    content: event === 'rule-trouble' ? troubleOf(input) : recoveryOf(input),
  });
}

function troubleOf(input: RuleMailInput): MailContent {
  const { site, rule, error, keepsSettings } = input;
  const lines = errorLines(error ?? '');
  const meanwhile = keepsSettings
    ? 'It continues with its last settings, but each prompt needs a worker that knows the rule.'
    : 'It collects publishes until a worker knows it.';
  return {
    preview: lines.join(' ').slice(0, 200),
    heading: 'An agent rule is not configured',
    lead: `No worker that was asked has the rule “${rule}” of the site “${site}” in its galley.yaml. ${meanwhile}`,
    action: null,
    facts: factsOf(input),
    output: lines,
    paragraphs: [
      'What to do: give every worker the same galley.yaml. If the rule is no longer wanted, run: galley agents remove SITE RULE.',
      'You get one mail when this is resolved. The workflow named above shows each step in the Temporal UI.',
    ],
    footer: 'You get this mail because galley.yaml lists you under operators.',
    stop: null,
  };
}

function recoveryOf(input: RuleMailInput): MailContent {
  const { site, rule } = input;
  return {
    preview: `${rule} of ${site} is configured again.`,
    heading: 'The agent rule is configured again',
    lead: `A worker knows the rule “${rule}” of the site “${site}” again. There is nothing to do.`,
    action: null,
    facts: factsOf(input),
    output: [],
    paragraphs: [],
    footer: 'You get this mail because galley.yaml lists you under operators.',
    stop: null,
  };
}

function factsOf({ workflowId, since, pendingCount }: RuleMailInput): MailContent['facts'] {
  const facts = [
    { label: 'Failing since', value: since },
    { label: 'Waiting events', value: String(pendingCount) },
    { label: 'Workflow', value: plainLine(workflowId, 300) },
  ];
  return facts.map((fact) => ({ ...fact, href: null }));
}
