import type { Request } from 'express';
import { z } from 'zod';
import { HttpError } from '../../../web/http-error.ts';
import { fieldOf } from '../../../web/request.ts';

/** The crawl settings of the form, with what each choice means. */
export const CHOICES = {
  external: {
    label: 'Files from other hosts',
    options: { bundle: 'Store them in the bundle', keep: 'Leave them as links' },
  },
  scripts: {
    label: 'Scripts',
    options: { auto: 'Start them at their original path', keep: 'Keep them', strip: 'Leave them out' },
  },
  render: { label: 'Read pages', options: { http: "From the origin's response", browser: 'After a browser ran them' } },
  discover: {
    label: 'Find files of scripts',
    options: { http: 'By reading the scripts', browser: 'Also by visiting sample pages' },
  },
  robots: { label: 'robots.txt', options: { respect: 'Respect it', ignore: 'Ignore it' } },
  sourceMaps: { label: 'Source maps', options: { omit: 'Leave them out', keep: 'Keep them' } },
  search: {
    label: 'Search in the bundle',
    options: { off: 'Only what the site has', pagefind: 'Make an index (Pagefind)' },
  },
  markdown: {
    label: 'Pages in Markdown',
    options: { keep: 'Only those of the site', on: 'Make those that are missing' },
  },
  incremental: { label: 'Unchanged pages', options: { true: 'Reuse them', false: 'Fetch them again' } },
} as const;

export type ChoiceName = keyof typeof CHOICES;

export const CHOICE_NAMES = z.enum([
  'external',
  'scripts',
  'render',
  'discover',
  'robots',
  'sourceMaps',
  'search',
  'markdown',
  'incremental',
]).options;

/** The settings that the form names. A list of hosts for `external` can't be chosen, and stays. `parseInput` checks the number. */
export function settingsOf(request: Request): Record<string, unknown> {
  const chosen = CHOICE_NAMES.map((name): [string, unknown] => {
    const value = fieldOf(request, name);
    if (name === 'external' && value === 'list') return [name, undefined];
    if (!Object.hasOwn(CHOICES[name].options, value)) throw new HttpError(400, `${name}: expected one of the choices`);
    return [name, name === 'incremental' ? value === 'true' : value];
  });
  const pages = fieldOf(request, 'prove');
  const prove = pages === '' ? undefined : Number(pages);
  return Object.fromEntries([...chosen, ['prove', prove] as const].filter(([, value]) => value !== undefined));
}
