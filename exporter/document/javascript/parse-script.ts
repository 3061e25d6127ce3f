import { type AnyNode, Parser, type Program } from 'acorn';
import { UnreadableDocument } from '../unreadable.ts';

/**
 * Calls of the parser's recursive functions inside each other. Real scripts need up to about 100. From about 700 the
 * stack can be full, where V8 ends the process if a regular expression must be compiled; no code can catch that.
 */
const MAX_LEVELS = 400;

/** Every recursion of the parser goes through one of these. */
const RECURSIVE = [
  'parseStatement',
  'parseMaybeAssign',
  'parseMaybeUnary',
  'parseExprOp',
  'parseExprAtom',
  'parseBindingAtom',
] as const;

let levels = 0;

const BoundedParser = Parser.extend((Base) => {
  class Bounded extends Base {}
  for (const name of RECURSIVE) {
    const parse: unknown = Reflect.get(Base.prototype, name);
    if (typeof parse !== 'function') throw new Error(`acorn has no ${name}`);
    Reflect.set(Bounded.prototype, name, function (this: Parser, ...args: unknown[]): unknown {
      levels += 1;
      try {
        if (levels > MAX_LEVELS) throw new UnreadableDocument('the script nests too deep');
        return Reflect.apply(parse, this, args);
      } finally {
        levels -= 1;
      }
    });
  }
  return Bounded;
});

/** Parses a script. Throws `UnreadableDocument` if it nests too deep; undefined if it isn't valid. */
export function parseScript(script: string, sourceType: 'script' | 'module' = 'script'): Program | undefined {
  try {
    return BoundedParser.parse(script, { ecmaVersion: 'latest', sourceType, allowReturnOutsideFunction: true });
  } catch (error) {
    if (error instanceof UnreadableDocument) throw error;
    return undefined;
  }
}

/**
 * A node and all below it, in order, without those below nodes that `isLeaf` accepts. Not recursive, because chains such
 * as `a.b.c` parse in a loop, to a tree as deep as they are long.
 */
export function* nodesOf(root: AnyNode, isLeaf: (node: AnyNode) => boolean = () => false): Generator<AnyNode> {
  const left = [root];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    yield node;
    if (!isLeaf(node)) for (const child of childrenOf(node).reverse()) left.push(child);
  }
}

function childrenOf(node: AnyNode): AnyNode[] {
  return Object.values(node)
    .flat()
    .filter((value: unknown): value is AnyNode => typeof value === 'object' && value !== null && 'type' in value);
}
