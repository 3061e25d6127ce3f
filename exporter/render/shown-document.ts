import type { CDPSession } from 'playwright-core';

/** Thrown when the window shows another document than the given one. */
export class PageLeft extends Error {
  override readonly name = 'PageLeft';
}

export type ShownDocument = {
  /**
   * Evaluates an expression in a world isolated from the page's scripts. Returns its JSON value. Throws PageLeft once
   * the window shows another document, because a script may navigate without a request.
   */
  evaluate(expression: string): Promise<unknown>;
  /** Whether a script started a navigation that the browser hasn't finished or dropped yet. */
  isLeaving(): boolean;
};

type Loaded = { id: string; loaderId: string; url: string };

/** Tracks the documents that the window shows from now on; only the first one is expected. */
export function watchDocument(session: CDPSession): ShownDocument {
  const loaded: Loaded[] = [];
  let leaving = false;

  session.on('Page.frameNavigated', ({ frame }) => {
    if (frame.parentId === undefined) loaded.push(frame);
  });
  // Sent by the page's process, so it arrives before the response to any later command.
  session.on('Page.frameRequestedNavigation', ({ frameId, disposition }) => {
    if (frameId === loaded[0]?.id && disposition === 'currentTab') leaving = true;
  });
  session.on('Page.frameStoppedLoading', ({ frameId }) => {
    if (frameId === loaded[0]?.id) leaving = false;
  });

  async function shownNow(): Promise<Loaded> {
    // The caller of `goto` may resume before this session gets its events. They arrive before this response.
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
        // A navigation destroys the isolated world, and that error may arrive before the navigation event.
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
