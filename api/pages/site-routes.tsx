import type { Request, Response, Router } from 'express';
import type { VNode } from 'preact';
import { siteNamed } from '../../contract/galley-config.ts';
import { WORKFLOW_IDS } from '../../contract/names.ts';
import { renderPart } from '../../ui/page.tsx';
import { startEventStream } from '../../web/event-stream.ts';
import { HttpError } from '../../web/http-error.ts';
import { queryOf } from '../../web/request.ts';
import { sendPage } from '../../web/send-page.ts';
import { workflowUrl } from '../../web/temporal-ui.ts';
import { onlyMethods } from '../http-edge.ts';
import type { SiteStatus } from '../site-status.ts';
import { unavailable } from '../unavailable.ts';
import { type SignedOperator, sessionOf, signedOf } from './access.ts';
import { createAgentReader, siteOfChange } from './agent-reader.ts';
import { ChangePage } from './change-page.tsx';
import { messagesOf } from './done-messages.ts';
import type { PagesDeps } from './pages-deps.ts';
import { RulePage } from './rule-page.tsx';
import type { Sessions } from './session.ts';
import { createSiteList, phaseFilter } from './site-list.ts';
import { SiteListView } from './site-list-page.tsx';
import { isSiteList, SiteListPage, SitePage, SiteParts, type SiteView } from './site-page.tsx';
import { createSiteWatches } from './site-watches.ts';

/** The pages that show sites, rules and changes. Needs a session before them. */
export function addSiteRoutes(router: Router, deps: PagesDeps, sessions: Sessions | undefined): void {
  addList(router, deps);
  addSite(router, deps, sessions);
  addAgents(router, deps);
}

type Show = (request: Request, response: Response) => Promise<VNode>;

/** A page that is only read. */
function page(router: Router, path: string, show: Show): void {
  router
    .route(path)
    .get(async (request, response) => sendPage(request, response, await show(request, response)))
    .all(onlyMethods('GET', 'HEAD'));
}

function addList(router: Router, deps: PagesDeps): void {
  const listSites = createSiteList(deps);
  page(router, '/', async (request) => {
    const query = {
      search: queryOf(request, 'search').trim().slice(0, 100),
      phase: phaseFilter(queryOf(request, 'phase')),
      after: queryOf(request, 'after').slice(0, 100),
    };
    const list = await listSites(query).catch((error: unknown) => {
      deps.logger.warn({ error: String(error) }, 'Temporal did not list the sites');
      throw unavailable('Temporal can not be reached');
    });
    return (
      <SiteListView
        signed={signedOf(request)}
        messages={messagesOf(request)}
        list={list}
        query={query}
        now={deps.now()}
      />
    );
  });
}

function addSite(router: Router, deps: PagesDeps, sessions: Sessions | undefined): void {
  const { status, now } = deps;
  const watches = createSiteWatches({ read: status.one });

  page(router, '/ui/sites/:site', async (request) => {
    const view = viewOf(deps, await status.one(nameOf(request, 'site')), signedOf(request), exportNumberOf(request));
    const layout = { signed: signedOf(request), messages: messagesOf(request) };
    return <SitePage {...layout} view={view} />;
  });

  router
    .route('/ui/sites/:site/events')
    .get(async (request, response) => {
      const signed = signedOf(request);
      const exportNumber = exportNumberOf(request);
      const site = nameOf(request, 'site');
      await status.one(site);
      let unwatch: (() => void) | undefined;
      const stream = startEventStream(request, response, { stopped: deps.stopped, onEnd: () => unwatch?.() });
      unwatch = watches.watch(site, (state) => {
        // A session that has ended in the meantime sees no more.
        if (sessionOf(request, sessions) !== undefined) {
          return stream.send(renderPart(<SiteParts view={viewOf(deps, state, signed, exportNumber)} />));
        }
        response.end();
        return true;
      });
      if (unwatch === undefined) response.end();
      else if (response.closed) unwatch();
    })
    .all(onlyMethods('GET', 'HEAD'));

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

function addAgents(router: Router, deps: PagesDeps): void {
  const { client, now, temporalUiUrl } = deps;
  const agents = createAgentReader(deps);
  const urlOf = (id: string) => temporalUiUrl && workflowUrl(temporalUiUrl, client.options.namespace, id);

  page(router, '/ui/sites/:site/rules/:rule', async (request) => {
    const [site, rule] = [nameOf(request, 'site'), nameOf(request, 'rule')];
    const state = await agents.rule(site, rule);
    const isConfigured = siteNamed(deps.config, site)?.agent.some(({ name }) => name === rule) ?? false;
    if (state === undefined && !isConfigured) throw new HttpError(404, 'no such rule');
    const url = state && urlOf(WORKFLOW_IDS.agentRule(site, rule));
    const layout = { signed: signedOf(request), workflowUrl: url };
    const states = await agents.changes(state?.changes.map(({ workflowId }) => workflowId) ?? []);
    return <RulePage {...layout} {...{ site, rule, state, states }} now={now()} />;
  });

  page(router, '/ui/changes/:workflowId', async (request) => {
    const { workflowId = '' } = request.params;
    const id = String(workflowId);
    const state = siteOfChange(id) === undefined ? undefined : await agents.change(id);
    if (state === undefined) throw new HttpError(404, 'no such change, or its workflow does not respond');
    const layout = { signed: signedOf(request), messages: messagesOf(request), workflowUrl: urlOf(id) };
    return <ChangePage {...layout} workflowId={id} state={state} now={now()} />;
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
