import type { Express, Request, RequestHandler } from 'express';
import { z } from 'zod';
import { siteName } from '../contract/galley-config.ts';
import { type ActionOptions, actionOptions } from '../contract/site-action.ts';
import { siteState } from '../contract/site-state.ts';
import { HttpError } from '../web/http-error.ts';
import { onlyMethods } from './http-edge.ts';
import { allowJson, bodyBytes, parseJson, rawBody, requireJson } from './json-body.ts';
import { actorOf } from './operator-access.ts';
import type { SiteActions, SteerAction } from './site-actions.ts';
import type { SiteStatusReader } from './site-status.ts';

/** What the optional body of a request can be, in code and in words. */
type OptionalBody<Body> = { schema: z.ZodType<Body>; expected: string };

const { reason, lock, deployment } = actionOptions.shape;
const ofSite = { schema: z.strictObject({ reason }), expected: '{"reason": "…"} of up to 500 characters' };
const ofDeployment = { schema: z.strictObject({ deployment }), expected: '{"deployment": "…"} with its name' };

/** The last part of each path under `/sites/{site}/`, with the body that it may have. */
const STEERING: [SteerAction, OptionalBody<ActionOptions>?][] = [
  ['export'],
  ['refresh'],
  ['pause'],
  ['resume'],
  ['lock', ofSite],
  ['unlock'],
  ['approve', ofDeployment],
  ['reject', ofDeployment],
];

const rollbackRequest = z.union([
  z.strictObject({ version: z.string().min(1).max(200), lock, reason }),
  z.strictObject({ jobId: z.string().min(1).max(500), lock, reason }),
]);

const renameRequest = z.strictObject({ to: siteName });

const runAgainRequest = {
  schema: z.strictObject({ rule: z.string().min(1).max(63).optional() }),
  expected: '{"rule": "…"} with the name of an agent rule',
};

type SteerSitesDeps = { actions: SiteActions; status: SiteStatusReader; operator: RequestHandler };

/**
 * The routes by which operators act on sites. Each responds with 200 and the site without its histories, 404 if there is
 * no such site, and 409 with the reason if the action isn't possible now.
 */
export function addSteeringRoutes(app: Express, { actions, status, operator }: SteerSitesDeps): void {
  for (const [action, body] of STEERING) {
    app
      .route(`/sites/:site/${action}`)
      .post(operator, ...(body === undefined ? [] : [allowJson, rawBody]), async (request, response) => {
        const { site } = request.params;
        const options = body === undefined ? {} : readOptional(request, body);
        response.json(status.of(site, await actions.steer(site, action, { ...options, actor: actorOf(request) })));
      })
      .all(onlyMethods('POST'));
  }

  app
    .route('/sites/:site/rollback')
    .post(operator, requireJson, rawBody, async (request, response) => {
      const { site } = request.params;
      const earlier = rollbackRequest.safeParse(parseJson(bodyBytes(request.body)));
      if (!earlier.success) {
        throw new HttpError(
          400,
          'expected {"version": "…"} or {"jobId": "…"}, and optionally "lock": true and "reason": "…" of up to 500 characters',
        );
      }
      const { lock, reason, ...named } = earlier.data;
      const job = 'version' in named ? named.version : named.jobId;
      response.json(status.of(site, await actions.rollback(site, job, { lock, reason, actor: actorOf(request) })));
    })
    .all(onlyMethods('POST'));

  app
    .route('/sites/:site/rename')
    .post(operator, requireJson, rawBody, async (request, response) => {
      const body = renameRequest.safeParse(parseJson(bodyBytes(request.body)));
      if (!body.success) throw new HttpError(400, 'expected {"to": "…"} with a name of letters, digits and "-"');
      response.json(await actions.rename(request.params.site, body.data.to, actorOf(request)));
    })
    .all(onlyMethods('POST'));

  app
    .route('/sites/:site/deliveries/:deliveryId/run-again')
    .post(operator, allowJson, rawBody, async (request, response) => {
      const { site, deliveryId } = request.params;
      const { rule } = readOptional(request, runAgainRequest);
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

/** Throws HttpError 400 for another body than the expected one. */
function readOptional<Body>(request: Request, { schema, expected }: OptionalBody<Body>): Body {
  const bytes = bodyBytes(request.body);
  const body = schema.safeParse(bytes.length === 0 ? {} : parseJson(bytes));
  if (!body.success) throw new HttpError(400, `expected no body, or ${expected}`);
  return body.data;
}
