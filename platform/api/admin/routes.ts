import type { Express } from 'express';
import { z } from 'zod';
import { createKey, createKeyRequest, listKeys, revokeKey } from '../../admin/api-keys.ts';
import {
  removeOrganization,
  setOrganization,
  setOrganizationRequest,
  showOrganizations,
} from '../../admin/organizations.ts';
import {
  addProjectRequest,
  moveProjectRequest,
  removeProjectQuery,
  setProjectRequest,
} from '../../admin/project-requests.ts';
import { addProject, listProjects, moveProject, removeProject, setProject, showProject } from '../../admin/projects.ts';
import { createResetLink, resetLinkRequest } from '../../admin/reset-links.ts';
import { label } from '../../admin/text.ts';
import { parseInput } from '../../parse-input.ts';
import { collectGarbage, collectGarbageRequest } from '../../retention/collect-garbage.ts';
import { addRoute } from '../add-route.ts';
import { readJsonBody } from '../json-body.ts';
import { requireOperatorToken } from '../operator.ts';
import type { ApiContext } from '../platform-api-deps.ts';

const listQuery = z.strictObject({ organization: label.optional() });

type AdminContext = Pick<ApiContext, 'db' | 'objects' | 'exportKeep' | 'logger' | 'now' | 'publicUrl'> & {
  operatorToken: string;
};

/**
 * Lets `keys`, `organizations`, `projects`, `members` and `gc` work beside a running service whose database they can't open. Not in the
 * OpenAPI document: it isn't part of the Admin API and requires the operator token.
 */
export function addAdminRoutes(app: Express, context: AdminContext): void {
  const { db, operatorToken, publicUrl, now } = context;
  app.use('/admin', requireOperatorToken(operatorToken));
  addRoute(app, '/admin/keys', {
    get: async (request, response) => {
      response.json({ keys: await listKeys(db, parseInput(listQuery, request.query)) });
    },
    post: async (request, response) => {
      response
        .status(201)
        .json(await createKey(db, parseInput(createKeyRequest, await readJsonBody(request, response))));
    },
  });
  addRoute(app, '/admin/keys/:id/revoke', {
    post: async (request, response) => {
      response.json(await revokeKey(db, String(request.params.id)));
    },
  });
  addRoute(app, '/admin/gc', {
    post: async (request, response) => {
      const { dryRun } = parseInput(collectGarbageRequest, await readJsonBody(request, response));
      const left = new AbortController();
      response.on('close', () => left.abort());
      response.json(
        await collectGarbage({ exportKeep: undefined, ...context, at: now(), dryRun, signal: left.signal }),
      );
    },
  });
  addRoute(app, '/admin/organizations', {
    get: async (_request, response) => {
      response.json({ organizations: await showOrganizations(db) });
    },
    delete: async (request, response) => {
      const { organization } = parseInput(listQuery.required(), request.query);
      response.json(await removeOrganization(db, organization));
    },
    patch: async (request, response) => {
      const input = parseInput(setOrganizationRequest, await readJsonBody(request, response));
      response.json(await setOrganization(db, input));
    },
  });
  addRoute(app, '/admin/reset-links', {
    post: async (request, response) => {
      const { email } = parseInput(resetLinkRequest, await readJsonBody(request, response));
      response.status(201).json(await createResetLink(db, { email, publicUrl: publicUrl() }));
    },
  });
  addRoute(app, '/admin/projects', {
    get: async (request, response) => {
      response.json({ projects: await listProjects(db, parseInput(listQuery, request.query)) });
    },
    post: async (request, response) => {
      const input = parseInput(addProjectRequest, await readJsonBody(request, response));
      response.status(201).json(await addProject(db, input));
    },
    patch: async (request, response) => {
      const input = parseInput(setProjectRequest, await readJsonBody(request, response));
      response.json(await setProject(db, input));
    },
  });
  addRoute(app, '/admin/projects/:id/move', {
    post: async (request, response) => {
      const input = parseInput(moveProjectRequest, await readJsonBody(request, response));
      response.json(await moveProject(db, String(request.params.id), input));
    },
  });
  addRoute(app, '/admin/projects/:id', {
    get: async (request, response) => {
      response.json(await showProject(db, String(request.params.id)));
    },
    delete: async (request, response) => {
      const { contents } = parseInput(removeProjectQuery, request.query);
      response.json(await removeProject(db, String(request.params.id), { withContents: contents === 'delete' }));
    },
  });
}
