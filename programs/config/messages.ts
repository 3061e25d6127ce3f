import { z } from 'zod';
import { closest } from '../../contract/closest-word.ts';
import type { ConfigPath } from './yaml.ts';

/** Names of a schema's types for people who write YAML. */
const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
  null: 'nothing',
};

function typeName(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'nothing';
  return TYPE_NAMES[Array.isArray(value) ? 'array' : typeof value] ?? typeof value;
}

/** The message for issues that the schema has none for. Values are never repeated: they may be secret. */
export const expectation: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === 'invalid_type') {
    const got = issue.input === undefined ? 'but the key is missing' : `got ${typeName(issue.input)}`;
    return `expected ${TYPE_NAMES[issue.expected] ?? issue.expected}, ${got}`;
  }
  if (issue.code === 'invalid_value') return `expected ${issue.values.map(String).join(' or ')}`;
  if (issue.code === 'too_small') {
    if (issue.origin === 'string') return 'expected a text that is not empty';
    if (issue.origin === 'array') return 'expected a list that is not empty';
    return `expected at least ${issue.minimum}`;
  }
  if (issue.code === 'too_big') {
    return issue.origin === 'string'
      ? `expected at most ${issue.maximum} characters`
      : `expected at most ${issue.maximum}`;
  }
  return undefined;
};

/** One zod issue as problems with the path of the wrong key; an unknown key gets a suggestion. */
export function describeIssue(issue: z.core.$ZodIssue, root: z.core.$ZodType): { path: ConfigPath; message: string }[] {
  if (issue.code === 'unrecognized_keys') {
    const known = knownKeys(root, issue.path);
    return issue.keys.map((key) => {
      const suggestion = closest(key, known);
      const hint = suggestion === undefined ? `expected one of ${known.join(', ')}` : `did you mean ${suggestion}?`;
      return { path: [...issue.path, key], message: `unknown key: ${hint}` };
    });
  }
  if (issue.code === 'invalid_key') {
    return [{ path: issue.path, message: issue.issues[0]?.message ?? issue.message }];
  }
  return [{ path: issue.path, message: issue.message }];
}

/** The possible keys of a mapping at this path. */
function knownKeys(root: z.core.$ZodType, path: ConfigPath): string[] {
  let schema = bare(root);
  for (const key of path) {
    if (schema instanceof z.ZodObject) {
      const next: unknown = Reflect.get(schema.shape, key);
      if (!(next instanceof z.ZodType)) return [];
      schema = bare(next);
    } else if (schema instanceof z.ZodRecord) schema = bare(schema.valueType);
    else if (schema instanceof z.ZodArray) schema = bare(schema.element);
    else return [];
  }
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

/** The schema without defaults and optionality around it. */
function bare(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    return bare(schema.unwrap());
  }
  return schema;
}
