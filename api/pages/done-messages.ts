import type { Request } from 'express';
import type { MessageKind } from '../../ui/components/message.tsx';
import { queryOf } from '../../ui/request.ts';

/** What a page says after an action led back to it. Codes, so that a link can't put words into the page. */
const MESSAGES = {
  export: 'An export was requested.',
  refresh: 'The link was refreshed.',
  pause: 'The site is paused. Publishes are collected until you resume it.',
  resume: 'The site is no longer paused.',
  rollback: 'The earlier version is being served. It stays until the next publish.',
  remove: 'The site was removed: its link is no longer refreshed.',
  'run-again': 'The delivery runs again.',
  approve: 'The export was approved.',
  reject: 'The export was rejected.',
  cancel: 'The change was cancelled. An open pull request stays open.',
} as const;

export type Done = keyof typeof MESSAGES;

/** The path with the message of an action. */
export function withMessage(path: string, done: Done): string {
  return `${path}?done=${done}`;
}

export function messageOf(request: Request): { kind: MessageKind; text: string }[] {
  const code = queryOf(request, 'done');
  return isDone(code) ? [{ kind: 'success', text: MESSAGES[code] }] : [];
}

function isDone(code: string): code is Done {
  return Object.hasOwn(MESSAGES, code);
}
