import type { Request, RequestHandler, Response, Router } from 'express';
import type { VNode } from 'preact';
import { Confirm } from '../../ui/components/confirm.tsx';
import { Field, Select } from '../../ui/components/form.tsx';
import { sameOriginOnly } from '../../web/access.ts';
import { HttpError } from '../../web/http-error.ts';
import { fieldOf, queryOf, readForm } from '../../web/request.ts';
import { sendPage } from '../../web/send-page.ts';
import { onlyMethods } from '../http-edge.ts';
import type { SteerAction } from '../site-actions.ts';
import { requireCsrf, signedOf } from './access.ts';
import { createAgentReader, siteOfChange } from './agent-reader.ts';
import { withMessage } from './done-messages.ts';
import { changePath, OperatorLayout, sitePath } from './layout.tsx';
import type { PagesDeps } from './pages-deps.ts';
import { nameOf } from './site-routes.tsx';

/** Every form passes these first. */
const FORM: RequestHandler[] = [sameOriginOnly, readForm, requireCsrf];

const ACTIONS: readonly SteerAction[] = ['export', 'refresh', 'pause', 'resume', 'unlock'];
/** About one deployment, if the form names it. */
const DECISIONS: readonly SteerAction[] = ['approve', 'reject'];

/** The forms that act on sites and changes. Needs a session before them. */
export function addActionRoutes(router: Router, deps: PagesDeps): void {
  addSiteForms(router, deps);
  addRollback(router, deps);
  addLock(router, deps);
  addRemoval(router, deps);
  addCancel(router, deps);
}

function addSiteForms(router: Router, { actions }: PagesDeps): void {
  for (const action of ACTIONS) {
    form(router, `/ui/sites/:site/${action}`, async (request) => {
      const site = nameOf(request, 'site');
      await actions.steer(site, action, { actor: actorOf(request) });
      return withMessage(sitePath(site), action);
    });
  }
  for (const action of DECISIONS) {
    form(router, `/ui/sites/:site/${action}`, async (request) => {
      const site = nameOf(request, 'site');
      await actions.steer(site, action, { actor: actorOf(request), deployment: optional(request, 'deployment') });
      return withMessage(sitePath(site), action);
    });
  }
  form(router, '/ui/sites/:site/run-again', async (request) => {
    const site = nameOf(request, 'site');
    const rule = fieldOf(request, 'rule');
    const delivery = { deliveryId: fieldOf(request, 'delivery'), ...(rule !== '' && { rule }) };
    await actions.runAgain(site, delivery, actorOf(request));
    return withMessage(sitePath(site), 'run-again');
  });
}

/** A field that may be left empty. */
function optional(request: Request, name: string): string | undefined {
  return fieldOf(request, name).trim() || undefined;
}

function actorOf(request: Request): string {
  return signedOf(request).session.name;
}

/** A route for a form, which leads to a page when it is done. */
function form(router: Router, path: string, act: (request: Request) => Promise<string>): void {
  router
    .route(path)
    .post(FORM, async (request: Request, response: Response) => {
      response.redirect(303, await act(request));
    })
    .all(onlyMethods('POST'));
}

function addRollback(router: Router, { actions, status }: PagesDeps): void {
  router
    .route('/ui/sites/:site/rollback')
    .get(async (request, response) => {
      const { site, exports } = await status.one(nameOf(request, 'site'));
      const record = exports.find(({ jobId }) => jobId !== null && jobId === queryOf(request, 'job'));
      if (record?.jobId === undefined || record.jobId === null) throw new HttpError(404, 'no such export');
      const version = record.version ?? record.jobId;
      const page = confirmPage(request, site, {
        title: `Roll back ${site}`,
        question: `Roll back to ${version}?`,
        text: 'All deployments that are not pinned or off get this version. A paused site stays paused.',
        action: 'rollback',
        inputs: (
          <>
            <Select label="It stays until" name="lock" options={UNTIL} />
            {REASON}
          </>
        ),
        fields: { job: record.jobId },
        confirmLabel: 'Roll back',
      });
      await sendPage(request, response, page);
    })
    .post(FORM, async (request: Request, response: Response) => {
      const site = nameOf(request, 'site');
      const lock = fieldOf(request, 'lock') === 'true';
      const options = { actor: actorOf(request), reason: optional(request, 'reason'), lock };
      await actions.rollback(site, fieldOf(request, 'job'), options);
      response.redirect(303, withMessage(sitePath(site), 'rollback'));
    })
    .all(onlyMethods('GET', 'HEAD', 'POST'));
}

