import { composeMail, type OutgoingMail, type Sender } from './compose-mail.ts';
import { errorLines } from './error-lines.ts';
import type { MailContent } from './mail-content.ts';
import { listId, messageId, threadId } from './mail-identity.ts';
import type { SiteMailInput } from './mail-input.ts';
import { plainLine } from './plain-line.ts';

/** Writes the mail that tells an operator that a site is in trouble, or that it is over. Both are one thread. */
export function composeSiteMail(input: SiteMailInput, { sender, date }: { sender: Sender; date: Date }): OutgoingMail {
  const { site, workflowId, event, to, since } = input;
  return composeMail({
    sender,
    to,
    date,
    subject: `[${site}] The site is not up to date`,
    messageId: messageId({ changeId: `${workflowId}\n${since}`, event, to }, sender.domain),
    threadId: threadId(`${workflowId}\n${since}`, sender.domain),
    list: { name: `Operators of ${site}`, id: listId({ site, rule: 'operators' }, sender.domain) },
    unsubscribeLink: null,
    content: event === 'site-trouble' ? troubleOf(input) : recoveryOf(input),
  });
}

function troubleOf(input: SiteMailInput): MailContent {
  const { site, error } = input;
  const domain = plainLine(input.domain, 300);
  const lines = errorLines(error?.message ?? '');
  const status = error?.status == null ? [] : [{ label: 'Status', value: String(error.status), href: null }];
  return {
    preview: lines.join(' ').slice(0, 200),
    heading: 'A site is not up to date',
    lead: `What was published last on “${domain}” (site “${site}”) can’t be exported or deployed. What was deployed before goes on being served for as long as its link lasts.`,
    action: null,
    facts: [...factsOf(input), ...status],
    output: lines,
    paragraphs: [
      'What to do: mend what this answer names, such as the key of the Admin API, a page that fails, or the values file. It is tried again by itself, and at once with the next publish.',
      'You get one mail when it is over, and none before. The workflow named above shows each step in the Temporal UI.',
    ],
    footer: 'You get this mail because galley.yaml lists you under operators.',
    stop: null,
  };
}

function recoveryOf(input: SiteMailInput): MailContent {
  const { site } = input;
  const domain = plainLine(input.domain, 300);
  return {
    preview: `${site} is up to date again.`,
    heading: 'The site is up to date again',
    lead: `“${domain}” (site “${site}”) was exported and deployed again. There is nothing to do.`,
    action: null,
    facts: factsOf(input),
    output: [],
    paragraphs: [],
    footer: 'You get this mail because galley.yaml lists you under operators.',
    stop: null,
  };
}

function factsOf({ workflowId, since, version, linkExpiresAt }: SiteMailInput): MailContent['facts'] {
  const facts = [
    { label: 'In trouble since', value: since },
    { label: 'Version served', value: version === null ? 'none known' : plainLine(version, 200) },
    { label: 'Its link ends', value: linkExpiresAt === null ? 'not known' : plainLine(linkExpiresAt, 100) },
    { label: 'Workflow', value: plainLine(workflowId, 300) },
  ];
  return facts.map((fact) => ({ ...fact, href: null }));
}
