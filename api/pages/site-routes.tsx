import type { Request, Response, Router } from 'express';
import type { VNode } from 'preact';
import { siteNamed } from '../../contract/galley-config.ts';
import { WORKFLOW_IDS } from '../../contract/names.ts';
import { HttpError } from '../../web/http-error.ts';
import { queryOf } from '../../web/request.ts';
import { sendPage } from '../../web/send-page.ts';
import { workflowUrl } from '../../web/temporal-ui.ts';
import { onlyMethods } from '../http-edge.ts';
import type { SiteStatus } from '../site-status.ts';
import { unavailable } from '../unavailable.ts';
import { type SignedOperator, signedOf } from './access.ts';
import { createAgentReader, siteOfChange } from './agent-reader.ts';
import { ChangePage, ChangeParts } from './change-page.tsx';
import { messagesOf } from './done-messages.ts';
import { addLive } from './live.ts';
import type { PagesDeps } from './pages-deps.ts';
import { RulePage, RuleParts } from './rule-page.tsx';
import type { Sessions } from './session.ts';
import { createSiteList, phaseFilter } from './site-list.ts';
import { SiteListParts, SiteListView } from './site-list-page.tsx';
import { isSiteList, SiteListPage, SitePage, SiteParts, type SiteView } from './site-page.tsx';

/** The pages that show sites, rules and changes. Needs a session before them. */
export function addSiteRoutes(router: Router, deps: PagesDeps, sessions: Sessions | undefined): void {
  const live = { stopped: deps.stopped, sessions };
  addList(router, deps, live);
  addSite(router, deps, live);
  addAgents(router, deps, live);
}

type Show = (request: Request, response: Response) => Promise<VNode>;

/** A page that is only read. */
function page(router: Router, path: string, show: Show): void {
  router
    .route(path)
    .get(async (request, response) => sendPage(request, response, await show(request, response)))
    .all(onlyMethods('GET', 'HEAD'));
}

type LiveDeps = { stopped: AbortSignal | undefined; sessions: Sessions | undefined };

/** Of pages that ask several workflows. */
const LIST_POLL_MS = 3_000;

function addList(router: Router, deps: PagesDeps, live: LiveDeps): void {
  const listSites = createSiteList(deps);
  const read = async (request: Request, statesDueMs?: number) => {
    const query = {
      search: queryOf(request, 'search').trim().slice(0, 100),
      phase: phaseFilter(queryOf(request, 'phase')),
      after: queryOf(request, 'after').slice(0, 100),
    };
    const list = await listSites(query, deps.now().getTime(), statesDueMs).catch((error: unknown) => {
      deps.logger.warn({ error: String(error) }, 'Temporal did not list the sites');
      throw unavailable('Temporal can not be reached');
    });
    return { list, query };
  };
  page(router, '/', async (request) => {
    const layout = { signed: signedOf(request), messages: messagesOf(request) };
    return <SiteListView {...layout} {...(await read(request))} now={deps.now()} />;
  });
  addLive(router, '/ui/events', live, {
    pollMs: LIST_POLL_MS,
    keyOf: ({ originalUrl }) => originalUrl,
    // Nobody waits for it: a slow workflow's row must not lose what the page has.
    read: (request) => read(request, deps.readDeadlineMs),
    show: (state) => <SiteListParts {...state} now={deps.now()} />,
  });
}

