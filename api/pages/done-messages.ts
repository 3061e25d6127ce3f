import { createDoneMessages } from '../../web/done-messages.ts';

export const { withMessage, messagesOf } = createDoneMessages({
  export: 'An export was requested.',
  refresh: 'The link was refreshed.',
  pause: 'The site is paused. Publishes are collected until you resume it.',
  resume: 'The site is no longer paused.',
  rollback: 'The site goes back to the earlier version. Deployments below shows how far it is.',
  lock: 'The site is locked. Publishes are exported, but not deployed, until you unlock it.',
  unlock: 'The site is unlocked. The newest version is deployed.',
  remove: 'The site was removed: its link is no longer refreshed.',
  'run-again': 'The delivery runs again.',
  approve: 'The version was approved.',
  reject: 'The version was rejected.',
  cancel: 'The change was canceled. An open pull request stays open.',
});
