import { WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import type { Express, RequestHandler } from 'express';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { GalleyConfig } from '../contract/galley-config.ts';
import { HttpError } from '../contract/http-error.ts';
import { UPDATES } from '../contract/names.ts';
import { siteState } from '../contract/site-state.ts';
import { onlyMethods } from './http-edge.ts';
import { bytesOf, parseJson, rawBody, requireJson } from './json-body.ts';
import type { SiteStatusReader } from './site-status.ts';
import type { TemporalGateway } from './temporal-gateway.ts';
import { unavailable } from './unavailable.ts';

/** The last part of a path under `/sites/{site}/`, and the update that it sends to the site's workflow. */
const ACTIONS = {
  export: UPDATES.exportNow,
  refresh: UPDATES.refreshNow,
  pause: UPDATES.pause,
  resume: UPDATES.resume,
} as const;

/** A refresh waits for the Admin API and the deployments, a removal for the cancellation of a job. */
const UPDATE_DEADLINE_MS = 45_000;

/** As in galley.yaml. A name becomes part of a workflow's id and of a query. */
const NAME = /^[a-z\d-]{1,63}$/i;

const rollbackRequest = z.union([
  z.strictObject({ version: z.string().min(1).max(200) }),
  z.strictObject({ jobId: z.string().min(1).max(500) }),
]);

type SteerSitesDeps = {
  config: GalleyConfig;
  gateway: Pick<TemporalGateway, 'update' | 'exportNow' | 'listRules'>;
  status: SiteStatusReader;
  operator: RequestHandler;
  logger: Logger;
};

/**
 * The routes by which operators act on sites. Each responds with 200 and the site, 404 if there is no such site, and
 * 409 with the reason if the action isn't possible now.
 */
export function addSteeringRoutes(app: Express, deps: SteerSitesDeps): void {
  const { config, gateway, status, operator } = deps;
  const act = createAct(deps);

  for (const [path, update] of Object.entries(ACTIONS)) {
    app
      .route(`/sites/:site/${path}`)
      .post(operator, async ({ params: { site } }, response) => {
        const siteConfig = Object.hasOwn(config.sites, site) ? config.sites[site] : undefined;
        const state = await act(site, () =>
          update === UPDATES.exportNow && siteConfig !== undefined
            ? gateway.exportNow({ site, domain: siteConfig.domain }, UPDATE_DEADLINE_MS)
            : gateway.update(site, update, UPDATE_DEADLINE_MS),
        );
        response.json(status.of(site, siteState.parse(state)));
      })
      .all(onlyMethods('POST'));
  }

  app
    .route('/sites/:site/rollback')
    .post(operator, requireJson, rawBody, async ({ params: { site }, body }, response) => {
      const earlier = rollbackRequest.safeParse(parseJson(bytesOf(body)));
      if (!earlier.success) throw new HttpError(400, 'expected {"version": "…"} or {"jobId": "…"}');
      const name = 'version' in earlier.data ? earlier.data.version : earlier.data.jobId;
      const state = await act(site, () => gateway.update(site, UPDATES.rollback, UPDATE_DEADLINE_MS, name));
      response.json(status.of(site, siteState.parse(state)));
    })
    .all(onlyMethods('POST'));

  app
    .route('/sites/:site')
    .delete(operator, async ({ params: { site } }, response) => {
      const state = await act(site, () => gateway.update(site, UPDATES.remove, UPDATE_DEADLINE_MS));
      const ended = await act(site, () => endRules(gateway, site));
      response.json({ ...status.of(site, siteState.parse(state)), endedRules: ended });
    })
    .all(onlyMethods('GET', 'HEAD', 'DELETE'));

  app
    .route('/sites/:site/agents/:rule')
    .delete(operator, async ({ params: { site, rule } }, response) => {
      const missing = new HttpError(404, 'no such rule runs');
      if (!NAME.test(rule)) throw missing;
      response.json(await act(site, () => gateway.update({ site, rule }, UPDATES.remove, UPDATE_DEADLINE_MS), missing));
    })
    .all(onlyMethods('DELETE'));
}

/** Runs an action on a workflow. If there is none, the response is `missing`. */
type Act = <T>(site: string, action: () => Promise<T>, missing?: HttpError) => Promise<T>;

function createAct({ config, logger }: SteerSitesDeps): Act {
  /** Why a site has no workflow: it was never published, or it is unknown. */
  const noWorkflow = (site: string): HttpError =>
    Object.hasOwn(config.sites, site)
      ? new HttpError(409, 'nothing was published yet: the site has no workflow')
      : new HttpError(404, 'no such site');

  return async (site, action, missing = noWorkflow(site)) => {
    if (!NAME.test(site)) throw new HttpError(404, 'no such site');
    try {
      return await action();
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) throw missing;
      if (error instanceof WorkflowUpdateFailedError) {
        throw new HttpError(409, error.cause instanceof Error ? error.cause.message : error.message);
      }
      logger.warn({ site, error: String(error) }, 'Temporal did not respond to an action on a site');
      throw unavailable('no response in time: the action may still happen. Look at the state of the site');
    }
  };
}

/** Ends the site's agent rules. Changes that they started go on until their pull requests end. */
async function endRules(gateway: SteerSitesDeps['gateway'], site: string): Promise<string[]> {
  const rules = await gateway.listRules(site, UPDATE_DEADLINE_MS);
  const ended = rules.map(async (rule) => {
    try {
      await gateway.update({ site, rule }, UPDATES.remove, UPDATE_DEADLINE_MS);
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  });
  await Promise.all(ended);
  return rules;
}
