import type { Express, RequestHandler } from 'express';
import { z } from 'zod';
import { siteState } from '../contract/site-state.ts';
import { HttpError } from '../web/http-error.ts';
import { onlyMethods } from './http-edge.ts';
import { allowJson, bodyBytes, parseJson, rawBody, requireJson } from './json-body.ts';
import { actorOf } from './operator-access.ts';
import type { SiteActions, SteerAction } from './site-actions.ts';
import type { SiteStatusReader } from './site-status.ts';

/** The last part of a path under `/sites/{site}/`. */
const STEERING = [
  'export',
  'refresh',
  'pause',
  'resume',
  'approve',
  'reject',
] as const satisfies readonly SteerAction[];

const rollbackRequest = z.union([
  z.strictObject({ version: z.string().min(1).max(200) }),
  z.strictObject({ jobId: z.string().min(1).max(500) }),
]);

const runAgainRequest = z.strictObject({ rule: z.string().min(1).max(63).optional() });

type SteerSitesDeps = { actions: SiteActions; status: SiteStatusReader; operator: RequestHandler };

/**
 * The routes by which operators act on sites. Each responds with 200 and the site without its histories, 404 if there is
 * no such site, and 409 with the reason if the action isn't possible now.
 */
export function addSteeringRoutes(app: Express, { actions, status, operator }: SteerSitesDeps): void {
  for (const action of STEERING) {
    app
      .route(`/sites/:site/${action}`)
      .post(operator, async (request, response) => {
        const { site } = request.params;
        response.json(status.of(site, await actions.steer(site, action, actorOf(request))));
      })
      .all(onlyMethods('POST'));
  }

  app
    .route('/sites/:site/rollback')
    .post(operator, requireJson, rawBody, async (request, response) => {
      const { site } = request.params;
      const earlier = rollbackRequest.safeParse(parseJson(bodyBytes(request.body)));
      if (!earlier.success) throw new HttpError(400, 'expected {"version": "…"} or {"jobId": "…"}');
      const job = 'version' in earlier.data ? earlier.data.version : earlier.data.jobId;
      response.json(status.of(site, await actions.rollback(site, job, actorOf(request))));
    })
    .all(onlyMethods('POST'));

  app
    .route('/sites/:site/deliveries/:deliveryId/run-again')
    .post(operator, allowJson, rawBody, async (request, response) => {
      const { site, deliveryId } = request.params;
      const bytes = bodyBytes(request.body);
      const asked = runAgainRequest.safeParse(bytes.length === 0 ? {} : parseJson(bytes));
      if (!asked.success) throw new HttpError(400, 'expected no body, or {"rule": "…"} with the name of an agent rule');
      const { rule } = asked.data;
      const state = await actions.runAgain(site, { deliveryId, rule }, actorOf(request));
      response.json(rule === undefined ? status.of(site, siteState.parse(state)) : state);
    })
    .all(onlyMethods('POST'));

  app
    .route('/sites/:site')
    .delete(operator, async (request, response) => {
      const { site } = request.params;
      const { endedRules, ...state } = await actions.remove(site, actorOf(request));
      response.json({ ...status.of(site, state), endedRules });
    })
    .all(onlyMethods('GET', 'HEAD', 'DELETE'));

  app
    .route('/sites/:site/agents/:rule')
    .delete(operator, async (request, response) => {
      const { site, rule } = request.params;
      response.json(await actions.removeRule(site, rule, actorOf(request)));
    })
    .all(onlyMethods('DELETE'));
}
