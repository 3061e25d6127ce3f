import type { OutgoingMail, Sender } from './compose-mail.ts';
import { composeFailureMail, type FailureText } from './failure-mail.ts';
import type { SiteMailInput } from './mail-input.ts';
import { plainLine } from './plain-line.ts';

/** Composes the mail that a site fails, or works again. Both are in one thread. */
export function composeSiteMail(input: SiteMailInput, context: { sender: Sender; date: Date }): OutgoingMail {
  const { workflowId, event, since } = input;
  const text = event === 'site-trouble' ? failureText(input) : resolvedText(input);
  const mail = { ...input, changeId: `${workflowId}\n${since}`, isThread: true };
  return composeFailureMail(mail, { subject: 'The site is not up to date', ...text }, context);
}

type SiteText = Omit<FailureText, 'subject'>;

function failureText(input: SiteMailInput): SiteText {
  const { site, error } = input;
  const domain = plainLine(input.domain, 300);
  const status = error?.status == null ? [] : [{ label: 'Status', value: String(error.status) }];
  return {
    heading: 'A site is not up to date',
    lead: `The last publish on “${domain}” (site “${site}”) can’t be exported or deployed. The previous version is served until its link expires.`,
    facts: [...factsOf(input), ...status],
    error: error?.message ?? '',
    paragraphs: [
      'What to do: fix what this response names, such as the key of the Admin API, a page that fails, or the values file. Galley retries by itself, and immediately after the next publish.',
      'You get one mail when this is resolved. The workflow named above shows each step in the Temporal UI.',
    ],
  };
}

function resolvedText(input: SiteMailInput): SiteText {
  const { site } = input;
  const domain = plainLine(input.domain, 300);
  return {
    preview: `${site} is up to date again.`,
    heading: 'The site is up to date again',
    lead: `“${domain}” (site “${site}”) was exported and deployed again. There is nothing to do.`,
    facts: factsOf(input),
  };
}

function factsOf({ workflowId, since, version, linkExpiresAt }: SiteMailInput): SiteText['facts'] {
  return [
    { label: 'Failing since', value: since },
    { label: 'Version served', value: version === null ? 'none known' : plainLine(version, 200) },
    { label: 'Link expires', value: linkExpiresAt === null ? 'not known' : plainLine(linkExpiresAt, 100) },
    { label: 'Workflow', value: plainLine(workflowId, 300) },
  ];
}
