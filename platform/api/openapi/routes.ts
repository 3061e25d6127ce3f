import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import type { Express, RequestHandler } from 'express';
import { addRoute } from '../add-route.ts';
import { createOpenApiDocument } from './document.ts';

/** A separate file, so that no inline script is needed. */
const START = `SwaggerUIBundle({ url: '../openapi.json', dom_id: '#swagger-ui', deepLinking: true, validatorUrl: null });\n`;

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Galley Admin API</title>
<link rel="icon" href="favicon-32x32.png">
<link rel="stylesheet" href="swagger-ui.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="swagger-ui-bundle.js"></script>
<script src="start.js"></script>
</body>
</html>
`;

/** Everything from this server, nothing inline but the styles that Swagger UI sets on its elements. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const ASSETS = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'];

/** `/openapi.json`, and `/docs/` to browse it, where `/` leads. */
export function addOpenApiRoutes(app: Express, { publicUrl }: { publicUrl: () => string }): void {
  addRoute(app, '/openapi.json', {
    get: (_request, response) => {
      response.json(createOpenApiDocument({ publicUrl: publicUrl() }));
    },
  });

  const addPage = (path: string, handler: RequestHandler): void => {
    addRoute(app, path, { get: handler });
  };
  // Relative, in case the public URL has a path.
  addPage('/', (_request, response) => response.redirect(302, 'docs/'));
  addPage('/docs', (_request, response) => response.redirect(308, 'docs/'));
  addPage('/docs/', (_request, response) => {
    response.set({ 'Content-Security-Policy': POLICY, 'Referrer-Policy': 'no-referrer' }).type('html').send(PAGE);
  });
  addPage('/docs/start.js', (_request, response) => {
    response.type('js').send(START);
  });
  // Located by its package.json, because its main module needs a bundler.
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  for (const asset of ASSETS) {
    addPage(`/docs/${asset}`, (_request, response) => response.sendFile(asset, { root: folder, cacheControl: false }));
  }
}
