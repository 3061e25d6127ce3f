import type { SiteMailInput } from '../mail-input.ts';
import type { OutgoingMail, Sender } from '../message/compose-mail.ts';
import { plainLine } from '../message/plain-line.ts';
import { composeOperatorMail, type OperatorText } from './operator-mail.ts';

/** Composes the mail that a site fails, or works again. Both are in one thread. */
export function composeSiteMail(input: SiteMailInput, context: { sender: Sender; date: Date }): OutgoingMail {
  const { workflowId, event, since } = input;
  const mail = {
    ...input,
    changeId: `${workflowId}\n${since}`,
    isThread: event === 'site-trouble' || event === 'site-recovered',
  };
  const text = TEXTS[event](input);
  return composeOperatorMail(mail, text, context);
}

/** The mails about one failure have one subject, so that they are one thread. */
const FAILURE_SUBJECT = 'The site is not up to date';

const TEXTS: Record<SiteMailInput['event'], (input: SiteMailInput) => OperatorText> = {
  'site-trouble': failureText,
  'site-recovered': resolvedText,
  'site-review': reviewText,
  'site-not-served': notServedText,
};

function failureText(input: SiteMailInput): OperatorText {
  const { site, error } = input;
  const domain = plainLine(input.domain, 300);
  const status = error?.status == null ? [] : [{ label: 'Status', value: String(error.status) }];
  return {
    subject: FAILURE_SUBJECT,
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

function resolvedText(input: SiteMailInput): OperatorText {
  const { site } = input;
  const domain = plainLine(input.domain, 300);
  return {
    subject: FAILURE_SUBJECT,
    preview: `${site} is up to date again.`,
    heading: 'The site is up to date again',
    lead: `“${domain}” (site “${site}”) was exported and deployed again. There is nothing to do.`,
    facts: factsOf(input),
  };
}

function reviewText(input: SiteMailInput): OperatorText {
  const { site, error, version, heldVersion = '', pageUrl = null } = input;
  const domain = plainLine(input.domain, 300);
  const where = pageUrl === null ? '' : ` or on ${plainLine(pageUrl, 500)}`;
  return {
    subject: `${plainLine(heldVersion, 100)} waits for a review`,
    heading: 'An export waits for a review',
    lead: `A new export of “${domain}” (site “${site}”) is beyond the guards in galley.yaml, so it is not served. The version before it stays.`,
    facts: [
      { label: 'Waits', value: plainLine(heldVersion, 200) },
      { label: 'Since', value: input.since },
      { label: 'Version served', value: version === null ? 'none known' : plainLine(version, 200) },
    ],
    error: error?.message ?? '',
    paragraphs: [
      `What to do: look at the export, then run galley sites approve ${site} or galley sites reject ${site}${where}.`,
      'A newer publish is exported and compared in its turn.',
    ],
  };
}

function notServedText(input: SiteMailInput): OperatorText {
  const { site, error, version, heldVersion = '', pageUrl = null } = input;
  const domain = plainLine(input.domain, 300);
  const where = pageUrl === null ? `galley sites status ${site}` : plainLine(pageUrl, 500);
  return {
    subject: `${plainLine(heldVersion, 100)} isn’t served`,
    heading: 'A deployed version isn’t served',
    lead: `A new version of “${domain}” (site “${site}”) was deployed, but the deployment’s status didn’t report it in time.`,
    facts: [
      { label: 'Not served', value: plainLine(heldVersion, 200) },
      { label: 'Since', value: input.since },
      { label: 'Version deployed now', value: version === null ? 'none known' : plainLine(version, 200) },
    ],
    error: error?.message ?? '',
    paragraphs: [`What to do: GET /-/status of the deployment says why it serves another version. See also ${where}.`],
  };
}

function factsOf({ workflowId, since, version, linkExpiresAt }: SiteMailInput): OperatorText['facts'] {
  return [
    { label: 'Failing since', value: since },
    { label: 'Version served', value: version === null ? 'none known' : plainLine(version, 200) },
    { label: 'Link expires', value: linkExpiresAt === null ? 'not known' : plainLine(linkExpiresAt, 100) },
    { label: 'Workflow', value: plainLine(workflowId, 300) },
  ];
}
