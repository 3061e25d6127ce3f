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
const ADDRESS = /^(?:\.{0,2}\/|https?:)/;

/**
 * Reads a script: what its modules import (also dynamically, by a literal), `new URL('…', import.meta.url)`, and the
 * files its string literals seem to name. Only module specifiers are ever rewritten; a bundle finds its other files
 * because assets keep the origin's paths.
 */
export function extractScript(script: SpannedText, layers: string, collector: Collector, isInline = false): void {
  const { text } = script;
  if (IMPORTS.test(text)) {
    referImports(script, layers, collector);
    for (const match of text.matchAll(ASSET_OF_MODULE)) {
      const address = match[2] ?? '';
      const from = match.index + match[0].indexOf(address, match[0].indexOf('('));
      collector.refer({ span: script, from, to: from + address.length, layers: `q${layers}` }, 'asset');
    }
  }
  extractDirectLoads(script, layers, collector, isInline);
  probeLiterals(text, collector);
  extractSourceMap(script, layers, collector);
}

function referImports(script: SpannedText, layers: string, collector: Collector): void {
  for (const { specifier, start, end, glob } of importsOf(script.text)) {
    if (specifier === undefined || glob) continue;
    const mapped = ADDRESS.test(specifier) ? undefined : collector.mappedImport(specifier);
    if (mapped === undefined && !ADDRESS.test(specifier)) continue;
    const quoted = /["'`]/.test(script.text.charAt(start));
    const [from, to] = quoted ? [start + 1, end - 1] : [start, end];
    const written = script.text.slice(from, to);
    const decoded = mapped ?? (written.includes('\\') ? encodeBytes(specifier) : undefined);
    collector.refer({ span: script, from, to, layers: `mq${layers}` }, 'asset', decoded);
  }
}

/** The specifiers that a module imports, also dynamically by a literal, as UTF-16 text. `text` is one character a byte. */
export function importSpecifiers(text: string): string[] {
  if (!IMPORTS.test(text)) return [];
  return importsOf(text).flatMap(({ specifier, glob }) =>
    specifier === undefined || glob ? [] : [decodeBytes(specifier)],
  );
}

type FoundImport = { specifier: string | undefined; start: number; end: number; glob: boolean };

/** A script that isn't a module, or a broken one, may not lex: it imports nothing then. */
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
