import type { ReviewMailInput } from '../../../activities/mails/mail-input.ts';

export const INPUT: ReviewMailInput = {
  site: 'handbook',
  rule: 'changelog',
  changeId: 'agent:handbook:changelog:1',
  event: 'review-requested',
  to: 'ada@example.com',
  pullRequest: { url: 'https://forge.example.com/acme/docs/pull/7', title: 'Update the changelog' },
  publish: {
    source: 'contentful',
    topic: 'Entry.publish',
    action: 'publish',
    id: '6xk',
    title: 'Getting started',
    url: 'https://docs.example.com/start',
    author: 'Grace',
    at: '2026-11-21T08:00:00Z',
  },
  eventCount: 1,
};
