import { Parser } from 'htmlparser2';

export type WalkedSite = {
  /** Paths of every linked page. A folder's path ends in `index.html`. */
  pages: Set<string>;
  /** Paths of missing files on the site that pages refer to. */
  broken: Set<string>;
};

const REFERRING = new Set(['href', 'src', 'data', 'poster']);
const AT_ONCE = 16;

/** Follows every reference from a site's start page over HTTP, independently of the product's code. */
export async function walkSite(start: string): Promise<WalkedSite> {
  const { origin } = new URL(start);
  const queue = [start];
  const seen = new Set(queue);
  const walked: WalkedSite = { pages: new Set(), broken: new Set() };

  async function visit(address: string): Promise<void> {
    const response = await fetch(address);
    const { pathname } = new URL(response.url);
    const text = await response.text();
    if (!response.ok) {
      walked.broken.add(pathname);
    } else if (response.headers.get('content-type')?.startsWith('text/html')) {
      walked.pages.add(pathname.endsWith('/') ? `${pathname}index.html` : pathname);
      for (const found of references(text, response.url)) {
        if (new URL(found).origin !== origin || seen.has(found)) continue;
        seen.add(found);
        queue.push(found);
      }
    }
  }

  while (queue.length > 0) await Promise.all(queue.splice(0, AT_ONCE).map(visit));
  return walked;
}

function references(html: string, page: string): Set<string> {
  const found = new Set<string>();
  let base = page;
  const parser = new Parser({
    onopentag(name, attributes) {
      if (name === 'base' && attributes.href !== undefined) base = new URL(attributes.href, page).href;
      for (const [attribute, value] of Object.entries(attributes)) {
        if (!REFERRING.has(attribute) || !URL.canParse(value, base)) continue;
        const target = new URL(value, base);
        target.hash = '';
        found.add(target.href);
      }
    },
  });
  parser.end(html);
  return found;
}
