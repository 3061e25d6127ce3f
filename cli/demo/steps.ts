import { randomUUID } from 'node:crypto';
import { source } from '../../api/sources/contentful.ts';
import { WORKFLOW_IDS } from '../../contract/names.ts';
import type { BareRepository } from '../../embedded/bare-repository.ts';
import type { Mailbox } from '../../embedded/mailbox/mailbox.ts';
import type { Everything } from '../../programs/up.ts';
import { CommandError } from '../command-error.ts';
import { createProgressBar } from '../export/progress-bar.ts';
import type { DocumentationSite } from './documentation-site.ts';
import { readBundleUrl, readPage, readSiteState, until } from './watch.ts';
import { SITE, type Workspace } from './workspace.ts';

/** What the steps work on. */
export interface Stage {
  everything: Everything;
  workspace: Workspace;
  documentation: DocumentationSite;
  mailbox: Mailbox;
  repository: BareRepository;
  say(line: string): void;
  signal: AbortSignal;
}

const DEPLOY_TIMEOUT_MS = 180_000;
const REFRESH_TIMEOUT_MS = 90_000;
const REFRESHES = 2;

/** Sends a signed webhook. Resolves with the time it was sent, in epoch milliseconds. */
export async function publishEntry({ everything, workspace, say }: Stage, title: string): Promise<number> {
  const url = new URL(`/webhooks/${SITE}/contentful`, everything.addresses.api);
  const sentAt = Date.now();
  const { status, body } = await publish(url, workspace.contentfulSecret, { id: randomUUID(), title });
  if (status !== 202) throw new CommandError(`the webhook's response is ${status}: ${body}`);
  say(`  Contentful publishes "${title}": 202 after ${Date.now() - sentAt} ms`);
  say(onOwnLine("the site's workflow", demoWorkflowUrl(everything, WORKFLOW_IDS.exportSite(SITE))));
  return sentAt;
}

/** Shows the job that follows a publish; resolves with its id when the values file has its bundle. */
export async function watchExport(stage: Stage, previousJobId: string | null): Promise<string> {
  const { everything, workspace, say, signal } = stage;
  const { addresses, operatorToken } = everything;
  const state = async () => await readSiteState(addresses.api, SITE, operatorToken);
  const jobId = await until('a new export job', DEPLOY_TIMEOUT_MS, signal, async () => {
    const { jobId } = await state();
    return jobId !== null && jobId !== previousJobId ? jobId : undefined;
  });
  say(onOwnLine("the export job's workflow", demoWorkflowUrl(everything, jobId)));
  const bar = createProgressBar('  export');
  // The site only has the job's progress during the export, so keep the last one.
  let last = { percent: 0, pageCount: 0 };
  try {
    await until('the export deployed', DEPLOY_TIMEOUT_MS, signal, async () => {
      const { phase, progress, exports } = await state();
      const exported = exports?.find((each) => each.jobId === jobId)?.pageCount;
      const done = phase === 'live';
      last = {
        percent: done ? 100 : Math.max(last.percent, progress?.percent ?? 0),
        pageCount: exported ?? Math.max(last.pageCount, progress?.pageCount ?? 0),
      };
      bar.update({ status: phase, progress: last.percent, pageCount: last.pageCount });
      return done || undefined;
    });
  } finally {
    bar.stop();
  }
  say(onOwnLine('the values file', workspace.valuesFile));
  say(onOwnLine('its bundle', withoutQuery(await readBundleUrl(workspace.valuesFile))));
  return jobId;
}

/** Resolves with the time when the deployment serves the page with this text. */
export async function seeServed({ everything, documentation, say, signal }: Stage, text: string): Promise<number> {
  const [deployment] = everything.addresses.deployments;
  if (deployment === undefined) throw new CommandError('there is no deployment');
  const url = `${deployment.url}${documentation.page}`;
  await until(`"${text}" at ${url}`, DEPLOY_TIMEOUT_MS, signal, async () =>
    (await readPage(url))?.includes(text) ? true : undefined,
  );
  say(onOwnLine('served', url));
  say(`    "${text}"`);
  return Date.now();
}

/** Waits for new links of the same job in the values file. */
export async function seeRefreshes({ workspace, say, signal }: Stage): Promise<void> {
  let link = await readBundleUrl(workspace.valuesFile);
  for (let count = 1; count <= REFRESHES; count += 1) {
    link = await until(`refresh ${count} of the link`, REFRESH_TIMEOUT_MS, signal, async () => {
      const now = await readBundleUrl(workspace.valuesFile);
      return now !== link ? now : undefined;
    });
    say(`  refresh ${count}: a fresh link in the values file, ${new Date().toISOString()}`);
  }
}

/** A label, and below it a URL or path, which may be longer than a line. */
export function onOwnLine(label: string, url: string): string {
  return `  ${label}:\n    ${url}`;
}

export function demoWorkflowUrl({ addresses, temporal }: Everything, workflowId: string): string {
  if (addresses.temporalUi === null) return `${workflowId} at ${temporal.address}`;
  return `${addresses.temporalUi}/namespaces/${temporal.namespace}/workflows/${encodeURIComponent(workflowId)}`;
}

/** Removes the signature, which is a secret. */
function withoutQuery(link: string | undefined): string {
  return link === undefined ? 'no bundle' : `${link.split('?')[0]}?…`;
}

/** The webhook that Contentful sends when an editor publishes an entry. */
interface PublishedEntry {
  id: string;
  title: string;
}

/** Sends a signed publish event, like Contentful. Resolves with the response's status and body. */
async function publish(url: URL, secret: string, entry: PublishedEntry): Promise<{ status: number; body: string }> {
  const at = new Date();
  const json = {
    sys: { type: 'Entry', id: entry.id, updatedAt: at.toISOString() },
    fields: { title: { 'en-US': entry.title } },
  };
  const body = JSON.stringify(json);
  const outgoing = { body, json, secret, path: url.pathname, at, id: randomUUID() };
  const headers = { ...source.sign(outgoing, { secret }).headers };
  const response = await fetch(url, { method: 'POST', headers, body });
  return { status: response.status, body: await response.text() };
}
