import { runInNewContext } from 'node:vm';
import { HELD_TYPE, startGuard } from '../../../exporter/document/start-guard.ts';

/** The part of an element that the guard uses. */
class FakeElement {
  readonly attributes: { name: string; value: string }[] = [];
  parentNode = { replaceChild: (by: FakeElement) => this.replaced.push(by) };
  readonly replaced: FakeElement[];
  text = '';

  constructor(replaced: FakeElement[]) {
    this.replaced = replaced;
  }
  get src(): string {
    return this.getAttribute('src') ?? '';
  }
  getAttribute(name: string): string | null {
    return this.attributes.find((each) => each.name === name)?.value ?? null;
  }
  hasAttribute(name: string): boolean {
    return this.getAttribute(name) !== null;
  }
  setAttribute(name: string, value: string): void {
    const known = this.attributes.find((each) => each.name === name);
    if (known === undefined) this.attributes.push({ name, value });
    else known.value = value;
  }
}

/** The `src` of each script that the guard starts if the page with this path is opened at `address`. */
function started(path: string, address: string, sources: readonly string[]): (string | null)[] {
  const replaced: FakeElement[] = [];
  const held = sources.map((source) => {
    const element = new FakeElement(replaced);
    element.setAttribute('type', HELD_TYPE);
    element.setAttribute('src', source);
    return element;
  });
  const document = {
    baseURI: address,
    addEventListener: () => undefined,
    createElement: () => new FakeElement(replaced),
    querySelectorAll: (selector: string) => (selector.startsWith('script') ? held : []),
  };
  const window = { addEventListener: () => undefined };
  const code = startGuard(path).replace(/^<script>|<\/script>$/g, '');
  runInNewContext(code, { document, window, location: new URL(address), URL, setTimeout });
  return replaced.map((each) => each.getAttribute('src'));
}

describe('the guard that starts a page’s scripts', () => {
  it('writes their URLs from the root, as their loader did', () => {
    const sources = ['../_next/static/1.js', '/_next/static/2.js', 'https://other.example/3.js'];
    expect(started('/guides/start', 'https://docs.example.com/guides/start', sources)).toEqual([
      '/_next/static/1.js',
      '/_next/static/2.js',
      'https://other.example/3.js',
    ]);
  });

  it('starts none if the page is at another path', () => {
    expect(started('/guides/start', 'https://docs.example.com/folder/guides/start', ['../1.js'])).toEqual([]);
  });
});
