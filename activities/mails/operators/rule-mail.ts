import type { RuleMailInput } from '../mail-input.ts';
import type { OutgoingMail, Sender } from '../message/compose-mail.ts';
import { plainLine } from '../message/compose-mail.ts';
import { composeOperatorMail, type OperatorText } from './operator-mail.ts';

/** Composes the mail that no worker knows a rule, or that one does again. Both are in one thread. */
export function composeRuleMail(input: RuleMailInput, context: { sender: Sender; date: Date }): OutgoingMail {
  const { workflowId, event, since, rule, pendingCount } = input;
  const subject = `Agent rule ${rule} is not configured`;
  const facts = [
    { label: 'Failing since', value: since },
    { label: 'Waiting events', value: String(pendingCount) },
    { label: 'Workflow', value: plainLine(workflowId, 300) },
  ];
  const text = event === 'rule-trouble' ? failureText(input) : resolvedText(input);
  const mail = { ...input, changeId: `${workflowId}\n${since}`, isThread: true };
  return composeOperatorMail(mail, { subject, facts, ...text }, context);
}

type RuleText = Omit<OperatorText, 'subject' | 'facts'>;

function failureText({ site, rule, error, keepsSettings }: RuleMailInput): RuleText {
  const meanwhile = keepsSettings
    ? 'It continues with its last settings, but each prompt needs a worker that knows the rule.'
    : 'It collects publishes until a worker knows it.';
  return {
    heading: 'An agent rule is not configured',
    lead: `No worker that was asked has the rule “${rule}” of the site “${site}” in its galley.yaml. ${meanwhile}`,
    error: error ?? '',
    paragraphs: [
      'What to do: give every worker the same galley.yaml. If the rule is no longer wanted, run: galley agents remove SITE RULE.',
      'You get one mail when this is resolved. The workflow named above shows each step in the Temporal UI.',
    ],
  };
}

function resolvedText({ site, rule }: RuleMailInput): RuleText {
  return {
    preview: `${rule} of ${site} is configured again.`,
    heading: 'The agent rule is configured again',
    lead: `A worker knows the rule “${rule}” of the site “${site}” again. There is nothing to do.`,
  };
}
