import type { Request } from 'express';
import type { MessageKind } from '../../ui/components/message.tsx';
import { queryOf } from '../../ui/request.ts';

/** What a page says after an action led back to it. Codes, so that a link can't put words into the page. */
const MESSAGES = {
  'key-revoked': 'The key was revoked. Requests with it are rejected from now on.',
  invited: 'The invitation was created. No mail was sent: send its link to the person.',
  'invited-by-mail': 'The invitation was created, and its link was mailed to the person.',
  'invitation-canceled': 'The invitation was canceled. Its link no longer works.',
  'role-changed': 'The role was changed.',
  'member-removed': 'The member was removed and signed out of the organization.',
  'project-added': 'The project was added.',
  'project-saved': 'The project was saved. The next export uses the new settings.',
  'export-started': 'The export was started.',
  'export-canceled': 'The export is being canceled.',
  'export-ended': 'The export had already ended.',
  'job-created': 'The agent job was created.',
  'message-sent': 'The message was sent. The agent continues on the same branch.',
  'job-canceled': 'The job is being canceled.',
  'job-ended': 'The job had already ended.',
  'job-archived': 'The job was archived.',
  'password-changed': 'The password was changed. Your other sessions have ended.',
  'passkey-removed': 'The passkey was removed.',
  welcome: 'Welcome. You are a member of this organization now.',
} as const;

export type Done = keyof typeof MESSAGES;

/** The path with the message of an action. */
export function withMessage(path: string, done: Done): string {
  return `${path}?done=${done}`;
}

export function messagesOf(request: Request): { kind: MessageKind; text: string }[] {
  const code = queryOf(request, 'done');
  return isDone(code) ? [{ kind: 'success', text: MESSAGES[code] }] : [];
}

function isDone(code: string): code is Done {
  return Object.hasOwn(MESSAGES, code);
}
