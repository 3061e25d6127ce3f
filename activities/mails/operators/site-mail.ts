import type { SiteMailInput } from '../mail-input.ts';
import type { OutgoingMail, Sender } from '../message/compose-mail.ts';
import { plainLine } from '../message/compose-mail.ts';
import { composeOperatorMail, type OperatorText } from './operator-mail.ts';

/** Composes a mail about a site or a deployment. That it fails, and that it works again, are in one thread. */
export function composeSiteMail(input: SiteMailInput, context: { sender: Sender; date: Date }): OutgoingMail {
  const { workflowId, event, since, deployment } = input;
  const mail = {
    ...input,
    changeId: [workflowId, since, ...(deployment === null ? [] : [deployment])].join('\n'),
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
  'site-unknown': unknownText,
  'site-approval': approvalText,
  'site-link': linkText,
  'site-proposal': proposalText,
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
      ...previewFacts(input),
    ],
    error: error?.message ?? '',
    paragraphs: [
      `What to do: look at the export, then run galley sites approve ${site} or galley sites reject ${site}${where}.`,
      'A newer publish is exported and compared in its turn.',
    ],
  };
}

function notServedText(input: SiteMailInput): OperatorText {
  const { version, deployment, site } = namesOf(input);
  return {
    subject: `${version} isn’t served by ${deployment}`,
    heading: 'A version isn’t served',
    lead: `The deployment “${deployment}” of ${site} answered several times that it doesn’t serve the new version.`,
    facts: deploymentFacts(input),
    error: input.error?.message ?? '',
    paragraphs: [
      `What to do: GET /-/status of the deployment says why it serves another version. See also ${whereOf(input)}.`,
      'If this mail says “Rolled back”, the earlier version stays here until the next publish. Otherwise the new version stays written, and Galley goes on asking.',
    ],
  };
}

function unknownText(input: SiteMailInput): OperatorText {
  const { version, deployment, site } = namesOf(input);
  return {
    subject: `${deployment} doesn’t say whether it serves ${version}`,
    heading: 'A deployment doesn’t answer',
    lead: `A new version was written to the deployment “${deployment}” of ${site}, which has not said whether it serves it. Nothing was rolled back.`,
    facts: deploymentFacts(input),
    error: input.error?.message ?? '',
    paragraphs: [
      `What to do: check that the deployment runs, and that a worker reaches its statusUrl in galley.yaml. See also ${whereOf(input)}.`,
      'Galley goes on asking. Deployments of later waves wait until it answers.',
    ],
  };
}

function approvalText(input: SiteMailInput): OperatorText {
  const { version, deployment, site } = namesOf(input);
  const ofIt = `${plainLine(input.site, 100)} --deployment '${deployment}'`;
  const page = input.pageUrl == null ? '' : `, or use ${plainLine(input.pageUrl, 500)}`;
  return {
    subject: `${version} waits for approval on ${deployment}`,
    preview: `Approve or reject it for ${deployment}.`,
    heading: 'A version waits for approval',
    lead: `The deployment “${deployment}” of ${site} gets a version only after a person has approved it. Until then, it keeps what it has.`,
    facts: [...deploymentFacts(input, 'Served already at'), ...previewFacts(input)],
    paragraphs: [
      `What to do: look at the version, then run galley sites approve ${ofIt} or galley sites reject ${ofIt}${page}.`,
      'A newer version replaces this one, and gets a mail of its own.',
    ],
  };
}

function linkText(input: SiteMailInput): OperatorText {
  const { version, deployment, site } = namesOf(input);
  const name = plainLine(input.site, 100);
  return {
    subject: `The link of ${version} can’t be renewed`,
    heading: 'A link can’t be renewed',
    lead: `The deployment “${deployment}” of ${site} keeps this version because of a rollback, a lock or a pin. It serves what it has downloaded. If it restarts after the link has expired, it can’t fetch the bundle.`,
    facts: [...deploymentFacts(input), linkFact(input)],
    error: input.error?.message ?? '',
    paragraphs: [
      `What to do: choose a version that still exists: publish or run galley sites rollback ${name} VERSION, galley sites unlock ${name} if the site is locked, or change the pin in the values file.`,
      'Galley chooses no other version by itself.',
    ],
  };
}

function proposalText(input: SiteMailInput): OperatorText {
  const { deployment, site } = namesOf(input);
  return {
    subject: `The pull request of ${deployment} isn’t merged`,
    preview: 'It has a new link, which the deployment needs.',
    heading: 'A pull request isn’t merged',
    lead: `The link of the deployment “${deployment}” of ${site} is due to be refreshed. The new one is in a pull request that isn’t merged.`,
    facts: [...deploymentFacts(input, 'Pull request'), linkFact(input)],
    ...(input.error !== null && { error: input.error.message }),
    paragraphs: [
      'What to do: merge the pull request before the link expires. After that, a deployment that restarts can’t fetch the bundle.',
    ],
  };
}

function namesOf({ site, domain, deployment, heldVersion = '' }: SiteMailInput) {
  return {
    version: plainLine(heldVersion, 100),
    deployment: plainLine(deployment ?? '', 200),
    site: `“${plainLine(domain, 300)}” (site “${plainLine(site, 100)}”)`,
  };
}

/** Where to read more. */
function whereOf({ site, pageUrl = null }: SiteMailInput): string {
  return pageUrl === null ? `galley sites status ${site}` : plainLine(pageUrl, 500);
}

function deploymentFacts(input: SiteMailInput, urlLabel = 'Deployed at'): OperatorText['facts'] {
  const { version, deployment } = namesOf(input);
  return [
    { label: 'Deployment', value: deployment },
    { label: 'Version', value: version },
    { label: 'Since', value: input.since },
    ...(input.url === null ? [] : [urlFact(urlLabel, input.url)]),
  ];
}

function previewFacts({ previewUrl }: SiteMailInput): OperatorText['facts'] {
  return previewUrl === undefined ? [] : [urlFact('Preview, for a day', previewUrl)];
}

function urlFact(label: string, text: string): OperatorText['facts'][number] {
  const url = plainLine(text, 500);
  return { label, value: url, ...(/^https?:/.test(url) && { href: url }) };
}

function linkFact({ linkExpiresAt }: SiteMailInput): OperatorText['facts'][number] {
  return { label: 'Link expires', value: linkExpiresAt === null ? 'not known' : plainLine(linkExpiresAt, 100) };
}

function factsOf(input: SiteMailInput): OperatorText['facts'] {
  const { workflowId, since, version } = input;
  return [
    { label: 'Failing since', value: since },
    { label: 'Version served', value: version === null ? 'none known' : plainLine(version, 200) },
    linkFact(input),
    { label: 'Workflow', value: plainLine(workflowId, 300) },
  ];
}
