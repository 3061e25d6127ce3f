import type { RawAnswer } from './raw-site.ts';
import { rawAnswer } from './raw-site.ts';

/** What every page of the site says; the origin cuts the connection somewhere within it. */
export const WHOLE_PAGE = '<title>x</title><p>to its very end</p>';

const head = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n';
const chunk = `${WHOLE_PAGE.length.toString(16)}\r\n${WHOLE_PAGE}\r\n`;

/** The ways in which an answer says where its body ends, but for the one that can't be told from a cut. */
const FRAMINGS = {
  length: rawAnswer(WHOLE_PAGE),
  chunks: Buffer.from(`${head}Transfer-Encoding: chunked\r\n\r\n${chunk}0\r\n\r\n`),
} as const;

type Cut = { path: string; bytes: Buffer; at: number };

function cutsOf(framing: keyof typeof FRAMINGS, folder: string): Cut[] {
  const bytes = FRAMINGS[framing];
  return Array.from(bytes, (_, at) => ({ path: `/${folder}/${framing}/${at}`, bytes, at }));
}

/** Cut at this byte the first time, whole the second. */
export const CUT_ONCE: readonly Cut[] = [...cutsOf('length', 'once'), ...cutsOf('chunks', 'once')];
/** Cut at this byte every time. */
export const CUT_ALWAYS: readonly Cut[] = cutsOf('length', 'always');

/** The site of all of them. */
export function cutSite(): RawAnswer {
  const cuts = new Map([...CUT_ONCE, ...CUT_ALWAYS].map((cut) => [cut.path, cut]));
  const cutBefore = new Set<string>();
  const links = CUT_ONCE.map(({ path }) => `<a href="${path}">x</a>`).join('');
  const images = CUT_ALWAYS.map(({ path }) => `<img src="${path}">`).join('');
  return (socket, path) => {
    const cut = cuts.get(path);
    if (cut === undefined) {
      socket.write(path === '/' ? rawAnswer(links + images) : rawAnswer('', { status: '404 Not Found' }));
    } else if (cutBefore.has(path) && path.startsWith('/once')) {
      socket.write(cut.bytes);
    } else {
      cutBefore.add(path);
      socket.write(cut.bytes.subarray(0, cut.at), () => socket.resetAndDestroy());
    }
  };
}
