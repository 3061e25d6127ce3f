import { init, parse } from 'es-module-lexer';
import type { Collector } from '../collector.ts';
import { decodeBytes, encodeBytes, type SpannedText } from '../spanned-text.ts';
import { extractDirectLoads } from './direct-loads.ts';
import { probeLiterals } from './probe-literals.ts';
import { extractSourceMap } from './source-map.ts';

await init();

const IMPORTS = /\bimport\b|\bexport\b/;
const ASSET_OF_MODULE = /\bnew\s+URL\(\s*(["'`])([^"'`\\$\s]*[^"'`\\$\s/])\1\s*,\s*import\.meta\.url/g;
/** Only these resolve without an import map; a bare name is a package. */
const URL_SPECIFIER = /^(?:\.{0,2}\/|https?:)/;

/**
 * Reads a script: static imports, dynamic imports of a literal, `new URL('…', import.meta.url)`, and string literals
 * that look like files. Guessed files stay unchanged in the script, because assets keep the origin's paths.
 */
export function extractScript(script: SpannedText, layers: string, collector: Collector, isInline = false): void {
  const { text } = script;
  if (IMPORTS.test(text)) {
    referImports(script, layers, collector);
    for (const match of text.matchAll(ASSET_OF_MODULE)) {
      const url = match[2] ?? '';
      const from = match.index + match[0].indexOf(url, match[0].indexOf('('));
      collector.refer({ span: script, from, to: from + url.length, layers: `q${layers}` }, 'asset');
    }
  }
  extractDirectLoads(script, layers, collector, isInline);
  probeLiterals(text, collector);
  extractSourceMap(script, layers, collector);
}

function referImports(script: SpannedText, layers: string, collector: Collector): void {
  for (const { specifier, start, end, glob } of importsOf(script.text)) {
    if (specifier === undefined || glob) continue;
    const mapped = URL_SPECIFIER.test(specifier) ? undefined : collector.mappedImport(specifier);
    if (mapped === undefined && !URL_SPECIFIER.test(specifier)) continue;
    const quoted = /["'`]/.test(script.text.charAt(start));
    const [from, to] = quoted ? [start + 1, end - 1] : [start, end];
    const written = script.text.slice(from, to);
    const decoded = mapped ?? (written.includes('\\') ? encodeBytes(specifier) : undefined);
    collector.refer({ span: script, from, to, layers: `mq${layers}` }, 'asset', decoded);
  }
}

/** The specifiers that a module imports (dynamic imports only if literal), decoded from UTF-8. `text` is latin1. */
export function importSpecifiers(text: string): string[] {
  if (!IMPORTS.test(text)) return [];
  return importsOf(text).flatMap(({ specifier, glob }) =>
    specifier === undefined || glob ? [] : [decodeBytes(specifier)],
  );
}

type FoundImport = { specifier: string | undefined; start: number; end: number; glob: boolean };

/** A classic or broken script may not parse, and then has no imports. */
function importsOf(text: string): FoundImport[] {
  try {
    const [imports] = parse(text);
    return imports.flatMap((each) => {
      if (each.type === 'static' || each.type === 'reexport-star') return [{ ...spanOf(each), glob: false }];
      return each.type === 'dynamic' ? [{ ...spanOf(each), glob: each.glob }] : [];
    });
  } catch {
    return [];
  }
}

function spanOf({ specifier, start, end }: Omit<FoundImport, 'glob'>): Omit<FoundImport, 'glob'> {
  return { specifier, start, end };
}
