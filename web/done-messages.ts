import type { Request } from 'express';
import type { PageProps } from '../ui/page.tsx';

/**
 * What a page says after an action led back to it. `texts` are by code, so that a link can't put words into the page.
 */
export function createDoneMessages<Code extends string>(texts: Readonly<Record<Code, string>>) {
  const textOf = new Map<unknown, string>(Object.entries(texts));
  return {
    /** The path with the message of an action. */
    withMessage: (path: string, done: Code): string => `${path}?done=${done}`,

    messagesOf(request: Request): NonNullable<PageProps['messages']> {
      const text = textOf.get(request.query.done);
      return text === undefined ? [] : [{ kind: 'success', text }];
    },
  };
}