/** How long a rollback holds: the values of `lock`. */
const UNTIL = [
  { value: '', label: 'the next publish' },
  { value: 'true', label: 'the site is unlocked' },
];

const REASON = (
  <Field label="Reason" name="reason" maxLength={500} hint="Optional. Operators see it beside the site's state." />
);

function addLock(router: Router, { actions, status }: PagesDeps): void {
  router
    .route('/ui/sites/:site/lock')
    .get(async (request, response) => {
      const { site } = await status.one(nameOf(request, 'site'));
      const page = confirmPage(request, site, {
        title: `Lock ${site}`,
        question: `Lock ${site}?`,
        text: 'Deployments keep what they have, and their links stay fresh. Publishes are exported and wait until you unlock the site.',
        action: 'lock',
        inputs: REASON,
        fields: {},
        confirmLabel: 'Lock the site',
      });
      await sendPage(request, response, page);
    })
    .post(FORM, async (request: Request, response: Response) => {
      const site = nameOf(request, 'site');
      await actions.steer(site, 'lock', { actor: actorOf(request), reason: optional(request, 'reason') });
      response.redirect(303, withMessage(sitePath(site), 'lock'));
    })
    .all(onlyMethods('GET', 'HEAD', 'POST'));
}

function addRemoval(router: Router, { actions, status }: PagesDeps): void {
  router
    .route('/ui/sites/:site/remove')
    .get(async (request, response) => {
      const { site } = await status.one(nameOf(request, 'site'));
      const page = confirmPage(request, site, {
        title: `Remove ${site}`,
        question: `Remove ${site}?`,
        text:
          'Its workflow ends: a running export is canceled, and the link is no longer refreshed, so a deployment that ' +
          'restarts after it has expired can not fetch the bundle. Its agent rules end too; their open pull requests ' +
          'stay. The next publish starts the site again while galley.yaml has it.',
        action: 'remove',
        fields: {},
        confirmLabel: 'Remove the site',
      });
      await sendPage(request, response, page);
    })
    .post(FORM, async (request: Request, response: Response) => {
      await actions.remove(nameOf(request, 'site'), actorOf(request));
      response.redirect(303, withMessage('/', 'remove'));
    })
    .all(onlyMethods('GET', 'HEAD', 'POST'));
}

type Question = {
  title: string;
  question: string;
  text: string;
  action: 'rollback' | 'lock' | 'remove';
  inputs?: VNode;
  fields: Readonly<Record<string, string>>;
  confirmLabel: string;
};

function confirmPage(request: Request, site: string, { title, question, text, action, ...rest }: Question) {
  const signed = signedOf(request);
  const crumbs = [
    { label: 'Sites', href: '/' },
    { label: site, href: sitePath(site) },
  ];
  return (
    <OperatorLayout signed={signed} title={title} crumbs={crumbs}>
      <Confirm
        {...rest}
        question={question}
        action={sitePath(site, action)}
        csrf={signed.csrf}
        cancelHref={sitePath(site)}
      >
        <p>{text}</p>
      </Confirm>
    </OperatorLayout>
  );
}

function addCancel(router: Router, deps: PagesDeps): void {
  const { logger } = deps;
  const agents = createAgentReader(deps);
  form(router, '/ui/changes/:workflowId/cancel', async (request) => {
    const workflowId = String(request.params.workflowId);
    if (siteOfChange(workflowId) === undefined) throw new HttpError(404, 'no such change');
    await agents.cancelChange(workflowId);
    logger.info({ workflowId, operator: actorOf(request) }, 'An operator canceled a change');
    return withMessage(changePath(workflowId), 'cancel');
  });
}
