import { z } from 'zod';

export type JsonSchema = Record<string, unknown>;

const prefix = '#/components/schemas/';

/** A reference to a schema of `componentSchemas` by name. */
export function refTo(name: string): JsonSchema {
  return { $ref: prefix + name };
}

/** Named schemas as an OpenAPI document's components, with references between them. */
export function componentSchemas(named: Readonly<Record<string, z.ZodType>>): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, { io: 'input', uri: (id) => prefix + id, override: tidy });
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, withoutIds(schema)]));
}

/**
 * An object schema's fields as parameters of a path, query or header. `overrides` replace fields that are parsed from
 * text.
 */
export function parametersOf(
  place: 'path' | 'query' | 'header',
  object: z.ZodObject,
  overrides: Readonly<Record<string, JsonSchema>> = {},
): JsonSchema[] {
  const { properties = {}, required = [] } = z.toJSONSchema(object, { io: 'input', override: tidy });
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...schema } = typeof property === 'boolean' ? {} : property;
    const parameter = { name, in: place, required: required.includes(name), schema: overrides[name] ?? schema };
    return description === undefined ? parameter : { ...parameter, description };
  });
}

/** Removes redundant and zod-specific keywords. */
function tidy({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
  if (jsonSchema.format === 'starts_with') delete jsonSchema.format;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
}

/** Removes `$id`: with it, a schema's references would resolve within itself instead of the document. */
function withoutIds({ $id: _id, $schema: _schema, ...schema }: JsonSchema): JsonSchema {
  return schema;
}
