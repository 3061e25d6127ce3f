import type { Express, Request } from 'express';
import { errorBody } from '../../../web/http-error.ts';
import { sendPage } from '../../../web/send-page.ts';
import { addRoute } from '../add-route.ts';
import { AGENT_PATHS, AGENT_SCHEMAS } from '../agent/openapi.ts';
import { STATIC_EXPORT_PATHS, STATIC_EXPORT_SCHEMAS } from '../static-export/openapi.ts';
import { componentSchemas } from './json-schemas.ts';
import { type ExampleProject, ReferencePage } from './reference-page.tsx';

export type OpenApiContext = {
  publicUrl: () => string;
  /** A project of the signed-in reader. */
  findProject?: ((request: Request) => Promise<ExampleProject | undefined>) | undefined;
};

/** `/openapi.json`, and `/docs/` to read it, where `/` leads. */
export function addOpenApiRoutes(app: Express, { publicUrl, findProject }: OpenApiContext): void {
  const document = () => createOpenApiDocument({ publicUrl: publicUrl() });
  addRoute(app, '/openapi.json', { get: (_request, response) => response.json(document()) });
  // Relative, in case the public URL has a path.
  addRoute(app, '/', { get: (_request, response) => response.redirect(302, 'docs/') });
  addRoute(app, '/docs', { get: (_request, response) => response.redirect(308, 'docs/') });
  addRoute(app, '/docs/', {
    get: async (request, response) => {
      const project = await findProject?.(request);
      await sendPage(request, response, ReferencePage({ document: document(), project }));
    },
  });
}

/** The API description's version, not the program's. */
const API_VERSION = '2.0.0';

const DESCRIPTION = [
  'Agent jobs: send a prompt and poll the job until it is completed or failed; what the agent changed is the pull request',
  'at `prLink`. Static export: start a job, poll it until it is completed, ask for the bundle and download it before the',
  'link expires. Every response carries X-Request-Id; every error body is `{error}`; an unknown path is 404, and a method',
  'that a path does not have is 405 with Allow.',
].join(' ');

/**
 * The OpenAPI 3.1 description of the Admin API, generated from the schemas that validate requests and render responses.
 */
export function createOpenApiDocument({ publicUrl }: { publicUrl: string }): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Galley Admin API',
      version: API_VERSION,
      description: DESCRIPTION,
      contact: { name: 'The operators of this service', url: publicUrl },
    },
    servers: [{ url: publicUrl }],
    security: [{ apiKey: [] }],
    tags: [
      { name: 'Agent jobs', description: 'Needs a project with a repository.' },
      { name: 'Static export', description: 'Needs the Enterprise plan.' },
    ],
    paths: { ...AGENT_PATHS, ...STATIC_EXPORT_PATHS },
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An admin API key: `galley_…`. It belongs to one organization.',
        },
      },
      schemas: componentSchemas({ Error: errorBody, ...AGENT_SCHEMAS, ...STATIC_EXPORT_SCHEMAS }),
    },
  };
}
