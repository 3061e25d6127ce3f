import type { CDPSession } from 'playwright-core';

/** Thrown when the window shows another document than the one it was given. */
export class PageLeft extends Error {
  override readonly name = 'PageLeft';
}

export type ShownDocument = {
  /**
   * Runs an expression in a world of its own, apart from the page's scripts. Answers its JSON value. Throws PageLeft
   * once the window shows another document: a script may leave for an address that no request is made for.
   */
  evaluate(expression: string): Promise<unknown>;
  /** Whether a script wants to leave, and the browser hasn't yet decided what comes of it. */
  isLeaving(): boolean;
};

type Loaded = { id: string; loaderId: string; url: string };

/** Follows what the window shows from now on; the first document to be loaded is the one that stays. */
export function watchDocument(session: CDPSession): ShownDocument {
  const loaded: Loaded[] = [];
  let leaving = false;

  session.on('Page.frameNavigated', ({ frame }) => {
    if (frame.parentId === undefined) loaded.push(frame);
  });
  // Told by the page's own process, so it is heard before the answer to whatever is asked of the page later.
  session.on('Page.frameRequestedNavigation', ({ frameId, disposition }) => {
    if (frameId === loaded[0]?.id && disposition === 'currentTab') leaving = true;
  });
  session.on('Page.frameStoppedLoading', ({ frameId }) => {
    if (frameId === loaded[0]?.id) leaving = false;
  });

  async function shownNow(): Promise<Loaded> {
    // Whoever loaded it may hear of it first. What this session is told of it comes before this answer.
    if (loaded.length === 0) await session.send('Page.getFrameTree');
    const [first, another] = loaded;
    if (first === undefined) throw new Error('no document was loaded');
    if (another !== undefined) throw pageLeft(another);
    return first;
  }

  async function inOwnWorld({ id: frameId }: Loaded, expression: string) {
    const world = await session.send('Page.createIsolatedWorld', { frameId, worldName: 'galley' });
    const contextId = world.executionContextId;
    return session.send('Runtime.evaluate', { expression, contextId, awaitPromise: true, returnByValue: true });
  }

  return {
    isLeaving: () => leaving,

    async evaluate(expression) {
      const document = await shownNow();
      const { result, exceptionDetails } = await inOwnWorld(document, expression).catch(async (error: unknown) => {
        // A document takes its worlds along, and that may be heard before the one that follows it is.
        const { frameTree } = await session.send('Page.getFrameTree');
        throw frameTree.frame.loaderId === document.loaderId ? error : pageLeft(frameTree.frame);
      });
      await shownNow();
      if (exceptionDetails === undefined) return result.value;
      throw new Error(exceptionDetails.exception?.description?.split('\n')[0] ?? exceptionDetails.text);
    },
  };
}

function pageLeft({ url }: Loaded): PageLeft {
  return new PageLeft(`a script left the page for ${url}`);
}
