import type { Express, Request } from 'express';
import { sendPage } from '../../../web/send-page.ts';
import { addRoute } from '../add-route.ts';
import { createOpenApiDocument } from './document.ts';
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
