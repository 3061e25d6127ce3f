import { createDoneMessages } from '../../web/done-messages.ts';

export const { withMessage, messagesOf } = createDoneMessages({
  'key-revoked': 'The key was revoked. Requests with it are rejected from now on.',
  invited: 'The invitation was created. No mail was sent: send its link to the person.',
  'invited-by-mail': 'The invitation was created, and its link was mailed to the person.',
  'invitation-canceled': 'The invitation was canceled. Its link no longer works.',
  'organization-renamed': 'The organization was renamed.',
  'role-changed': 'The role was changed.',
  'member-removed': 'The member was removed and signed out of the organization.',
  'project-added': 'The project was added.',
  'project-saved': 'The project was saved. The next export uses the new settings.',
  'export-started': 'The export was started.',
  'export-canceled': 'The export was canceled.',
  'export-ended': 'The export had already ended.',
  'job-created': 'The agent job was created.',
  'message-sent': 'The message was sent.',
  'job-canceled': 'The job was canceled.',
  'job-ended': 'The job had already ended.',
  'job-archived': 'The job was archived.',
  'password-changed': 'The password was changed. Your other sessions have ended.',
  'passkey-removed': 'The passkey was removed.',
  welcome: 'Welcome. You are a member of this organization now.',
});
