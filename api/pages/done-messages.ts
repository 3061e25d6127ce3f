import { createDoneMessages } from '../../web/done-messages.ts';

export const { withMessage, messagesOf } = createDoneMessages({
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
});