function addSite(router: Router, deps: PagesDeps, live: LiveDeps): void {
  const { status, now } = deps;

  page(router, '/ui/sites/:site', async (request) => {
    const view = viewOf(deps, await status.one(nameOf(request, 'site')), signedOf(request), exportNumberOf(request));
    const layout = { signed: signedOf(request), messages: messagesOf(request) };
    return <SitePage {...layout} view={view} />;
  });

  addLive(router, '/ui/sites/:site/events', live, {
    read: (request) => status.one(nameOf(request, 'site')),
    show: (state, request, signed) => <SiteParts view={viewOf(deps, state, signed, exportNumberOf(request))} />,
  });

  page(router, '/ui/sites/:site/list/:list', async (request) => {
    const list = nameOf(request, 'list');
    if (!isSiteList(list)) throw new HttpError(404, 'there is no such list');
    const view = viewOf(deps, await status.one(nameOf(request, 'site')), signedOf(request), undefined);
    return <SiteListPage signed={signedOf(request)} view={{ ...view, now: now() }} list={list} />;
  });
}

function viewOf(
  { config, client, filtered, temporalUiUrl, now }: PagesDeps,
  status: SiteStatus,
  { csrf, dashboard }: SignedOperator,
  exportNumber: number | undefined,
): SiteView {
  const siteConfig = siteNamed(config, status.site);
  const { namespace } = client.options;
  return {
    status,
    domain: siteConfig?.domain,
    filtered: (filtered?.list() ?? []).flatMap(({ site, about }) => (site === status.site ? [about] : [])).reverse(),
    rules: siteConfig?.agent.map(({ name }) => name) ?? [],
    csrf,
    dashboard,
    exportNumber,
    now: now(),
    workflowUrl: temporalUiUrl && workflowUrl(temporalUiUrl, namespace, WORKFLOW_IDS.exportSite(status.site)),
  };
}

function addAgents(router: Router, deps: PagesDeps, live: LiveDeps): void {
  const { client, now, temporalUiUrl } = deps;
  const agents = createAgentReader(deps);
  const urlOf = (id: string) => temporalUiUrl && workflowUrl(temporalUiUrl, client.options.namespace, id);

  const readRule = async (request: Request) => {
    const [site, rule] = [nameOf(request, 'site'), nameOf(request, 'rule')];
    const state = await agents.rule(site, rule);
    const isConfigured = siteNamed(deps.config, site)?.agent.some(({ name }) => name === rule) ?? false;
    if (state === undefined && !isConfigured) throw new HttpError(404, 'no such rule');
    const states = await agents.changes(state?.changes.map(({ workflowId }) => workflowId) ?? []);
    return { site, rule, state, states, workflowUrl: state && urlOf(WORKFLOW_IDS.agentRule(site, rule)) };
  };
  page(router, '/ui/sites/:site/rules/:rule', async (request) => {
    return <RulePage signed={signedOf(request)} {...(await readRule(request))} now={now()} />;
  });
  addLive(router, '/ui/sites/:site/rules/:rule/events', live, {
    pollMs: LIST_POLL_MS,
    read: readRule,
    show: (state) => <RuleParts {...state} now={now()} />,
  });

  const readChange = async (request: Request) => {
    const workflowId = String(request.params.workflowId);
    const state = siteOfChange(workflowId) === undefined ? undefined : await agents.change(workflowId);
    if (state === undefined) throw new HttpError(404, 'no such change, or its workflow does not respond');
    return { workflowId, state, workflowUrl: urlOf(workflowId) };
  };
  page(router, '/ui/changes/:workflowId', async (request) => {
    const layout = { signed: signedOf(request), messages: messagesOf(request) };
    return <ChangePage {...layout} {...(await readChange(request))} now={now()} />;
  });
  addLive(router, '/ui/changes/:workflowId/events', live, {
    read: readChange,
    show: (state, _request, signed) => <ChangeParts {...state} signed={signed} now={now()} />,
  });
}

/** The names that galley.yaml allows: a name becomes part of a workflow's id. */
const NAME = /^[a-z\d-]{1,63}$/i;

export function nameOf(request: Request, parameter: string): string {
  const name = request.params[parameter];
  if (typeof name !== 'string' || !NAME.test(name)) throw new HttpError(404, `no such ${parameter}`);
  return name;
}

function exportNumberOf(request: Request): number | undefined {
  const text = queryOf(request, 'export');
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}
