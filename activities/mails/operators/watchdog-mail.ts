import type { OpenProblem } from '../../../contract/watchdog.ts';
import type { WatchdogMailInput } from '../mail-input.ts';
import type { OutgoingMail, Sender } from '../message/compose-mail.ts';
import { plainLine } from '../message/compose-mail.ts';
import { composeOperatorMail, type OperatorText } from './operator-mail.ts';

/** The name in the watchdog's mails, instead of a site's. */
const WATCHDOG = 'watchdog';

/** Composes the mail about the problems that a check found or that are solved. */
export function composeWatchdogMail(input: WatchdogMailInput, context: { sender: Sender; date: Date }): OutgoingMail {
  const { workflowId, event, to } = input;
  const mail = { site: WATCHDOG, changeId: workflowId, event, to, isThread: false };
  return composeOperatorMail(mail, input.opened.length > 0 ? openedText(input) : solvedText(input), context);
}

function openedText({ opened, solved, omitted }: WatchdogMailInput): OperatorText {
  const count = countOf(opened);
  return {
    subject: `Trouble with ${count}`,
    preview: opened[0]?.detail ?? '',
    heading: 'The watchdog found a problem',
    lead: `There is trouble with ${count} that the workflow of a site may not be able to report.`,
    facts: [...listed(opened, ({ detail }) => detail), ...listed(solved, () => 'solved'), ...others(omitted)],
    paragraphs: [
      'What to do: if workflow tasks fail, open the workflow in the Temporal UI, which shows the error, and run a fixed release. If a link expires, check that a worker runs and that the Admin API responds. If a site is not configured, add it to galley.yaml again or end it with “galley sites remove”.',
      'You get one mail when this is solved.',
    ],
  };
}

function solvedText({ solved, omitted }: WatchdogMailInput): OperatorText {
  const count = countOf(solved);
  return {
    subject: `No more trouble with ${count}`,
    preview: 'There is nothing to do.',
    heading: 'A problem is solved',
    lead: `The watchdog finds no more trouble with ${count}. There is nothing to do.`,
    facts: [...listed(solved, ({ detail }) => `solved: ${detail}`), ...others(omitted)],
  };
}

function countOf(problems: readonly OpenProblem[]): string {
  const sites = [...new Set(problems.map(({ site }) => site))];
  return sites.length === 1 ? `the site ${plainLine(sites[0] ?? '', 100)}` : `${sites.length} sites`;
}

function listed(problems: readonly OpenProblem[], textOf: (problem: OpenProblem) => string): OperatorText['facts'] {
  return problems.map((problem) => {
    const since = new Date(problem.sinceMs).toISOString();
    return { label: plainLine(problem.site, 100), value: plainLine(`${textOf(problem)} (since ${since})`, 500) };
  });
}

function others(omitted: number): OperatorText['facts'] {
  return omitted > 0 ? [{ label: 'And', value: `${omitted} more` }] : [];
}
