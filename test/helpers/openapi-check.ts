import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { z } from 'zod';

const operation = z.looseObject({
  operationId: z.string(),
  responses: z.record(
    z.string(),
    z.looseObject({
      headers: z.record(z.string(), z.looseObject({ required: z.boolean(), schema: z.looseObject({}) })),
      content: z.record(z.string(), z.object({ schema: z.looseObject({}) })),
    }),
  ),
});

const openApiDocument = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), operation)),
  components: z.looseObject({ schemas: z.record(z.string(), z.looseObject({})) }),
});

export type OpenApiCheck = {
  /** Throws unless the document declares this response: its status, headers and body. */
  check(method: string, path: string, response: Response, body: unknown): void;
  /** Each checked response, as `operationId status`. */
  readonly seen: ReadonlySet<string>;
  /** Each declared response, as `operationId status`. */
  readonly foreseen: ReadonlySet<string>;
};

/** Checks a server's responses against its own OpenAPI document. */
export function createOpenApiCheck(document: unknown): OpenApiCheck {
  const { paths, components } = openApiDocument.parse(document);
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema({ $id: 'openapi', components });
  const seen = new Set<string>();

  const describeMismatch = (schema: object, value: unknown): string | undefined => {
    const rebased = JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"openapi#/components'));
    return ajv.validate(rebased, value) ? undefined : ajv.errorsText();
  };

  return {
    seen,
    foreseen: new Set(
      Object.values(paths)
        .flatMap((methods) => Object.values(methods))
        .flatMap(({ operationId, responses }) => Object.keys(responses).map((status) => `${operationId} ${status}`)),
    ),
    check(method, path, response, body) {
      const [, methods] = Object.entries(paths).find(([template]) => templatePattern(template).test(path)) ?? [];
      const found = methods?.[method.toLowerCase()];
      const expected = found?.responses[String(response.status)];
      if (!found || !expected)
        throw new Error(`${method} ${path}: the document declares no response ${response.status}`);
      for (const [name, header] of Object.entries(expected.headers)) {
        const text = response.headers.get(name);
        if (text === null && header.required) throw new Error(`${method} ${path} ${response.status}: no ${name}`);
        const value = header.schema.type === 'integer' ? Number(text) : text;
        const mismatch = text === null ? undefined : describeMismatch(header.schema, value);
        if (mismatch) throw new Error(`${method} ${path} ${response.status}: ${name}: ${mismatch}`);
      }
      const type = response.headers.get('content-type')?.split(';', 1)[0] ?? '';
      const content = expected.content[type];
      if (!content)
        throw new Error(`${method} ${path} ${response.status}: the document declares no content type ${type}`);
      const mismatch = describeMismatch(content.schema, body);
      if (mismatch) throw new Error(`${method} ${path} ${response.status}: ${mismatch}: ${JSON.stringify(body)}`);
      seen.add(`${found.operationId} ${response.status}`);
    },
  };
}

function templatePattern(template: string): RegExp {
  return new RegExp(`^${template.replace(/\{[^}]+\}/g, '[^/]+')}$`);
}
