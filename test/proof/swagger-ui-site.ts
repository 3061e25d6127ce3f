import { join } from 'node:path';
import { staticHost } from '../exporter/sites/static-host.ts';
import type { SiteHandler } from '../helpers/http-site.ts';

const DESCRIPTION = {
  openapi: '3.1.0',
  info: { title: 'Pets', version: '1.2.0', description: 'See [the guide](/guide/) and [pets](./guide/pets.html).' },
  externalDocs: { url: '/guide/', description: 'Guide' },
  servers: [{ url: '/api/v1' }, { url: 'https://api.example.com/v1' }],
  tags: [{ name: 'pets', description: 'All about pets', externalDocs: { url: '/guide/pets.html' } }],
  paths: {
    '/pets': {
      get: {
        tags: ['pets'],
        summary: 'List all pets',
        operationId: 'listPets',
        parameters: [{ $ref: 'parts/parameters.json#/limit' }],
        responses: {
          200: {
            description: 'Pets',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/Pets' } } },
          },
        },
      },
      post: {
        tags: ['pets'],
        summary: 'Add a pet',
        operationId: 'addPet',
        requestBody: { content: { 'application/json': { schema: { $ref: 'parts/pet.json' } } } },
        responses: { 201: { description: 'Created' } },
      },
    },
    '/pets/{id}': {
      get: {
        tags: ['pets'],
        summary: 'One pet',
        operationId: 'getPet',
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
        responses: { 200: { description: 'The pet' }, 404: { description: 'No such pet' } },
      },
    },
  },
  components: { schemas: { Pets: { type: 'array', items: { $ref: 'parts/pet.json' } } } },
};
const PARAMETERS = { limit: { name: 'limit', in: 'query', description: 'How many', schema: { type: 'integer' } } };
const PET = { type: 'object', required: ['name'], properties: { id: { type: 'string' }, name: { type: 'string' } } };

const INITIALIZER = `window.onload = function () {
  window.ui = SwaggerUIBundle({
    urls: [{ url: '/openapi.json', name: 'Pets' }, { url: '/spec/stores.yaml', name: 'Stores' }],
    dom_id: '#swagger-ui',
    deepLinking: true,
    docExpansion: 'full',
    defaultModelsExpandDepth: 3,
    validatorUrl: null,
    presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
    plugins: [SwaggerUIBundle.plugins.DownloadUrl],
    layout: 'StandaloneLayout',
  });
};`;
const STORES = `openapi: 3.0.3
info:
  title: Stores
  version: '1'
paths:
  /stores:
    get:
      summary: List stores
      responses:
        '200':
          description: Stores
`;
/** Without an initializer of its own: the page names the description. */
const INLINE = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Stores</title>
<link rel="stylesheet" href="/swagger-ui.css"></head><body><div id="swagger-ui"></div>
<script src="/swagger-ui-bundle.js"></script><script>
window.ui = SwaggerUIBundle({ url: "../spec/stores.yaml", dom_id: "#swagger-ui", presets: [SwaggerUIBundle.presets.apis] });
</script></body></html>`;

const page = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body><h1>${title}</h1>${body}</body></html>`;

const FILES: Readonly<Record<string, [type: string, body: string]>> = {
  '/openapi.json': ['application/json', JSON.stringify(DESCRIPTION, undefined, 2)],
  '/parts/parameters.json': ['application/json', JSON.stringify(PARAMETERS)],
  '/parts/pet.json': ['application/json', JSON.stringify(PET)],
  '/spec/stores.yaml': ['application/yaml', STORES],
  '/swagger-initializer.js': ['text/javascript', INITIALIZER],
  '/stores/': ['text/html', INLINE],
  '/guide/': [
    'text/html',
    page(
      'Guide',
      '<p>How to use <a href="/">the API</a>, <a href="pets.html">pets</a> and <a href="/stores/">stores</a>.',
    ),
  ],
  '/guide/pets.html': ['text/html', page('Pets', '<p>All about pets. <a href="./">Back</a>')],
  '/sitemap.xml': [
    'application/xml',
    `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${['/', '/guide/', '/guide/pets.html', '/stores/']
      .map((path) => `<url><loc>https://docs.example.com${path}</loc></url>`)
      .join('')}</urlset>`,
  ],
};

/** Swagger UI as its package has it, with a description that scripts fetch, its parts, and pages that it leads to. */
export function swaggerUiSite(): SiteHandler {
  const files = staticHost(join(process.cwd(), 'node_modules/swagger-ui-dist'));
  return (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://host.invalid');
    const file = FILES[pathname];
    if (file === undefined) files(request, response);
    else response.writeHead(200, { 'content-type': file[0] }).end(file[1]);
  };
}
