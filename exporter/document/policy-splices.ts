import { NOT_FOUND_PATH } from './assign-path.ts';
import { bundledPolicy } from './content-security-policy.ts';
import { baseLink } from './document-base.ts';
import { applyLayers } from './escape.ts';
import { frameworkByName } from './frameworks/detect.ts';
import { NOT_FOUND_BASE } from './not-found-base.ts';
import type { Splice } from './splice.ts';
import { HELD_REL, HELD_TYPE, startGuard } from './start-guard.ts';
import type { Mark, RewriteInput } from './types.ts';

/** The changes that policies make beside URLs. `isLocal` says whether a resource is in the bundle. */
export function policySplices(input: RewriteInput, isLocal: (resource: number) => boolean): Splice[] {
  const context = contextOf(input, isLocal);
  return input.extraction.marks.flatMap((mark) => {
    const text = replacement(mark, context);
    return text === undefined ? [] : [{ start: mark[0], end: mark[1], text }];
  });
}

type Context = {
  input: RewriteInput;
  isLocal: (resource: number) => boolean;
  /** Scripts wait for the start guard. */
  held: boolean;
  holdsClassic: boolean;
  stripped: boolean;
  isNotFound: boolean;
  /** The `<base>` that the document keeps in the bundle, if any. */
  base: string | undefined;
};

function contextOf(input: RewriteInput, isLocal: (resource: number) => boolean): Context {
  const { extraction, ownPath, policy } = input;
  const framework = frameworkByName(extraction.framework);
  const held = policy.scripts === 'auto' && framework !== undefined;
  return {
    input,
    isLocal,
    held,
    holdsClassic: held && framework.startsByClassicScripts,
    stripped: policy.scripts === 'strip',
    isNotFound: ownPath === NOT_FOUND_PATH,
    base: baseLink(input),
  };
}

/** The text that replaces a mark; undefined to leave it unchanged. */
function replacement([start, , kind, note]: Mark, context: Context): string | undefined {
  switch (kind) {
    case 'integrity':
    case 'crossorigin':
      return typeof note === 'number' && context.isLocal(note) ? '' : undefined;
    case 'base':
      return context.base === undefined || typeof note !== 'string' ? '' : ` href="${context.base}"`;
    case 'ping':
      return '';
    case 'label':
      return typeof note === 'number' && context.isLocal(note) ? 'utf-8' : undefined;
    case 'handler':
    case 'script':
      return context.stripped ? '' : undefined;
    case 'csp':
      return applyLayers(bundledPolicy(String(note)), quoteBefore(context.input.bytes, start));
    case 'hint':
      return isKeptHost(String(note), context.input) ? undefined : '';
    case 'module':
      return context.held ? ` type="${HELD_TYPE}" data-galley-type="module"` : undefined;
    case 'classic':
      return context.holdsClassic && typeof note === 'number' && context.isLocal(note)
        ? ` type="${HELD_TYPE}"`
        : undefined;
    case 'type':
      return context.held ? '' : undefined;
    case 'preload':
      return context.held || context.stripped ? HELD_REL + note : undefined;
    case 'font':
      // A font preload needs `crossorigin`, which fails for `file:`. Without it, the font would load twice.
      return HELD_REL + note;
    case 'charset':
      return '<meta charset="utf-8">';
    case 'head':
      return context.isNotFound ? NOT_FOUND_BASE : undefined;
    case 'patch':
      return context.stripped ? undefined : String(note);
    case 'import-map':
    case 'import':
      // Written by `rewrite`, because they refer to files.
      return undefined;
    case 'source-map':
      return context.input.policy.sourceMaps === 'keep' ? undefined : '';
    case 'body-end':
      return context.held ? startGuard(context.isNotFound ? null : new URL(context.input.url).pathname) : undefined;
  }
}

/** Whether the bundle still loads files from another host, so that a connection hint is useful. */
function isKeptHost(source: string, { url, policy }: RewriteInput): boolean {
  if (policy.external === 'keep') return true;
  return URL.canParse(source, url) && policy.keepHosts?.includes(new URL(source, url).hostname) === true;
}

function quoteBefore(bytes: Uint8Array, start: number): string {
  const before = String.fromCharCode(bytes[start - 1] ?? 0);
  return before === '"' || before === "'" ? before : '=';
}
