import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { createOpenApiDocument } from '../../platform/api/openapi/document.ts';

const operation = z.looseObject({ responses: z.record(z.string(), z.looseObject({})) });
const { paths } = z
  .looseObject({ paths: z.record(z.string(), z.record(z.string(), operation)) })
  .parse(createOpenApiDocument({ publicUrl: 'http://127.0.0.1' }));

/** What every row may answer, and the page says once. */
const EVERYWHERE = new Set(['500', '503']);

describe('the page of the Admin API', () => {
  const page = readFileSync('docs/reference/admin-api.md', 'utf8');

  it('names every row of the OpenAPI document with its statuses, and no other', () => {
    const told = [...page.matchAll(/^\| `([A-Z]+) ([^`?]+)[^`]*`[^|]*\| (\d+)[^|]*\| ([\d ]+) \|$/gm)].map(
      ([, method, path, success, errors = '']) => `${method} ${path}: ${success} ${errors}`,
    );
    const served = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { responses }]) => {
        const statuses = Object.keys(responses).filter((status) => !EVERYWHERE.has(status));
        return `${method.toUpperCase()} ${path}: ${statuses.join(' ')}`;
      }),
    );
    expect(told.sort()).toEqual(served.sort());
  });
});
