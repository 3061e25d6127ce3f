import { pathToFileURL } from 'node:url';
import { suitePath } from './conformance.ts';

/** A node as parse5 gives it. */
type Node = {
  nodeName: string;
  value?: string;
  data?: string;
  attrs?: { name: string; value: string; prefix?: string }[];
  childNodes?: Node[];
  content?: Node;
};

type Parse = (html: string) => Node;

/** parse5, the judge of what a browser reads in a page. */
export async function loadParse5(): Promise<Parse> {
  const { parse } = await import(pathToFileURL(suitePath('node_modules/parse5/dist/index.js')).href);
  return parse;
}

const URLS = new Set(['href', 'src', 'poster', 'data', 'background', 'srcset', 'action', 'cite']);

/** Elements whose attribute a browser requests or follows. */
const REQUESTED: Record<string, string> = {
  a: 'href',
  area: 'href',
  audio: 'src',
  embed: 'src',
  iframe: 'src',
  image: 'href',
  img: 'src',
  object: 'data',
  script: 'src',
  source: 'src',
  track: 'src',
  video: 'src',
};

/** The values of attributes that a browser requests or follows, in the order of the document. */
export function referencesOf(node: Node): string[] {
  const attribute = REQUESTED[node.nodeName];
  const own = (node.attrs ?? []).filter(({ name }) => name === attribute).map(({ value }) => value);
  return [...own, ...childrenOf(node).flatMap(referencesOf)];
}

function childrenOf({ childNodes = [], content }: Node): Node[] {
  return content === undefined ? childNodes : [...childNodes, content];
}

function declaresCharset({ nodeName, attrs = [] }: Node): boolean {
  if (nodeName !== 'meta') return false;
  const isPragma = attrs.some(({ name, value }) => name === 'http-equiv' && /^content-type$/i.test(value));
  return isPragma || attrs[0]?.name === 'charset';
}

/** The tree as a text, in which URLs are the same for all. Exported pages are in UTF-8 and declare that. */
export function withoutUrls(node: Node, isText = true): string {
  if (declaresCharset(node)) return '';
  const attributes = (node.attrs ?? []).map(({ name, value }) => `${name}=${URLS.has(name) ? 'URL' : value}`);
  // With scripts, a browser reads it as a text; the export changes URLs in it for those without.
  const inside = node.nodeName === 'noscript' ? false : isText;
  const text = isText ? (node.value ?? node.data ?? '') : '';
  return `<${node.nodeName} ${attributes.join(' ')} ${text}>${childrenOf(node)
    .map((child) => withoutUrls(child, inside))
    .join('')}</>`;
}
