import { type AgentChangeState, agentChangeState, agentRuleState } from '../../contract/agent-state.ts';
import { QUERIES, WORKFLOW_IDS } from '../../contract/names.ts';
import type { ReceivedMail } from '../../embedded/mailbox/mailbox.ts';
import { CommandError } from '../command-error.ts';
import { requestJson } from '../request-json.ts';
import { demoWorkflowUrl, onOwnLine, type Stage } from './steps.ts';
import { until } from './watch.ts';
import { OWNER, REVIEWER, RULE, SITE } from './workspace.ts';

/** The change that the rule made after the first publish. */
interface Change {
  workflowId: string;
  prLink: string;
}

const AGENT_TIMEOUT_MS = 120_000;
const MAIL_TIMEOUT_MS = 60_000;
const MERGE_TIMEOUT_MS = 60_000;

/** Resolves when the agent's pull request is open. @throws CommandError if the job failed or changed nothing. */
export async function seePullRequest(stage: Stage): Promise<Change> {
  const { everything, repository, say, signal } = stage;
  const ruleId = WORKFLOW_IDS.agentRule(SITE, RULE);
  const workflowId = await until('a change made of the publish', AGENT_TIMEOUT_MS, signal, async () => {
    const response = await everything.temporal.client.workflow.getHandle(ruleId).query(QUERIES.state);
    return agentRuleState.parse(response).changes.at(-1)?.workflowId;
  });
  say(onOwnLine(`the workflow of the rule ${RULE}`, demoWorkflowUrl(everything, ruleId)));
  say(onOwnLine('its change', demoWorkflowUrl(everything, workflowId)));
  const state = await until('an end of the agent job', AGENT_TIMEOUT_MS, signal, async () => {
    const now = await changeState(stage, workflowId);
    return now.prLink !== null || now.error !== null || now.phase === 'unchanged' ? now : undefined;
  });
  const { prLink, jobId, pullRequest } = state;
  if (prLink === null) throw new CommandError(state.error ?? 'the agent changed nothing');
  say(onOwnLine('its agent job', demoWorkflowUrl(everything, jobId ?? '')));
  say(onOwnLine('the repository', repository.folder));
  const branches = await repository.git('branch', '--format=%(refname:short)');
  say(`  its branches: ${branches.split('\n').join(', ')}`);
  say(onOwnLine(`the pull request${pullRequest === null ? '' : `, ${pullRequest.title}`}`, prLink));
  return { workflowId, prLink };
}

/** Resolves when both reviewers have one mail each, with the token of the first reviewer's link. */
export async function seeMails({ mailbox, say, signal }: Stage, { prLink }: Change): Promise<string> {
  const mails = await until('a mail to each reviewer', MAIL_TIMEOUT_MS, signal, async () => {
    const arrived = await mailbox.mails();
    const mails = [REVIEWER, OWNER].map((address) => arrived.find((mail) => isTo(mail, address)));
    return mails.every((mail) => mail !== undefined) ? arrived : undefined;
  });
  if (mails.length !== 2)
    throw new CommandError(`expected one mail to each of two reviewers, but there are ${mails.length}`);
  for (const mail of mails) {
    if (!mail.text.includes(prLink)) throw new CommandError('a mail does not name the pull request');
    say(onOwnLine(`mail to ${mail.envelope.to.map(({ address }) => address).join(', ')}`, mailbox.pageOf(mail)));
    say(`    ${mail.subject}`);
  }
  const [, key] = /\/review\?key=(\S+)/.exec(mails.find((mail) => isTo(mail, REVIEWER))?.text ?? '') ?? [];
  if (key === undefined) throw new CommandError(`the mail to ${REVIEWER} has no link to review the pull request`);
  return key;
}

function isTo(mail: ReceivedMail, address: string): boolean {
  return mail.envelope.to.some((to) => to.address === address);
}

/**
 * Approves and merges on the page of the link in the mail; resolves when the change's workflow has completed.
 * @param token the link's token.
 */
export async function approveAndMerge(stage: Stage, { workflowId, prLink }: Change, token: string): Promise<void> {
  const post = async (path: string, body: object): Promise<unknown> =>
    await requestJson({ url: new URL(`${prLink}/${path}`), token, method: 'POST', body });
  await post('reviews', { event: 'APPROVE' });
  await post('merge', {});
  stage.say(onOwnLine(`approved and merged by the link in the mail to ${REVIEWER}`, prLink));
  await seeCompleted(stage, workflowId, MERGE_TIMEOUT_MS);
}

/** Resolves when the change's workflow has completed, which is after the pull request was merged or closed. */
export async function seeCompleted(
  stage: Stage,
  workflowId: string,
  timeoutMs: number = Number.POSITIVE_INFINITY,
): Promise<void> {
  const { everything, repository, say, signal } = stage;
  await until('the change completed', timeoutMs, signal, async () => {
    const { status } = await everything.temporal.client.workflow.getHandle(workflowId).describe();
    return status.name === 'COMPLETED' ? true : undefined;
  });
  const { phase, reviews, mails } = await changeState(stage, workflowId);
  const verdicts = reviews.map(({ reviewer, verdict }) => `, ${verdict} by ${reviewer}`).join('');
  say(`  workflow completed: ${phase}${verdicts}, ${mails.length} mails`);
  say(`    ${demoWorkflowUrl(everything, workflowId)}`);
  const changelog = await repository.git('show', `${repository.branch}:CHANGELOG.md`);
  say(`  CHANGELOG.md of ${repository.branch} now says:\n    ${changelog.split('\n')[2]}`);
}

async function changeState({ everything }: Stage, workflowId: string): Promise<AgentChangeState> {
  return agentChangeState.parse(await everything.temporal.client.workflow.getHandle(workflowId).query(QUERIES.state));
}
