import { composeMail, type OutgoingMail, type Sender } from './compose-mail.ts';
import { errorLines } from './error-lines.ts';
import type { MailContent } from './mail-content.ts';
import { listId, messageId, threadId } from './mail-identity.ts';
import type { SiteMailInput } from './mail-input.ts';
import { plainLine } from './plain-line.ts';

/** Composes the mail that a site fails, or works again. Both are in one thread. */
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
    lead: `The last publish on “${domain}” (site “${site}”) can’t be exported or deployed. The previous version is served until its link expires.`,
    action: null,
    facts: [...factsOf(input), ...status],
    output: lines,
    paragraphs: [
      'What to do: fix what this response names, such as the key of the Admin API, a page that fails, or the values file. Galley retries by itself, and immediately after the next publish.',
      'You get one mail when this is resolved. The workflow named above shows each step in the Temporal UI.',
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
    { label: 'Failing since', value: since },
    { label: 'Version served', value: version === null ? 'none known' : plainLine(version, 200) },
    { label: 'Link expires', value: linkExpiresAt === null ? 'not known' : plainLine(linkExpiresAt, 100) },
    { label: 'Workflow', value: plainLine(workflowId, 300) },
  ];
  return facts.map((fact) => ({ ...fact, href: null }));
}
