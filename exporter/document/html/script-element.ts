import type { Collector } from '../collector.ts';
import { extractScript } from '../javascript/extract-script.ts';
import { extractImportMap } from '../javascript/import-map.ts';
import { decodedJson, jsonStrings } from '../javascript/json-strings.ts';
import { probeLiterals } from '../javascript/probe-literals.ts';
import type { SpannedText } from '../spanned-text.ts';
import type { TagReader } from './tag-reader.ts';

type ScriptType = 'classic' | 'module' | 'importmap' | 'speculationrules' | 'json' | 'data';

const JAVASCRIPT = /^(?:(?:text|application)\/(?:x-)?(?:java|ecma)script|text\/(?:jscript|livescript))$/;

function scriptType(reader: TagReader): ScriptType {
  const [type = ''] = reader.value('type').toLowerCase().split(';');
  if (type === '' || JAVASCRIPT.test(type)) return 'classic';
  if (type === 'module' || type === 'importmap' || type === 'speculationrules') return type;
  return type === 'application/json' ? 'json' : 'data';
}

/** Handles the opening tag of a `<script>`: its URL, and the marks that let a policy hold it back. */
export function readScriptTag(reader: TagReader): void {
  const { collector, tag } = reader;
  const type = scriptType(reader);
  if (type !== 'classic' && type !== 'module') {
    // Browsers don't load this type, but another script will, such as a consent banner or a compiler.
    reader.markGuards(reader.refer('src', 'asset'));
    return;
  }
  const attribute = reader.has('src') ? 'src' : reader.has('href') ? 'href' : 'xlink:href';
  const resource = reader.refer(attribute, 'asset');
  reader.markGuards(resource);
  reader.markCharset(resource);
  if (type === 'module') {
    collector.mark(tag.nameEnd, tag.nameEnd, 'module', 'module');
    reader.mark('type', 'type');
  } else if (resource !== undefined && (reader.has('async') || reader.has('defer'))) {
    collector.mark(tag.nameEnd, tag.nameEnd, 'classic', resource);
  }
}

/** Handles the content of a `<script>`. Other types, such as JSON-LD and templates, are not read. */
export function readScriptContent(reader: TagReader, content: SpannedText, end: number): void {
  const { collector, tag } = reader;
  switch (scriptType(reader)) {
    case 'importmap':
      extractImportMap(content, collector);
      return;
    case 'speculationrules':
      extractSpeculationRules(content, collector);
      return;
    case 'json':
      probeLiterals(content.text, collector);
      return;
    case 'classic':
    case 'module':
      collector.mark(tag.start, end, 'script');
      if (!reader.has('src')) extractScript(content, '', collector, true);
      return;
  }
}

/** Speculation rules: pages that a browser may load in advance. Patterns (`href_matches`) stay unchanged. */
function extractSpeculationRules(json: SpannedText, collector: Collector): void {
  for (const { keys, from, to } of jsonStrings(json.text)) {
    if (keys.at(-1) !== 'urls') continue;
    collector.refer({ span: json, from, to, layers: 'q' }, 'page', decodedJson(json.text.slice(from, to)));
  }
}
